/**
 * The simulator's kernel: three brokers of the epoch build, one controller, 200 sends a second at acks=all over eight
 * partitions, in virtual time, on a network that draws its times. The trace is kept, as a simulated run keeps it; nothing is broken.
 * Seconds are those of the processor, so that what else the machine does counts little.
 */
import { encodeBatch, parseRecordSet } from '../../broker/protocol/index.ts';
import type { TraceLine } from '../../broker/core/trace.ts';
import { defaultRunConfig } from '../../harness/plan/config.ts';
import { createRandom } from '../../harness/plan/random.ts';
import { SimCluster } from '../../harness/sim/cluster.ts';
import { scenarioDefaults } from '../../harness/sim/scenario-settings.ts';
import type { Figure } from './figure.ts';

const NS_PER_MS = 1_000_000;
const SENDS_PER_SECOND = 200;
const WARM_UP_S = 20;
const VIRTUAL_S = 60;
const topic = 'tide';
const brokers = [1, 2, 3];

export function simulatorFigures(): Figure[] {
  const trace: TraceLine[] = [];
  const cluster = startCluster(trace);
  run(cluster, WARM_UP_S);
  const before = cluster.kernel.events;
  const started = process.cpuUsage();
  run(cluster, VIRTUAL_S);
  const { user, system } = process.cpuUsage(started);
  const seconds = (user + system) / 1e6;
  const events = cluster.kernel.events - before;
  const note = `${events.toLocaleString('en')} events in ${VIRTUAL_S} virtual seconds`;
  return [
    { what: 'simulator: events a second', value: events / seconds, unit: '1/s', budget: '500,000/s', note },
    { what: 'simulator: virtual seconds a second', value: VIRTUAL_S / seconds, unit: '', budget: '300' },
  ];
}

function startCluster(trace: TraceLine[]): SimCluster {
  const settings = { ...scenarioDefaults, replicaLagTimeMaxMs: 2_000, highWatermarkCheckpointIntervalMs: 5_000 };
  const cluster = new SimCluster({
    builds: new Map(brokers.map((node) => [node, 'epoch'])),
    settings,
    random: createRandom(1),
    onTrace: (line) => trace.push(line),
  });
  const { kernel } = cluster;
  cluster.start();
  const live = (): boolean => cluster.controller.brokers.filter(({ fenced }) => !fenced).length === brokers.length;
  kernel.runUntil(live, 10_000 * NS_PER_MS);
  const { partitions, replicationFactor } = defaultRunConfig;
  const asked = { name: topic, numPartitions: partitions, replicationFactor, assignments: [], configs: [] };
  const call = kernel
    .client('admin')
    .call(1, 'CreateTopics', 4, { topics: [asked], timeoutMs: 1_000, validateOnly: false });
  kernel.runUntil(() => call.answer !== null, 10_000 * NS_PER_MS);
  kernel.runFor(1_000 * NS_PER_MS);
  return cluster;
}

function run(cluster: SimCluster, virtualSeconds: number): void {
  const { kernel } = cluster;
  for (let send = 0; send < virtualSeconds * SENDS_PER_SECOND; send += 1) {
    const index = send % defaultRunConfig.partitions;
    const leader = brokers.find(
      (node) => cluster.broker(node)?.partitions.get(`${topic}-${index}`)?.role.kind === 'leader',
    );
    const records = parseRecordSet(encodeBatch({ records: [{ key: null, value: String(send) }] }));
    const topicData = [{ name: topic, partitionData: [{ index, records }] }];
    kernel
      .client('load')
      .call(leader ?? 1, 'Produce', 7, { transactionalId: null, acks: -1, timeoutMs: 1_000, topicData });
    kernel.runFor((1_000 * NS_PER_MS) / SENDS_PER_SECOND);
  }
}
