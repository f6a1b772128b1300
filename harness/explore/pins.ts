/**
 * What the flags of a search pin: from commander's options to {@link Pins}.
 *
 * A flag that was typed fixes its dimension; a default fixes nothing, since a search draws. A build by node fixes how many
 * there are. All rules that bind flags are checked once, on one configuration, by the code that checks them for `run`: what
 * is drawn keeps to them wherever the pins let it.
 */
import type { Command } from 'commander';
import { runConfigFrom, type RunFlags } from '../cli/options.ts';
import type { FaultKind } from '../../nemesis/schedule.ts';
import { UsageError } from '../errors.ts';
import { highestNodeIn } from '../plan/builds-by-node.ts';
import type { RunConfig } from '../plan/config.ts';
import { leastReplicasFor } from '../plan/joint-rules.ts';
import { mostBrokers } from '../plan/limits.ts';
import { drawConfig, type Pins } from './draws.ts';

/** Dimensions that a flag can pin, by the names that commander gives them. */
const dimensions = {
  nodes: 'brokers',
  replicationFactor: 'replicationFactor',
  minInsync: 'minInsyncReplicas',
  unclean: 'uncleanElection',
  acks: 'acks',
  partitions: 'partitions',
  rate: 'rate',
  timeLimit: 'timeLimitMs',
  nemesis: 'nemesis',
  nemesisWeights: 'nemesisWeights',
  nemesisInterval: 'nemesisIntervalMs',
  settleTimeout: 'settleTimeoutMs',
  clientTimeout: 'clientTimeoutMs',
  defect: 'defects',
  replicaLagTime: 'replicaLagTimeMaxMs',
  sessionTimeout: 'brokerSessionTimeoutMs',
  heartbeatInterval: 'heartbeatIntervalMs',
  fetchWait: 'fetchMaxWaitMs',
  hwCheckpointInterval: 'highWatermarkCheckpointIntervalMs',
} as const satisfies Partial<Record<keyof RunFlags, keyof RunConfig>>;

type Dimension = keyof typeof dimensions;

const dimensionNames = Object.keys(dimensions) as Dimension[];

/** The options of a search are those of a run, and say that they are drawn. */
export function describeAsDrawn(command: Command): void {
  const fixed = new Set<string>(['unclean', 'acks', 'defect', 'settleTimeout']);
  for (const option of command.options) {
    const name = option.attributeName();
    if (fixed.has(name) || (name !== 'concurrency' && !(name in dimensions))) continue;
    if (option.defaultValue !== undefined) option.defaultValueDescription = 'drawn';
  }
}

/** What was typed. Throws a UsageError where it contradicts itself. */
export function pinsFrom(command: Command, flags: RunFlags, build: string, kinds: readonly FaultKind[]): Pins {
  const typed = (name: string): boolean => command.getOptionValueSource(name) === 'cli';
  /* Single rules were checked by the parser; those that bind several need a whole configuration. */
  const raw: Record<string, unknown> = {};
  for (const name of dimensionNames) if (typed(name)) raw[dimensions[name]] = flags[name];
  const highestNode = highestNodeIn(build);
  if (highestNode !== null && !typed('nodes')) raw['brokers'] = Math.min(highestNode, mostBrokers);
  if (raw['nemesis'] === 'all') raw['nemesis'] = possibleKinds(raw as Pins, kinds);
  const perBroker = typed('concurrency') ? /^(\d+)n$/.exec(flags.concurrency)?.[1] : undefined;
  if (perBroker !== undefined) raw['concurrencyPerBroker'] = Number(perBroker);
  const contradiction = contradictionOf(raw as Pins);
  if (contradiction !== null) throw new UsageError(contradiction);
  const drawn = drawConfig(build, 1, raw as Pins, kinds);
  const checked = runConfigFrom(flagsFor(drawn, flags, typed), build, 1, 'sim');
  const pins: Record<string, unknown> = {};
  for (const name of dimensionNames) if (typed(name)) pins[dimensions[name]] = checked[dimensions[name]];
  if (typed('nemesisWeights')) pins['nemesisWeights'] = flags.nemesisWeights;
  if (highestNode !== null) pins['brokers'] = checked.brokers;
  if (perBroker !== undefined) pins['concurrencyPerBroker'] = Number(perBroker);
  else if (typed('concurrency')) pins['concurrency'] = checked.concurrency;
  return pins as Pins;
}

/** All kinds that so many replicas can bear. */
function possibleKinds({ replicationFactor, brokers }: Pins, kinds: readonly FaultKind[]): readonly FaultKind[] {
  const replicas = replicationFactor ?? brokers ?? Infinity;
  return kinds.filter((kind) => leastReplicasFor([kind]) <= replicas);
}

/** Where nobody typed the replication factor no line may blame it. */
function contradictionOf({ brokers, replicationFactor, minInsyncReplicas = 1, nemesis = [] }: Pins): string | null {
  if (brokers === undefined || replicationFactor !== undefined) return null;
  if (minInsyncReplicas > brokers) {
    return `--min-insync ${minInsyncReplicas} needs as many brokers: lower it, or raise --nodes (now ${brokers})`;
  }
  if (leastReplicasFor(nemesis) > brokers) {
    return `--nemesis rejoin-crash: its roles are three replicas; leave it out, or raise --nodes (now ${brokers})`;
  }
  return null;
}

/** The flags that would give a drawn configuration. */
function flagsFor(config: RunConfig, flags: RunFlags, typed: (name: string) => boolean): RunFlags {
  const values: Record<string, unknown> = { ...flags };
  for (const name of dimensionNames) if (!typed(name)) values[name] = config[dimensions[name]];
  /* Weights count where their kind is drawn; pinned together with the kinds each has to be one of them. */
  if (!typed('nemesis')) values['nemesisWeights'] = config.nemesisWeights;
  if (!typed('concurrency')) values['concurrency'] = String(config.concurrency);
  return values as unknown as RunFlags;
}
