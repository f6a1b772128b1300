import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assignEpoch,
  endOffsetFor,
  latestEpoch,
  truncateFromEnd,
  truncateFromStart,
  undefinedEnd,
} from '../../../broker/core/epoch-cache.ts';
import type { EpochCache, EpochLookup } from '../../../broker/core/epoch-cache.ts';

/** `cacheOf({0: 0, 1: 300})`: epoch to start offset. */
function cacheOf(entries: Readonly<Record<number, number>>): EpochCache {
  return Object.entries(entries).map(([epoch, startOffset]) => ({ epoch: Number(epoch), startOffset }));
}

const lookups: readonly EpochLookup[] = ['end-only', 'undefined-below-first', 'start-below-first'];
const newest: EpochLookup = 'start-below-first';

describe('where an epoch ends', () => {
  it('is the end of the log for the newest epoch', () => {
    expect(endOffsetFor(cacheOf({ 0: 0, 1: 5 }), 1, 8, newest)).toEqual({ epoch: 1, endOffset: 8 });
  });

  it('is where the next epoch starts for an older one', () => {
    expect(endOffsetFor(cacheOf({ 0: 0, 1: 5 }), 0, 8, newest)).toEqual({ epoch: 0, endOffset: 5 });
  });

  it('is that of the nearest older epoch for one that this log never saw', () => {
    expect(endOffsetFor(cacheOf({ 0: 0, 2: 1, 4: 4 }), 3, 6, newest)).toEqual({ epoch: 2, endOffset: 4 });
    expect(endOffsetFor(cacheOf({ 0: 0, 2: 1 }), 1, 2, newest)).toEqual({ epoch: 0, endOffset: 1 });
  });

  it('carries no epoch on a build of KIP-101', () => {
    expect(endOffsetFor(cacheOf({ 0: 0, 2: 1, 4: 4 }), 3, 6, 'end-only')).toEqual({ epoch: -1, endOffset: 4 });
  });

  it('is unknown when no newer epoch is known, and known once a new leader has noted its own', () => {
    expect(endOffsetFor(cacheOf({ 0: 0 }), 1, 1, newest)).toEqual(undefinedEnd);
    expect(endOffsetFor(cacheOf({ 0: 0, 2: 1 }), 1, 1, newest)).toEqual({ epoch: 0, endOffset: 1 });
  });

  it('is the start of the first epoch for all below it, unless the build is older than KAFKA-7415', () => {
    expect(endOffsetFor(cacheOf({ 5: 10 }), 4, 20, newest)).toEqual({ epoch: 4, endOffset: 10 });
    expect(endOffsetFor(cacheOf({ 5: 10 }), 4, 20, 'undefined-below-first')).toEqual(undefinedEnd);
    expect(endOffsetFor(cacheOf({ 5: 10 }), 4, 20, 'end-only')).toEqual(undefinedEnd);
  });

  it.each(lookups)('is unknown for no epoch, and to an empty cache (%s)', (lookup) => {
    expect(endOffsetFor(cacheOf({ 0: 0 }), -1, 3, lookup)).toEqual(undefinedEnd);
    expect(endOffsetFor([], 0, 3, lookup)).toEqual(undefinedEnd);
  });
});

describe('an epoch cache', () => {
  it('notes an epoch once, and returns itself when nothing changes', () => {
    const cache = assignEpoch(cacheOf({ 0: 0 }), 1, 300);
    expect(cache).toEqual(cacheOf({ 0: 0, 1: 300 }));
    expect(assignEpoch(cache, 1, 301)).toBe(cache);
  });

  it('drops what contradicts a new entry: as new an epoch, or as far a start', () => {
    expect(assignEpoch(cacheOf({ 0: 0, 1: 5, 3: 7 }), 2, 9)).toEqual(cacheOf({ 0: 0, 1: 5, 2: 9 }));
    expect(assignEpoch(cacheOf({ 0: 0, 1: 5, 2: 7 }), 3, 5)).toEqual(cacheOf({ 0: 0, 3: 5 }));
  });

  it('keeps them, and ignores the new entry, on builds older than KAFKA-7415', () => {
    const cache = cacheOf({ 0: 0, 1: 5, 3: 7 });
    expect(assignEpoch(cache, 2, 9, 'new-entry-ignored')).toBe(cache);
    expect(assignEpoch(cache, 4, 6, 'new-entry-ignored')).toBe(cache);
    expect(assignEpoch(cache, 4, 9, 'new-entry-ignored')).toEqual(cacheOf({ 0: 0, 1: 5, 3: 7, 4: 9 }));
  });

  it('forgets epochs that start at or beyond a new end', () => {
    const cache = cacheOf({ 0: 0, 1: 5, 2: 7 });
    expect(truncateFromEnd(cache, 7)).toEqual(cacheOf({ 0: 0, 1: 5 }));
    expect(truncateFromEnd(cache, 8)).toBe(cache);
  });

  it('keeps the epoch of the first record at a new start', () => {
    const cache = cacheOf({ 0: 0, 1: 5, 2: 7 });
    expect(truncateFromStart(cache, 6)).toEqual(cacheOf({ 1: 6, 2: 7 }));
    expect(truncateFromStart(cache, 0)).toBe(cache);
    expect(truncateFromStart(cache, 9)).toEqual(cacheOf({ 2: 9 }));
  });
});

describe('the laws of an epoch cache', () => {
  const assignments = fc.array(fc.tuple(fc.nat(8), fc.nat(20)), { maxLength: 12 });

  it('are kept by every sequence of assignments: strictly increasing in both fields, and the last one stands', () => {
    fc.assert(
      fc.property(assignments, (steps) => {
        let cache: EpochCache = [];
        for (const [epoch, start] of steps) {
          cache = assignEpoch(cache, epoch, start);
          expect(latestEpoch(cache)).toBe(epoch);
          expect(isIncreasing(cache)).toBe(true);
        }
      }),
    );
  });

  it('hold for the answers: never an epoch above the question, and ends grow with the epoch asked for', () => {
    fc.assert(
      fc.property(assignments, fc.nat(10), fc.nat(10), fc.constantFrom(...lookups), (steps, one, other, lookup) => {
        const cache = steps.reduce<EpochCache>((grown, [epoch, start]) => assignEpoch(grown, epoch, start), []);
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        const [lower, higher] = [low, high].map((epoch) => endOffsetFor(cache, epoch, 100, lookup));
        expect(higher!.epoch).toBeLessThanOrEqual(high);
        if (lower!.endOffset >= 0 && higher!.endOffset >= 0) {
          expect(lower!.endOffset).toBeLessThanOrEqual(higher!.endOffset);
        }
      }),
    );
  });
});

function isIncreasing(cache: EpochCache): boolean {
  return cache.every((entry, index) => {
    const before = cache[index - 1];
    return before === undefined || (before.epoch < entry.epoch && before.startOffset < entry.startOffset);
  });
}
