/** What a trial remembers of the cases that it tried. */
import { expect, it } from 'vitest';
import { Trial, judge } from '../../../harness/shrink/trial.ts';
import { caseOf } from './failing.ts';

it('a case that does not fail in one way may fail in another', () => {
  const failing = caseOf({ timeLimitMs: 8_000, nemesis: ['handover-crash', 'crash'] });
  const [signature] = judge(failing).violations.keys();
  if (signature === undefined) throw new Error('nothing is broken');
  const trial = new Trial(failing.config.seed, { runs: 20, ms: 60_000 });
  trial.signature = 'what it never shows';
  expect(trial.fails(failing)).toBeNull();
  trial.signature = signature;
  expect(trial.fails(failing)).toEqual(failing);
  const { runs } = trial;
  expect(trial.fails(failing)).toEqual(failing);
  expect(trial.runs).toBe(runs);
});
