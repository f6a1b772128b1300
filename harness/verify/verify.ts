/**
 * `verify-logs` from directories to a document: finds the replicas, has each partition checked, and gathers what is said.
 *
 * Partitions have nothing to do with each other, so large ones are checked by several threads at once. The document is
 * the same either way.
 */
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PartitionReport } from '../../checker/logs/report.ts';
import { documentOf, type VerifyDocument } from './document.ts';
import { findCopies, type CopyPlace } from './find-copies.ts';
import { verifyPlaces, type PartitionPlaces } from './verify-places.ts';

/** Fewer bytes than these are checked in the time that threads take to start and to warm up. */
const threadsPayFrom = 2 ** 30;
const threadsMax = 8;

/** Checks all replicas below `directories`. `compacted` names topics, or `all`; threads are used from so many bytes on. */
export async function verifyDirectories(
  directories: readonly string[],
  compacted: readonly string[],
  threadsFromBytes = threadsPayFrom,
): Promise<VerifyDocument> {
  const work = [...findCopies(directories)].map(([partition, places]) => {
    const topic = partition.slice(0, partition.lastIndexOf('-'));
    return { partition, places, compacted: compacted.includes(topic) || compacted.includes('all') };
  });
  const threads = Math.min(availableParallelism(), threadsMax, work.length);
  if (threads < 2 || bytesOf(work) < threadsFromBytes) return documentOf(work.map(verifyPlaces));
  return documentOf(await verifyInThreads(work, threads));
}

function bytesOf(work: readonly PartitionPlaces[]): number {
  return work.flatMap(({ places }) => places).reduce((sum, { directory }: CopyPlace) => sum + sizeOf(directory), 0);
}

function sizeOf(directory: string): number {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .reduce((sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Each thread gets the next partition when it has said what it found of the last. */
async function verifyInThreads(work: readonly PartitionPlaces[], threads: number): Promise<PartitionReport[]> {
  const reports: PartitionReport[] = [];
  let next = 0;
  const runThread = async (): Promise<void> => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    try {
      while (next < work.length) {
        const index = next;
        next += 1;
        // Rejects at an error of the thread as well.
        const answer = once(worker, 'message') as Promise<[PartitionReport]>;
        worker.postMessage(work[index], []);
        [reports[index]] = await answer;
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: threads }, runThread));
  return reports;
}
