/**
 * The simulator, first its kernel: three brokers of the epoch build, one controller, 200 sends a second at acks=all over
 * eight partitions, in virtual time, as a simulated run uses it: on a network that draws its times, messages as objects,
 * every event hashed, the trace kept. Nothing is broken. Then whole simulated runs of the default plan.
 *
 * Both after the engine has compiled what it runs often, which takes it some seconds: a search makes runs for minutes. The
 * kernel is measured in several rounds, each on a fresh cluster, since what a run keeps goes with the run.
 *
 * Beside each figure stands the same by times of the processor, which other work on the machine distorts less: that of the
 * thread that simulates, and that of all threads, those of the compiler and of the garbage collector among them.
 */
import { encodeRecordSet } from '../../broker/protocol/index.ts';
import { defaultRunConfig } from '../../harness/plan/config.ts';
import type { RunConfig } from '../../harness/plan/config.ts';
import { createRandom } from '../../harness/plan/random.ts';
import { planOf } from '../../harness/run/simulated-run.ts';
import { SimCluster } from '../../harness/sim/cluster.ts';
import { KeptTrace } from '../../harness/sim/kept-trace.ts';
import { scenarioDefaults } from '../../harness/sim/scenario-settings.ts';
import { simulate } from '../../harness/sim/simulate.ts';
import { median, spread, type Figure } from './figure.ts';

const NS_PER_MS = 1_000_000;
const SENDS_PER_SECOND = 200;
const WARM_UP_S = 300;
const VIRTUAL_S = 60;
const ROUNDS = 9;
const WARM_UP_RUNS = 40;
const RUNS = 40;
const topic = 'tide';
const brokers = [1, 2, 3];

export function simulatorFigures(): Figure[] {
  return [...kernelFigures(), runFigure()];
}

function kernelFigures(): Figure[] {
  run(startCluster(), WARM_UP_S);
  const rounds = Array.from({ length: ROUNDS }, () => {
    const cluster = startCluster();
    const before = cluster.kernel.events;
    const took = measured(() => run(cluster, VIRTUAL_S));
    return { ...took, events: cluster.kernel.events - before };
  });
  return [
    { ...figureOf('events', rounds, ({ events }) => events), unit: '1/s', budget: '500,000/s' },
    { ...figureOf('virtual seconds', rounds, () => VIRTUAL_S), unit: '', budget: '300' },
  ];
}

interface Round extends Took {
  readonly events: number;
}

function figureOf(what: string, rounds: readonly Round[], count: (round: Round) => number): Omit<Figure, 'unit'> {
  const perSecond = (secondsOf: (took: Took) => number): number[] =>
    rounds.map((round) => count(round) / secondsOf(round));
  const onTheClock = perSecond(({ seconds }) => seconds);
  const inWhole = (values: readonly number[]): string => Math.round(median(values)).toLocaleString('en');
  const byThread = inWhole(perSecond(({ threadS }) => threadS));
  const byAll = inWhole(perSecond(({ processorS }) => processorS));
  const note = `${spread(onTheClock)}; ${byThread} by the time of the thread, ${byAll} by that of all threads`;
  return { what: `simulator: ${what} a second`, value: median(onTheClock), note };
}

/** Runs as `explore` and `compare` make them by the hundred, without their verdicts. */
function runFigure(): Figure {
  const simulateSeed = (seed: number): number => {
    const config: RunConfig = { ...defaultRunConfig, build: 'epoch', runtime: 'sim', seed };
    return simulate({ config, schedule: planOf(config) }).virtualNs;
  };
  for (let seed = 1; seed <= WARM_UP_RUNS; seed += 1) simulateSeed(seed);
  let virtualNs = 0;
  const took = measured(() => {
    for (let seed = 1; seed <= RUNS; seed += 1) virtualNs += simulateSeed(WARM_UP_RUNS + seed);
  });
  const virtualS = Math.round(virtualNs / RUNS / 1e9);
  const byProcessor = `${(RUNS / took.threadS).toFixed(1)} by the time of the thread, ${(RUNS / took.processorS).toFixed(1)} by that of all threads`;
  const note = `${byProcessor}; default flags, ${virtualS} virtual seconds each`;
  return { what: 'simulator: whole runs a second', value: RUNS / took.seconds, unit: '1/s', note };
}

interface Took {
  readonly seconds: number;
  readonly threadS: number;
  readonly processorS: number;
}

function measured(work: () => void): Took {
  const startedMs = performance.now();
  const [thread, all] = [process.threadCpuUsage(), process.cpuUsage()];
  work();
  const seconds = (performance.now() - startedMs) / 1000;
  return { seconds, threadS: sumS(process.threadCpuUsage(thread)), processorS: sumS(process.cpuUsage(all)) };
}

function sumS({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6;
}

function startCluster(): SimCluster {
  const trace = new KeptTrace();
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
  // Nothing is broken, so these lead to the end.
  const leaders = Array.from({ length: defaultRunConfig.partitions }, (_, index) =>
    brokers.find((node) => cluster.broker(node)?.partitions.find(topic, index)?.role.kind === 'leader'),
  );
  for (let send = 0; send < virtualSeconds * SENDS_PER_SECOND; send += 1) {
    const index = send % leaders.length;
    const records = encodeRecordSet({ records: [{ key: null, value: String(send) }] });
    const topicData = [{ name: topic, partitionData: [{ index, records }] }];
    kernel
      .client('load')
      .call(leaders[index] ?? 1, 'Produce', 7, { transactionalId: null, acks: -1, timeoutMs: 1_000, topicData });
    kernel.runFor((1_000 * NS_PER_MS) / SENDS_PER_SECOND);
  }
}
