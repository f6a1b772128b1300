/**
 * A target: a kind of broker that can be put under test, described as data.
 *
 * Our own broker needs none: it tells its trace, and takes its orders by an argument. Any other Kafka-compatible broker
 * is a black box, so its target says what containers each node consists of, how they are started and in which order,
 * where their segments lie, how their log lines are to be read, and what they cannot do. The runtime asks nothing else;
 * what a target cannot show is `not-checked`, by name.
 *
 * Invariant: a target decides nothing and acts on nothing but its images, in {@link Target.prepare}.
 */
import type { NodeId, NodeName } from '../../nemesis/ports.ts';
import type { Engine } from '../client.ts';

export interface Target {
  /** As its user names it: `kafka:2.8.2`, `1-2=kafka:2.1.1,3=kafka:2.8.2`, `image:example/broker:1`. */
  readonly name: string;
  readonly capabilities: Capabilities;
  /** How leaders are moved, if they can be. */
  readonly leaderMove: LeaderMove;
  /** How its brokers' own log lines are read; the first pattern that matches counts. Per broker, as versions differ. */
  logPatterns(node: NodeName): readonly LogPattern[];
  /** What has to be fetched first: one line, with the command to type. Null: nothing that can be known without the engine. */
  lacks(): string | null;
  /**
   * Sees to it that images and volumes are there. Rejects with one line, and the command to type, where something has to
   * be fetched first.
   */
  prepare(engine: Engine, progress: (line: string) => void): Promise<void>;
  /** What each node consists of: the controller's (if it has one of its own) first. */
  nodes(layout: Layout): readonly NodePlan[];
}

/** `reassign`: by AlterPartitionReassignments and ElectLeaders; `zookeeper`: by the same orders, written to ZooKeeper. */
export type LeaderMove = 'none' | 'reassign' | 'zookeeper';

/** Where everything is, and what the cluster is to be set to. */
export interface Layout {
  readonly brokers: readonly NodeId[];
  /** The address of a node's pod. */
  readonly addressOf: (node: NodeName) => string;
  readonly settings: TargetSettings;
}

export interface TargetSettings {
  readonly replicationFactor: number;
  readonly minInsyncReplicas: number;
  readonly uncleanElection: boolean;
  readonly replicaLagTimeMaxMs: number;
  readonly brokerSessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly fetchMaxWaitMs: number;
  readonly highWatermarkCheckpointIntervalMs: number;
}

export interface NodePlan {
  readonly node: NodeName;
  /** Nodes of one wave start side by side, after all of the waves before have said that they are ready. */
  readonly wave: number;
  /** The port on which the node answers Kafka's protocol, in its pod. Null for a controller that does not. */
  readonly port: number | null;
  /** The container that faults act on. */
  readonly process: ContainerPlan;
  /** Containers beside it in the same pod, started before it, such as ZooKeeper. They share its address. */
  readonly companions: readonly ContainerPlan[];
  /** Where ZooKeeper answers in its pod, if it does; and the id of the broker that is there to be the controller. */
  readonly zooKeeper?: { readonly port: number; readonly controllerId: number };
  /** Where `<topic>-<partition>/` folders lie; it must be in the process's data volume. Null: it keeps no replicas. */
  readonly logDirectory: string | null;
}

export interface ContainerPlan {
  /** Unique in its pod: `node`, `zookeeper`. */
  readonly role: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Configuration, put into the data volume before the first start: path in the container to text. */
  readonly files: Readonly<Record<string, string>>;
  /** In the data volume, made before the first start, and owned by `user`: the top of a volume need not be. */
  readonly folders?: readonly string[];
  /** Where its data volume is mounted. Of what is put into it each file, and each folder on the way, belongs to `user`. */
  readonly dataDirectory: string;
  /** Read-only mounts: path in the container to path on the host. */
  readonly readOnly: Readonly<Record<string, string>>;
  readonly user: number;
  readonly memoryMb: number;
  readonly pidsMax: number;
  /** A line of its output by which it says that it is ready; null: an answer on its node's port, where it has one. */
  readonly ready: RegExp | null;
  readonly exits: Exits;
}

/** What its exit codes mean. Being killed, and running out of the container's memory, is never its own doing. */
export interface Exits {
  /** After it was asked to stop: it did so in good order. */
  readonly orderly: readonly number[];
  /** Unasked: its surroundings ended it, or it says that they failed it. */
  readonly environment: readonly number[];
}

/**
 * How one line of a broker's log is read. Groups by name: `topic` and `partition` (or `key`, as `topic-partition`),
 * `leader`, `epoch`, `offset`, `isr` (ids with commas), whichever the line holds. `isr` is what a leader is about to
 * commit: the new ISR of a partition that it leads. `lost-session` counts only right behind a line by which the broker
 * ends: it says that it had lost its session with those who keep the metadata, which accuses nobody.
 */
export interface LogPattern {
  readonly shows: 'isr' | 'leads' | 'follows' | 'hw' | 'truncates' | 'ends-itself' | 'failed-start' | 'lost-session';
  readonly pattern: RegExp;
}

/** A word for what can be done or known, or why not. */
export type Able = true | { readonly not: string };

/** What a target can do and show; `doctor` prints it, reports hold it. */
export interface Capabilities {
  /** By kind of fault. */
  readonly faults: Readonly<Record<string, Able>>;
  /** By guarantee: `true`, or why it is not checked. */
  readonly guarantees: Readonly<Record<string, Able>>;
  /** By what a plan can wait for. */
  readonly triggers: Readonly<Record<string, Able>>;
  /** Whether exposures can be counted: that takes a follower's high watermark. */
  readonly exposures: Able;
}
