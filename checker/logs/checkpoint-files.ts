/**
 * Kafka's checkpoint files, from their text (CheckpointFile, OffsetCheckpointFile, LeaderEpochCheckpointFile): a version, a
 * count, and so many lines. An empty file means no entries: a broker that was killed before its first write leaves one.
 *
 * A file that says anything else is malformed as a whole: whoever reads half of it believes what nobody wrote.
 */
import type { EpochEntry } from './source.ts';

/** What a file says, or what is wrong with it. */
export type Parsed<T> = { readonly entries: T } | { readonly flaw: string };

/** `topic partition offset` a line, as offsets by `topic-partition`. */
export function parseOffsetCheckpoint(text: string): Parsed<ReadonlyMap<string, number>> {
  return parse(text, /^(\S+) (\d{1,10}) (\d{1,19})$/, (matches) => {
    return new Map(matches.map(([, topic, partition, offset]) => [`${topic}-${partition}`, Number(offset)]));
  });
}

/** `epoch startOffset` a line, by rising offset. */
export function parseEpochCheckpoint(text: string): Parsed<readonly EpochEntry[]> {
  return parse(text, /^(\d{1,10}) (\d{1,19})$/, (matches) => {
    return matches
      .map(([, epoch, start]) => ({ epoch: Number(epoch), start: Number(start) }))
      .sort((one, other) => one.start - other.start || one.epoch - other.epoch);
  });
}

function parse<T>(text: string, shape: RegExp, make: (matches: RegExpExecArray[]) => T): Parsed<T> {
  if (text.trim() === '') return { entries: make([]) };
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  if (lines[0] !== '0') return { flaw: `its first line is not the version 0` };
  if (!/^\d+$/.test(lines[1] ?? '')) return { flaw: 'its second line is not a count' };
  const matches: RegExpExecArray[] = [];
  for (const [index, line] of lines.slice(2).entries()) {
    const match = shape.exec(line);
    if (match === null) return { flaw: `its line ${index + 3} cannot be understood` };
    matches.push(match);
  }
  const count = Number(lines[1]);
  if (matches.length !== count) return { flaw: `it announces ${count} entries and holds ${matches.length}` };
  return { entries: make(matches) };
}
