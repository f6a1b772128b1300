import { describe, expect, it } from 'vitest';
import type { Anomaly, RunResults, Verdict } from '../../../checker/results.ts';
import {
  compareOutcomes,
  controlShowed,
  failureIn,
  type PairOutcome,
  type RunOutcome,
} from '../../../harness/compare/verdict.ts';

function anomaly(kind: Anomaly['kind'], kindClass: Anomaly['class'] = 'violation'): Anomaly {
  return {
    kind,
    class: kindClass,
    guarantee: 'durability',
    key: 'tide-0',
    offset: 7,
    values: [1],
    summary: 'lost',
    labels: [],
    nodes: [],
    evidence: [],
    why: [],
    consequences: [],
  };
}

function run(valid: Verdict, anomalies: readonly Anomaly[] = [], exposures = 1): RunOutcome {
  const results: RunResults = {
    schemaVersion: 1,
    type: 'run',
    valid,
    run: { name: 'x', build: 'x', runtime: 'local', seed: 1, configuration: {}, command: null },
    guarantees: {
      durability: valid,
      agreement: true,
      offsets: true,
      visibility: true,
      order: 'not-checked',
      transactions: 'not-checked',
      convergence: true,
    },
    notes: [],
    anomalies,
    exposures: Array.from({ length: exposures }, () => ({
      key: 'tide-0',
      node: 1,
      leaderEpoch: 1,
      highWatermark: 6,
      endOffset: 7,
      acknowledged: [6, 6] as const,
      reference: { source: 'trace' as const, node: 1, boot: 1, seq: 1 },
    })),
    faults: [],
    measures: {},
  };
  return { directory: 'runs/x', results };
}

const lost = (): RunOutcome => run(false, [anomaly('lost-acked-write')]);
const clean = (): RunOutcome => run(true);

function compare(pairs: readonly (readonly [control: RunOutcome, candidate: RunOutcome])[], planned = pairs.length) {
  return compareOutcomes({
    control: 'hw',
    candidate: 'epoch',
    runtime: 'local',
    seeds: Array.from({ length: planned }, (_, index) => index),
    configuration: {},
    command: 'tidemark compare',
    pairs: pairs.map(([control, candidate], seed): PairOutcome => ({
      seed,
      order: ['control', 'candidate'],
      control,
      candidate,
    })),
  });
}

const six = <T>(make: () => T): T[] => Array.from({ length: 6 }, make);

