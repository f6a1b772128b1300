/**
 * Kafka's checkpoint files: a version, a count, then one entry a line.
 *
 * `replication-offset-checkpoint`, `recovery-point-offset-checkpoint` and `log-start-offset-checkpoint` hold
 * `topic partition offset` for every log of the directory; `leader-epoch-checkpoint` holds `epoch startOffset` for one
 * log. The formats are those of Kafka's OffsetCheckpointFile and LeaderEpochCheckpointFile.
 *
 * Invariant: a file is believed whole or not at all. A wrong count, a malformed line, a repeated log or epochs out of
 * order mean that somebody else wrote it, and a guess at a high watermark can cost records: the node refuses to start.
 * An empty file is refused too, as our own writer cannot leave one.
 */
import type { EpochEntry, OffsetCheckpoint } from '../core/step.ts';
import { readText, replaceFile, StorageError } from './files.ts';

/** Offsets (or, in the side file of flushed lengths, sizes) by log. */
export type NumbersByLog = Map<string, number>;

const version = '0';

const remedies: Readonly<Record<OffsetCheckpoint | 'leader-epoch-checkpoint' | 'flushed-lengths', string>> = {
  'replication-offset-checkpoint': 'then every high watermark starts at 0 until a leader tells a newer one',
  'recovery-point-offset-checkpoint': 'then the next one is written at the next clean stop',
  'log-start-offset-checkpoint': 'then every log starts at its first batch',
  'leader-epoch-checkpoint': 'then the epochs are found again in the log',
  'flushed-lengths': 'then nothing counts as flushed until the next flush',
};

export function readOffsets(path: string, kind: OffsetCheckpoint | 'flushed-lengths'): NumbersByLog {
  const numbers: NumbersByLog = new Map();
  for (const { line, at } of entriesOf(path, kind)) {
    const match = /^(\S+) (\d+) (\d+)$/.exec(line);
    if (match === null) throw corrupt(path, kind, `line ${at} is not \`topic partition number\``);
    const log = `${match[1]}-${match[2]}`;
    if (numbers.has(log)) throw corrupt(path, kind, `line ${at} names ${log} again`);
    numbers.set(log, safeNumber(match[3], path, kind, at));
  }
  return numbers;
}

export function writeOffsets(path: string, numbers: Readonly<Record<string, number>>): void {
  replaceFile(path, formatOffsets(Object.entries(numbers)));
}

export function formatOffsets(numbers: Iterable<readonly [log: string, number: number]>): string {
  const lines: string[] = [];
  for (const [log, number] of numbers) {
    const dash = log.lastIndexOf('-');
    lines.push(`${log.slice(0, dash)} ${log.slice(dash + 1)} ${number}`);
  }
  return format(lines);
}

/** The entries of a `leader-epoch-checkpoint`, or undefined when the log has none yet. */
export function readEpochs(path: string): EpochEntry[] | undefined {
  const kind = 'leader-epoch-checkpoint';
  if (readText(path) === undefined) return undefined;
  const entries: EpochEntry[] = [];
  for (const { line, at } of entriesOf(path, kind)) {
    const match = /^(\d+) (\d+)$/.exec(line);
    if (match === null) throw corrupt(path, kind, `line ${at} is not \`epoch startOffset\``);
    const entry = { epoch: safeNumber(match[1], path, kind, at), startOffset: safeNumber(match[2], path, kind, at) };
    const last = entries.at(-1);
    if (last !== undefined && (entry.epoch <= last.epoch || entry.startOffset < last.startOffset)) {
      throw corrupt(path, kind, `line ${at} does not come after the one before it`);
    }
    entries.push(entry);
  }
  return entries;
}

export function writeEpochs(path: string, entries: readonly EpochEntry[]): void {
  replaceFile(path, format(entries.map((entry) => `${entry.epoch} ${entry.startOffset}`)));
}

function format(lines: readonly string[]): string {
  return [version, lines.length, ...lines, ''].join('\n');
}

/** Checks version and count, and yields the lines of the entries; none when there is no file. */
function entriesOf(path: string, kind: keyof typeof remedies): { line: string; at: number }[] {
  const text = readText(path);
  if (text === undefined) return [];
  const lines = text.split('\n');
  if (lines[0] !== version) throw corrupt(path, kind, `its version is not ${version}`);
  const count = /^\d+$/.test(lines[1] ?? '') ? Number(lines[1]) : undefined;
  if (count === undefined) throw corrupt(path, kind, 'its second line is not a count');
  const entries = lines.slice(2);
  if (entries.at(-1) !== '' || entries.length - 1 !== count) {
    throw corrupt(path, kind, `it announces ${count} entries and holds ${Math.max(0, entries.length - 1)} whole lines`);
  }
  return entries.slice(0, -1).map((line, index) => ({ line, at: index + 3 }));
}

function safeNumber(digits: string | undefined, path: string, kind: keyof typeof remedies, at: number): number {
  const number = Number(digits);
  if (!Number.isSafeInteger(number)) throw corrupt(path, kind, `line ${at} holds a number above 2^53-1`);
  return number;
}

function corrupt(path: string, kind: keyof typeof remedies, what: string): StorageError {
  return new StorageError(`${path} is corrupt: ${what}; restore the file, or delete it (${remedies[kind]})`);
}
