/** A client driven by hand: the test plays the driver, the brokers and the clock. */
import type { RequestBody, ResponseBody } from '../../../broker/protocol/index.ts';
import { encodeBatch, parseRecordSet } from '../../../broker/protocol/index.ts';
import { createClient, nextDeadlineNs, step } from '../../../harness/client/client.ts';
import type {
  ClientApi,
  ClientConfig,
  ClientEffect,
  ClientEvent,
  ClientSend,
} from '../../../harness/client/contract.ts';
import { defaultClientConfig } from '../../../harness/client/contract.ts';
import type { ClientOperation, Completion } from '../../../harness/client/operations.ts';

export const ms = 1_000_000;

export class ByHand {
  readonly state;
  nowNs = 0;
  /** Everything that the client has said, in order. */
  readonly said: ClientEffect[] = [];

  constructor(config: Partial<ClientConfig> = {}) {
    const bootstrap = [1, 2, 3].map((node) => ({ node, host: '10.0.0.1', port: 9090 + node }));
    this.state = createClient({
      ...defaultClientConfig,
      process: 0,
      bootstrap,
      acks: 'all',
      unixOriginMs: 1_700_000_000_000,
      ...config,
    });
  }

  /** One event; returns what the client says to it. */
  tell(event: ClientEvent): readonly ClientEffect[] {
    const effects = step(this.state, event, this.nowNs);
    this.said.push(...effects);
    return effects;
  }

  invoke(operation: ClientOperation): readonly ClientEffect[] {
    return this.tell({ type: 'invoke', operation });
  }

  /** The last request, which must be of this API. */
  request<A extends ClientApi>(api: A): ClientSend & { api: A; body: RequestBody<A> } {
    const last = this.said.filter((effect) => effect.type === 'send').at(-1);
    if (last?.api !== api) throw new Error(`the last request is ${last?.api ?? 'none'}, not ${api}`);
    return last as ClientSend & { api: A; body: RequestBody<A> };
  }

  /** The bytes of the last request are handed to the connection. */
  sent(): readonly ClientEffect[] {
    const { node, correlationId } = this.lastSend();
    return this.tell({ type: 'sent', node, correlationId });
  }

  /** The last request, of this API, is written and answered. */
  answer<A extends ClientApi>(api: A, body: ResponseBody<A>): readonly ClientEffect[] {
    const { node, correlationId, version } = this.request(api);
    this.sent();
    return this.tell({ type: 'response', node, correlationId, api, version, body } as unknown as ClientEvent);
  }

  /** Waits until the client's next deadline. */
  wait(): readonly ClientEffect[] {
    const deadline = nextDeadlineNs(this.state);
    if (deadline === null) throw new Error('the client waits for nothing');
    this.nowNs = deadline;
    return this.tell({ type: 'deadline' });
  }

  lastSend(): ClientSend {
    const last = this.said.filter((effect) => effect.type === 'send').at(-1);
    if (last === undefined) throw new Error('nothing was sent');
    return last;
  }

  completions(): readonly Completion[] {
    return this.said.flatMap((effect) => (effect.type === 'complete' ? [effect.completion] : []));
  }

  lastCompletion(): Completion {
    const last = this.completions().at(-1);
    if (last === undefined) throw new Error('nothing was completed');
    return last;
  }

  sends(api?: ClientApi): readonly ClientSend[] {
    return this.said.filter((effect) => effect.type === 'send').filter((send) => api === undefined || send.api === api);
  }
}

/** A Metadata answer of three brokers, with the leader of each partition of `tide`, by partition. */
export function metadata(leaders: readonly number[], host = '10.0.0.1'): ResponseBody<'Metadata'> {
  return {
    throttleTimeMs: 0,
    brokers: [1, 2, 3].map((nodeId) => ({ nodeId, host, port: 9090 + nodeId, rack: null })),
    clusterId: 'test',
    controllerId: 1,
    clusterAuthorizedOperations: 0,
    topics: [
      {
        errorCode: 0,
        name: 'tide',
        isInternal: false,
        topicAuthorizedOperations: 0,
        partitions: leaders.map((leaderId, partitionIndex) => ({
          errorCode: leaderId < 0 ? 5 : 0,
          partitionIndex,
          leaderId,
          leaderEpoch: 0,
          replicaNodes: [1, 2, 3],
          isrNodes: [1, 2, 3],
          offlineReplicas: [],
        })),
      },
    ],
  };
}

export function produced(partition: number, errorCode: number, baseOffset: number): ResponseBody<'Produce'> {
  const answer = { index: partition, errorCode, baseOffset, logAppendTimeMs: -1, logStartOffset: 0 };
  return { responses: [{ name: 'tide', partitionResponses: [answer] }], throttleTimeMs: 0 };
}

export function offsets(
  at: Readonly<Record<number, number>>,
  errors: Readonly<Record<number, number>> = {},
): ResponseBody<'ListOffsets'> {
  const partitions = Object.keys({ ...at, ...errors }).map((text) => {
    const partitionIndex = Number(text);
    const errorCode = errors[partitionIndex] ?? 0;
    return { partitionIndex, errorCode, timestamp: -1, offset: at[partitionIndex] ?? -1, leaderEpoch: 0 };
  });
  return { throttleTimeMs: 0, topics: [{ name: 'tide', partitions }] };
}

export interface Fetched {
  readonly errorCode?: number;
  readonly bytes?: Uint8Array;
}

export function fetched(partitions: Readonly<Record<number, Fetched>>, errorCode = 0): ResponseBody<'Fetch'> {
  return {
    throttleTimeMs: 0,
    errorCode,
    sessionId: 0,
    responses: [
      {
        topic: 'tide',
        partitions: Object.entries(partitions).map(([partition, each]) => ({
          partitionIndex: Number(partition),
          errorCode: each.errorCode ?? 0,
          highWatermark: 100,
          lastStableOffset: 100,
          logStartOffset: 0,
          abortedTransactions: null,
          preferredReadReplica: -1,
          records: each.bytes === undefined ? null : parseRecordSet(each.bytes),
        })),
      },
    ],
  };
}

/** One batch with these values, as a log holds it. */
export function batch(baseOffset: number, ...values: readonly (string | null)[]): Uint8Array {
  return encodeBatch({ baseOffset, leaderEpoch: 0, records: values.map((value) => ({ key: null, value })) });
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
