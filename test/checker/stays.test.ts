/** Batches in logs, against a plain list of them: what covers an offset, what differs, what two epochs claim. */
import { describe, expect, it } from 'vitest';
import { Stays } from '../../checker/stays.ts';
import { Draws } from './twins/random.ts';

interface Plain {
  readonly base: number;
  readonly last: number;
  readonly epoch: number;
  readonly hash: number;
}

/** Some batches, short or so long that they cover more offsets than there are batches. */
function drawn(seed: number): { readonly stays: Stays; readonly plain: readonly Plain[] } {
  const draws = new Draws(seed);
  const longest = draws.pick([1, 3, 50]);
  const plain = Array.from({ length: 1 + draws.below(10) }, (): Plain => {
    const base = draws.below(12);
    return { base, last: base + draws.below(longest), epoch: draws.below(3), hash: draws.below(2) };
  });
  const stays = new Stays();
  for (const [row, { base, last, epoch, hash }] of plain.entries()) stays.add(1, base, last, epoch, hash, row);
  return { stays, plain };
}

const seeds = Array.from({ length: 120 }, (_, seed) => seed);

describe('the batches of a partition', () => {
  it('that cover an offset are found, the oldest first', () => {
    for (const seed of seeds) {
      const { stays, plain } = drawn(seed);
      for (let offset = 0; offset < 64; offset += 1) {
        const covering = plain.flatMap(({ base, last }, at) => (base <= offset && offset <= last ? [at] : []));
        expect(stays.at(offset), `seed ${seed}, offset ${offset}`).toEqual(covering);
      }
    }
  });

  it('contradict each other where one leader wrote two at one place', () => {
    for (const seed of seeds) {
      const { stays, plain } = drawn(seed);
      const pairs = plain.flatMap((one, at) =>
        plain.flatMap((other, before) => {
          const same = before < at && one.base === other.base && one.epoch === other.epoch;
          return same && one.hash !== other.hash ? [`${before} ${at}`] : [];
        }),
      );
      expect(stays.contradictions.map((pair) => pair.join(' ')).sort()).toEqual(pairs.sort());
    }
  });

  it('that differ are told together, by their first offset, and those that are alike are not', () => {
    for (const seed of seeds) {
      const { stays, plain } = drawn(seed);
      const bases = [...new Set(plain.map(({ base }) => base))].sort((x, y) => x - y);
      const differing = bases.flatMap((base) => {
        const together = plain.flatMap((each, at) => (each.base === base ? [at] : []));
        const names = new Set(together.map((at) => `${plain[at]?.epoch} ${plain[at]?.hash}`));
        return names.size > 1 ? [together] : [];
      });
      expect(stays.differing().map((group) => group.sort((x, y) => x - y))).toEqual(differing);
    }
  });

  it('of two epochs that share an offset contest it, the older first', () => {
    for (const seed of seeds) {
      const { stays, plain } = drawn(seed);
      const contested = plain.flatMap((older, at) =>
        plain.flatMap((newer, other) => {
          const overlap = older.base <= newer.last && newer.base <= older.last;
          return overlap && older.epoch < newer.epoch ? [`${at} ${other}`] : [];
        }),
      );
      expect([...stays.contested()].map((pair) => pair.join(' ')).sort()).toEqual(contested.sort());
    }
  });
});
