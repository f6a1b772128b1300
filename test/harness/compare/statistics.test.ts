/** Against values computed by hand or with R (`binom.test`, `fisher.test`, `p.adjust`, Wilson by `prop.test` without correction). */
import { describe, expect, it } from 'vitest';
import { fisherExact, holm, mcnemarExact, rateInterval, smallestMcnemar } from '../../../harness/compare/statistics.ts';

describe('the interval of a rate', () => {
  it('is Wilson’s where something was seen', () => {
    const interval = rateInterval(23, 200);
    expect(interval.method).toBe('wilson');
    expect(interval.low).toBeCloseTo(0.0778, 3);
    expect(interval.high).toBeCloseTo(0.1665, 3);
  });

  it('is the one-sided bound where nothing was seen', () => {
    expect(rateInterval(0, 6)).toEqual({ method: 'one-sided-zero', low: 0, high: 1 - 0.05 ** (1 / 6) });
    expect(rateInterval(0, 6).high).toBeCloseTo(0.393, 3);
  });

  it('stays within 0 and 1, and says nothing without runs', () => {
    expect(rateInterval(6, 6).high).toBe(1);
    expect(rateInterval(6, 6).low).toBeCloseTo(0.6097, 3);
    expect(rateInterval(0, 0)).toEqual({ method: 'wilson', low: 0, high: 1 });
  });
});

describe('the exact McNemar test', () => {
  it('is 1 without discordant pairs', () => expect(mcnemarExact(0, 0)).toBe(1));
  it('needs six one-sided pairs for significance', () => {
    expect(mcnemarExact(5, 0)).toBeCloseTo(0.0625, 10);
    expect(mcnemarExact(6, 0)).toBeCloseTo(0.03125, 10);
    expect(smallestMcnemar(6)).toBeCloseTo(0.03125, 10);
    expect(smallestMcnemar(0)).toBe(1);
  });
  it('agrees with the binomial test for mixed pairs, whichever side leads', () => {
    expect(mcnemarExact(8, 2)).toBeCloseTo(0.109375, 9);
    expect(mcnemarExact(2, 8)).toBeCloseTo(0.109375, 9);
    expect(mcnemarExact(5, 5)).toBe(1);
  });
  it('does not overflow for thousands of pairs', () => {
    expect(mcnemarExact(3000, 2000)).toBeLessThan(1e-40);
    expect(mcnemarExact(2500, 2500)).toBe(1);
  });
});

describe('Fisher’s exact test', () => {
  it('agrees with the textbook’s tea tasting', () => expect(fisherExact(3, 4, 1, 4)).toBeCloseTo(0.4857, 4));
  it('agrees with R for unequal groups', () => {
    expect(fisherExact(10, 50, 0, 50)).toBeCloseTo(0.001187, 5);
    expect(fisherExact(0, 0, 0, 0)).toBe(1);
  });
});

describe('Holm’s correction', () => {
  it('multiplies step by step and never lets a later value fall below an earlier one', () => {
    const adjusted = holm([0.01, 0.04, 0.03]);
    expect(adjusted[0]).toBeCloseTo(0.03, 10);
    expect(adjusted[1]).toBeCloseTo(0.06, 10);
    expect(adjusted[2]).toBeCloseTo(0.06, 10);
    expect(holm([])).toEqual([]);
    expect(holm([0.9, 0.8])).toEqual([1, 1]);
  });
});
