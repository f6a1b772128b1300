/**
 * What a report reads of one run, from the files in its folder.
 *
 * A trace of a long run is large, and a report tells of a few partitions only. So lines are looked at as text first, and
 * parsed only if they concern one of those. Everything is bounded: beyond the limits the rest is left out, and a note
 * says so. A report must come about for damaged runs too: files that are missing, and lines that cannot be read, make
 * it poorer, never impossible. Only `results.json` must be there and sound.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResults } from '../../checker/results.ts';
import { readLines } from '../check/read-lines.ts';
import { errorCode } from '../errors.ts';
import { shownPath } from '../shown-path.ts';
import { HistoryCollector, type HistoryPart } from './history-events.ts';
import { completeObservations, sourcesOf, type ObservedFrom } from './observed-lines.ts';
import { readRunResults } from './read-results.ts';
import { storyKeys } from './story.ts';
import { inClockOrder, traceEvent, type TraceEvent } from './trace-events.ts';
import { shellWord } from './words.ts';

export interface RunFiles {
  /** As it was named by whoever asked for the report. */
  readonly directory: string;
  readonly results: RunResults;
  /** The partitions that are told of, the most important first. */
  readonly keys: readonly string[];
  /** In the order of the run's clock: events of those partitions, starts and stops, fences. */
  readonly trace: readonly TraceEvent[];
  readonly history: HistoryPart;
  /** What the lanes rest on, where brokers tell no trace and were watched from outside. */
  readonly observed: ObservedFrom | null;
  /** What could not be read, or was left out. */
  readonly notes: readonly string[];
}

/** So many lines of a trace are kept, and so many of a history are parsed. */
const EVENTS_MAX = 600_000;
const OPERATIONS_MAX = 600_000;

/** Reads a run's folder. `first` is a partition to tell of before any other. */
export function readRunFiles(directory: string, first: string | null = null): RunFiles {
  const results = readRunResults(join(directory, 'results.json'));
  const notes: string[] = [];
  const isObserved = results.run.target !== undefined;
  const tracePath = join(directory, linesFileOf(results));
  const found = storyKeys(results);
  const keys = [
    ...new Set([...(first === null ? [] : [first]), ...(found.length > 0 ? found : busiestKeys(tracePath))]),
  ];
  const lines = isObserved ? readObserved(tracePath, keys, notes) : null;
  const trace = lines === null ? readTrace(tracePath, keys, notes) : eventsOf(completeObservations(lines));
  const history = readHistory(join(directory, 'history.jsonl'), keys, notes);
  return { directory, results, keys, trace, history, observed: lines === null ? null : sourcesOf(lines), notes };
}

/** What brokers told, or what was seen of those that tell nothing. */
export function linesFileOf({ run }: RunResults): string {
  return run.target === undefined ? 'trace.jsonl' : 'observations.jsonl';
}

/** The command that tells the life of the record that the report is about, if it is about one. */
export function lifeOfRecord({ directory, results, keys }: RunFiles): readonly (readonly [string, string])[] {
  const placed = results.anomalies.filter(({ key, offset }) => key !== null && offset !== null);
  const told = placed.find(({ key }) => key === keys[0]) ?? placed[0];
  if (told === undefined || told.key === null) return [];
  const record = `--key ${shellWord(told.key)} --offset ${told.offset}`;
  return [
    [
      `the life of what stood at offset ${told.offset} of ${told.key}`,
      `npm run tidemark -- show ${shellWord(shownPath(directory))} ${record}`,
    ],
  ];
}

/** Tells by its text whether a line is about one of the partitions, or about none. */
function concerning(keys: readonly string[]): (line: string) => boolean {
  const wanted = keys.map((key) => JSON.stringify(key));
  const [event, partition] = ['"event":', '"partition":'];
  return (line) => {
    const what = line.indexOf(event) + event.length;
    if (line.startsWith('"fetch"', what) || line.startsWith('"fenced"', what)) return false;
    const where = line.indexOf(partition, what);
    return where === -1 || wanted.some((key) => line.startsWith(key, where + partition.length));
  };
}

