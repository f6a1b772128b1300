/**
 * A load that is written out: each operation begins at its time, or as soon as the one before it on its thread is over.
 *
 * A thread goes on with a fresh process where an operation ended with `info`; the plan counts threads, so that what comes
 * after does not depend on that.
 */
import type { LoadPlan } from '../sim/simulation.ts';
import type { Source } from './thread.ts';

/** The sources of a run's processes, as `startThread` asks for them. Times count from `startNs`. */
export function writtenLoad({ operations }: LoadPlan, threads: number, startNs: number): (process: number) => Source {
  const byThread = Array.from({ length: threads }, (_, thread) =>
    operations.filter((operation) => operation.thread === thread).values(),
  );
  return (process) => {
    const left = byThread[process % threads]!;
    return {
      next(nowNs) {
        const { value, done } = left.next();
        if (done === true) return null;
        return { operation: value.operation, dueNs: Math.max(nowNs, startNs + Math.round(value.atMs * 1e6)) };
      },
      observe: () => {},
    };
  };
}
