/**
 * The flags that several commands share, and how they become a {@link RunConfig}.
 *
 * Names and meanings are Jepsen's where Jepsen has them. Durations are seconds unless a unit stands behind them
 * (`12`, `12s`, `500ms`, `2m`). What binds several flags is checked here, and each by itself in `option-types.ts`, so that
 * whatever runs later may trust its configuration.
 */
import { randomInt } from 'node:crypto';
import { Option, type Command } from 'commander';
import { buildNames } from '../../broker/core/builds.ts';
import { defects } from '../../broker/core/defects.ts';
import { UsageError } from '../errors.ts';
import { buildsByNode } from '../plan/builds-by-node.ts';
import type { Awaited } from '../../nemesis/awaited.ts';
import type { FaultKind } from '../../nemesis/schedule.ts';
import { faultKinds } from '../../nemesis/faults/index.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { foreignFlaw, isDescribed } from './beside-foreign.ts';
import { durationOption, listOption, numberOption, seconds, weightsFrom } from './option-types.ts';
import {
  defaultRunConfig,
  faultKindsOf,
  foreignFaultKinds,
  foreignRunConfig,
  topicOf,
  type RunConfig,
} from '../plan/config.ts';
import { jointFlawOf, leastReplicasFor, type JointNames } from '../plan/joint-rules.ts';
import {
  excessOf,
  greatestSeed,
  mostBrokers,
  mostOperationsPerSecond,
  mostPartitions,
  mostProcesses,
} from '../plan/limits.ts';

/** What commander hands to an action after `addRunOptions`. */
export interface RunFlags {
  readonly runtime?: RunConfig['runtime'];
  readonly seed?: number;
  readonly store: string;
  readonly nodes: number;
  readonly replicationFactor: number;
  readonly minInsync: number;
  readonly unclean: boolean;
  readonly acks: 'all' | 0 | 1;
  readonly partitions: number;
  readonly rate: number;
  readonly concurrency: string;
  readonly timeLimit: number;
  /** `all`: whatever the runtime can do. */
  readonly nemesis: readonly FaultKind[] | 'all';
  readonly nemesisWeights?: Readonly<Partial<Record<FaultKind, number>>>;
  /** What no fault waits for. */
  readonly notAwaited?: readonly Awaited[];
  readonly nemesisInterval: number;
  readonly settleTimeout: number;
  readonly clientTimeout: number;
  readonly defect: readonly string[];
  /** Of an `image:<ref>`. */
  readonly description?: string;
  readonly replicaLagTime: number;
  readonly sessionTimeout: number;
  readonly heartbeatInterval: number;
  readonly fetchWait: number;
  readonly hwCheckpointInterval: number;
  /** Brokers that others wrote take part, on either side of a comparison (`beside-foreign.ts`). */
  readonly besideForeign?: boolean;
  /** Of `run` alone: a comparison keeps no cluster. */
  readonly leaveDbRunning?: boolean;
  readonly json: boolean;
}

/** Adds the flags of a cluster: its size, its promises and its timing. */
export function addClusterOptions(command: Command, runtime = deployedRuntimes()): Command {
  const d = defaultRunConfig;
  return command
    .addOption(runtime)
    .addOption(numberOption('--nodes <n>', 'brokers', d.brokers, 1, mostBrokers))
    .addOption(
      numberOption('--replication-factor <n>', 'replicas of each partition', d.replicationFactor, 1, mostBrokers),
    )
    .addOption(numberOption('--min-insync <n>', 'min.insync.replicas', d.minInsyncReplicas, 1, mostBrokers))
    .option('--unclean', 'allow unclean leader election', false)
    .addOption(numberOption('--partitions <n>', 'partitions of the topic', d.partitions, 1, mostPartitions))
    .addOption(
      listOption(
        '--defect <names>',
        'bugs to switch on in brokers and controller, comma-separated; docs/defects.md lists them',
        [],
        Object.keys(defects),
      ),
    )
    .option('--description <file>', 'with --build image:<ref>: how its brokers are started and read; docs/targets.md')
    .addOption(
      durationOption(
        '--replica-lag-time <time>',
        'replica.lag.time.max.ms',
        d.replicaLagTimeMaxMs,
        foreignRunConfig.replicaLagTimeMaxMs,
      ),
    )
    .addOption(
      durationOption(
        '--session-timeout <time>',
        'silence after which a broker is fenced',
        d.brokerSessionTimeoutMs,
        foreignRunConfig.brokerSessionTimeoutMs,
      ),
    )
    .addOption(
      durationOption('--heartbeat-interval <time>', 'between the heartbeats of a broker', d.heartbeatIntervalMs),
    )
    .addOption(durationOption('--fetch-wait <time>', 'longest wait of a follower’s fetch', d.fetchMaxWaitMs))
    .addOption(
      durationOption(
        '--hw-checkpoint-interval <time>',
        'between two writes of the high watermark file',
        d.highWatermarkCheckpointIntervalMs,
      ),
    );
}

