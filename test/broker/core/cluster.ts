/**
 * A tiny driver for tests of the broker core: a few brokers, one partition `t-0`, messages delivered by hand.
 *
 * The test plays the controller: it pushes what it wants, when and to whom it wants. Registrations and heartbeats are
 * answered at once, ISR proposals when the test says so. Requests and answers between brokers wait in `inFlight` until
 * they are delivered. A log's bytes are of no interest to a core, so none are kept. What is put in stands in `values.ts`.
 */
import { createBroker, nextDeadlineNs, step } from '../../../broker/core/broker.ts';
import type { BrokerState } from '../../../broker/core/broker.ts';
import type { Partition } from '../../../broker/core/partition.ts';
import type { BrokerConfig } from '../../../broker/core/settings.ts';
import type { CoreEvent, Effect, EpochEntry, RequestEvent, RespondEffect } from '../../../broker/core/step.ts';
import type { TraceEvent } from '../../../broker/core/trace.ts';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import type { ApiName, RequestBody, ResponseBody } from '../../../broker/protocol/index.ts';
import { batch, configOf, fetchBody, nsPerMs, recordSet, type BrokerOptions } from './values.ts';

const key = 't-0';

export interface ClusterOptions extends BrokerOptions {
  readonly build?: string;
  /** Of each broker, where they differ. */
  readonly builds?: readonly string[];
  readonly brokers?: number;
}

interface Node {
  readonly config: BrokerConfig;
  state: BrokerState;
  alive: boolean;
  readonly trace: TraceEvent[];
  highWatermarks: Readonly<Record<string, number>>;
  readonly epochs: Map<string, readonly EpochEntry[]>;
}

/** A message between brokers, or to the controller, that has not arrived yet. */
export interface InFlight {
  readonly kind: 'request' | 'response';
  readonly from: number;
  readonly to: number | 'controller';
  readonly api: ApiName;
  readonly correlationId: number;
  readonly body: unknown;
  readonly version: number;
}

export interface Push {
  readonly leader: number;
  readonly epoch: number;
  readonly isr: readonly number[];
  readonly partitionEpoch?: number;
  readonly fenced?: readonly number[];
  readonly deleted?: boolean;
}

/** What a consumer was answered. */
interface Consumed {
  readonly errorCode: number;
  readonly values: readonly number[];
  readonly highWatermark: number;
}

type Answer<A extends ApiName> = ResponseBody<A> | undefined;

export class Cluster {
  nowNs = 0;
  readonly inFlight: InFlight[] = [];
  /** Answers to requests of clients, by correlation id. */
  readonly answers = new Map<number, RespondEffect>();
  readonly disconnected: number[] = [];
  readonly released: number[] = [];
  readonly #nodes = new Map<number, Node>();
  readonly #ids: readonly number[];
  #metadataVersion = 0;
  #partitionEpoch = 0;
  #nextCorrelationId = 0;

  constructor(options: ClusterOptions = {}) {
    const count = options.brokers ?? 3;
    this.#ids = Array.from({ length: count }, (_, index) => index + 1);
    for (const id of this.#ids) {
      const config = configOf(id, options.builds?.[id - 1] ?? options.build ?? 'epoch', options);
      this.#start(id, config, { trace: [], highWatermarks: {}, epochs: new Map() }, []);
    }
  }

  node(id: number): Node {
    const node = this.#nodes.get(id);
    if (node === undefined) throw new Error(`no broker ${id}`);
    return node;
  }

  partition(id: number): Partition {
    const partition = this.node(id).state.partitions.get(key);
    if (partition === undefined) throw new Error(`broker ${id} has no ${key}`);
    return partition;
  }

  /** The records of a replica, each as `<value>@<epoch>`. */
  log(id: number): string[] {
    return this.partition(id).log.batches.map((batch) => `m${batch.crc}@${batch.leaderEpoch}`);
  }

  /** `[LEO, HW]` of a replica. */
  ends(id: number): [number, number] {
    const { log, highWatermark } = this.partition(id);
    return [log.endOffset, highWatermark];
  }

