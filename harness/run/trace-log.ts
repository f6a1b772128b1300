/**
 * The run's own copy of the trace: every line of every node, in the order of arrival, in `trace.jsonl`; folded at once
 * into the view that settling and progress look at.
 *
 * Whoever waits for something in the trace waits here: the condition is looked at again after each line, so nothing
 * sleeps and nothing is polled.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Cluster, TraceLine } from '../../nemesis/ports.ts';
import { isChange } from '../../nemesis/rest.ts';
import { createView, foldLine, type ClusterView } from '../../nemesis/view.ts';
import { environmentErrorFrom } from '../errors.ts';

export interface TraceLog {
  /** Lines written so far. */
  readonly lines: number;
  readonly view: ClusterView;
  /** Lines so far that tell of records or roles: equal before and after means that no replica changed in between. */
  readonly changes: number;
  /** Milliseconds since the last such line. */
  quietMs(): number;
  /** Resolves to true as soon as `condition` holds after a line, to false at the deadline or when aborted. */
  until(condition: () => boolean, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Subscribes to the cluster and writes `path`. A write that fails is told to `onFailure` once; later lines are only folded. */
export function recordTrace(
  cluster: Cluster,
  path: string,
  partitions: readonly string[],
  onFailure: (error: Error) => void,
): TraceLog {
  const view = createView(partitions);
  const waiting = new Set<() => void>();
  let file: number | null = openFile(path);
  let lines = 0;
  let changes = 0;
  let changedAt = performance.now();

  cluster.subscribe((line: TraceLine) => {
    if (file !== null) {
      try {
        writeSync(file, `${JSON.stringify(line)}\n`);
        lines += 1;
      } catch (error) {
        file = null;
        onFailure(environmentErrorFrom(error, `cannot write the trace ${path}`));
      }
    }
    foldLine(view, line);
    if (isChange(line)) {
      changes += 1;
      changedAt = performance.now();
    }
    for (const look of waiting) look();
  });

  return {
    view,
    get lines() {
      return lines;
    },
    get changes() {
      return changes;
    },
    quietMs: () => performance.now() - changedAt,
    until(condition, timeoutMs, signal) {
      if (condition()) return Promise.resolve(true);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const finish = (met: boolean): void => {
        waiting.delete(look);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abandon);
        resolve(met);
      };
      const look = (): void => {
        if (condition()) finish(true);
      };
      const abandon = (): void => finish(false);
      const timer = setTimeout(abandon, timeoutMs);
      waiting.add(look);
      signal?.addEventListener('abort', abandon);
      if (signal?.aborted === true) abandon();
      return promise;
    },
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

function openFile(path: string): number {
  try {
    return openSync(path, 'wx');
  } catch (error) {
    throw environmentErrorFrom(error, `cannot write the trace ${path}`);
  }
}
