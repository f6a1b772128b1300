/** The words and ranges that findings are made of, and which guarantee each kind breaks. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  covers,
  emptyFinding,
  gravityOf,
  guaranteeOf,
  historyReference,
  inWords,
  listed,
  offsetsInWords,
  plural,
  rangesOf,
} from '../../../checker/anomalies/finding.ts';
import type { AnomalyKind } from '../../../checker/results.ts';

describe('kinds of anomalies', () => {
  it('break one guarantee each, the gravest first', () => {
    const told = Object.entries(guaranteeOf).map(([kind, guarantee]) => `${guarantee}: ${kind}`);
    expect(told).toEqual([
      'durability: lost-acked-write',
      'durability: lost-write',
      'durability: log-start-moved',
      'agreement: replica-divergence',
      'agreement: two-leaders-one-epoch',
      'offsets: committed-overwritten',
      'agreement: epoch-regression',
      'durability: ack-below-min-isr',
      'offsets: offset-moved',
      'offsets: ack-conflict',
      'offsets: inconsistent-offsets',
      'offsets: duplicate',
      'visibility: hw-regression',
      'visibility: phantom',
      'visibility: G1a',
      'visibility: consumer-saw-uncommitted',
      'transactions: precommitted-read',
      'transactions: G1c',
      'transactions: G1c-process',
      'transactions: G1c-realtime',
      'order: realtime-order',
      'order: nonmonotonic-send',
      'order: int-nonmonotonic-send',
      'order: nonmonotonic-poll',
      'order: int-nonmonotonic-poll',
      'order: poll-skip',
      'order: int-poll-skip',
      'durability: lost-on-replica',
      'convergence: broker-suicide',
      'convergence: failed-start',
      'convergence: no-convergence',
      'offsets: malformed',
    ]);
    for (const [at, kind] of Object.keys(guaranteeOf).entries()) expect(gravityOf(kind as AnomalyKind)).toBe(at);
  });

  it('begin as violations of which nothing else is known', () => {
    const { kind, class: of, key, offset, summary, lackingEpoch, ...lists } = emptyFinding('phantom', 'a-0');
    expect([kind, of, key, offset, summary, lackingEpoch]).toEqual(['phantom', 'violation', 'a-0', null, '', null]);
    expect(lists).toEqual({ values: [], labels: [], nodes: [], evidence: [], why: [], rows: [], ranges: [] });
    expect(historyReference(7)).toEqual({ source: 'history', index: 7 });
  });
});

describe('offsets as ranges', () => {
  it('cover the same offsets, and no two of them touch', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30)), (offsets) => {
        const ranges = rangesOf(offsets);
        for (let offset = -1; offset <= 31; offset += 1) expect(covers(ranges, offset)).toBe(offsets.includes(offset));
        for (const [at, [first, last]] of ranges.entries()) {
          expect(first).toBeLessThanOrEqual(last);
          if (at > 0) expect(first).toBeGreaterThan(ranges[at - 1]![1] + 1);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each<[readonly (readonly [number, number])[], string]>([
    [[], 'offsets '],
    [[[7, 7]], 'offset 7'],
    [[[7, 9]], 'offsets 7 to 9'],
    [
      [
        [1, 1],
        [3, 3],
      ],
      'offsets 1 and 3',
    ],
    [
      [
        [1, 1],
        [3, 3],
        [7, 9],
      ],
      'offsets 1, 3 and 7 to 9',
    ],
    [
      [
        [0, 0],
        [2, 2],
        [4, 4],
        [6, 6],
        [8, 8],
      ],
      'offsets 0, 2, 4, 6 and 8',
    ],
    [
      [
        [0, 0],
        [2, 2],
        [4, 4],
        [6, 6],
        [8, 8],
        [10, 10],
        [12, 13],
      ],
      'offsets 0, 2, 4, 6, 8 and 2 more ranges',
    ],
  ])('%j in words', (ranges, words) => {
    expect(offsetsInWords(ranges)).toBe(words);
  });
});

describe('words', () => {
  it('are joined as in a sentence', () => {
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(inWords)).toEqual(['', 'a', 'a and b', 'a, b and c']);
  });

  it('are counted', () => {
    expect([0, 1, 2].map((count) => plural(count, 'ox', 'oxen'))).toEqual(['0 oxen', '1 ox', '2 oxen']);
  });

  it('are listed up to a hundred', () => {
    const many = Array.from({ length: 101 }, (_, at) => at);
    expect([listed([]), listed([1, 2])]).toEqual([[], [1, 2]]);
    expect([listed(many.slice(1)).length, listed(many).length, listed(many).at(-1)]).toEqual([100, 100, 99]);
  });
});
