/**
 * The cluster under test as a run sees it: of our own brokers, which tell their trace, or of brokers that others wrote,
 * which are observed.
 *
 * Here stands all in which the two differ: how a cluster is come by, how its brokers are spoken to, where its lines come
 * from and go to, how its end is known, and what becomes of it afterwards.
 *
 * Invariant: whatever a subject took or opened is given back or closed when its cluster is closed.
 */
import { randomBytes } from 'node:crypto';
import type { Key } from '../../checker/history.ts';
import type { Cluster, NodeId, NodeName } from '../../nemesis/ports.ts';
import { endsOf } from '../../nemesis/rest.ts';
import type { ClusterView } from '../../nemesis/view.ts';
import type { ForeignCluster } from '../../docker/foreign.ts';
import type { Capabilities, Target } from '../../docker/targets/target.ts';
import { spreadReplicas } from '../client/admin-requests.ts';
import type { ClientConfig } from '../client/contract.ts';
import { ownVersions, type Versions } from '../client/negotiation.ts';
import type { Completion } from '../client/operations.ts';
import { EnvironmentError } from '../errors.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { observe, type Observer } from '../observe/observer.ts';
import { foreignBuildsByNode } from '../plan/builds-by-node.ts';
import type { RunConfig } from '../plan/config.ts';
import { foreignStartMs, readyTimeoutMs } from '../plan/patience.ts';
import { createAdmin, type Admin, type LeaderMoves } from './admin.ts';
import type { PooledCluster } from './cluster-pool.ts';
import { Handled } from './handled.ts';
import { negotiateVersions } from './negotiate.ts';
import { nodeCommand } from './node-command.ts';
import { openNodeLogs, type NodeLogs } from './node-logs.ts';
import { reachOf, type Reach } from './reach.ts';
import type { ChosenRuntime } from './runtimes.ts';
import { warmUp } from './warm-up.ts';
import { seatController, whenForgotten } from './zookeeper-brokers.ts';

export interface Subject {
  readonly cluster: Cluster;
  /** Where its lines go, in the run's folder. */
  readonly linesFile: 'trace.jsonl' | 'observations.jsonl';
  /** How its brokers are spoken to, where nothing has to be asked. */
  readonly spoken: Spoken | null;
  /** Asks how its brokers are spoken to, and sees to it that they are ready to be. */
  speak(signal: AbortSignal): Promise<Spoken>;
  /** Has brokers that are slow at first do some work, in a topic of its own: only a load that is measured needs that. */
  warmUp(spoken: Spoken, signal: AbortSignal): Promise<void>;
  /** Everybody has subscribed: lines may begin. */
  begin(spoken: Spoken): Promise<void>;
  /** Who keeps each partition; undefined: the cluster decides. */
  readonly assignment: readonly (readonly NodeId[])[] | undefined;
  completed(completion: Completion): void;
  /** Of a node that ended by itself, what it printed last, and whether it had come up before. */
  end(node: NodeName): { readonly lastLines: readonly string[]; readonly phase: 'start' | 'running' } | null;
  /** Where each partition ends for consumers, and what is not as it should be at rest: one sentence each. */
  ends(
    admin: Admin,
    view: ClusterView,
  ): Promise<{ readonly ends: ReadonlyMap<Key, number>; readonly unrest: readonly string[] }>;
  /** What of its replicas cannot be seen, one sentence each: whether they change then is not known. */
  unseen(): readonly string[];
  /** Copies the replicas into the run's folder. */
  collect(): Promise<void>;
  /** The next run may have the cluster as it is. */
  leaveClean(): void;
  /** For `run.json`. */
  readonly facts: SubjectFacts;
}

export interface Spoken {
  readonly admin: Admin;
  readonly versions?: ClientConfig['versions'];
  /** Whom its brokers may refer clients to; if not given, one another. */
  readonly reach?: Reach;
}

/** Of brokers that others wrote; of ours nothing. */
export interface SubjectFacts {
  readonly observed?: true;
  readonly target?: { readonly name: string; readonly versions: Readonly<Record<string, string>> };
  readonly capabilities?: Capabilities;
}

