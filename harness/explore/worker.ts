/**
 * A worker thread of the pool: loads the module that its jobs need, and does blocks of them until it is ended.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { useCompileCache } from '../../broker/server/compile-cache.ts';
import type { JobModule } from './pool.ts';

interface Block {
  readonly first: number;
  readonly jobs: readonly unknown[];
}

useCompileCache();
const { module } = workerData as { readonly module: string };
const { runJob } = (await import(module)) as JobModule<unknown, unknown>;

parentPort?.on('message', ({ first, jobs }: Block) => {
  try {
    parentPort?.postMessage({ first, results: jobs.map((job) => runJob(job)) }, []);
  } catch (error) {
    const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
    parentPort?.postMessage({ message, stack }, []);
  }
});
