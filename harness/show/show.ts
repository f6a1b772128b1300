/**
 * `tidemark show`: one record's life, gathered from a run's history, trace, final logs and the logs of its nodes.
 *
 * Every file is read as a stream, the history up to three times: which values have to do with the offset must be known
 * before their stories can be told. What is kept follows the length of one record's life, not the length of the run.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Operation } from '../../checker/history.ts';
import { text as bytesAsText } from '../../checker/final-logs.ts';
import { Malformations, readHistory } from '../../checker/parse-history.ts';
import { batchAt, decodeLog, decodeRecords } from '../../checker/segments.ts';
import { decompressors } from '../check/decompressors.ts';
import { openHistory, openPackable } from '../check/history-file.ts';
import { packable, replicasOf } from '../check/load-run.ts';
import { UsageError } from '../errors.ts';
import { runOfNight } from '../nightly/is-night.ts';
import { completeObservations } from '../report/observed-lines.ts';
import { counted } from '../report/words.ts';
import { HistoryLife, ValuesAt } from './history-life.ts';
import { Events, eventsMax, inOrder, Names, type Life, type LifeEvent } from './life.ts';
import { TraceLife } from './trace-life.ts';

/** Which record: by its place, or by its value. */
export type Wanted = { readonly offset: number } | { readonly value: string };

/** The life of the record of `key` that is `wanted`. */
export function recordLife(path: string, key: string, wanted: Wanted): Life {
  const directory = resolve(path);
  const files = filesOf(directory, path);
  const notes: string[] = [];
  const offset = 'offset' in wanted ? wanted.offset : offsetOfValue(files.history, key, wanted.value);
  const trace =
    files.observations === null
      ? traceLife(files.trace, key, offset, notes)
      : observedLife(files.observations, key, offset, notes);
  const messages = new Set(trace.written.flatMap(({ msg }) => msg ?? []));
  const seen = new ValuesAt(key, { offset }, messages);
  eachOperation(files.history, notes, (operation) => seen.take(operation));
  const names = new Names();
  for (const { epoch, hash, msg } of trace.written) {
    const value = msg === null ? null : (seen.byMessage.get(msg) ?? null);
    if (value !== null) names.learn(epoch, hash, value);
  }
  const logs = finalLogs(directory, key, offset, names, seen.values);
  if (seen.values.size === 0 && trace.written.length === 0) {
    throw nothingThere(key, offset, seen, trace, logs.end);
  }
  const history = new HistoryLife(key, offset, seen.values);
  eachOperation(files.history, [], (operation) => history.take(operation));
  const told = trace.events(names);
  const times = [...history.events.kept, ...told.kept].map(({ time }) => time ?? 0);
  history.tellFaults(Math.min(...times), Math.max(...times));
  const nodeLogs = nodeLogLines(directory, key, offset);
  const left = history.events.left + told.left + nodeLogs.left;
  if (left > 0) notes.push(`${counted(left, 'more event')} left out: ${eventsMax} of each source are listed`);
  return {
    schemaVersion: 1,
    type: 'record',
    key,
    offset,
    values: [...seen.values],
    events: inOrder([...history.events.kept, ...told.kept, ...nodeLogs.kept, ...logs.events]),
    notes: [...notes, ...history.notes(), ...logs.notes],
  };
}

interface Files {
  readonly history: string;
  readonly trace: string | null;
  /** Of brokers that tell no trace. */
  readonly observations: string | null;
}

function filesOf(directory: string, given: string): Files {
  let isFolder = false;
  try {
    isFolder = statSync(directory).isDirectory();
  } catch {
    throw new UsageError(`${given}: there is no such folder; give the folder of a run, such as store/latest`);
  }
  const history = isFolder ? packable(directory, 'history.jsonl') : null;
  if (history === null) {
    const ofNight = runOfNight(directory);
    const hint =
      isFolder && existsSync(join(directory, 'runs'))
        ? 'it looks like a comparison: name one of the folders in its runs/'
        : ofNight === null
          ? 'give the folder of a run, such as store/latest'
          : `it looks like a night: name a run of one of its cells, such as ${ofNight}`;
    throw new UsageError(`${given} holds no history.jsonl; ${hint}`);
  }
  const trace = packable(directory, 'trace.jsonl');
  return { history, trace, observations: trace === null ? packable(directory, 'observations.jsonl') : null };
}

function eachOperation(path: string, notes: string[], take: (operation: Operation) => void): void {
  const malformed = new Malformations();
  const { torn } = readHistory(openHistory(path, notes), malformed, (operation) => {
    take(operation);
    return null;
  });
  if (malformed.count > 0) notes.push(`${counted(malformed.count, 'line')} of the history cannot be understood`);
  if (torn) notes.push('the last line of the history breaks off');
}

/** Where a value stands: where it was acknowledged, or where it was read first. */
function offsetOfValue(history: string, key: string, value: string): number {
  const seen = new ValuesAt(key, { value }, new Set());
  eachOperation(history, [], (operation) => seen.take(operation));
  const offset = seen.offsets.get(value);
  if (offset !== undefined) return offset;
  if (!seen.keys.has(key)) throw unknownKey(key, seen.keys);
  throw new UsageError(`nobody saw the value ${value} at an offset of ${key}; name an offset with --offset`);
}

function traceLife(path: string | null, key: string, offset: number, notes: string[]): TraceLife {
  const life = new TraceLife(key, offset);
  if (path === null) {
    notes.push('there is no trace: what the brokers did is not known');
    return life;
  }
  eachLineOf(path, key, notes, 'trace', (line) => life.take(line));
  return life;
}