export interface SubjectRequest {
  readonly config: RunConfig;
  readonly keys: readonly Key[];
  readonly runtime: ChosenRuntime;
  readonly directory: string;
  readonly clockOriginNs: bigint;
  readonly progress: (line: string) => void;
  readonly signal: AbortSignal;
  /** A node of a foreign cluster says that it ends itself; some then hang, and never exit. */
  readonly onSelfEnd: (node: NodeName, words: string) => void;
  /** It had lost its session, as its log proves. */
  readonly onExcuse: (node: NodeName, words: string) => void;
  /** A node of a foreign cluster is about to be started. */
  readonly onStart: (node: NodeName) => void;
}

export function deploySubject(request: SubjectRequest): Promise<Subject> {
  return isForeignBuild(request.config.build) ? deployForeign(request) : deployOwn(request);
}

async function deployOwn({ config, runtime, clockOriginNs, ...request }: SubjectRequest): Promise<Subject> {
  const { directory, progress, signal } = request;
  const cluster = await runtime.deploy({
    ...placesOf(config),
    command: nodeCommand(config, clockOriginNs),
    directory,
    progress,
    signal,
  });
  const spoken = { admin: createAdmin(cluster.addresses, config.clientTimeoutMs, { signal }) };
  return {
    cluster,
    linesFile: 'trace.jsonl',
    spoken,
    speak: () => Promise.resolve(spoken),
    warmUp: () => Promise.resolve(),
    begin: () => Promise.resolve(),
    assignment: undefined,
    completed: () => {},
    end: () => null,
    ends: (_, view) => Promise.resolve({ ends: endsOf(view), unrest: [] }),
    unseen: () => [],
    collect: () => cluster.collect(),
    leaveClean: () => {},
    facts: {},
  };
}

async function deployForeign(request: SubjectRequest): Promise<Subject> {
  const { config, runtime, directory, clockOriginNs, progress, signal } = request;
  const { foreign } = runtime;
  if (foreign === undefined) {
    throw new EnvironmentError(`${config.build} runs in containers only: ${runtime.reason}`);
  }
  const places = placesOf(config);
  const target = foreign.targetOf(config.build, places.brokers);
  const settings = settingsOf(config);
  const pooled = await foreign.take({ ...places, target, settings, directory, progress, signal }, config.topic);
  const logs = openNodeLogs(directory);
  const handled = new Handled(() => performance.now());
  const observer = observe(pooled.cluster, {
    topic: config.topic,
    partitions: config.partitions,
    clockOriginNs,
    assignment: assignmentOf(config, pooled.cluster.brokers),
    onSelfEnd: request.onSelfEnd,
    onExcuse(node, words) {
      if (!handled.isHandled(node, 2 * forgottenWithinMs(config))) request.onExcuse(node, words);
    },
    onStart: request.onStart,
    onOutput: (node, line, companion) => logs.write(node, line, companion),
  });
  return foreignSubject(request, target, pooled, observer, logs, handled);
}

function foreignSubject(
  { config, keys, directory }: SubjectRequest,
  target: Target,
  pooled: PooledCluster,
  observer: Observer,
  logs: NodeLogs,
  handled: Handled,
): Subject {
  const foreign = pooled.cluster;
  // A target whose logs are not Kafka's segments says so: then they are neither watched for, nor compared with.
  const seesLogs = (target.capabilities.guarantees['agreement'] ?? true) === true;
  let versions: Versions = ownVersions;
  let clean = false;
  const closing = new AbortController();
  return {
    cluster: {
      ...observer.cluster,
      async perform(action) {
        handled.note(action);
        const { zooKeeper } = foreign;
        if (zooKeeper !== undefined) {
          await whenForgotten(zooKeeper, action, forgottenWithinMs(config), closing.signal);
        }
        // Nothing may be started behind the back of whoever removes the cluster.
        if (closing.signal.aborted) return { effective: false, facts: { error: 'the run is over' } };
        return observer.cluster.perform(action);
      },
      close() {
        closing.abort();
        observer.close();
        logs.close();
        return pooled.end(clean);
      },
    },
    linesFile: 'observations.jsonl',
    spoken: null,
    async speak(signal) {
      const timeoutMs = readyTimeoutMs + foreignStartMs;
      versions = await negotiateVersions(foreign.addresses, { timeoutMs, signal });
      await seat(foreign);
      const reach = reachOf(foreign.kafkaAddresses.values());
      const admin = createAdmin(foreign.addresses, config.clientTimeoutMs, {
        versions: versions.admin,
        moves: movesOf(target, foreign.zooKeeper),
        reach,
        signal,
      });
      await admin.demandOwnAddresses();
      return { admin, versions: versions.client, reach };
    },
    warmUp(spoken, signal) {
      const { replicationFactor } = config;
      return warmUp({ ...spoken, addresses: foreign.addresses, replicationFactor, signal });
    },
    begin: () => observer.begin(versions.client.Metadata, versions.describeQuorum),
    assignment: assignmentOf(config, foreign.brokers),
    completed: (completion) => observer.completed(completion),
    end: (node) => ({
      lastLines: observer.lastLines(node),
      phase: observer.hasAnswered(node) ? 'running' : 'start',
    }),
    async ends(admin, view) {
      const { ends, missing } = await admin.endOffsets(keys);
      return { ends, unrest: [...missing, ...(seesLogs ? endsBelowLogs(ends, view) : [])] };
    },
    unseen: () => (seesLogs ? observer.unseen() : []),
    collect: () => foreign.collectTopic(directory, config.topic),
    leaveClean: () => (clean = true),
    facts: {
      observed: true,
      target: { name: target.name, versions: versionsOf(config) },
      capabilities: target.capabilities,
    },
  };
}

