/**
 * Our own broker, watched from outside as if others had written it: its real trace says whether the observations are right.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { observe } from '../../../harness/observe/observer.ts';
import { defaultRunConfig } from '../../../harness/plan/config.ts';
import { createRandom } from '../../../harness/plan/random.ts';
import { createAdmin } from '../../../harness/run/admin.ts';
import { startLoad } from '../../../harness/run/load.ts';
import { createRecorder } from '../../../harness/run/recorder.ts';
import { settle } from '../../../harness/run/settle.ts';
import { recordTrace } from '../../../harness/run/trace-log.ts';
import type { TraceLine } from '../../../nemesis/ports.ts';
import type { ClusterView } from '../../../nemesis/view.ts';
import { deployPassing } from './ours-as-foreign.ts';

const config = { ...defaultRunConfig, build: 'hw', partitions: 2, concurrency: 2, rate: 50 };
const keys = ['tide-0', 'tide-1'];

describe('our own broker, observed', () => {
  test('shows the roles and log ends that its trace tells, through elections and truncations', async () => {
    const stage = await deploy();
    try {
      const { trace, observed, lines, admin } = stage;
      await admin.createTopic({ name: 'tide', partitions: 2, replicationFactor: 3, timeoutMs: 20_000 });
      const load = stage.load();
      await written(trace.view, 10);
      const leader = trace.view.partitions.get('tide-0')!.leader!;
      await stage.cluster.perform({ port: 'process', verb: 'kill', node: leader });
      await until(observed, (view) => view.partitions.get('tide-0')!.leader !== leader);
      await stage.cluster.perform({ port: 'process', verb: 'start', node: leader });
      await until(observed, (view) => view.partitions.get('tide-0')!.isr.length === 3);
      await load.stop();
      const signal = new AbortController().signal;
      for (const log of [trace, observed]) {
        expect(await settle(log, 20_000, 1_000, signal)).toEqual({ settled: true, residual: [] });
      }
      expect(summary(observed.view)).toEqual(summary(trace.view));
      expect(rolesIn(lines.observed)).toEqual(rolesIn(lines.told));
      const acked = lines.observed.filter(({ event }) => event === 'ack');
      const toldAcks = new Set(lines.told.filter(({ event }) => event === 'ack').map(({ msg }) => msg));
      expect(acked.length).toBeGreaterThan(0);
      expect(acked.every(({ msg }) => toldAcks.has(msg))).toBe(true);
      expect(lines.observed.some(({ event, node }) => event === 'start' && node === leader)).toBe(true);
      // Before, the brokers were coming up.
      const fencing = lines.observed.filter(({ event }) => event === 'fence' || event === 'unfence');
      expect(fencing.slice(-2)).toMatchObject([
        { event: 'fence', broker: leader },
        { event: 'unfence', broker: leader },
      ]);
    } finally {
      await stage.close();
    }
  }, 60_000);
});

type Log = ReturnType<typeof recordTrace>;

async function until(log: Log, condition: (view: ClusterView) => boolean): Promise<void> {
  expect(await log.until(() => condition(log.view), 20_000)).toBe(true);
}

async function written(view: ClusterView, records: number): Promise<void> {
  await expect
    .poll(() => [...view.partitions.values()].every(({ leader, replica }) => replica.get(leader!)!.hw >= records), {
      timeout: 20_000,
    })
    .toBe(true);
}

/** Who leads and follows whom, in which epoch, and where all logs end. */
function summary(view: ClusterView): unknown {
  return [...view.partitions].map(([key, { leader, leaderEpoch, isr, replicas, replica }]) => ({
    key,
    leader,
    leaderEpoch,
    isr: isr.toSorted((one, other) => one - other),
    replicas,
    replica: Object.fromEntries([...replica].map(([node, { role, leo }]) => [node, { role, leo }])),
  }));
}

/** The leaders that each broker had, one after the other; a role that is taken once more says nothing new. */
function rolesIn(lines: readonly TraceLine[]): Record<string, unknown[]> {
  const roles: Record<string, unknown[]> = {};
  for (const line of lines) {
    if (line.event !== 'role' || line['leader'] === null) continue;
    const of = (roles[`${line.node} ${line.partition}`] ??= []);
    if (of.at(-1) !== line['leader']) of.push(line['leader']);
  }
  return roles;
}

async function deploy() {
  const directory = mkdtempSync(join(tmpdir(), 'observer-'));
  const clockOriginNs = process.hrtime.bigint();
  const spec = {
    runId: `observed-${process.pid}`,
    brokers: [1, 2, 3],
    directory,
    progress: () => {},
    signal: new AbortController().signal,
  };
  const { own: cluster, foreign } = await deployPassing(spec, config.build, clockOriginNs);
  const observer = observe(foreign, { topic: 'tide', partitions: 2, clockOriginNs });
  const lines = { told: [] as TraceLine[], observed: [] as TraceLine[] };
  const trace = recordTrace(cluster, join(directory, 'trace.jsonl'), keys, throwIt);
  cluster.subscribe((line) => lines.told.push(line));
  const observed = recordTrace(observer.cluster, join(directory, 'observations.jsonl'), keys, throwIt);
  observer.cluster.subscribe((line) => lines.observed.push(line));
  await observer.begin(7);
  const recorder = createRecorder(join(directory, 'history.jsonl'), clockOriginNs);
  return {
    cluster: observer.cluster,
    trace,
    observed,
    lines,
    admin: createAdmin(cluster.addresses),
    load: () =>
      startLoad({
        addresses: cluster.addresses,
        config,
        recorder,
        random: createRandom(7),
        clockOriginNs,
        onCompletion: (completion) => observer.completed(completion),
      }),
    async close() {
      observer.close();
      await foreign.close();
      for (const log of [trace, observed]) log.close();
      recorder.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function throwIt(error: unknown): never {
  throw error instanceof Error ? error : new Error(String(error));
}
