/** Passes that make a run shorter, driven by a judge that looks at lengths alone. */
import { expect, it } from 'vitest';
import type { Case } from '../../../harness/shrink/case.ts';
import { withFaults } from '../../../harness/shrink/case.ts';
import type { Pass } from '../../../harness/shrink/passes.ts';
import { cutEnd, oneStretch } from '../../../harness/shrink/shorter.ts';
import type { Fault } from '../../../nemesis/schedule.ts';
import { requestOf } from './failing.ts';

const SECOND_MS = 1_000;

/** A run of that length, in which a broker crashes every second. */
function runOf(seconds: number): Case {
  const request = requestOf({ build: 'epoch', timeLimitMs: seconds * SECOND_MS });
  const faults = Array.from({ length: seconds - 1 }, (_, index): Fault => ({
    id: `f${index + 1}`,
    kind: 'crash',
    at: { ms: (index + 1) * SECOND_MS },
    until: { ms: 500 },
    targets: { role: 'one', draw: index },
  }));
  return withFaults({ ...request, load: { schemaVersion: 1, operations: [] } }, faults);
}

/** Drives a pass; accepts what `fails` says. Tells the outcome, and how many cases were tried. */
function driven(pass: Pass, fails: (candidate: Case) => boolean): { readonly best: Case; readonly tried: number } {
  let tried = 0;
  let turn = pass.next();
  while (turn.done !== true) {
    tried += 1;
    turn = pass.next(fails(turn.value) ? turn.value : null);
  }
  return { best: turn.value, tried };
}

const holds = (id: string) => (candidate: Case) => candidate.schedule.faults.some((fault) => fault.id === id);
const nothing = (): boolean => false;

it('the end is cut as soon after the violation as it still fails', () => {
  const run = runOf(30);
  const { best } = driven(cutEnd(run, 10_000), ({ schedule }) => schedule.durationMs >= 11_000);
  expect(best.schedule.durationMs).toBe(12_000);
});

it('in a long run a stretch is found that fails, wherever it is', () => {
  const run = runOf(60);
  const { best } = driven(oneStretch(run, run), holds('f15'));
  expect(best.schedule.durationMs).toBeLessThan(21_000);
  expect(best.schedule.faults.map(({ id }) => id)).toContain('f15');
});

it('faults are tried as planned before they are pinned down, in short stretches before long ones', () => {
  const run = runOf(60);
  const roles = (candidate: Case): readonly string[] =>
    candidate.schedule.faults.map((fault) => ('targets' in fault ? fault.targets.role : ''));
  const lengths: number[] = [];
  const pinned: boolean[] = [];
  driven(oneStretch(run, run), (candidate) => {
    lengths.push(Math.round(candidate.schedule.durationMs / 20_000));
    pinned.push(roles(candidate).includes('nodes'));
    return false;
  });
  expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
  expect(pinned.slice(0, 5)).toEqual([false, false, false, false, false]);
  expect(pinned.slice(5, 10)).toEqual([true, true, true, true, true]);
});

it('a run that is short is left as it is', () => {
  const run = runOf(30);
  expect(driven(oneStretch(run, run), nothing)).toEqual({ best: run, tried: 0 });
});
