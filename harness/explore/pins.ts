/**
 * What the flags of a search pin: from commander's options to {@link Pins}.
 *
 * A flag that was typed fixes its dimension; a default fixes nothing, since a search draws. All rules that bind flags are
 * checked once, on the first configuration that would be run, by the code that checks them for `run`.
 */
import type { Command } from 'commander';
import { runConfigFrom, type RunFlags } from '../cli/options.ts';
import type { FaultKind } from '../../nemesis/schedule.ts';
import type { RunConfig } from '../plan/config.ts';
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
  if (raw['nemesis'] === 'all') raw['nemesis'] = kinds;
  const drawn = drawConfig(build, 1, raw as Pins, kinds);
  const checked = runConfigFrom(flagsFor(drawn, flags, typed), build, 1, 'sim');
  const pins: Record<string, unknown> = {};
  for (const name of dimensionNames) if (typed(name)) pins[dimensions[name]] = checked[dimensions[name]];
  if (typed('concurrency')) {
    const perBroker = /^(\d+)n$/.exec(flags.concurrency);
    if (perBroker === null) pins['concurrency'] = checked.concurrency;
    else pins['concurrencyPerBroker'] = Number(perBroker[1]);
  }
  return pins as Pins;
}

/** The flags that would give a drawn configuration. */
function flagsFor(config: RunConfig, flags: RunFlags, typed: (name: string) => boolean): RunFlags {
  const values: Record<string, unknown> = { ...flags };
  for (const name of dimensionNames) if (!typed(name)) values[name] = config[dimensions[name]];
  if (!typed('concurrency')) values['concurrency'] = String(config.concurrency);
  return values as unknown as RunFlags;
}
