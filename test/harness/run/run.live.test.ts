/** A run whose cluster never comes about, or cannot be removed: what is left, and what it is called. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EnvironmentError, InterruptedError } from '../../../harness/errors.ts';
import { deployLocal } from '../../../harness/local/runtime.ts';
import { defaultRunConfig, type RunConfig } from '../../../harness/plan/config.ts';
import { createProgress } from '../../../harness/progress.ts';
import { executeRun, type RunReport } from '../../../harness/run/run.ts';
import type { Cluster, DeploySpec } from '../../../nemesis/ports.ts';
import { paperCluster } from './paper-cluster.ts';

let directory: string;
let abort: AbortController;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-run-'));
  abort = new AbortController();
});

afterEach(() => rmSync(directory, { recursive: true }));

const silent = { ...createProgress(true), step: () => {}, detail: () => {} };

function run(
  deploy: (spec: DeploySpec) => Promise<Cluster>,
  onStep: (text: string) => void = () => {},
  changes: Partial<RunConfig> = {},
): Promise<RunReport> {
  return executeRun({
    config: { ...defaultRunConfig, build: 'epoch', runtime: 'local', seed: 1, ...changes },
    runtime: { name: 'local', reason: '', deploy },
    directory,
    name: 'epoch-1',
    command: 'tidemark run',
    progress: { ...silent, step: onStep },
    signal: abort.signal,
  });
}

const runFile = (): unknown => JSON.parse(readFileSync(join(directory, 'run.json'), 'utf8'));

describe('a run whose cluster cannot be deployed', () => {
  it('is an error beside an unknown verdict, and never an anomaly', async () => {
    const { results, error } = await run(() => Promise.reject(new EnvironmentError('the engine went away')));
    expect(error).toBeInstanceOf(EnvironmentError);
    expect(error?.message).toBe('the engine went away');
    expect(results).toMatchObject({ valid: 'unknown', anomalies: [] });
    expect(runFile()).toMatchObject({ completed: false, error: 'the engine went away', settled: null });
    expect(readdirSync(directory)).toEqual(expect.arrayContaining(['results.json', 'report.html']));
  });

  it('says what the system refused, in one line', async () => {
    const refused = Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE', errno: -24 });
    const { error } = await run(() => Promise.reject(refused));
    expect(error?.message).toBe('the run failed: EMFILE, too many open files: raise the limit with ulimit -n');
  });

  it('because it was interrupted is interrupted, whatever the runtime says then', async () => {
    const { error } = await run((spec) => {
      abort.abort();
      spec.signal.throwIfAborted();
      return Promise.reject(new Error('unreachable'));
    });
    expect(error).toBeInstanceOf(InterruptedError);
    expect(runFile()).toMatchObject({ completed: false, error: 'interrupted' });
  });

  it('is not even tried after an interrupt', async () => {
    abort.abort();
    let deployed = false;
    const { error } = await run(() => {
      deployed = true;
      return Promise.resolve(paperCluster());
    });
    expect([deployed, error instanceof InterruptedError]).toEqual([false, true]);
  });

  it('because of a mistake of ours is thrown on, with its stack', async () => {
    await expect(run(() => Promise.reject(new TypeError('x is not a function')))).rejects.toThrow(TypeError);
  });
});

describe('a cluster that does not get ready', () => {
  it('is removed, and the interrupt that ended the wait is told', async () => {
    const cluster = paperCluster();
    const steps: string[] = [];
    const running = run(
      () => Promise.resolve(cluster),
      (text) => steps.push(text),
    );
    // Nothing listens at its addresses, so that creating the topic is tried until the interrupt.
    abort.abort();
    expect((await running).error).toBeInstanceOf(InterruptedError);
    expect(cluster.closed()).toBe(true);
    expect(steps).toContain('removing the cluster');
  });

  it('and cannot be removed is an error of the environment that names what is left', async () => {
    const cluster = paperCluster(['container tidemark-1']);
    const running = run(() => Promise.resolve(cluster));
    abort.abort();
    const { error } = await running;
    expect(error).toBeInstanceOf(EnvironmentError);
    expect(error?.message).toBe('could not remove container tidemark-1: try tidemark gc');
  });
});

/** A run on real brokers that is over soon. */
const brief = { nemesis: [], timeLimitMs: 500, settleTimeoutMs: 20_000 };

describe('a run that fails in its last phases', () => {
  const deployWith =
    (changes: Partial<Cluster>) =>
    async (spec: DeploySpec): Promise<Cluster> =>
      Object.assign(await deployLocal(spec), changes);

  it('is not accused by logs that were copied in part', async () => {
    const collect = (): Promise<void> => {
      for (const node of ['1', '2', '3']) mkdirSync(join(directory, 'data', node), { recursive: true });
      return Promise.reject(new EnvironmentError('the disk is full'));
    };
    const { results, error } = await run(deployWith({ collect }), () => {}, brief);
    expect(error?.message).toBe('the disk is full');
    expect(results).toMatchObject({ valid: 'unknown', anomalies: [] });
    expect(runFile()).toMatchObject({ healed: true, settled: true, logsCollected: false, finalReadComplete: true });
  });
});

describe('a run that is interrupted while it settles', () => {
  it('has been given no chance to settle: that is unknown, and no anomaly', async () => {
    const interrupt = (step: string): void => {
      if (step === 'settling') abort.abort();
    };
    const { results, error } = await run(deployLocal, interrupt, brief);
    expect(error).toBeInstanceOf(InterruptedError);
    expect(results).toMatchObject({ valid: 'unknown', anomalies: [] });
    expect(runFile()).toMatchObject({ completed: false, healed: true, settled: null, settleMs: null });
  });
});

describe('the folder of a run', () => {
  it('is used once: a second run there fails, and leaves the first history alone', async () => {
    await run(() => Promise.reject(new EnvironmentError('first')));
    const { error } = await run(() => Promise.reject(new EnvironmentError('second')));
    expect(error?.message).toMatch(/^cannot write the history .*history\.jsonl: EEXIST, /);
  });
});
