/**
 * Swarm draws: from a seed to the configuration of one run.
 *
 * A single configuration, however well chosen, hides bugs: faults suppress each other, and timing that shows one flaw
 * covers another. So every run of a search draws its own: which kinds of fault with which weights, how many brokers and
 * replicas, how much load, all the timing. What a user pins is obeyed, and shifts no other draw: first everything is
 * drawn, then what is pinned is put in its place, and what was drawn beside it gives way where a rule binds both.
 *
 * Invariant: the same seed and pins give the same configuration for ever. Pins that leave any room give no configuration
 * that breaks a rule to which the flags of `run` are held, whatever the seed; others break it with every seed. What
 * changes the promise (acks, unclean election) is never drawn.
 */
import type { FaultKind } from '../../nemesis/schedule.ts';
import type { RunConfig } from '../plan/config.ts';
import { defaultRunConfig } from '../plan/config.ts';
import { leastReplicasFor, shortestSettlingMs } from '../plan/joint-rules.ts';
import { mostFaults, mostProcesses, mostSimulatedOperations } from '../plan/limits.ts';
import { createRandom } from '../plan/random.ts';

/** What the flags of a search fix. `concurrencyPerBroker` is Jepsen's `2n`. */
export type Pins = Partial<Omit<RunConfig, 'runtime' | 'seed' | 'build'>> & {
  readonly concurrencyPerBroker?: number;
};

/** Draws the configuration of one run. `kinds` are those that may be drawn. */
export function drawConfig(build: string, seed: number, pins: Pins, kinds: readonly FaultKind[]): RunConfig {
  const drawn = drawAll(seed, kinds);
  const cluster = clusterOf(drawn, pins);
  const { concurrencyPerBroker, nemesisWeights, ...pinned } = pins;
  const bearable = kinds.filter((kind) => !needsThree.includes(kind) || cluster.replicationFactor > 2);
  return {
    ...defaultRunConfig,
    ...cluster,
    ...timingOf(drawn, pins),
    ...lengthOf(drawn, pins, cluster.replicationFactor),
    ...faultsOf(drawn, bearable, pinned.nemesis, nemesisWeights),
    highWatermarkCheckpointIntervalMs: drawn.highWatermarkCheckpointIntervalMs,
    clientTimeoutMs: drawn.clientTimeoutMs,
    concurrency: concurrencyPerBroker === undefined ? drawn.concurrency : concurrencyPerBroker * cluster.brokers,
    ...pinned,
    build,
    seed,
    runtime: 'sim',
  };
}

type Drawn = ReturnType<typeof drawAll>;

/**
 * Every dimension, in this order, whatever is pinned. Mostly three of everything: most schedules that matter need three
 * replicas, and the fewer others the better. Times are round, so that they are read and typed easily.
 */
function drawAll(seed: number, kinds: readonly FaultKind[]) {
  const streams = createRandom(seed);
  const random = streams.stream('explore');
  const drawn = {
    brokers: random.pick([3, 3, 3, 4, 5]),
    replicas: random.pick([2, 3, 3, 3, 3, 3, 4, 4]),
    insync: random.pick([1, 1, 2, 2, 2, 3]),
    partitions: random.int(1, 4),
    fetchMaxWaitMs: random.pick([50, 100, 200, 500]),
    replicaLagTimeMaxMs: random.pick([500, 1_000, 1_500, 2_000, 3_000]),
    heartbeatIntervalMs: random.pick([100, 200, 300]),
    brokerSessionTimeoutMs: random.pick([600, 1_000, 1_500, 2_500]),
    highWatermarkCheckpointIntervalMs: random.pick([200, 1_000, 5_000]),
    clientTimeoutMs: random.pick([300, 500, 1_000, 2_000]),
    timeLimitMs: random.pick([5_000, 6_000, 8_000, 10_000, 12_000]),
    nemesisIntervalMs: random.pick([300, 500, 1_000, 2_000, 3_000]),
    rate: random.pick([20, 50, 100, 100, 200, 300]),
    concurrency: random.pick([2, 4, 6, 8, 12]),
  };
  /* One to all of the kinds, every number as likely as any other, and how often each is to be chosen beside the others. */
  const first = kinds.filter((kind) => kind !== 'rejoin-crash');
  const count = random.int(1, Math.max(1, first.length));
  const nemesis: FaultKind[] = random.shuffle(first).slice(0, count);
  const weights = new Map<FaultKind, number>(first.map((kind) => [kind, random.int(1, 100)]));
  /* A kind that came later has a stream of its own, so that where it is not drawn all is as it was. */
  const rejoins = streams.stream('explore rejoin-crash');
  if (rejoins.chance(0.2)) nemesis.push('rejoin-crash');
  weights.set('rejoin-crash', rejoins.int(1, 100));
  return { ...drawn, nemesis, weights };
}

type Cluster = Pick<RunConfig, 'brokers' | 'replicationFactor' | 'minInsyncReplicas' | 'partitions'>;

/** Large enough for what is pinned, whose replicas the simulator can hold. */
function clusterOf(drawn: Drawn, pins: Pins): Cluster {
  const { rate = 1, timeLimitMs = 1, concurrencyPerBroker = 1 } = pins;
  const least = Math.max(pins.minInsyncReplicas ?? 1, leastReplicasFor(pins.nemesis ?? []));
  const mostBrokers = Math.floor(mostProcesses / concurrencyPerBroker);
  const brokers = pins.brokers ?? Math.max(pins.replicationFactor ?? least, Math.min(drawn.brokers, mostBrokers));
  const mostReplicas = Math.floor(mostSimulatedOperations(1) / ((rate * timeLimitMs) / 1000));
  const replicationFactor = pins.replicationFactor ?? Math.max(least, Math.min(brokers, drawn.replicas, mostReplicas));
  const minInsyncReplicas = pins.minInsyncReplicas ?? Math.min(drawn.insync, replicationFactor);
  return { brokers, replicationFactor, minInsyncReplicas, partitions: drawn.partitions };
}