/** The build of each broker. */
function versionsOf({ build, brokers }: RunConfig): Record<string, string> {
  const builds = foreignBuildsByNode(build, brokers);
  return typeof builds === 'string' ? {} : Object.fromEntries(builds);
}

function assignmentOf(
  { partitions, replicationFactor }: RunConfig,
  brokers: readonly NodeId[],
): readonly (readonly NodeId[])[] {
  return spreadReplicas(brokers, partitions, replicationFactor);
}

/** At rest everything that the leader has is committed. */
function endsBelowLogs(ends: ReadonlyMap<Key, number>, view: ClusterView): string[] {
  return [...ends].flatMap(([key, end]) => {
    const partition = view.partitions.get(key);
    const leader = partition?.leader ?? null;
    const leo = leader === null ? undefined : partition?.replica.get(leader)?.leo;
    return leo === undefined || leo === end
      ? []
      : [`${key}: consumers read up to ${end}, the leader's log ends at ${leo}`];
  });
}

function placesOf({ build, brokers }: RunConfig): { readonly runId: string; readonly brokers: readonly NodeId[] } {
  const name = build
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 24);
  return {
    runId: `${name}-${process.pid}-${randomBytes(3).toString('hex')}`,
    brokers: Array.from({ length: brokers }, (_, index) => index + 1),
  };
}

function settingsOf(config: RunConfig): Parameters<NonNullable<ChosenRuntime['foreign']>['take']>[0]['settings'] {
  const { replicationFactor, minInsyncReplicas, uncleanElection, replicaLagTimeMaxMs } = config;
  const { brokerSessionTimeoutMs, heartbeatIntervalMs, fetchMaxWaitMs, highWatermarkCheckpointIntervalMs } = config;
  return {
    replicationFactor,
    minInsyncReplicas,
    uncleanElection,
    replicaLagTimeMaxMs,
    brokerSessionTimeoutMs,
    heartbeatIntervalMs,
    fetchMaxWaitMs,
    highWatermarkCheckpointIntervalMs,
  };
}

/**
 * In ZooKeeper's time any broker may be the controller, and a paused one stalls everybody. A run begins with the one that
 * is there for nothing else; an earlier run may have driven it out.
 */
async function seat({ zooKeeper }: ForeignCluster): Promise<void> {
  if (zooKeeper === undefined) return;
  if (await seatController(zooKeeper, zooKeeper.controllerId, readyTimeoutMs)) return;
  throw new EnvironmentError('the broker that is there to be the controller did not become it');
}

/**
 * ZooKeeper notices the end of a session by its own ticks, and late where the machine is busy. Whoever asked for the start
 * gives up after ten seconds.
 */
function forgottenWithinMs({ brokerSessionTimeoutMs }: RunConfig): number {
  return Math.min(3 * brokerSessionTimeoutMs + 2_000, 8_500);
}

function movesOf({ leaderMove }: Target, zooKeeper: { host: string; port: number } | undefined): LeaderMoves {
  if (leaderMove !== 'zookeeper') return { by: leaderMove };
  return zooKeeper === undefined ? { by: 'none' } : { by: 'zookeeper', address: zooKeeper };
}
