/** A search counts what its runs found: the flaw of `hw`, nothing on `epoch`, the lowest run first. */
import { describe, expect, it } from 'vitest';
import type { Pins } from '../../../harness/explore/draws.ts';
import { runJob, type SearchJob } from '../../../harness/explore/one-run.ts';
import { reportOf } from '../../../harness/explore/report.ts';
import { createTally, search, type SearchLimits, type Tally } from '../../../harness/explore/search.ts';
import { faultKindsOf } from '../../../harness/plan/config.ts';

/** Small runs, and the fault that shows the flaw of `hw` often. */
const pins: Pins = {
  timeLimitMs: 5_000,
  rate: 50,
  brokers: 3,
  replicationFactor: 3,
  nemesis: ['handover-crash', 'crash'],
};

function* jobs(build: string, seed = 1): Generator<SearchJob, never, undefined> {
  for (let next = seed; ; next += 1) yield { build, seed: next, pins, kinds: faultKindsOf.sim };
}

async function tallyOf(build: string, limits: Partial<SearchLimits>, heard = () => {}): Promise<Tally> {
  const tally = createTally();
  const signal = new AbortController().signal;
  const all = {
    runs: Infinity,
    budgetMs: Infinity,
    untilFail: false,
    threads: 1,
    signal,
    elapsedMs: () => 0,
    ...limits,
  };
  await search(jobs(build), tally, all, heard);
  return tally;
}

const facts = { seed: 1, command: '', seconds: 2, kept: new Map(), guided: null, unclean: false };

describe('a search', () => {
  it('finds the acknowledged record that hw loses, within a few runs, and the first find is the lowest run', async () => {
    const tally = await tallyOf('hw', { runs: 12 });
    expect(tally.anomalous).toBeGreaterThan(0);
    const lowest = Array.from({ length: 12 }, (_, index) => index + 1).find(
      (seed) => runJob({ build: 'hw', seed, pins, kinds: faultKindsOf.sim }).violations.length > 0,
    );
    expect(tally.first).toMatchObject({ run: lowest, seed: lowest });
    expect(tally.first?.violations[0]?.kind).toBe('lost-acked-write');
    expect([...tally.signatures.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(
      tally.anomalous,
    );
  });

  it('finds nothing on epoch under the same plans, and was exposed to the same danger', async () => {
    const tally = await tallyOf('epoch', { runs: 12 });
    expect(tally).toMatchObject({ runs: 12, anomalous: 0, unknown: 0, first: null, finds: [] });
    expect(tally.marks.get('exposure')).toBeGreaterThan(0);
  });

  it('stops at the first find where that is asked for', async () => {
    const all = await tallyOf('hw', { runs: 12 });
    const some = await tallyOf('hw', { runs: 12, untilFail: true });
    expect(some.first).toEqual(all.first);
    expect(some.runs).toBe(all.first?.run);
  });

  it('stops when the time is up, after one run at least', async () => {
    let calls = 0;
    expect((await tallyOf('epoch', { budgetMs: 1, elapsedMs: () => 10 })).runs).toBe(1);
    const tally = await tallyOf('epoch', { budgetMs: 100, elapsedMs: () => (calls += 20) });
    expect(tally.runs).toBeGreaterThan(1);
    expect(tally.runs).toBeLessThan(6);
  });

  it('does not begin a run that is likely to end after its time', async () => {
    let ms = 0;
    const runTakes = (): void => {
      ms += 100;
    };
    const tally = await tallyOf('epoch', { budgetMs: 2_050, elapsedMs: () => ms }, runTakes);
    expect([tally.runs, ms]).toEqual([20, 2_000]);
  });

  it('keeps few finds of each signature, however many there are', async () => {
    const tally = await tallyOf('hw', { runs: 20 });
    const kept = new Map<string, number>();
    for (const { violations } of tally.finds) {
      for (const { signature } of violations) kept.set(signature, (kept.get(signature) ?? 0) + 1);
    }
    expect(tally.anomalous).toBeGreaterThan(tally.finds.length);
    expect(new Set(kept.keys())).toEqual(new Set(tally.signatures.keys()));
  });
});

describe('the report of a search', () => {
  it('counts runs, names the first find and the command that shows it again, and says which marks were missed', async () => {
    const report = reportOf(await tallyOf('hw', { runs: 12, untilFail: true }), { build: 'hw', ...facts });
    const { first } = report;
    expect(report).toMatchObject({
      schemaVersion: 1,
      type: 'exploration',
      build: 'hw',
      seed: 1,
      anomalous: 1,
      unknown: 0,
    });
    expect(report.runsPerSecond).toBe(report.runs / 2);
    expect(first?.command).toMatch(
      new RegExp(
        `^npm run tidemark -- run --build hw --seed ${first?.seed} --runtime sim .*--nemesis handover-crash,crash`,
      ),
    );
    expect(first).toMatchObject({ directory: null, plan: null });
    for (const mark of report.missedMarks) expect(report.marks[mark]).toBe(0);
    expect(report.missedMarks).not.toContain('unclean-election');
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  it('names the plan of a guided find, whose seed does not repeat it', async () => {
    const tally = await tallyOf('hw', { runs: 12, untilFail: true });
    const run = tally.first?.run ?? 0;
    const kept = new Map([[run, { directory: 'store/x', plan: 'store/x/schedule.json' }]]);
    const guided = { states: 1, newPerThousand: [1], goodTuring: 1, kept: 1 };
    expect(reportOf(tally, { build: 'hw', ...facts, kept, guided }).first).toMatchObject({
      run,
      seed: null,
      plan: 'store/x/schedule.json',
      command: 'npm run tidemark -- replay store/x',
    });
  });
});