  lines<E extends TraceEvent['event']>(id: number, event: E): Extract<TraceEvent, { readonly event: E }>[] {
    return this.node(id).trace.filter(
      (line): line is Extract<TraceEvent, { readonly event: E }> => line.event === event,
    );
  }

  /** The controller tells `to` (everybody alive, unless said otherwise) where the partition stands. */
  push(push: Push, to?: readonly number[]): void {
    this.#metadataVersion += 1;
    this.#partitionEpoch = push.partitionEpoch ?? this.#partitionEpoch + 1;
    const body: RequestBody<'PartitionStates'> = {
      metadataVersion: this.#metadataVersion,
      full: false,
      brokers: this.#ids.map((id) => ({
        brokerId: id,
        brokerEpoch: this.node(id).config.boot,
        host: `host-${id}`,
        port: 9092,
        fenced: push.fenced?.includes(id) ?? false,
      })),
      partitions: [
        {
          topic: 't',
          partition: 0,
          leader: push.leader,
          leaderEpoch: push.epoch,
          partitionEpoch: this.#partitionEpoch,
          isr: push.isr,
          replicas: this.#ids,
          deleted: push.deleted ?? false,
        },
      ],
    };
    for (const id of to ?? this.#ids) {
      if (this.node(id).alive) this.request(id, 'PartitionStates', 0, body, 'controller.1');
    }
  }

  /** A request of a client, or of the controller; returns its correlation id. */
  request<A extends ApiName>(to: number, api: A, version: number, body: RequestBody<A>, clientId = 'client-0'): number {
    const correlationId = this.#nextCorrelationId++;
    const origin = { connection: 1_000 + correlationId, correlationId, clientId };
    this.event(to, { type: 'request', origin, api, version, body } as unknown as RequestEvent);
    return correlationId;
  }

  answerOf<A extends ApiName>(_api: A, correlationId: number): Answer<A> {
    return this.answers.get(correlationId)?.body as Answer<A>;
  }

  produce(to: number, value: number, acks = -1, timeoutMs = 1_000): number {
    const body = {
      transactionalId: null,
      acks,
      timeoutMs,
      topicData: [{ name: 't', partitionData: [{ index: 0, records: recordSet([batch({ value })]) }] }],
    };
    return this.request(to, 'Produce', 7, body);
  }

  /** What became of a produce: Kafka's error code, or undefined while it waits. */
  produced(correlationId: number): number | undefined {
    return this.answerOf('Produce', correlationId)?.responses[0]?.partitionResponses[0]?.errorCode;
  }

  /** Reads as a consumer does; while the fetch waits, its correlation id. */
  consume(from: number, offset: number, maxWaitMs = 0): Consumed | number {
    const correlationId = this.request(from, 'Fetch', 11, fetchBody(-1, offset, maxWaitMs));
    return this.consumed(correlationId) ?? correlationId;
  }

  consumed(correlationId: number): Consumed | undefined {
    const answer = this.answerOf('Fetch', correlationId)?.responses[0]?.partitions[0];
    if (answer === undefined) return undefined;
    const { errorCode, highWatermark } = answer;
    return { errorCode, highWatermark, values: answer.records?.batches.map(({ crc }) => crc) ?? [] };
  }

  /** Delivers what matches, and what that brings about if it matches too, until nothing does. */
  deliver(matches: (message: InFlight) => boolean = () => true, limit = 10_000): void {
    for (let count = 0; count < limit; count++) {
      const index = this.inFlight.findIndex((message) => message.to !== 'controller' && matches(message));
      const message = this.inFlight[index];
      if (message === undefined) return;
      this.inFlight.splice(index, 1);
      this.#deliver(message);
    }
  }

  /** Delivers everything between these brokers. */
  deliverBetween(...ids: readonly number[]): void {
    this.deliver(({ from, to }) => ids.includes(from) && ids.includes(to as number));
  }

  /** One fetch of a follower to its leader and back, and no more. */
  fetchRound(follower: number, leader: number): void {
    this.deliver(({ kind, from, to }) => kind === 'request' && from === follower && to === leader, 1);
    this.deliver(({ kind, from, to }) => kind === 'response' && from === leader && to === follower, 1);
  }

  /** Lets time pass in small steps; messages stay where they are. */
  advance(ms: number, stepMs = 50): void {
    const until = this.nowNs + ms * nsPerMs;
    while (this.nowNs < until) {
      this.nowNs = Math.min(until, this.nowNs + stepMs * nsPerMs);
      for (const id of this.#ids) {
        const node = this.node(id);
        if (node.alive && nextDeadlineNs(node.state) <= this.nowNs) this.event(id, { type: 'deadline' });
      }
    }
  }

  /** Lets time pass and delivers everything, as long as it takes. */
  run(ms: number, matches?: (message: InFlight) => boolean): void {
    for (let passed = 0; passed < ms; passed += 50) {
      this.deliver(matches);
      this.advance(50);
    }
    this.deliver(matches);
  }

  /** SIGKILL: what was written stays, what was on its way is gone. */
  kill(id: number): void {
    this.node(id).alive = false;
    this.#lose(({ from, to }) => from === id || to === id);
    for (const other of this.#ids) {
      if (this.node(other).alive) this.event(other, { type: 'closed', peer: id });
    }
  }

  /** Starts a killed broker again; with `keep`, all but the first so many batches were lost with the power. */
  restart(id: number, keep = Infinity): void {
    const node = this.node(id);
    const recovered = [...node.state.partitions.values()].map(({ key: log, log: { batches, endOffset } }) => ({
      log,
      logStartOffset: 0,
      batches: batches.slice(0, keep),
      epochs: node.epochs.get(log) ?? [],
      checkpointedHighWatermark: node.highWatermarks[log] ?? 0,
      flushedOffset: 0,
      foundEndOffset: endOffset,
      cut: 'none' as const,
    }));
    this.#start(id, { ...node.config, boot: node.config.boot + 1 }, node, recovered);
  }

  event(id: number, event: CoreEvent): void {
    this.#perform(id, step(this.node(id).state, event, this.nowNs));
  }

  /** Answers the oldest ISR proposal: commits it, or refuses it with `errorCode`. Returns the proposed ISR. */
  answerProposal(errorCode: number = ErrorCode.NONE, partitionEpoch = this.#partitionEpoch + 1): readonly number[] {
    const index = this.inFlight.findIndex(({ api }) => api === 'AlterPartition');
    const message = this.inFlight[index];
    if (message === undefined) throw new Error('nobody proposed an ISR');
    this.inFlight.splice(index, 1);
    const { brokerId, topics } = message.body as RequestBody<'AlterPartition'>;
    const proposed = topics[0]?.partitions[0];
    if (proposed === undefined) throw new Error('an empty proposal');
    if (errorCode === ErrorCode.NONE) this.#partitionEpoch = partitionEpoch;
    const { partitionIndex, leaderEpoch, newIsr } = proposed;
    const partitions = [
      {
        partitionIndex,
        errorCode,
        leaderId: brokerId,
        leaderEpoch,
        isr: newIsr,
        leaderRecoveryState: 0,
        partitionEpoch: this.#partitionEpoch,
      },
    ];
    const body = { throttleTimeMs: 0, errorCode: ErrorCode.NONE, topics: [{ topicName: 't', partitions }] };
    const { correlationId, version } = message;
    this.event(brokerId, { type: 'response', peer: 'controller', correlationId, api: 'AlterPartition', version, body });
    return newIsr;
  }

  proposals(): readonly (readonly number[])[] {
    return this.inFlight
      .filter(({ api }) => api === 'AlterPartition')
      .map(({ body }) => (body as RequestBody<'AlterPartition'>).topics[0]?.partitions[0]?.newIsr ?? []);
  }

  #start(
    id: number,
    config: BrokerConfig,
    kept: Pick<Node, 'trace' | 'highWatermarks' | 'epochs'>,
    recovered: Parameters<typeof createBroker>[1],
  ): void {
    const { state, effects } = createBroker(config, recovered, this.nowNs);
    const { trace, highWatermarks, epochs } = kept;
    this.#nodes.set(id, { config, state, alive: true, trace, highWatermarks, epochs });
    this.#perform(id, effects);
  }

  #perform(id: number, effects: readonly Effect[]): void {
    const node = this.node(id);
    for (const effect of effects) {
      if (effect.type === 'trace') node.trace.push(effect.line);
      else if (effect.type === 'epoch-checkpoint') node.epochs.set(effect.log, effect.entries);
      else if (effect.type === 'offset-checkpoint') {
        if (effect.file === 'replication-offset-checkpoint') node.highWatermarks = effect.offsets;
      } else if (effect.type === 'send') this.#send(id, effect);
      else if (effect.type === 'respond') this.#respond(id, effect);
      else if (effect.type === 'close') this.#forget(id, effect.peer);
      else if (effect.type === 'disconnect') this.disconnected.push(effect.connection);
      else if (effect.type === 'release') this.released.push(effect.origin.correlationId);
    }
  }

  #send(id: number, { peer, api, version, correlationId, body }: Effect & { readonly type: 'send' }): void {
    const answer = peer === 'controller' ? controllerAnswer(api, this.node(id).config.boot) : undefined;
    if (answer !== undefined) {
      this.event(id, { type: 'response', peer, correlationId, api, version, body: answer } as CoreEvent);
      return;
    }
    if (peer !== 'controller' && !this.node(peer).alive) {
      this.event(id, { type: 'closed', peer });
      return;
    }
    this.inFlight.push({ kind: 'request', from: id, to: peer, api, correlationId, body, version });
  }

  #respond(id: number, effect: RespondEffect): void {
    const { origin } = effect;
    const requester = /^broker-(\d+)\.(\d+)$/.exec(origin.clientId);
    if (requester === null) {
      this.answers.set(origin.correlationId, effect);
      return;
    }
    const to = Number(requester[1]);
    const node = this.node(to);
    if (!node.alive || node.config.boot !== Number(requester[2])) return;
    const { api, version, body } = effect;
    const { correlationId } = origin;
    this.inFlight.push({ kind: 'response', from: id, to, api, correlationId, body: withBytes(body), version });
  }

  #forget(id: number, peer: number | 'controller'): void {
    this.#lose(({ from, to }) => (from === id && to === peer) || (from === peer && to === id));
    if (peer !== 'controller') this.event(peer, { type: 'requester-closed', connection: id });
  }

  #lose(isLost: (message: InFlight) => boolean): void {
    const kept = this.inFlight.filter((message) => !isLost(message));
    this.inFlight.splice(0, this.inFlight.length, ...kept);
  }

  #deliver({ kind, from, to, api, correlationId, version, body }: InFlight): void {
    const id = to as number;
    if (kind === 'response') {
      this.event(id, { type: 'response', peer: from, correlationId, api, version, body } as CoreEvent);
      return;
    }
    const { clientId } = this.node(from).state;
    const origin = { connection: from, correlationId, clientId };
    this.event(id, { type: 'request', origin, api, version, body } as CoreEvent);
  }
}

/** What the core gets to see of the bytes of a read: that they are there. */
function withBytes(body: unknown): unknown {
  const answer = body as ResponseBody<'Fetch'>;
  if (!('responses' in answer)) return body;
  const responses = answer.responses.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((each) => ({
      ...each,
      records: each.records === null ? null : recordSet(each.records.batches),
    })),
  }));
  return { ...answer, responses };
}

function controllerAnswer(api: ApiName, brokerEpoch: number): unknown {
  if (api === 'BrokerRegistration') return { throttleTimeMs: 0, errorCode: 0, brokerEpoch };
  if (api === 'BrokerHeartbeat') {
    return { throttleTimeMs: 0, errorCode: 0, isCaughtUp: true, isFenced: false, shouldShutDown: false };
  }
  return undefined;
}
