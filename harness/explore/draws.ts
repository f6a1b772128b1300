/**
 * Swarm draws: from a seed to the configuration of one run.
 *
 * A single configuration, however well chosen, hides bugs: faults suppress each other, and timing that shows one flaw
 * covers another. So every run of a search draws its own: which kinds of fault with which weights, how many brokers and
 * replicas, how much load, all the timing. What a user pins is obeyed, and shifts no other draw.
 *
 * Invariant: the same seed and pins give the same configuration for ever, and that configuration keeps every rule that
 * the flags of `run` are held to. What changes the promise (acks, unclean election) is never drawn.
 */
import type { FaultKind } from '../../nemesis/schedule.ts';
import type { RunConfig } from '../plan/config.ts';
import { defaultRunConfig } from '../plan/config.ts';
import type { RandomStream } from '../plan/random.ts';
import { createRandom } from '../plan/random.ts';

/** What the flags of a search fix. `concurrencyPerBroker` is Jepsen's `2n`. */
export type Pins = Partial<Omit<RunConfig, 'runtime' | 'seed' | 'build'>> & {
  readonly concurrencyPerBroker?: number;
};

/** Draws the configuration of one run. `kinds` are those that may be drawn. */
export function drawConfig(build: string, seed: number, pins: Pins, kinds: readonly FaultKind[]): RunConfig {
  const streams = createRandom(seed);
  const random = streams.stream('explore');
  /* Every dimension is drawn, in this order, whether it is pinned or not. */
  const cluster = drawCluster(random, pins);
  const timing = drawTiming(random, pins);
  const load = drawLoad(random);
  /* A kind that came later has a stream of its own, so that where it is not drawn all is as it was. */
  const rejoins = streams.stream('explore rejoin-crash');
  const faults = drawFaultKinds(random, rejoins, kinds, pins.nemesis, cluster.replicationFactor);
  const { concurrencyPerBroker, ...pinned } = pins;
  return {
    ...defaultRunConfig,
    ...cluster,
    ...timing,
    ...load,
    ...faults,
    ...(concurrencyPerBroker === undefined ? {} : { concurrency: concurrencyPerBroker * cluster.brokers }),
    ...pinned,
    build,
    seed,
    runtime: 'sim',
  };
}

type Cluster = Pick<RunConfig, 'brokers' | 'replicationFactor' | 'minInsyncReplicas' | 'partitions'>;

/** Mostly three of everything: most schedules that matter need three replicas, and the fewer others the better. */
function drawCluster(random: RandomStream, pins: Pins): Cluster {
  const brokers = pins.brokers ?? Math.max(random.pick([3, 3, 3, 4, 5]), pins.replicationFactor ?? 0, 1);
  const replicas = random.pick([2, 3, 3, 3, 3, 3, 4, 4]);
  const replicationFactor =
    pins.replicationFactor ?? Math.min(brokers, Math.max(replicas, pins.minInsyncReplicas ?? 0));
  const insync = random.pick([1, 1, 2, 2, 2, 3]);
  return {
    brokers,
    replicationFactor,
    minInsyncReplicas: pins.minInsyncReplicas ?? Math.min(insync, replicationFactor),
    partitions: random.int(1, 4),
  };
}

type Timing = Pick<
  RunConfig,
  | 'fetchMaxWaitMs'
  | 'replicaLagTimeMaxMs'
  | 'heartbeatIntervalMs'
  | 'brokerSessionTimeoutMs'
  | 'highWatermarkCheckpointIntervalMs'
  | 'clientTimeoutMs'
  | 'timeLimitMs'
  | 'nemesisIntervalMs'
  | 'settleTimeoutMs'
>;

/** Round values, so that they are read and typed easily; each is held to what the pinned ones leave. */
function drawTiming(random: RandomStream, pins: Pins): Timing {
  const wait = random.pick([50, 100, 200, 500]);
  const lag = random.pick([500, 1_000, 1_500, 2_000, 3_000]);
  const heartbeat = random.pick([100, 200, 300]);
  const session = random.pick([600, 1_000, 1_500, 2_500]);
  const fetchMaxWaitMs = pins.fetchMaxWaitMs ?? Math.min(wait, Math.floor((pins.replicaLagTimeMaxMs ?? Infinity) / 2));
  const replicaLagTimeMaxMs = pins.replicaLagTimeMaxMs ?? Math.max(lag, 2 * fetchMaxWaitMs);
  const heartbeatIntervalMs =
    pins.heartbeatIntervalMs ?? Math.min(heartbeat, Math.floor((pins.brokerSessionTimeoutMs ?? Infinity) / 2));
  return {
    fetchMaxWaitMs,
    replicaLagTimeMaxMs,
    heartbeatIntervalMs,
    brokerSessionTimeoutMs: pins.brokerSessionTimeoutMs ?? Math.max(session, 2 * heartbeatIntervalMs),
    highWatermarkCheckpointIntervalMs: random.pick([200, 1_000, 5_000]),
    clientTimeoutMs: random.pick([300, 500, 1_000, 2_000]),
    timeLimitMs: random.pick([5_000, 6_000, 8_000, 10_000, 12_000]),
    nemesisIntervalMs: random.pick([300, 500, 1_000, 2_000, 3_000]),
    settleTimeoutMs: pins.settleTimeoutMs ?? defaultRunConfig.settleTimeoutMs,
  };
}

function drawLoad(random: RandomStream): Pick<RunConfig, 'rate' | 'concurrency'> {
  return { rate: random.pick([20, 50, 100, 100, 200, 300]), concurrency: random.pick([2, 4, 6, 8, 12]) };
}

/** Kinds whose roles take three replicas. */
const needsThree: readonly FaultKind[] = ['handover-crash', 'rejoin-crash'];

/** One to all of the kinds, every number as likely as any other, and how often each is to be chosen beside the others. */
function drawFaultKinds(
  random: RandomStream,
  rejoins: RandomStream,
  kinds: readonly FaultKind[],
  pinned: readonly FaultKind[] | undefined,
  replicationFactor: number,
): Pick<RunConfig, 'nemesis' | 'nemesisWeights'> {
  const first = kinds.filter((kind) => kind !== 'rejoin-crash');
  const count = random.int(1, Math.max(1, first.length));
  const drawn = new Set<FaultKind>(random.shuffle(first).slice(0, count));
  const weights = new Map<FaultKind, number>(first.map((kind) => [kind, random.int(1, 100)]));
  if (rejoins.chance(0.2) && kinds.includes('rejoin-crash')) drawn.add('rejoin-crash');
  weights.set('rejoin-crash', rejoins.int(1, 100));
  /* With two replicas there is nobody for the second handover, and nobody to come back. */
  const possible = kinds.filter((kind) => !needsThree.includes(kind) || replicationFactor > 2);
  const some = possible.filter((kind) => drawn.has(kind));
  const nemesis = pinned ?? (some.length > 0 ? some : possible);
  if (nemesis.length === 0) return { nemesis };
  return { nemesis, nemesisWeights: Object.fromEntries(nemesis.map((kind) => [kind, weights.get(kind) ?? 1])) };
}
