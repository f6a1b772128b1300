import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FaultRecord, Operation } from '../../../checker/history.ts';
import { createAdmin } from '../../../harness/run/admin.ts';
import { prepareFaults, type Faults } from '../../../harness/run/faults.ts';
import { createRecorder, type Recorder } from '../../../harness/run/recorder.ts';
import type { Fault } from '../../../nemesis/schedule.ts';
import { paperCluster, type PaperCluster } from './paper-cluster.ts';

let directory: string;
let cluster: PaperCluster;
let recorder: Recorder;
let failures: Error[];
const done = { effective: true, facts: {} };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-faults-'));
  cluster = paperCluster();
  failures = [];
});

afterEach(() => {
  recorder.close();
  rmSync(directory, { recursive: true });
});

/** The nemesis with this plan, not yet started. */
function prepare(...faults: readonly Fault[]): Faults {
  const clockOriginNs = process.hrtime.bigint();
  recorder = createRecorder(join(directory, 'history.jsonl'), clockOriginNs);
  return prepareFaults({
    schedule: { schemaVersion: 1, seed: 1, durationMs: 60_000, faults },
    cluster,
    partitions: ['tide-0'],
    admin: createAdmin(cluster.addresses),
    recorder,
    call: async (operation) => ({ effective: operation === 'm1', facts: {} }),
    clockOriginNs,
    onFailure: (error) => failures.push(error),
  });
}

const pause = (role: 'leader' | 'all', ms: number): Fault => ({
  id: 'f1',
  kind: 'pause',
  at: { ms: 1 },
  until: { ms },
  targets: role === 'leader' ? { role, partition: 'tide-0' } : { role: 'nodes', nodes: [1, 2] },
});

const recorded = (): string[] =>
  readFileSync(join(directory, 'history.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((text) => JSON.parse(text) as Operation)
    .map(({ process: who, type, f, value }) => {
      const { fault, phase, nodes } = value as unknown as FaultRecord;
      return `${who} ${type} ${f} ${fault} ${phase} ${JSON.stringify(Object.values(nodes))}`;
    });

describe('the nemesis', () => {
  it('breaks, by role, what the trace has told it since the first line, mends it, and writes both down', async () => {
    const faults = prepare(pause('leader', 5));
    cluster.sayAtRest(3);
    faults.start();
    const broken = await cluster.next();
    expect(broken.action).toEqual({ port: 'process', verb: 'pause', node: 1 });
    broken.answer(done);
    const mended = await cluster.next();
    expect(mended.action).toEqual({ port: 'process', verb: 'resume', node: 1 });
    mended.answer(done);
    const stopped = faults.stop();
    (await cluster.next()).answer(done);
    await stopped;
    expect(recorded()).toEqual(['nemesis info pause f1 start [1]', 'nemesis info pause f1 end [1]']);
    expect(failures).toEqual([]);
  });

  it('performs the actions of one step side by side', async () => {
    const faults = prepare(pause('all', 60_000));
    faults.start();
    const [one, two] = [await cluster.next(), await cluster.next()];
    expect([one.action, two.action]).toEqual([
      { port: 'process', verb: 'pause', node: 1 },
      { port: 'process', verb: 'pause', node: 2 },
    ]);
  });

  it('ends a fault that is on when it is stopped, and has not stopped before that is done', async () => {
    const faults = prepare(pause('all', 60_000));
    faults.start();
    for (const _ of [1, 2]) (await cluster.next()).answer(done);
    let over = false;
    const stopped = faults.stop().then(() => (over = true));
    const mending = [await cluster.next(), await cluster.next(), await cluster.next()];
    expect(mending.map(({ action }) => action)).toEqual(
      expect.arrayContaining([
        { port: 'process', verb: 'resume', node: 1 },
        { port: 'process', verb: 'resume', node: 2 },
        { port: 'links', cuts: [] },
      ]),
    );
    for (const { answer } of mending.slice(1)) answer(done);
    await new Promise(setImmediate);
    expect(over).toBe(false);
    mending[0]?.answer(done);
    await stopped;
    expect(recorded().at(-1)).toContain('f1 end');
  });

  it('tells once when an action cannot be performed at all, and can be stopped all the same', async () => {
    const faults = prepare(pause('all', 60_000));
    faults.start();
    const [one, two] = [await cluster.next(), await cluster.next()];
    one.answer(new Error('the engine went away'));
    two.answer(new Error('the engine went away'));
    await faults.stop();
    expect(failures.map((error) => error.message)).toEqual(['the engine went away']);
  });

  it('tells once when the history cannot be written, and breaks nothing more', async () => {
    const faults = prepare(pause('leader', 5));
    cluster.sayAtRest(3);
    recorder.close();
    faults.start();
    await faults.stop();
    expect(failures).toHaveLength(1);
    expect(failures[0]?.message).toContain('history.jsonl');
  });
});