describe('a comparison', () => {
  it('says that the candidate kept its word when only the control broke it', () => {
    const results = compare(six(() => [lost(), clean()] as const));
    expect(results.valid).toBe(true);
    expect(controlShowed(results)).toBe(true);
    expect(results.control).toMatchObject({ runs: 6, anomalous: 6, exercised: 6, kinds: { 'lost-acked-write': 6 } });
    expect(results.candidate.interval).toMatchObject({ method: 'one-sided-zero' });
    expect(results.verdict).toBe(
      'epoch kept every acknowledged write that hw puts at risk: hw broke a promise in 6 of 6 runs (95 % interval 61 % to 100 %), epoch in 0 of 6 runs (at most 39 % with 95 % confidence), exact McNemar p = 0.031.',
    );
  });

  it('fails when the candidate has one violation, whatever the control did', () => {
    const results = compare([
      [lost(), clean()],
      [clean(), lost()],
    ]);
    expect(results.valid).toBe(false);
    expect(results.verdict).toContain('epoch does not keep its word');
  });

  it('tells the test of the difference as well where only the candidate broke anything', () => {
    const results = compare(six(() => [clean(), lost()] as const));
    expect(results.verdict).toMatch(/^epoch does not keep its word: .*, exact McNemar p = 0\.031\.$/);
  });

  it('says that a silent control proves nothing', () => {
    const results = compare(six(() => [clean(), clean()] as const));
    expect(results.valid).toBe(true);
    expect(controlShowed(results)).toBe(false);
    expect(results.verdict).toContain('The control showed nothing');
  });

  it('says "not significant at this n" where no outcome could have been significant', () => {
    const results = compare([
      [lost(), clean()],
      [lost(), clean()],
    ]);
    expect(results.verdict).toContain('not significant at this n');
  });

  it('says how far it came if it ended early, and claims no bound for runs that showed nothing', () => {
    const missing: RunOutcome = { directory: 'runs/x', results: null, error: 'the comparison ended before this run' };
    expect(compare([[lost(), missing]], 6).verdict).toBe(
      'Void: hw broke a promise in 1 of 1 runs (95 % interval 21 % to 100 %), epoch in 0 of 1 runs (1 unknown); only 1 of 6 pairs was begun; 1 of 2 runs is unknown, too many to prove anything.',
    );
  });

  it('does not count an expected loss', () => {
    const results = compare([[run(true, [anomaly('lost-acked-write', 'expected')]), clean()]]);
    expect(results.control.anomalous).toBe(0);
  });

  it('keeps unknown runs in, bounds the rate from both sides, and is void above 5 %', () => {
    const results = compare([...six(() => [lost(), clean()] as const).slice(1), [lost(), run('unknown')]]);
    expect(results.candidate).toMatchObject({ runs: 6, unknown: 1, anomalous: 0 });
    expect(results.candidate.bounds).toEqual({ allGood: 0, allBad: 1 / 6 });
    expect(results.void).toBe(true);
    expect(results.valid).toBe('unknown');
    expect(results.verdict).toMatch(/^Void: /);
  });

  it('is not void at one unknown run in twenty, but unknown', () => {
    const pairs = Array.from({ length: 10 }, () => [lost(), clean()] as const);
    const results = compare([...pairs.slice(1), [lost(), run('unknown')]]);
    expect(results.void).toBe(false);
    expect(results.valid).toBe('unknown');
    expect(results.verdict).toMatch(/^Unknown whether epoch keeps its word: .*; 1 of 20 runs is unknown\.$/);
  });

  it('praises the candidate in spite of an unknown run of the control', () => {
    const pairs = Array.from({ length: 10 }, () => [lost(), clean()] as const);
    const results = compare([...pairs.slice(1), [run('unknown'), clean()]]);
    expect(results.valid).toBe(true);
    expect(results.verdict).toMatch(/^epoch kept every acknowledged write/);
  });

  it('that is void still says that the candidate broke its word: one violation is proof enough', () => {
    const results = compare([
      [lost(), lost()],
      [run('unknown'), clean()],
    ]);
    expect(results).toMatchObject({ void: true, valid: false });
    expect(results.verdict).toMatch(/^epoch does not keep its word: .*; 1 of 4 runs is unknown, too many to compare/);
  });

  it('counts a run whose harness failed as unknown, and never as an anomaly', () => {
    const failed: RunOutcome = { directory: 'runs/y', results: null, error: 'the engine went away' };
    const results = compare([[lost(), failed]]);
    expect(results.candidate).toMatchObject({ anomalous: 0, unknown: 1 });
    expect(results.pairs[0]?.candidate).toMatchObject({
      completed: false,
      valid: 'unknown',
      error: 'the engine went away',
    });
  });

  it('has failed where any run of it was ended by its environment, and says how many were', () => {
    const failed: RunOutcome = { directory: 'runs/y', results: null, error: 'the engine went away' };
    expect(failureIn(compare([[lost(), clean()]]))).toBeNull();
    expect(failureIn(compare([[lost(), run('unknown')]]))).toBeNull();
    expect(
      failureIn(
        compare([
          [lost(), failed],
          [lost(), clean()],
        ]),
      ),
    ).toBe('1 of 4 runs failed: the engine went away');
  });

  it('keeps an anomaly that was found before the harness failed', () => {
    const results = compare([[lost(), { ...lost(), error: 'the disk is full' }]]);
    expect(results.candidate).toMatchObject({ anomalous: 1, unknown: 0 });
    expect(results.valid).toBe(false);
  });

  it('corrects the secondary endpoints by Holm and leaves the primary alone', () => {
    const both = (): RunOutcome => run(false, [anomaly('lost-acked-write'), anomaly('replica-divergence')]);
    const results = compare(six(() => [both(), clean()] as const));
    expect(results.tests.map((test) => [test.endpoint, test.primary])).toEqual([
      ['any violation', true],
      ['lost-acked-write', false],
      ['replica-divergence', false],
    ]);
    expect(results.tests[0]?.adjustedP).toBeCloseTo(0.03125, 8);
    expect(results.tests[1]?.adjustedP).toBeCloseTo(0.0625, 8);
  });

  it('says how many runs never met the dangerous moment', () => {
    const results = compare([[lost(), run(true, [], 0)]]);
    expect(results.candidate.exercised).toBe(0);
    expect(results.verdict).toContain('1 run of epoch never met the dangerous moment');
  });

  it('counts a run whose exposures nobody knows neither as exercised nor as not exercised', () => {
    const { directory, results: known } = run(true);
    const dark: RunOutcome = { directory, results: known === null ? null : { ...known, exposures: null } };
    const results = compare([
      [lost(), dark],
      [lost(), run(true, [], 0)],
      [lost(), clean()],
    ]);
    expect(results.candidate).toMatchObject({ exercised: 1, exercisedUnknown: 1 });
    expect(results.control).not.toHaveProperty('exercisedUnknown');
    expect(results.pairs[0]?.candidate.exposures).toBeNull();
    expect(results.verdict).toContain(
      '; 1 run of epoch never met the dangerous moment; whether 1 run of epoch met the dangerous moment is not known',
    );
  });
});