type Timing = Pick<
  RunConfig,
  'fetchMaxWaitMs' | 'replicaLagTimeMaxMs' | 'heartbeatIntervalMs' | 'brokerSessionTimeoutMs'
>;

/** The shortest that a search uses, unless what is pinned needs less. */
const shortest: Timing = {
  fetchMaxWaitMs: 50,
  replicaLagTimeMaxMs: 500,
  heartbeatIntervalMs: 100,
  brokerSessionTimeoutMs: 600,
};

/** As drawn, and where settling has no time for that, as far from the shortest towards it as it has. */
function timingOf(drawn: Drawn, pins: Pins): Timing {
  const { settleTimeoutMs = defaultRunConfig.settleTimeoutMs } = pins;
  const [wanted, least] = [inPairs(drawn, pins), inPairs(shortest, pins)];
  const [wantedMs, leastMs] = [shortestSettlingMs(wanted), shortestSettlingMs(least)];
  if (wantedMs <= Math.max(settleTimeoutMs, leastMs)) return wanted;
  const part = Math.max(0, settleTimeoutMs - leastMs) / (wantedMs - leastMs);
  const between = (field: keyof Timing): number => Math.floor(least[field] + part * (wanted[field] - least[field]));
  return {
    fetchMaxWaitMs: between('fetchMaxWaitMs'),
    replicaLagTimeMaxMs: between('replicaLagTimeMaxMs'),
    heartbeatIntervalMs: between('heartbeatIntervalMs'),
    brokerSessionTimeoutMs: between('brokerSessionTimeoutMs'),
  };
}

/** What is pinned, and beside it what keeps twice the fetch wait below the lag time, twice the heartbeat below the session. */
function inPairs(wanted: Timing, pins: Pins): Timing {
  const atMost = (most: number | undefined, ms: number): number =>
    most === undefined ? ms : Math.max(1, Math.min(ms, Math.floor(most / 2)));
  const fetchMaxWaitMs = pins.fetchMaxWaitMs ?? atMost(pins.replicaLagTimeMaxMs, wanted.fetchMaxWaitMs);
  const heartbeatIntervalMs =
    pins.heartbeatIntervalMs ?? atMost(pins.brokerSessionTimeoutMs, wanted.heartbeatIntervalMs);
  return {
    fetchMaxWaitMs,
    replicaLagTimeMaxMs: pins.replicaLagTimeMaxMs ?? Math.max(wanted.replicaLagTimeMaxMs, 2 * fetchMaxWaitMs),
    heartbeatIntervalMs,
    brokerSessionTimeoutMs:
      pins.brokerSessionTimeoutMs ?? Math.max(wanted.brokerSessionTimeoutMs, 2 * heartbeatIntervalMs),
  };
}

type Length = Pick<RunConfig, 'rate' | 'timeLimitMs' | 'nemesisIntervalMs'>;

/** No more operations and faults than a run may have. */
function lengthOf(drawn: Drawn, pins: Pins, replicationFactor: number): Length {
  const mostOperations = mostSimulatedOperations(replicationFactor);
  const longestMs = Math.min(
    pins.rate === undefined ? Infinity : Math.floor((1000 * mostOperations) / pins.rate),
    pins.nemesisIntervalMs === undefined || pins.nemesis?.length === 0 ? Infinity : mostFaults * pins.nemesisIntervalMs,
  );
  const timeLimitMs = pins.timeLimitMs ?? Math.min(drawn.timeLimitMs, longestMs);
  const highestRate = Math.max(1, Math.floor((1000 * mostOperations) / timeLimitMs));
  return {
    rate: pins.rate ?? Math.min(drawn.rate, highestRate),
    timeLimitMs,
    nemesisIntervalMs: pins.nemesisIntervalMs ?? Math.max(drawn.nemesisIntervalMs, Math.ceil(timeLimitMs / mostFaults)),
  };
}

/** With two replicas there is nobody for the second handover, and nobody to come back. */
const needsThree: readonly FaultKind[] = ['handover-crash', 'rejoin-crash'];

/** The kinds that are pinned, or as drawn of those that the replicas can bear; and the weights. */
function faultsOf(
  drawn: Drawn,
  bearable: readonly FaultKind[],
  pinned: readonly FaultKind[] | undefined,
  pinnedWeights: Pins['nemesisWeights'],
): Pick<RunConfig, 'nemesis' | 'nemesisWeights'> {
  const some = bearable.filter((kind) => drawn.nemesis.includes(kind));
  const nemesis = pinned ?? (some.length > 0 ? some : bearable);
  const weights = nemesis.flatMap((kind): [FaultKind, number][] => {
    /* Whoever pins weights pins all of them: what is not named has one. */
    const weight = pinnedWeights === undefined ? (drawn.weights.get(kind) ?? 1) : pinnedWeights[kind];
    return weight === undefined ? [] : [[kind, weight]];
  });
  return weights.length === 0 ? { nemesis } : { nemesis, nemesisWeights: Object.fromEntries(weights) };
}
