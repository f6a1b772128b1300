/**
 * What a report reads of one run: its results, its history and its trace, from the run's folder.
 *
 * A report must come about for damaged runs too: a line that cannot be read is left out, a file that is not there is
 * empty. What that means for the verdict is the checker's business and stands in the results.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '../../checker/history.ts';
import type { RunResults } from '../../checker/results.ts';
import type { TraceLine } from '../../nemesis/ports.ts';

export interface RunFiles {
  readonly results: RunResults;
  readonly operations: readonly Operation[];
  /** In the order of the run's clock; lines of one node stay in their own order. */
  readonly trace: readonly TraceLine[];
}

/** Reads a run's folder; `results.json` must be there. */
export function readRunFiles(directory: string): RunFiles {
  const results = JSON.parse(readFileSync(join(directory, 'results.json'), 'utf8')) as RunResults;
  const trace = readLines<TraceLine>(join(directory, 'trace.jsonl'));
  return { results, operations: readLines<Operation>(join(directory, 'history.jsonl')), trace: inClockOrder(trace) };
}

/** Sorted by time, without ever swapping two lines of one node. */
function inClockOrder(lines: readonly TraceLine[]): TraceLine[] {
  const latest = new Map<TraceLine['node'], number>();
  const keyed = lines.map((line, index) => {
    const time = Math.max(line.time, latest.get(line.node) ?? 0);
    latest.set(line.node, time);
    return { line, time, index };
  });
  keyed.sort((a, b) => a.time - b.time || a.index - b.index);
  return keyed.map(({ line }) => line);
}

function readLines<T>(path: string): T[] {
  if (!existsSync(path)) return [];
  const parsed: T[] = [];
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue;
    try {
      parsed.push(JSON.parse(line) as T);
    } catch {
      // The checker names lines that cannot be read.
    }
  }
  return parsed;
}