function readTrace(path: string, keys: readonly string[], notes: string[]): TraceEvent[] {
  const events: TraceEvent[] = [];
  eachParsed(path, concerning(keys), notes, (line) => {
    const event = traceEvent(line);
    if (event !== null && (event.partition === null || keys.includes(event.partition))) events.push(event);
    return hasRoom(path, events.length, notes);
  });
  return inClockOrder(events);
}

/** Lines as they are: what one of them lacks may stand in another. */
function readObserved(path: string, keys: readonly string[], notes: string[]): unknown[] {
  const lines: unknown[] = [];
  eachParsed(path, concerning(keys), notes, (line) => {
    lines.push(line);
    return hasRoom(path, lines.length, notes);
  });
  return lines;
}

function eventsOf(lines: readonly unknown[]): TraceEvent[] {
  return inClockOrder(lines.map(traceEvent).filter((event) => event !== null));
}

function hasRoom(path: string, count: number, notes: string[]): boolean {
  if (count < EVENTS_MAX) return true;
  notes.push(
    `${nameOf(path)} holds more than ${EVENTS_MAX} lines of these partitions: the pictures end at the last that was read`,
  );
  return false;
}

function readHistory(path: string, keys: readonly string[], notes: string[]): HistoryPart {
  const collector = new HistoryCollector(keys);
  const wanted = keys.map((key) => JSON.stringify(key));
  let parsed = 0;
  let last = '';
  const concerns = (line: string): boolean => {
    if (line !== '') last = line;
    return (
      parsed === 0 ||
      line.includes('"nemesis"') ||
      line.includes('"final"') ||
      wanted.some((text) => line.includes(text))
    );
  };
  const take = (line: unknown): boolean => {
    collector.add(line);
    parsed += 1;
    if (parsed < OPERATIONS_MAX) return true;
    notes.push(`history.jsonl holds more than ${OPERATIONS_MAX} operations on these partitions: the rest is left out`);
    return false;
  };
  eachParsed(path, concerns, notes, take);
  // The end of the run is the time of its last line, whatever that is about.
  const time = /"time":(\d+)/.exec(last)?.[1];
  if (time !== undefined) collector.lastedTo(Number(time));
  return collector.part();
}

/** The partition with most truncations, else with most elections: for runs in which nothing went wrong. */
function busiestKeys(tracePath: string): string[] {
  const weights = new Map<string, number>();
  const rare = (line: string): boolean => line.includes('"event":"truncation"') || line.includes('"event":"election"');
  eachParsed(tracePath, rare, [], (line) => {
    const event = traceEvent(line);
    if (event === null || event.partition === null) return true;
    const weight = event.event === 'truncation' && event.to < event.from ? 1_000 : 1;
    weights.set(event.partition, (weights.get(event.partition) ?? 0) + weight);
    return true;
  });
  const [best] = [...weights].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
  return best === undefined ? [] : [best[0]];
}

/** Parses the lines of a file that `concerns` names, until `take` has enough. Never throws. */
function eachParsed(
  path: string,
  concerns: (line: string) => boolean,
  notes: string[],
  take: (line: unknown) => boolean,
): void {
  if (!existsSync(path)) {
    notes.push(`there is no ${nameOf(path)}`);
    return;
  }
  let unreadable = 0;
  try {
    for (const line of readLines(path)) {
      if (!concerns(line) || line === '') continue;
      let parsed: unknown;
      try {
        parsed = JSON.parse(line);
      } catch {
        unreadable += 1;
        continue;
      }
      if (!take(parsed)) break;
    }
  } catch (error) {
    notes.push(`${nameOf(path)} cannot be read to its end: ${errorCode(error) ?? String(error)}`);
  }
  if (unreadable > 0) notes.push(`${nameOf(path)}: lines that are not JSON, left out: ${unreadable}`);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
