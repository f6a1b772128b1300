import { describe, expect, it } from 'vitest';
import { Estimates, orderOfPairs, type Turn } from '../../../harness/nightly/order.ts';

const told = (turns: Iterable<Turn>): string => [...turns].map(({ cell, seed }) => `${'abc'[cell]}${seed}`).join(' ');

describe('the order of the pairs of a night', () => {
  it('is seed by seed, and within a seed cell by cell', () => {
    const order = orderOfPairs(
      3,
      [7, 9],
      () => false,
      () => true,
    );
    expect(told(order.turns)).toBe('a7 b7 c7 a9 b9 c9');
    expect(order.isCut()).toBe(false);
  });

  it('leaves out what is done, in the same order', () => {
    const done = new Set(['a7', 'c7', 'b8']);
    const order = orderOfPairs(
      3,
      [7, 8],
      ({ cell, seed }) => done.has(`${'abc'[cell]}${seed}`),
      () => true,
    );
    expect(told(order.turns)).toBe('b7 a8 c8');
  });

  it('gives the seed in which a pair no longer fits to the cells in which it does, and nobody the next', () => {
    let left = 4;
    const order = orderOfPairs(
      3,
      [7, 8, 9],
      () => false,
      (cell) => cell !== 1 || (left -= 1) > 2,
    );
    expect(told(order.turns)).toBe('a7 b7 c7 a8 c8');
    expect(order.isCut()).toBe(true);
  });

  it('asks whether a pair fits only when its turn has come', () => {
    const asked: number[] = [];
    const order = orderOfPairs(
      2,
      [1],
      () => false,
      (cell) => asked.push(cell) > 0,
    );
    const turns = order.turns[Symbol.iterator]();
    expect(asked).toEqual([]);
    turns.next();
    expect(asked).toEqual([0]);
  });
});

describe('the estimate of a pair', () => {
  it('is what it takes at least, as long as nothing is known', () => {
    expect(new Estimates([0, 24_000]).of(1)).toBe(24_000);
  });

  it('is the longest of the last five of its own cell', () => {
    const estimates = new Estimates([0, 0]);
    for (const ms of [900, 20, 30, 10]) estimates.took(0, ms);
    estimates.took(1, 5_000);
    expect(estimates.of(0)).toBe(900);
    for (const ms of [15, 25]) estimates.took(0, ms);
    expect(estimates.of(0)).toBe(30);
  });
});