/** The same from what was seen from outside, of brokers that tell no trace. */
function observedLife(path: string, key: string, offset: number, notes: string[]): TraceLife {
  const life = new TraceLife(key, offset);
  const lines: unknown[] = [];
  eachLineOf(path, key, notes, 'observations', (line) => lines.push(line));
  for (const line of completeObservations(lines)) life.take(line);
  notes.push('these brokers tell no trace: what they did was seen from outside, at the moment that stands before it');
  return life;
}

function eachLineOf(path: string, key: string, notes: string[], what: string, take: (line: unknown) => void): void {
  const name = JSON.stringify(key);
  let strange = 0;
  for (const line of openPackable(path, notes)) {
    // Most lines tell of other partitions: they are not worth parsing.
    if (!line.includes(name) && !line.includes('"start"')) continue;
    let parsed: unknown;
    try {
      parsed = JSON.parse(line);
    } catch {
      strange += 1;
      continue;
    }
    take(parsed);
  }
  if (strange > 0) notes.push(`${counted(strange, 'line')} of the ${what} cannot be understood`);
}

function unknownKey(key: string, known: ReadonlySet<string>): UsageError {
  const some = [...known].sort().slice(0, 8).join(', ');
  return new UsageError(`the history names no key ${key}; it names ${some === '' ? 'none' : some}`);
}

function nothingThere(key: string, offset: number, seen: ValuesAt, trace: TraceLife, logEnd: number): UsageError {
  const end = Math.max(seen.highest + 1, trace.end, logEnd);
  if (!seen.keys.has(key) && !trace.known && end === 0) return unknownKey(key, seen.keys);
  return new UsageError(`nothing ever stood at offset ${offset} of ${key}; it holds offsets below ${end}`);
}

/** What each replica holds there after everything; learns the names of records on the way. */
function finalLogs(
  directory: string,
  key: string,
  offset: number,
  names: Names,
  values: Set<string>,
): { readonly events: LifeEvent[]; readonly notes: string[]; readonly end: number } {
  const events: LifeEvent[] = [];
  const notes: string[] = [];
  let end = 0;
  for (const { node, segments, logStart } of replicasOf(directory, key)) {
    const log = decodeLog(segments, logStart, decompressors);
    end = Math.max(end, log.end);
    if (log.flaw !== null) notes.push(`the log of broker ${node} cannot be read from offset ${log.flaw.offset} on`);
    const batch = batchAt(log, offset);
    const tell = (text: string, epoch: number | null): void => {
      const reference = { source: 'log', node, offset, epoch } as const;
      events.push({ time: null, who: `broker ${node}`, event: 'final-log', text, reference });
    };
    if (batch === null || offset < log.start) {
      const why = offset < log.start ? `starts at ${log.start}` : `ends at ${log.end}`;
      tell(offset < log.end && offset >= log.start ? 'holds no batch there' : `does not hold it: its log ${why}`, null);
      continue;
    }
    const hash = (batch.crc >>> 0).toString(16).padStart(8, '0');
    const bytes = decodeRecords(log, batch, decompressors)?.find((record) => record.offset === offset)?.value ?? null;
    const value = bytes === null ? null : bytesAsText(bytes);
    if (value !== null) {
      names.learn(batch.epoch, hash, value);
      values.add(value);
    }
    // Message formats v0 and v1 have no epochs.
    const epoch = batch.epoch === -1 ? null : batch.epoch;
    tell(`holds ${value ?? `a batch (checksum ${hash})`}${epoch === null ? '' : ` of epoch ${epoch}`}`, epoch);
  }
  return { events, notes, end };
}

/** Numbers in a line of Kafka's log that are no offset: its moment, and the count of requests. */
const noOffset = /^\[[^\]]*\]|correlation ?id \d+/gi;

/** Lines of the nodes' own logs that name the partition and, as a number of its own, the offset: not in a name or a moment. */
function nodeLogLines(directory: string, key: string, offset: number): Events {
  const events = new Events();
  const folder = join(directory, 'logs');
  if (!existsSync(folder)) return events;
  const number = new RegExp(`(?<![\\w.-])${offset}(?![\\w-]|\\.\\d)`);
  const names = new RegExp(`(?<![\\w.-])${key.replaceAll(/[^\w-]/g, '\\$&')}(?![\\w-])`);
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.log'))) {
    const path = join(folder, name);
    let line = 0;
    for (const text of openPackable(path, [])) {
      line += 1;
      if (!names.test(text) || !number.test(text.replaceAll(noOffset, ''))) continue;
      const { time, said } = readLogLine(text);
      const who = name.startsWith('controller')
        ? name.replace(/\.log$/, '')
        : `broker ${name.replace(/^broker-|\.log$/g, '')}`;
      events.add({
        time,
        who,
        event: 'log-line',
        text: said,
        reference: { source: 'file', path: `logs/${name}`, line },
      });
    }
  }
  return events;
}

/** Our brokers write JSON with a message; others write what they like, and on a clock of their own. */
function readLogLine(line: string): { readonly time: number | null; readonly said: string } {
  const said = line.slice(0, 500).trimEnd();
  try {
    const { time, msg } = JSON.parse(line) as { readonly time?: unknown; readonly msg?: unknown };
    return {
      time: typeof time === 'number' ? time : null,
      said: typeof msg === 'string' ? `logs: ${msg}` : `logs: ${said}`,
    };
  } catch {
    return { time: null, said: `logs: ${said}` };
  }
}
