/** Which faults may have destroyed what was written: only these may excuse a loss where no trace tells. */
import { describe, expect, it } from 'vitest';
import { s1a } from './schedules.ts';
import { kinds } from './story.ts';

describe('a loss without a trace', () => {
  const judged = (kind: string): readonly [string[], unknown] => {
    const story = s1a('hw');
    story.fault('f9', kind, { target: 1 });
    story.fault('f9', kind, { target: 1 }, 'end');
    const run = { ...story.input().run, finalLeaders: { 'tide-0': 1 } };
    const results = story.check({ trace: null, run });
    return [kinds(results), results.guarantees.durability];
  };

  it.each([
    'partition',
    'slow-links',
    'pause',
    'crash',
    'rolling-restart',
    'leader-move',
    'leader-burst',
    'start-partition',
    'kill',
    'bump',
  ])('is not excused by %s', (kind) => {
    expect(judged(kind)).toEqual([['lost-acked-write'], false]);
  });

  it.each(['power-loss', 'corrupt-log', 'lose-unfsynced-writes', 'anything'])('may be excused by %s', (kind) => {
    expect(judged(kind)).toEqual([[], 'unknown']);
  });
});