function deployedRuntimes(): Option {
  return new Option(
    '--runtime <runtime>',
    'where brokers run: containers, or local processes (default: containers where an engine answers)',
  ).choices(['local', 'docker']);
}

/** Adds the flags of a test: load, faults, seed, store. `standard` says what happens without `--runtime`. */
export function addRunOptions(command: Command, standard = 'containers where an engine answers'): Command {
  const d = defaultRunConfig;
  const runtime = new Option(
    '--runtime <runtime>',
    `where brokers run: the simulator, local processes, or containers (default: ${standard})`,
  ).choices(['sim', 'local', 'docker']);
  return addClusterOptions(command, runtime)
    .addOption(numberOption('--seed <n>', 'seed of workload and faults (default: drawn)', undefined, 0, greatestSeed))
    .option('--store <dir>', 'where runs are kept', 'store')
    .addOption(
      new Option('--acks <acks>', 'acknowledgements that producers ask for')
        .default(d.acks)
        .argParser((text): 'all' | 0 | 1 => {
          if (text === 'all' || text === '-1') return 'all';
          if (text === '0') return 0;
          if (text === '1') return 1;
          throw new UsageError(`--acks ${text}: write all, 1 or 0`);
        }),
    )
    .addOption(numberOption('--rate <n>', 'operations per second', d.rate, 1, mostOperationsPerSecond))
    .option('--concurrency <n>', 'client processes; 2n means twice the brokers', String(d.concurrency))
    .addOption(
      durationOption(
        '--time-limit <time>',
        'how long load and faults last',
        d.timeLimitMs,
        foreignRunConfig.timeLimitMs,
      ),
    )
    .addOption(
      listOption(
        '--nemesis <kinds>',
        `faults, comma-separated: ${faultKinds.join(', ')} (slow-links, rejoin-crash: sim only); or all that the runtime can do, or none`,
        d.nemesis,
        faultKinds,
        'all',
      ),
    )
    .addOption(
      new Option(
        '--nemesis-weights <weights>',
        'how often each kind is drawn: partition=30,crash=5 (default: all alike)',
      ).argParser(weightsFrom),
    )
    .addOption(
      durationOption(
        '--nemesis-interval <time>',
        'mean time between the starts of faults',
        d.nemesisIntervalMs,
        foreignRunConfig.nemesisIntervalMs,
      ),
    )
    .addOption(
      durationOption(
        '--settle-timeout <time>',
        'bound on settling after the last fault',
        d.settleTimeoutMs,
        foreignRunConfig.settleTimeoutMs,
      ),
    )
    .addOption(durationOption('--client-timeout <time>', 'deadline of a client’s operation', d.clientTimeoutMs))
    .option('--json', 'print the results as JSON on standard output', false);
}

