/**
 * A controller under the hand of a test: time by hand, brokers that answer only when told to.
 *
 * `ask` performs one request and returns its answer; what the controller traced, persisted and sent is kept in order.
 */
import { createController, nextDeadlineNs, step } from '../../../broker/controller/controller.ts';
import type { ControllerState } from '../../../broker/controller/controller.ts';
import type { ControllerConfig } from '../../../broker/core/settings.ts';
import type { CoreEvent, Effect, NodeId, SendEffect } from '../../../broker/core/step.ts';
import type { TraceEvent } from '../../../broker/core/trace.ts';
import { ErrorCode, apis } from '../../../broker/protocol/index.ts';
import type { ApiName, RequestBody, ResponseBody } from '../../../broker/protocol/index.ts';

const defaults: ControllerConfig = {
  boot: 1,
  clusterId: 'tide-cluster',
  port: 9090,
  replicaLagTimeMaxMs: 2000,
  brokerSessionTimeoutMs: 1500,
  heartbeatIntervalMs: 300,
  fetchMaxWaitMs: 500,
  highWatermarkCheckpointIntervalMs: 5000,
  minInsyncReplicas: 2,
  uncleanElection: false,
};

export type Push = SendEffect & { readonly api: 'PartitionStates' };

export class TestController {
  nowMs = 0;
  readonly records: unknown[] = [];
  readonly lines: TraceEvent[] = [];
  /** Effects of the last step. */
  effects: readonly Effect[] = [];
  /** Pushes without an answer yet, oldest first. */
  pushes: Push[] = [];
  readonly epochs = new Map<NodeId, number>();
  state: ControllerState;
  #correlationId = 0;

  constructor(config: Partial<ControllerConfig> = {}, records: readonly unknown[] = [], nowMs = 0) {
    this.nowMs = nowMs;
    this.records.push(...records);
    const { state, effects } = createController({ ...defaults, ...config }, records, nowMs * 1e6);
    this.state = state;
    this.#perform(effects);
  }

  /** A cluster of live brokers 1 to `count`. */
  static withBrokers(count: number, config: Partial<ControllerConfig> = {}): TestController {
    const controller = new TestController(config);
    for (let id = 1; id <= count; id++) controller.join(id);
    return controller;
  }

  take(event: CoreEvent): void {
    this.#perform(step(this.state, event, this.nowMs * 1e6));
  }

