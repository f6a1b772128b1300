/**
 * The comparison against a twin that is written from the definitions alone: a map from offset to record for each replica,
 * looked through offset by offset. Logs are longer than the window through which they are read, replicas are changed,
 * shortened, cut into segments anywhere, and may have deleted what is old.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplicaCopy } from '../../../checker/logs/source.ts';
import { batch, replica, verify } from './replicas.ts';

interface Written {
  readonly base: number;
  readonly values: readonly string[];
  readonly epoch: number;
}

interface Change {
  readonly at: number;
  readonly kind: 'value' | 'epoch' | 'drop' | 'end';
}

const sizes = fc.array(fc.record({ count: fc.integer({ min: 1, max: 4 }), bytes: fc.nat(30_000) }), {
  minLength: 1,
  maxLength: 40,
});
const changes = fc.array(
  fc.record({ at: fc.nat(39), kind: fc.constantFrom<Change['kind']>('value', 'epoch', 'drop', 'end') }),
  { maxLength: 3 },
);
const shape = fc.record({ changes, cuts: fc.array(fc.nat(39), { maxLength: 4 }), start: fc.nat(60) });

function write(list: readonly { readonly count: number; readonly bytes: number }[]): Written[] {
  let next = 0;
  return list.map(({ count, bytes }) => {
    const base = next;
    next += count;
    return { base, epoch: 1, values: Array.from({ length: count }, (_, at) => `${base + at} `.padEnd(bytes, '.')) };
  });
}

/** What a change leaves. A batch that is dropped is a gap, unless it is the last. */
function change(log: readonly Written[], list: readonly Change[]): Written[] {
  let changed = [...log];
  for (const { at, kind } of list) {
    const index = at % Math.max(1, changed.length);
    const found = changed[index];
    if (found === undefined) continue;
    if (kind === 'end') changed = changed.slice(0, index + 1);
    if (kind === 'drop') changed = changed.filter((_, place) => place !== index);
    if (kind === 'epoch') changed[index] = { ...found, epoch: 2 };
    if (kind === 'value') changed[index] = { ...found, values: found.values.map((value) => `!${value}`) };
  }
  return changed;
}

function copyOf(name: string, log: readonly Written[], cuts: readonly number[], logStart: number): ReplicaCopy {
  const segments: Record<number, Uint8Array> = { 0: new Uint8Array() };
  let base = 0;
  for (const [index, written] of log.entries()) {
    if (cuts.includes(index)) {
      base = written.base;
      segments[base] = new Uint8Array();
    }
    segments[base] = Buffer.concat([segments[base]!, batch(written.base, written.values, written.epoch)]);
  }
  return replica(name, segments, { logStart });
}

/** The first offset at which two replicas differ, by the book; null for none. */
function firstDifference(one: readonly Written[], other: readonly Written[], from: number): number | null {
  const [mine, theirs] = [one, other].map((log) => {
    const records = new Map<number, string>();
    for (const { base, values, epoch } of log) {
      for (const [at, value] of values.entries()) records.set(base + at, `${epoch} ${value}`);
    }
    return records;
  }) as [Map<number, string>, Map<number, string>];
  const end = Math.min(endOf(one), endOf(other));
  for (let offset = from; offset < end; offset += 1) {
    if (mine.get(offset) !== theirs.get(offset)) return offset;
  }
  return null;
}

function endOf(log: readonly Written[]): number {
  const last = log.at(-1);
  return last === undefined ? 0 : last.base + last.values.length;
}

describe('any three replicas', () => {
  it('part where their twins say, each two of them', () => {
    fc.assert(
      fc.property(sizes, fc.tuple(shape, shape, shape), (list, shapes) => {
        const log = write(list);
        const logs = shapes.map((each) => change(log, each.changes));
        const starts = shapes.map(({ start }, index) => (start < 40 ? 0 : Math.min(start - 40, endOf(logs[index]!))));
        const names = ['broker-1', 'broker-2', 'broker-3'];
        const report = verify(names.map((name, at) => copyOf(name, logs[at]!, shapes[at]!.cuts, starts[at]!)));
        for (const { copies, from, agreeUntil } of report.comparison.pairs) {
          const [x, y] = copies.map((name) => names.indexOf(name)) as [number, number];
          expect(from).toBe(Math.max(starts[x]!, starts[y]!));
          const expected = firstDifference(logs[x]!, logs[y]!, from);
          expect(agreeUntil).toBe(expected ?? Math.max(from, Math.min(endOf(logs[x]!), endOf(logs[y]!))));
        }
        const ends = new Set(logs.map(endOf));
        const { verdict, exit, pairs } = report.comparison;
        const parted = pairs.some(({ copies, from }) => {
          const [x, y] = copies.map((name) => names.indexOf(name)) as [number, number];
          return firstDifference(logs[x]!, logs[y]!, from) !== null;
        });
        expect(verdict).toBe(parted ? 'diverge' : ends.size > 1 ? 'length' : 'agree');
        if (verdict === 'diverge') expect(exit).toBe(1);
      }),
      { seed: 12, numRuns: 150 },
    );
  }, 60_000);
});
