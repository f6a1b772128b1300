/**
 * One play of a scenario: the cluster, the clients, what they wrote and read, and the story as it is told.
 *
 * Steps act through this; conditions ask it. Time passes only where a step lets it pass.
 *
 * Values are known by the checksum of their batch, which no broker changes: so a trace line can be told with the names
 * of the records, whatever became of them since.
 */
import { findPartition } from '../../broker/controller/metadata.ts';
import type { PartitionState } from '../../broker/controller/metadata.ts';
import type { Partition } from '../../broker/core/partition.ts';
import type { NodeId, Peer } from '../../broker/core/step.ts';
import { hashOf, told } from '../../broker/core/trace.ts';
import type { TraceLine } from '../../broker/core/trace.ts';
import { decodeRecords, encodeRecordSet, errorName, messageText, parseRecordSet } from '../../broker/protocol/index.ts';
import type { ApiName, RecordSet, RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import { buildNames } from '../../broker/core/builds.ts';
import { buildsByNode } from '../plan/builds-by-node.ts';
import { SimCluster } from './cluster.ts';
import { narrateMessage, narrateTrace, nodeName, toldLine } from './narrate.ts';
import type { HeldMessage, Hold, Lane, Message } from './network.ts';
import { PlayHistory } from './play-history.ts';
import type { ScenarioSettings } from './scenario-settings.ts';
import type { Call } from './sim-client.ts';

/** A step that makes no sense as things stand. */
export class PlayError extends Error {}

/** A record that a client sent. */
export interface Produced {
  readonly value: string;
  readonly partition: PartitionName;
  readonly acks: -1 | 0 | 1;
  /** Its place in its batch. */
  readonly index: number;
  readonly call: Call<'Produce'>;
}

export interface PartitionName {
  readonly topic: string;
  readonly index: number;
  /** `topic-partition`. */
  readonly key: string;
}

/** What a consumer got by one read. */
export interface Read {
  readonly client: string;
  readonly broker: NodeId;
  readonly offset: number;
  readonly error: string | null;
  /** The leader's, as its answer says. */
  readonly highWatermark: number;
  readonly records: readonly { readonly offset: number; readonly value: string }[];
}

/** A message that a step names. */
interface Meant {
  readonly what: string;
  readonly matches: Hold['matches'];
}

const NS_PER_MS = 1e6;
/** How long a step waits for what it needs, in virtual time. */
const PATIENCE_MS = 30_000;
const [PRODUCE_VERSION, FETCH_VERSION, CREATE_TOPICS_VERSION, MOVE_LEADER_VERSION] = [7, 11, 4, 0];
/** A client that gives up on nothing. */
const NEVER_MS = 3_600_000;

export class Play {
  readonly build: string;
  readonly cluster: SimCluster;
  readonly lines: string[] = [];
  readonly trace: TraceLine[] = [];
  readonly produced = new Map<string, Produced>();
  readonly reads: Read[] = [];
  readonly holds = new Map<string, Hold>();
  /** Followers whose single fetches are told. */
  readonly steppedFollowers = new Set<string>();
  /** False: the cluster was given its time to settle, and did not. */
  settledInTime = true;
  readonly settings: ScenarioSettings;
  readonly defects: readonly string[];
  readonly history = new PlayHistory();
  #partitions: readonly PartitionName[] = [];
  readonly #valuesByChecksum = new Map<string, readonly string[]>();
  /** Names of messages that have been taken in by whom they were for. */
  readonly #arrived = new Set<Message>();
  readonly #answered = new Set<string>();

  constructor(build: string, brokers: number, settings: ScenarioSettings, defects: readonly string[] = []) {
    const builds = buildsByNode(build, brokers, buildNames);
    if (typeof builds === 'string') throw new Error(builds);
    this.build = build;
    this.settings = settings;
    this.defects = defects;
    this.cluster = new SimCluster({
      builds,
      defects,
      settings,
      codec: true,
      onTrace: (line) => this.#onTrace(told(line)),
      onMessage: (lane, message) => this.#onMessage(lane, message),
      onCrash: (node, message) => this.narrate(nodeName(String(node)), `BREAKS A RULE OF ITS OWN and ends: ${message}`),
    });
  }

  /** Brings the cluster to life. */
  start(): void {
    this.cluster.start();
    const alive = () => this.cluster.brokers.every((id) => this.#isLive(id));
    if (!this.runUntil(alive, PATIENCE_MS)) throw new Error('the cluster did not come to life');
  }

  tell(line: string): void {
    this.lines.push(line);
  }

  /** Tells something that happened now, to `who`. */
  narrate(who: string, what: string): void {
    this.tell(toldLine(this.cluster.kernel.nowNs, who, what));
  }

  runFor(ms: number): void {
    this.cluster.kernel.runFor(ms * NS_PER_MS);
  }

  runUntil(reached: () => boolean, withinMs = PATIENCE_MS): boolean {
    return this.cluster.kernel.runUntil(reached, withinMs * NS_PER_MS);
  }

  /** Runs until something holds that a step depends on. */
  await(what: string, reached: () => boolean): void {
    if (!this.runUntil(reached)) throw new PlayError(`${what} within ${PATIENCE_MS} ms`);
  }

  get partitions(): readonly PartitionName[] {
    return this.#partitions;
  }

  /** The partition of that name, or the only one. */
  partition(name: string | null): PartitionName {
    const found = name === null ? this.#partitions[0] : this.#partitions.find(({ key }) => key === name);
    if (found === undefined) throw new PlayError(name === null ? 'there is no topic yet' : `there is no ${name}`);
    return found;
  }

  /** Where a partition stands at the controller. */
  state({ topic, index, key }: PartitionName): PartitionState {
    const state = findPartition(this.cluster.controller, topic, index);
    if (state === undefined) throw new PlayError(`the controller knows no ${key}`);
    return state;
  }

  /** A broker's replica as it knows it; null while its process is down. */
  replica(node: NodeId, { key }: PartitionName): Partition | null {
    return this.cluster.broker(node)?.partitions.get(key) ?? null;
  }

  /** A broker or the controller, which must be there. */
  node(id: Peer): ReturnType<SimCluster['kernel']['node']> {
    if (id !== 'controller' && !this.cluster.brokers.includes(id)) throw new PlayError(`there is no broker ${id}`);
    return this.cluster.kernel.node(id);
  }

  createTopic(topic: string, replicas: readonly (readonly NodeId[])[]): void {
    const assignments = replicas.map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds }));
    const asked = { name: topic, numPartitions: -1, replicationFactor: -1, assignments, configs: [] };
    const body = { topics: [asked], timeoutMs: 1000, validateOnly: false };
    const call = this.#ask('CreateTopics', CREATE_TOPICS_VERSION, body);
    const errorCode = call.topics[0]?.errorCode ?? -1;
    if (errorCode !== 0) throw new PlayError(`${errorName(errorCode)}: ${call.topics[0]?.errorMessage ?? ''}`);
    const created = replicas.map((_, index) => ({ topic, index, key: `${topic}-${index}` }));
    this.#partitions = [...this.#partitions, ...created];
    const known = () =>
      created.every(
        (name, index) => replicas[index]?.every((id) => this.replica(id, name)?.leaderEpoch === 0) === true,
      );
    this.await('not every replica has heard of the topic', known);
  }

  moveLeader({ topic, index }: PartitionName, target: NodeId): void {
    const answer = this.#ask('MoveLeader', MOVE_LEADER_VERSION, { topic, partition: index, target });
    if (answer.errorCode !== 0) throw new PlayError(`${errorName(answer.errorCode)}: ${answer.errorMessage ?? ''}`);
  }

  elect({ topic, index }: PartitionName, how: 'preferred' | 'unclean'): void {
    const electionType = how === 'preferred' ? 0 : 1;
    const body = { electionType, topicPartitions: [{ topic, partitions: [index] }], timeoutMs: 1000 };
    const { errorCode, errorMessage } = this.#ask('ElectLeaders', 1, body).replicaElectionResults[0]!
      .partitionResult[0]!;
    if (errorCode !== 0) throw new PlayError(`${errorName(errorCode)}: ${errorMessage ?? ''}`);
  }

  /** Sends records in one batch; the answer is not waited for. */
  produce(
    client: string,
    values: readonly string[],
    partition: PartitionName,
    acks: -1 | 0 | 1,
    to: NodeId | null,
  ): void {
    const repeated = values.find((value) => this.produced.has(value));
    if (repeated !== undefined) throw new PlayError(`${repeated} was produced before`);
    const leader = to ?? this.state(partition).leader;
    if (leader < 0) throw new PlayError('nobody leads: say to whom');
    const records = encodeRecordSet({ records: values.map((value) => ({ key: null, value })) });
    this.#valuesByChecksum.set(hashOf(records.batches[0]!.crc), values);
    const partitionData = [{ index: partition.index, records }];
    const body = {
      transactionalId: null,
      acks,
      timeoutMs: NEVER_MS,
      topicData: [{ name: partition.topic, partitionData }],
    };
    const call = this.cluster.kernel.client(client).call(this.#brokerId(leader), 'Produce', PRODUCE_VERSION, body);
    const level = acks === -1 ? 'all' : acks;
    this.history.sends(
      { client, key: partition.key, values, acks: level, node: leader, msg: call.msg },
      this.cluster.kernel.nowNs,
    );
    for (const [index, value] of values.entries()) this.produced.set(value, { value, partition, acks, index, call });
    const asked = acks === -1 ? 'acks=all' : `acks=${acks}`;
    this.narrate(client, `sends ${this.namesOf(values)} to broker ${leader}, ${asked}`);
  }

  /** Reads once from an offset, as a consumer, and waits for the answer. */
  read(client: string, partition: PartitionName, offset: number, from: NodeId | null): void {
    const broker = from ?? this.state(partition).leader;
    if (broker < 0) throw new PlayError('nobody leads: say from whom');
    const asked = { partition: partition.index, currentLeaderEpoch: -1, fetchOffset: offset, logStartOffset: -1 };
    const body = {
      replicaId: -1,
      maxWaitMs: 0,
      minBytes: 0,
      maxBytes: 1 << 20,
      isolationLevel: 0,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [{ topic: partition.topic, partitions: [{ ...asked, partitionMaxBytes: 1 << 20 }] }],
      forgottenTopicsData: [],
      rackId: '',
    };
    const { kernel } = this.cluster;
    const call = kernel.client(client).call(this.#brokerId(broker), 'Fetch', FETCH_VERSION, body);
    const completed = this.history.reads(client, partition.key, offset, kernel.nowNs);
    this.await(`broker ${broker} did not answer`, () => call.answer !== null || call.closed);
    const answer = call.answer?.responses[0]?.partitions[0];
    const errorCode = answer?.errorCode ?? -1;
    const error = answer === undefined ? 'disconnected' : errorCode === 0 ? null : errorName(errorCode);
    const records = this.#valuesIn(answer?.records ?? null).filter((record) => record.offset >= offset);
    const polled = records.map((record) => [record.offset, record.value] as const);
    const code = answer === undefined ? null : errorCode;
    completed({ key: partition.key, node: broker, errorCode: code, records: polled }, kernel.nowNs);
    this.reads.push({ client, broker, offset, error, highWatermark: answer?.highWatermark ?? -1, records });
    const got =
      error ?? (records.length === 0 ? 'nothing' : records.map((r) => `${r.value} at ${r.offset}`).join(', '));
    this.narrate(client, `reads from offset ${offset} at broker ${broker}: ${got}`);
  }

  /**
   * Waits for a held message, lets it through, and runs until it was taken in. A request is stepped until it is
   * answered, unless its answers are held too.
   */
  step(holds: readonly Hold[], meant: Meant, answersHeld: (message: Message) => boolean): void {
    const { what } = meant;
    const { lane, message } = this.awaitHeld(holds, meant);
    const isRequest = message.kind === 'request';
    const follower = isRequest ? lane.from.name : lane.to.name;
    if (message.api === 'Fetch') this.steppedFollowers.add(follower);
    for (const hold of holds) this.cluster.kernel.network.letThrough(hold, message);
    const answered = answerName(follower, message);
    if (isRequest) this.await(`${what} did not arrive`, () => this.#arrived.has(message));
    if (!isRequest || !answersHeld(message)) this.await(`${what} was not answered`, () => this.#answered.has(answered));
    this.steppedFollowers.delete(follower);
  }

  /** The first message of those meant that one of these holds has stopped, or will. */
  awaitHeld(holds: readonly Hold[], { what, matches }: Meant): HeldMessage {
    const { network } = this.cluster.kernel;
    const held = (): HeldMessage | undefined =>
      network.heldBy((lane, message) => matches(lane, message) && holds.some((hold) => hold.matches(lane, message)))[0];
    this.await(`${what} did not come`, () => held() !== undefined);
    return held()!;
  }

  /** Values on a broker's disk, by offset. */
  valuesOf(node: NodeId, { key }: PartitionName): readonly { readonly offset: number; readonly value: string }[] {
    const { disk } = this.node(node);
    const log = disk.find(key);
    return log === undefined ? [] : this.#valuesIn(parseRecordSet(disk.read(key, 0, log.sizeBytes)));
  }

  /** Records by the checksum of their batch, as a trace line names it. */
  valuesByHash(hash: string): readonly string[] {
    return this.#valuesByChecksum.get(hash) ?? [];
  }

  /** A few values one by one, many by the first and the last. */
  namesOf(values: readonly string[]): string {
    if (values.length <= 4) return values.join(', ');
    return `${values[0]} to ${values.at(-1)}`;
  }

  #isLive(id: NodeId): boolean {
    const known = this.cluster.controller.brokers.find((broker) => broker.id === id);
    return known !== undefined && !known.fenced;
  }

  #brokerId(id: NodeId): NodeId {
    this.node(id);
    return id;
  }

  /** One request of an administrator, to the first broker that can take it. */
  #ask<A extends ApiName>(api: A, version: number, body: RequestBody<A>): ResponseBody<A> {
    const node = this.cluster.brokers.find((id) => this.node(id).running && !this.node(id).paused);
    if (node === undefined) throw new PlayError('no broker runs');
    const call = this.cluster.kernel.client('admin').call(node, api, version, body);
    this.await(`${api} was not answered`, () => call.answer !== null || call.closed);
    if (call.answer === null) throw new PlayError(`${api}: the connection to broker ${node} ended`);
    return call.answer;
  }

  #valuesIn(records: RecordSet | null): { readonly offset: number; readonly value: string }[] {
    if (records === null) return [];
    const text = new TextDecoder();
    return decodeRecords(records).map(({ offset, value }) => ({
      offset,
      value: text.decode(value ?? new Uint8Array()),
    }));
  }

  #onTrace(line: TraceLine): void {
    this.trace.push(line);
    const what = narrateTrace(line, this);
    if (what !== null) this.narrate(nodeName(String(line.node)), what);
  }

  #onMessage(lane: Lane, message: Message): void {
    if (message.kind === 'request') this.#arrived.add(message);
    else this.#answered.add(answerName(lane.to.name, message));
    if (message.kind === 'response' && message.api === 'Produce') this.#isProduced(lane, message);
    const told = narrateMessage(lane, message, this);
    if (told !== null) this.narrate(nodeName(told.who), told.what);
  }

  /** A producer gets its answer. */
  #isProduced(lane: Lane, { correlationId, body }: Message): void {
    const answer = (body as ResponseBody<'Produce'>).responses[0]?.partitionResponses[0];
    if (answer === undefined) return;
    const { clientId } = this.cluster.kernel.client(lane.to.name);
    const { errorCode, baseOffset } = answer;
    this.history.isAnswered(messageText(clientId, correlationId), errorCode, baseOffset, this.cluster.kernel.nowNs);
  }
}

function answerName(requester: string, { correlationId }: Message): string {
  return `${requester}#${correlationId}`;
}
