/** A comparison on a runtime that fails as told: order, half pairs, and when it gives up. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ComparisonResults } from '../../../checker/results.ts';
import { runComparison, type ComparisonOutcome } from '../../../harness/compare/compare.ts';
import { EnvironmentError, InterruptedError } from '../../../harness/errors.ts';
import { defaultRunConfig } from '../../../harness/plan/config.ts';
import type { DeploySpec } from '../../../nemesis/ports.ts';

let directory: string;
let abort: AbortController;
let lines: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-compare-'));
  abort = new AbortController();
  lines = [];
});

afterEach(() => rmSync(directory, { recursive: true }));

/** Compares with a runtime in which every deployment ends as `deployed` says. */
function compare(
  seeds: readonly number[],
  deployed: (spec: DeploySpec, count: number) => void,
): Promise<ComparisonOutcome> {
  let count = 0;
  return runComparison({
    control: 'hw',
    candidate: 'epoch',
    seeds,
    configure: (build, seed) => ({ ...defaultRunConfig, build, seed, runtime: 'local' }),
    runtime: {
      name: 'local',
      reason: '',
      deploy: (spec) => {
        deployed(spec, (count += 1));
        return Promise.reject(new EnvironmentError(`failure ${count}`));
      },
    },
    directory,
    command: 'tidemark compare',
    commandOfRun: () => 'tidemark run',
    progress: { step: () => {}, detail: () => {}, line: (line) => lines.push(line) },
    signal: abort.signal,
  });
}

const stored = (): ComparisonResults =>
  JSON.parse(readFileSync(join(directory, 'results.json'), 'utf8')) as ComparisonResults;

describe('a comparison whose runs fail', () => {
  it('ends after two failures in a row, with the last one as its own, and nothing of it is an anomaly', async () => {
    const { results, failure } = await compare([1, 2, 3], () => {});
    expect(failure).toBeInstanceOf(EnvironmentError);
    expect(failure?.message).toBe('failure 2');
    expect(results.pairs.map(({ seed }) => seed)).toEqual([1]);
    expect(results).toMatchObject({
      valid: 'unknown',
      control: { runs: 1, anomalous: 0, unknown: 1 },
      candidate: { runs: 1, anomalous: 0, unknown: 1 },
    });
    expect(stored()).toEqual(results);
    expect(lines).toHaveLength(2);
  });

  it('runs both builds of a pair in an order that the seed alone decides', async () => {
    const orders = new Set<string>();
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      rmSync(join(directory, 'runs'), { recursive: true, force: true });
      const { results } = await compare([seed], () => {});
      const order = results.pairs[0]?.order ?? [];
      rmSync(join(directory, 'runs'), { recursive: true, force: true });
      expect((await compare([seed], () => {})).results.pairs[0]?.order).toEqual(order);
      orders.add(order.join());
    }
    expect(orders).toEqual(new Set(['control,candidate', 'candidate,control']));
  });
});

describe('a comparison that is interrupted', () => {
  it('in the first run of a pair keeps that run, and counts its twin as one without a verdict', async () => {
    const { results, failure } = await compare([1, 2], () => abort.abort());
    expect(failure).toBeInstanceOf(InterruptedError);
    expect(results.pairs).toHaveLength(1);
    const { order, control, candidate } = results.pairs[0]!;
    const [first, second] = order[0] === 'control' ? [control, candidate] : [candidate, control];
    expect(first).toMatchObject({ valid: 'unknown', completed: false, error: 'interrupted' });
    expect(second).toMatchObject({ valid: 'unknown', completed: false, error: 'the comparison ended before this run' });
  });

  it('in its very last run is interrupted too', async () => {
    const { failure } = await compare([1], (_, count) => {
      if (count === 2) abort.abort();
    });
    expect(failure).toBeInstanceOf(InterruptedError);
  });

  it('before its first run has made none', async () => {
    abort.abort();
    const { results, failure } = await compare([1], () => {});
    expect(failure).toBeInstanceOf(InterruptedError);
    expect(results.pairs).toEqual([]);
    expect(stored().verdict).toBe('No run was made, so nothing was compared.');
  });
});

describe('a comparison whose results cannot be written any more', () => {
  it('ends there, says why, and still tells what it found', async () => {
    const { results, failure } = await compare([1, 2], (_, count) => {
      if (count > 1) return;
      rmSync(join(directory, 'results.json'));
      // What even root cannot write over.
      mkdirSync(join(directory, 'results.json'));
    });
    expect(failure).toBeInstanceOf(EnvironmentError);
    expect(results.pairs).toHaveLength(1);
  });
});