  ask<A extends ApiName>(api: A, body: RequestBody<A>): ResponseBody<A> {
    const origin = { connection: 1, correlationId: this.#correlationId++, clientId: 'client-0' };
    this.take({ type: 'request', origin, api, version: apis[api].maxVersion, body } as CoreEvent);
    const answer = this.effects.findLast((effect) => effect.type === 'respond');
    if (answer === undefined) throw new Error(`no answer to ${api}`);
    return answer.body as ResponseBody<A>;
  }

  /** Lets time pass, waking the controller whenever it wants to be woken. */
  pass(ms: number): void {
    const end = this.nowMs + ms;
    for (let due = nextDeadlineNs(this.state) / 1e6; due <= end; due = nextDeadlineNs(this.state) / 1e6) {
      this.nowMs = Math.max(this.nowMs, due);
      this.take({ type: 'deadline' });
    }
    this.nowMs = end;
  }

  register(id: NodeId, life = 1): ResponseBody<'BrokerRegistration'> {
    const listener = { name: 'PLAINTEXT', host: `host-${id}`, port: 9090 + id, securityProtocol: 0 };
    const answer = this.ask('BrokerRegistration', {
      brokerId: id,
      clusterId: 'tide-cluster',
      incarnationId: `00000000-0000-0000-000${id}-00000000000${life}`,
      listeners: [listener],
      features: [],
      rack: null,
    });
    if (answer.errorCode === ErrorCode.NONE) this.epochs.set(id, answer.brokerEpoch);
    return answer;
  }

  heartbeat(id: NodeId, wishes: { wantFence?: boolean; wantShutDown?: boolean } = {}): ResponseBody<'BrokerHeartbeat'> {
    return this.ask('BrokerHeartbeat', {
      brokerId: id,
      brokerEpoch: this.epochs.get(id) ?? -1,
      currentMetadataOffset: 0,
      wantFence: wishes.wantFence ?? false,
      wantShutDown: wishes.wantShutDown ?? false,
    });
  }

  /** Registers a broker and brings it to life. */
  join(id: NodeId, life = 1): void {
    this.register(id, life);
    this.acknowledgeAll();
    this.heartbeat(id);
    this.acknowledgeAll();
  }

  /** Lets `ids` be heard for so long that every other broker is fenced. */
  keepAlive(ids: readonly NodeId[], ms: number): void {
    for (let passed = 0; passed < ms; passed += 300) {
      this.pass(300);
      for (const id of ids) this.heartbeat(id);
      this.acknowledgeAll(ids);
    }
  }

  /** Answers the pushes to `ids` (or to all), and those that follow from the answers. */
  acknowledgeAll(ids: readonly NodeId[] | null = null): void {
    for (;;) {
      const push = this.pushes.find(({ peer }) => ids === null || ids.includes(peer as NodeId));
      if (push === undefined) return;
      this.acknowledge(push);
    }
  }

  acknowledge(push: Push): void {
    this.pushes = this.pushes.filter((other) => other !== push);
    const { peer, correlationId, version } = push;
    const body = { errorCode: ErrorCode.NONE, metadataVersion: push.body.metadataVersion };
    this.take({ type: 'response', peer, correlationId, api: 'PartitionStates', version, body });
  }

  createTopic(name: string, assignments: readonly (readonly NodeId[])[]): number {
    const answer = this.ask('CreateTopics', {
      topics: [
        {
          name,
          numPartitions: -1,
          replicationFactor: -1,
          assignments: assignments.map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds: [...brokerIds] })),
          configs: [],
        },
      ],
      timeoutMs: 1000,
      validateOnly: false,
    });
    return answer.topics[0]?.errorCode ?? -1;
  }

  move(partition: number, target: NodeId): ResponseBody<'MoveLeader'> {
    return this.ask('MoveLeader', { topic: 'tide', partition, target });
  }

  alter(
    sender: NodeId,
    newIsr: readonly NodeId[],
    epochs: { leaderEpoch?: number; partitionEpoch?: number; brokerEpoch?: number } = {},
  ): { readonly errorCode: number; readonly isr: readonly NodeId[]; readonly partitionEpoch: number } {
    const now = this.partition();
    const answer = this.ask('AlterPartition', {
      brokerId: sender,
      brokerEpoch: epochs.brokerEpoch ?? this.epochs.get(sender) ?? -1,
      topics: [
        {
          topicName: 'tide',
          partitions: [
            {
              partitionIndex: 0,
              leaderEpoch: epochs.leaderEpoch ?? now.leaderEpoch,
              newIsr: [...newIsr],
              leaderRecoveryState: 0,
              partitionEpoch: epochs.partitionEpoch ?? now.partitionEpoch,
            },
          ],
        },
      ],
    });
    return answer.topics[0]?.partitions[0] ?? { errorCode: answer.errorCode, isr: [], partitionEpoch: -1 };
  }

  /** The state of one partition of the topic `tide`, as the controller knows it. */
  partition(index = 0): { leader: NodeId; leaderEpoch: number; partitionEpoch: number; isr: readonly NodeId[] } {
    const partition = this.state.topics.get('tide')?.partitions[index];
    if (partition === undefined) throw new Error(`no partition tide-${index}`);
    const { leader, leaderEpoch, partitionEpoch, isr } = partition;
    return { leader, leaderEpoch, partitionEpoch, isr };
  }

  linesOf(event: TraceEvent['event']): TraceEvent[] {
    return this.lines.filter((line) => line.event === event);
  }

  #perform(effects: readonly Effect[]): void {
    this.effects = effects;
    for (const effect of effects) {
      if (effect.type === 'trace') this.lines.push(effect.line);
      else if (effect.type === 'persist') this.records.push(effect.record);
      else if (effect.type === 'send' && effect.api === 'PartitionStates') this.pushes.push(effect);
      else if (effect.type === 'close') this.pushes = this.pushes.filter(({ peer }) => peer !== effect.peer);
    }
  }
}
