/** Abstract states forget what does not matter, and keep what does. */
import { describe, expect, it } from 'vitest';
import { statesOf } from '../../../harness/explore/states.ts';
import { append, create, election, follows, leads, traceOf, truncation, type Line } from './trace-lines.ts';

const all = [1, 2, 3];
const lastState = (...lines: readonly Line[]): number | undefined => statesOf(traceOf(...lines)).at(-1);

describe('an abstract state', () => {
  it('is the same for other offsets and epochs in the same order', () => {
    const small = lastState(
      create(...all),
      election(0, 1, all),
      append(2, 0, 0),
      leads(1, 0, 1, 0),
      follows(2, 1, 0, 1, 0),
    );
    const large = lastState(
      create(...all),
      election(7, 1, all),
      append(2, 40, 7),
      leads(1, 7, 41, 0),
      follows(2, 1, 7, 41, 0),
    );
    expect(small).toBe(large);
  });

  it('is the same whichever replica is which', () => {
    const ledBy = (leader: number, lagging: number): number | undefined =>
      lastState(
        create(...all),
        election(0, leader, all),
        ...all.filter((node) => node !== lagging).map((node) => append(node, 0, 0)),
        ...all.map((node) => (node === leader ? leads(node, 0, 1, 0) : follows(node, leader, 0, 1, 0))),
      );
    expect(ledBy(3, 1)).toBe(ledBy(1, 2));
  });

  it('differs where a log has parted from the leader’s', () => {
    const start = [create(...all), election(0, 1, all), leads(1, 0, 0, 0)] as const;
    const same = lastState(...start, append(1, 0, 0), append(2, 0, 0), follows(2, 1, 0, 1, 0));
    const parted = lastState(...start, append(1, 0, 0), append(2, 0, 1), follows(2, 1, 0, 1, 0));
    expect(same).not.toBe(parted);
  });

  it('differs by the ISR, by roles and by who lags', () => {
    const start = [create(...all), election(0, 1, all), leads(1, 0, 0, 0)] as const;
    const states = [
      lastState(...start, follows(2, 1, 0, 0, 0)),
      lastState(create(...all), election(0, 1, [1]), leads(1, 0, 0, 0), follows(2, 1, 0, 0, 0)),
      lastState(...start, leads(2, 0, 0, 0)),
      lastState(...start, append(1, 0, 0), follows(2, 1, 0, 0, 0)),
    ];
    expect(new Set(states).size).toBe(states.length);
  });

  it('is taken once, however often a run comes back to it', () => {
    const lines = [
      create(...all),
      election(0, 1, all),
      leads(1, 0, 0, 0),
      truncation(2, 0, 0, 0, 'high-watermark'),
    ] as const;
    const once = statesOf(traceOf(...lines));
    expect(statesOf(traceOf(...lines, truncation(2, 0, 0, 0, 'high-watermark')))).toEqual(once);
    expect(new Set(once).size).toBe(once.length);
  });
});