/** The configuration that the flags describe, for one build and seed. */
export function runConfigFrom(flags: RunFlags, build: string, seed: number, runtime: RunConfig['runtime']): RunConfig {
  checkTogether(flags, build);
  if (isForeignBuild(build) && runtime !== 'docker') {
    throw new UsageError(`${build} runs in containers only, with \`run\`, \`compare\` and \`up\``);
  }
  const { notAwaited = [] } = flags;
  const nemesis = nemesisFrom(flags, runtime);
  const config: RunConfig = {
    build,
    defects: flags.defect,
    ...(flags.description === undefined || !isDescribed(build) ? {} : { description: flags.description }),
    runtime,
    seed,
    brokers: flags.nodes,
    replicationFactor: flags.replicationFactor,
    minInsyncReplicas: flags.minInsync,
    uncleanElection: flags.unclean,
    acks: flags.acks,
    topic: topicOf(seed, flags.besideForeign ?? false),
    partitions: flags.partitions,
    rate: flags.rate,
    concurrency: concurrencyFrom(flags.concurrency, flags.nodes),
    timeLimitMs: flags.timeLimit,
    settleTimeoutMs: flags.settleTimeout,
    clientTimeoutMs: flags.clientTimeout,
    nemesis,
    ...(flags.nemesisWeights === undefined ? {} : { nemesisWeights: flags.nemesisWeights }),
    ...(notAwaited.length === 0 ? {} : { notAwaited }),
    nemesisIntervalMs: flags.nemesisInterval,
    replicaLagTimeMaxMs: flags.replicaLagTime,
    brokerSessionTimeoutMs: flags.sessionTimeout,
    heartbeatIntervalMs: flags.heartbeatInterval,
    fetchMaxWaitMs: flags.fetchWait,
    highWatermarkCheckpointIntervalMs: flags.hwCheckpointInterval,
    leaveRunning: flags.leaveDbRunning ?? false,
    ...(flags.besideForeign === true ? { patience: foreignRunConfig.patience } : {}),
  };
  const excess = excessOf(config);
  if (excess !== null) throw new UsageError(`--rate, --time-limit and --nemesis-interval: ${excess}`);
  return config;
}

/** Which flags, as a user would type them, differ from the defaults: the tail of a command that repeats a run. */
export function flagsOf(config: RunConfig): string[] {
  const d = config.patience === undefined ? defaultRunConfig : foreignRunConfig;
  const flags: string[] = [`--runtime ${config.runtime}`];
  const add = (differs: boolean, flag: string): void => {
    if (differs) flags.push(flag);
  };
  add(config.brokers !== d.brokers, `--nodes ${config.brokers}`);
  add(config.replicationFactor !== d.replicationFactor, `--replication-factor ${config.replicationFactor}`);
  add(config.minInsyncReplicas !== d.minInsyncReplicas, `--min-insync ${config.minInsyncReplicas}`);
  add(config.uncleanElection, '--unclean');
  add(config.acks !== d.acks, `--acks ${config.acks}`);
  add(config.partitions !== d.partitions, `--partitions ${config.partitions}`);
  add(config.rate !== d.rate, `--rate ${config.rate}`);
  add(config.concurrency !== d.concurrency, `--concurrency ${config.concurrency}`);
  add(config.timeLimitMs !== d.timeLimitMs, `--time-limit ${seconds(config.timeLimitMs)}`);
  add(
    config.nemesis.join(',') !== d.nemesis.join(','),
    `--nemesis ${config.nemesis.length === 0 ? 'none' : config.nemesis.join(',')}`,
  );
  const weights = Object.entries(config.nemesisWeights ?? {}).map(([kind, weight]) => `${kind}=${weight}`);
  add(weights.length > 0, `--nemesis-weights ${weights.join(',')}`);
  add(config.nemesisIntervalMs !== d.nemesisIntervalMs, `--nemesis-interval ${seconds(config.nemesisIntervalMs)}`);
  add(config.settleTimeoutMs !== d.settleTimeoutMs, `--settle-timeout ${seconds(config.settleTimeoutMs)}`);
  add(config.clientTimeoutMs !== d.clientTimeoutMs, `--client-timeout ${seconds(config.clientTimeoutMs)}`);
  add(config.description !== undefined, `--description ${config.description}`);
  add(config.defects.length > 0, `--defect ${config.defects.join(',')}`);
  add(
    config.replicaLagTimeMaxMs !== d.replicaLagTimeMaxMs,
    `--replica-lag-time ${seconds(config.replicaLagTimeMaxMs)}`,
  );
  add(
    config.brokerSessionTimeoutMs !== d.brokerSessionTimeoutMs,
    `--session-timeout ${seconds(config.brokerSessionTimeoutMs)}`,
  );
  add(
    config.heartbeatIntervalMs !== d.heartbeatIntervalMs,
    `--heartbeat-interval ${seconds(config.heartbeatIntervalMs)}`,
  );
  add(config.fetchMaxWaitMs !== d.fetchMaxWaitMs, `--fetch-wait ${seconds(config.fetchMaxWaitMs)}`);
  add(
    config.highWatermarkCheckpointIntervalMs !== d.highWatermarkCheckpointIntervalMs,
    `--hw-checkpoint-interval ${seconds(config.highWatermarkCheckpointIntervalMs)}`,
  );
  return flags;
}

