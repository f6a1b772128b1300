/** Whole runs of a cluster that tells no trace: our own brokers pass for foreign ones. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResults } from '../../../checker/results.ts';
import type { ForeignCluster } from '../../../docker/foreign.ts';
import { foreignRunConfig, topicOf, type RunConfig } from '../../../harness/plan/config.ts';
import { createProgress } from '../../../harness/progress.ts';
import { poolClusters } from '../../../harness/run/cluster-pool.ts';
import { executeRun, type RunReport } from '../../../harness/run/run.ts';
import { releaseRuntime, type ChosenRuntime } from '../../../harness/run/runtimes.ts';
import { deployPassing, passingTarget, type Passing } from '../observe/ours-as-foreign.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-foreign-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

const silent = { ...createProgress(true), step: () => {}, detail: () => {} };

function run(
  runtime: ChosenRuntime,
  changes: Partial<RunConfig> & Pick<RunConfig, 'build'>,
  onStep: (step: string) => void = () => {},
): Promise<RunReport> {
  const seed = changes.seed ?? 1;
  mkdirSync(folder(seed));
  return executeRun({
    config: {
      ...foreignRunConfig,
      runtime: 'docker',
      seed,
      topic: topicOf(seed, true),
      partitions: 2,
      timeLimitMs: 2_000,
      nemesis: [],
      ...changes,
    },
    runtime,
    directory: folder(seed),
    name: `${changes.build}-${seed}`,
    command: 'tidemark run',
    progress: { ...silent, step: onStep },
    signal: new AbortController().signal,
  });
}

const folder = (seed: number): string => join(directory, `${seed}`);
const read = (seed: number, name: string): string => readFileSync(join(folder(seed), name), 'utf8');
const runFile = (seed: number): Record<string, unknown> =>
  JSON.parse(read(seed, 'run.json')) as Record<string, unknown>;

function broken({ results }: RunReport): string[] {
  return (results as RunResults).anomalies.map(({ kind }) => kind);
}

describe('a run of a cluster that tells no trace', () => {
  let deployed: Passing[];
  let runtime: ChosenRuntime;
  /** Clusters that are gone: those that no later run is to have. */
  let closed: number;
  /** What a test does to the cluster before a run gets it. */
  let wrap: (foreign: ForeignCluster) => ForeignCluster;

  beforeEach(() => {
    wrap = (foreign) => foreign;
    deployed = [];
    closed = 0;
    const pool = poolClusters(async (spec) => {
      deployed.push(await deployPassing(spec));
      const { foreign } = deployed.at(-1)!;
      const close = (): ReturnType<ForeignCluster['close']> => {
        closed += 1;
        return foreign.close();
      };
      return wrap({ ...foreign, close });
    });
    runtime = {
      name: 'docker',
      reason: '',
      deploy: () => Promise.reject(new Error('not of ours')),
      foreign: { ...pool, targetOf: () => passingTarget },
    };
  });

  it('writes observations, settles by what is known, and leaves a clean cluster to the next one', async () => {
    const speak = (seed: number) => (step: string) => {
      if (step === 'healing') deployed[0]!.say('controller', `heard in run ${seed}`, 'zookeeper');
    };
    const reports = [
      await run(runtime, { build: 'kafka:1.0.0' }, speak(1)),
      await run(runtime, { build: 'kafka:1.0.0', seed: 2 }, speak(2)),
    ];
    expect(reports.map(({ error, results }) => [error, results?.valid])).toEqual([
      [null, true],
      [null, true],
    ]);
    expect([deployed.length, closed]).toEqual([1, 0]);
    for (const seed of [1, 2]) {
      expect(existsSync(join(folder(seed), 'trace.jsonl'))).toBe(false);
      const lines = read(seed, 'observations.jsonl').trimEnd().split('\n');
      expect(runFile(seed)).toMatchObject({
        observed: true,
        settled: true,
        recordedLines: { trace: 0, observations: lines.length },
      });
      expect(existsSync(join(folder(seed), 'data', '1', `tide-${seed}-0`))).toBe(true);
      expect(existsSync(join(folder(seed), 'data', '1', `tide-${3 - seed}-0`))).toBe(false);
      expect(read(seed, 'logs/controller-zookeeper.log')).toBe(`heard in run ${seed}\n`);
    }
    expect(await releaseRuntime(runtime)).toBeNull();
  }, 60_000);

  it('starts a broker again that says that it ends itself, tells of it, and leaves the cluster to nobody', async () => {
    const report = await run(runtime, { build: 'kafka:1.0.0' }, (step) => {
      if (step === 'healing') deployed[0]!.say(2, 'this broker ends itself');
    });
    expect(report.error).toBeNull();
    expect(broken(report)).toEqual(['broker-suicide']);
    expect(runFile(1)).toMatchObject({
      settled: true,
      ends: [{ node: 2, blame: 'node', phase: 'running', lastLines: ['this broker ends itself'] }],
    });
    expect(read(1, 'logs/2.log')).toContain('this broker ends itself\n');
    expect(read(1, 'observations.jsonl')).toMatch(/"node":2,"boot":2,"event":"start","source":"harness"/);
    expect(closed).toBe(1);
    await releaseRuntime(runtime);
  }, 60_000);

  it('knows nothing of settling, logs and exposures where segments could not be seen any more', async () => {
    let goBlind = (): void => {};
    wrap = (foreign) => ({
      ...foreign,
      watchSegments(request, listener) {
        goBlind = () => listener(2, new Error('the segments of node 2 cannot be read: the volume is gone'));
        return foreign.watchSegments(request, listener);
      },
    });
    const report = await run(runtime, { build: 'kafka:1.0.0' }, (step) => {
      if (step === 'healing') goBlind();
    });
    expect(report.error).toBeNull();
    expect(report.results).toMatchObject({ valid: 'unknown', exposures: null, anomalies: [] });
    const unknown = { durability: 'unknown', agreement: 'unknown', convergence: 'unknown' };
    expect(report.results?.guarantees).toMatchObject(unknown);
    expect(runFile(1)).toMatchObject({ logsCollected: false });
    expect(read(1, 'observations.jsonl')).toMatch(/"event":"blind","source":"segments","words":".*the volume is gone"/);
    expect(closed).toBe(1);
    await releaseRuntime(runtime);
  }, 60_000);

  it('fails before the load where a broker keeps its logs elsewhere than its target says', async () => {
    wrap = (foreign) => ({
      ...foreign,
      watchSegments: (request, listener) =>
        foreign.watchSegments(request, (node, event) => {
          if (node !== 2) listener(node, event);
        }),
    });
    const report = await run(runtime, { build: 'kafka:1.0.0' });
    expect(report.error?.message).toBe(
      'the replicas cannot be watched: where the logs of broker 2 should lie there is none of tide-1-0',
    );
    expect(report.results?.valid).toBe('unknown');
    await releaseRuntime(runtime);
  }, 60_000);

  it('goes on without a broker that ends itself again and again', async () => {
    const report = await run(runtime, { build: 'kafka:1.0.0' }, (step) => {
      if (step !== 'healing') return;
      const passing = deployed[0]!;
      const { own } = passing;
      passing.say(2, 'this broker ends itself');
      own.subscribe(({ node, event }) => {
        // Whatever it says, it is gone: its process is held.
        if (node !== 2 || event !== 'start') return;
        void own.perform({ port: 'process', verb: 'kill', node: 2 });
        passing.say(2, 'this broker ends itself');
      });
    });
    expect(report.error).toBeNull();
    expect(report.results?.valid).toBe(false);
    expect(runFile(1)).toMatchObject({ settled: false, finalReadComplete: true, logsCollected: true });
    expect(runFile(1)['settleMs']).toBeLessThan(foreignRunConfig.settleTimeoutMs / 2);
    expect(broken(report)).toEqual(expect.arrayContaining(['broker-suicide', 'no-convergence']));
    await releaseRuntime(runtime);
  }, 60_000);
});
