/**
 * A random run of a whole cluster, for tests of the kernel: sends without end, kills, power losses, pauses, stops and
 * cuts, all drawn from a seed.
 */
import { encodeRecordSet } from '../../../broker/protocol/index.ts';
import { told } from '../../../broker/core/trace.ts';
import type { TraceLine } from '../../../broker/core/trace.ts';
import { createRandom } from '../../../harness/plan/random.ts';
import type { RandomStream } from '../../../harness/plan/random.ts';
import { SimCluster } from '../../../harness/sim/cluster.ts';
import type { Kernel, KernelOptions } from '../../../harness/sim/kernel.ts';
import type { SimNode } from '../../../harness/sim/sim-node.ts';
import { scenarioDefaults } from '../../../harness/sim/scenario-settings.ts';

const nsPerMs = 1e6;
const brokers = [1, 2, 3] as const;
const partitions = 4;

export interface RandomRun {
  readonly cluster: SimCluster;
  readonly trace: readonly TraceLine[];
  readonly answers: readonly unknown[];
}

/** Runs `steps` random steps over brokers of these builds. */
export function randomRun(
  seed: number,
  builds: readonly string[],
  steps: number,
  options: KernelOptions = {},
): RandomRun {
  const trace: TraceLine[] = [];
  const cluster = new SimCluster({
    ...options,
    builds: new Map(brokers.map((node, index) => [node, builds[index % builds.length]!])),
    settings: { ...scenarioDefaults, replicaLagTimeMaxMs: 500 },
    onTrace: (line) => {
      trace.push(told(line));
      options.onTrace?.(line);
    },
  });
  const { kernel } = cluster;
  cluster.start();
  kernel.runFor(1_000 * nsPerMs);
  const topic = { name: 'tide', numPartitions: partitions, replicationFactor: 3, assignments: [], configs: [] };
  kernel.client('admin').call(1, 'CreateTopics', 4, { topics: [topic], timeoutMs: 1_000, validateOnly: false });
  kernel.runFor(1_000 * nsPerMs);
  const answers = stepAtRandom(seed, cluster, steps);
  kernel.setLinks([]);
  for (const id of nodes) kernel.node(id).resume();
  /* What was asked to stop ends before it is started again. */
  kernel.runFor(10_000 * nsPerMs);
  for (const id of nodes) if (!kernel.node(id).running) kernel.node(id).start();
  kernel.runFor(20_000 * nsPerMs);
  return { cluster, trace, answers };
}

/** Of what was not flushed some bytes stay; where the disk draws, it says what. */
function losePower(node: SimNode, random: RandomStream, draws: boolean): void {
  const keepBytes = random.int(0, 1000);
  node.powerOff(draws ? undefined : keepBytes);
}

function breakLinks(kernel: Kernel, from: Place, to: Place, random: RandomStream): void {
  const mode = random.chance(0.5) ? 'reset' : 'drop';
  const slow = { from: to, to: from, delayMs: random.int(0, 200), jitterMs: 50, loss: 0.2 };
  kernel.setLinks([{ from, to, mode }], [slow]);
}

type Place = (typeof places)[number];

const nodes = ['controller', ...brokers] as const;
const places = ['clients', ...nodes] as const;

function stepAtRandom(seed: number, cluster: SimCluster, steps: number): readonly unknown[] {
  const random = createRandom(seed).stream('steps');
  const { kernel } = cluster;
  const calls: unknown[] = [];
  for (let step = 0; step < steps; step += 1) {
    const records = encodeRecordSet({ records: [{ key: null, value: String(step) }] });
    const index = random.int(0, partitions - 1);
    const topicData = [{ name: 'tide', partitionData: [{ index, records }] }];
    const body = { transactionalId: null, acks: -1, timeoutMs: 1_000, topicData };
    const leader = brokers.find((id) => cluster.broker(id)?.partitions.get(`tide-${index}`)?.role.kind === 'leader');
    calls.push(kernel.client('load').call(leader ?? random.pick(brokers), 'Produce', 7, body));
    kernel.runFor(random.int(1, 20) * nsPerMs);
    const node = kernel.node(random.pick(nodes));
    const [from, to] = random.shuffle(places);
    const draw = random.int(0, 19);
    if (draw < 3 && node.running) node.kill();
    else if (draw === 3 && node.running && node.id !== 'controller')
      losePower(node, random, kernel.options.random !== undefined);
    else if (draw === 4 && node.running && !node.paused && node.id !== 'controller') node.tell({ type: 'stop' });
    else if (draw < 7) node.pause();
    else if (draw < 9 && kernel.options.random !== undefined) breakLinks(kernel, from!, to!, random);
    else if (draw < 9) kernel.cut(from!, to!);
    else if (draw < 13) kernel.heal(from!, to!);
    else if (draw < 16) node.resume();
    else if (!node.running) node.start();
  }
  return calls;
}