/** A seed for a run that was not given one: short enough to be read aloud. */
export function drawSeed(): number {
  return randomInt(1, 1_000_000_000);
}

/** The kinds of fault, all of which the runtime has to be able to bring about, and the replicas to bear. */
function nemesisFrom(
  { nemesis: wanted, nemesisWeights = {}, replicationFactor, besideForeign = false }: RunFlags,
  runtime: RunConfig['runtime'],
): readonly FaultKind[] {
  const able = besideForeign
    ? faultKindsOf[runtime].filter((kind) => foreignFaultKinds.includes(kind))
    : faultKindsOf[runtime];
  const kinds = wanted === 'all' ? able.filter((kind) => leastReplicasFor([kind]) <= replicationFactor) : wanted;
  const strange = kinds.find((kind) => !able.includes(kind));
  if (strange !== undefined && besideForeign) {
    throw new UsageError(`--nemesis ${strange}: that cannot be done to brokers that others wrote; leave it out`);
  }
  if (strange !== undefined) {
    throw new UsageError(`--nemesis ${strange}: runtime ${runtime} cannot do that; leave it out, or use --runtime sim`);
  }
  if (leastReplicasFor(kinds) > replicationFactor) {
    throw new UsageError(
      `--nemesis rejoin-crash: its roles are three replicas; raise --replication-factor (now ${replicationFactor})`,
    );
  }
  const idle = Object.entries(nemesisWeights).find(([kind]) => !kinds.some((known) => known === kind));
  if (idle !== undefined) {
    throw new UsageError(
      `--nemesis-weights ${idle.join('=')}: ${idle[0]} is none of the faults of this run; leave it out, or name it in --nemesis`,
    );
  }
  return kinds;
}

const flagNames: JointNames = {
  brokers: '--nodes',
  replicationFactor: '--replication-factor',
  minInsyncReplicas: '--min-insync',
  settleTimeoutMs: '--settle-timeout',
  replicaLagTimeMaxMs: '--replica-lag-time',
  brokerSessionTimeoutMs: '--session-timeout',
  heartbeatIntervalMs: '--heartbeat-interval',
  fetchMaxWaitMs: '--fetch-wait',
};

/** Rules that bind several flags, but for those of the faults. */
function checkTogether(flags: RunFlags, build: string): void {
  const flaw = isForeignBuild(build) ? foreignFlaw(flags, build) : buildsByNode(build, flags.nodes, buildNames);
  if (typeof flaw === 'string') throw new UsageError(flaw);
  if (flags.description !== undefined && flags.besideForeign !== true) {
    throw new UsageError(`--description ${flags.description}: it describes an image:<ref>, and no build is one`);
  }
  const joint = jointFlawOf(
    {
      brokers: flags.nodes,
      replicationFactor: flags.replicationFactor,
      minInsyncReplicas: flags.minInsync,
      settleTimeoutMs: flags.settleTimeout,
      replicaLagTimeMaxMs: flags.replicaLagTime,
      brokerSessionTimeoutMs: flags.sessionTimeout,
      heartbeatIntervalMs: flags.heartbeatInterval,
      fetchMaxWaitMs: flags.fetchWait,
    },
    flagNames,
  );
  if (joint !== null) throw new UsageError(joint);
}

function concurrencyFrom(text: string, nodes: number): number {
  const match = /^(\d+)(n?)$/.exec(text);
  const count = match === null ? Number.NaN : Number(match[1]) * (match[2] === 'n' ? nodes : 1);
  if (!Number.isSafeInteger(count) || count < 1 || count > mostProcesses) {
    throw new UsageError(
      `--concurrency ${text}: write a number from 1 to ${mostProcesses}, or a multiple of the brokers such as 2n`,
    );
  }
  return count;
}
