import { describe, expect, it } from 'vitest';
import type { ComparisonResults, Verdict } from '../../../checker/results.ts';
import { joinComparisons } from '../../../harness/compare/two-parts.ts';
import { compareOutcomes, controlShowed, type PairOutcome, type RunOutcome } from '../../../harness/compare/verdict.ts';

function run(valid: Verdict): RunOutcome {
  const anomalies = valid === false ? [{ kind: 'lost-acked-write', class: 'violation', key: 'tide-0' } as const] : [];
  return { directory: 'runs/x', results: { valid, notes: [], anomalies, exposures: [{ key: 'tide-0' }] } };
}

function comparison(runtime: string, pairs: number, control: Verdict, candidate: Verdict): ComparisonResults {
  const seeds = Array.from({ length: pairs }, (_, index) => index + 1);
  const outcomes = seeds.map((seed): PairOutcome => ({
    seed,
    order: ['control', 'candidate'],
    control: run(control),
    candidate: run(candidate),
  }));
  const names = { control: 'hw', candidate: 'epoch', runtime, command: `npm start -- --runtime ${runtime}` };
  return compareOutcomes({ ...names, seeds, configuration: {}, pairs: outcomes });
}

const join = (primary: ComparisonResults, realism: ComparisonResults) => joinComparisons(primary, realism, 'npm start');

describe('a comparison of two parts', () => {
  it('is told in one sentence that names both and pools nothing', () => {
    const joined = join(comparison('sim', 200, false, true), comparison('local', 6, false, true));
    expect(joined.verdict).toBe(
      'epoch kept every acknowledged write that hw puts at risk: in the simulator hw broke a promise in 200 of 200 runs, epoch in 0 of 200 runs, exact McNemar p = 1.2e-60; in local processes hw broke a promise in 6 of 6 runs, epoch in 0 of 6 runs, exact McNemar p = 0.031.',
    );
    expect(joined).toMatchObject({ valid: true, runtime: 'sim', command: 'npm start', control: { runs: 200 } });
    expect(joined.realism).toMatchObject({
      runtime: 'local',
      control: { runs: 6 },
      command: 'npm start -- --runtime local',
    });
  });

  it('leads to the folders of the second part inside of the first', () => {
    const joined = join(comparison('sim', 1, false, true), comparison('docker', 1, false, true));
    expect(joined.pairs[0]?.control.directory).toBe('runs/x');
    expect(joined.realism?.pairs[0]?.candidate.directory).toBe('realism/runs/x');
  });

  it('fails wherever the candidate breaks a promise', () => {
    const joined = join(comparison('sim', 200, false, true), comparison('docker', 6, false, false));
    expect(joined.valid).toBe(false);
    expect(joined.verdict).toMatch(/^epoch does not keep its word: in the simulator .* in containers /);
  });

  it('is unknown where one part is', () => {
    const joined = join(comparison('sim', 200, false, true), comparison('docker', 6, false, 'unknown'));
    expect(joined.valid).toBe('unknown');
    expect(joined.verdict).toMatch(/^Unknown whether epoch keeps its word: /);
  });

  it('proves nothing where the primary control is silent, and something where only the other one is', () => {
    const silent = join(comparison('sim', 200, true, true), comparison('local', 6, false, true));
    expect(controlShowed(silent)).toBe(false);
    expect(silent.verdict).toMatch(/^The control showed nothing, so this comparison proves nothing: /);
    const shown = join(comparison('sim', 200, false, true), comparison('local', 6, true, true));
    expect(controlShowed(shown)).toBe(true);
    expect(shown.verdict).toMatch(/^epoch kept every acknowledged write /);
  });
});

describe('a run whose files were not kept', () => {
  it('is told with the command that makes it again', () => {
    const gone: RunOutcome = { ...run(true), command: 'npm run tidemark -- run --build epoch --seed 1 --runtime sim' };
    const pair: PairOutcome = { seed: 1, order: ['control', 'candidate'], control: run(false), candidate: gone };
    const names = { control: 'hw', candidate: 'epoch', runtime: 'sim', command: 'npm start' };
    const [told] = compareOutcomes({ ...names, seeds: [1], configuration: {}, pairs: [pair] }).pairs;
    expect(told?.candidate).toMatchObject({ kept: false, command: gone.command });
    expect(told?.control).not.toHaveProperty('kept');
  });
});
