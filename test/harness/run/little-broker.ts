/**
 * A real TCP server that speaks just enough of Kafka's protocol to be a cluster of one, kept in memory, for tests of
 * what a client sees. Before each request it asks `mood` what to do with it.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { ApiName, RequestBody, ResponseBody } from '../../../broker/protocol/index.ts';
import {
  FrameSplitter,
  decodeRequest,
  encodeResponse,
  frame,
  parseRecordSet,
  stampBatches,
} from '../../../broker/protocol/index.ts';

export type Mood =
  | 'answer'
  /** Reads and never answers. */
  | 'silent'
  /** Closes the connection after it has read the request, and done what it asks. */
  | 'hang-up'
  | 'reset'
  /** Answers with bytes that are no frame of ours. */
  | 'garbage'
  /** Answers another request than was made. */
  | 'wrong-id';

export interface LittleBroker {
  readonly port: number;
  readonly address: { readonly host: string; readonly port: number };
  mood: (api: ApiName) => Mood;
  /** What it answers instead of what it would; it serves these APIs too. */
  readonly answers: Partial<Record<ApiName, (body: never, version: number) => unknown>>;
  /** What it says of itself. */
  metadata(): ResponseBody<'Metadata'>;
  /** Every request that was read, by API. */
  readonly requests: ApiName[];
  /** Connections that are open now. */
  connections(): number;
  /** Resolves when the next request of this API has been read. */
  next(api: ApiName): Promise<void>;
  /** Answers whatever `silent` has kept. */
  answerLate(): void;
  close(): Promise<void>;
}

export async function startLittleBroker(partitions = 8, node = 1, fixedPort = 0): Promise<LittleBroker> {
  const logs = Array.from({ length: partitions }, (): Uint8Array[] => []);
  const sockets = new Set<Socket>();
  const late: (() => void)[] = [];
  const waiting: { readonly api: ApiName; readonly resolve: () => void }[] = [];

  const server = createServer((socket) => {
    sockets.add(socket);
    const splitter = new FrameSplitter();
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      for (const payload of splitter.push(chunk)) serve(socket, payload);
    });
  });
  server.listen(fixedPort, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const serve = (socket: Socket, payload: Uint8Array): void => {
    const { api, version, correlationId, body } = decodeRequest(payload);
    broker.requests.push(api);
    const answer = broker.answers[api]?.(body as never, version) ?? handlers[api]?.(body);
    const mood = broker.mood(api);
    const reply = (): void => {
      const noAnswer = api === 'Produce' && (body as RequestBody<'Produce'>).acks === 0;
      const id = mood === 'wrong-id' ? correlationId + 1 : correlationId;
      if (!noAnswer) socket.write(frame(encodeResponse(api, version, id, answer as ResponseBody<typeof api>)));
    };
    if (mood === 'answer' || mood === 'wrong-id') reply();
    else if (mood === 'silent') late.push(reply);
    else if (mood === 'hang-up') socket.end();
    else if (mood === 'reset') socket.resetAndDestroy();
    else socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    for (const one of waiting.splice(0)) {
      if (one.api === api) one.resolve();
      else waiting.push(one);
    }
  };

  const handlers: Partial<Record<ApiName, (body: unknown) => unknown>> = {
    Metadata: () => metadataOf(port, node, partitions),
    CreateTopics: () => ({ throttleTimeMs: 0, topics: [{ name: 'tide', errorCode: 0, errorMessage: null }] }),
    MoveLeader: () => ({ errorCode: 0, errorMessage: null }),
    Produce: (body) => produceTo(logs, body as RequestBody<'Produce'>),
    Fetch: (body) => fetchFrom(logs, body as RequestBody<'Fetch'>),
    ListOffsets: (body) => listOffsetsOf(logs, body as RequestBody<'ListOffsets'>),
  };

  const broker: LittleBroker = {
    port,
    address: { host: '127.0.0.1', port },
    mood: () => 'answer',
    answers: {},
    metadata: () => metadataOf(port, node, partitions),
    requests: [],
    connections: () => sockets.size,
    next(api) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ api, resolve });
      return promise;
    },
    answerLate() {
      for (const reply of late.splice(0)) reply();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return broker;
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function metadataOf(port: number, node: number, partitions: number): ResponseBody<'Metadata'> {
  return {
    throttleTimeMs: 0,
    brokers: [{ nodeId: node, host: '127.0.0.1', port, rack: null }],
    clusterId: 'little',
    controllerId: node,
    clusterAuthorizedOperations: 0,
    topics: [
      {
        errorCode: 0,
        name: 'tide',
        isInternal: false,
        topicAuthorizedOperations: 0,
        partitions: Array.from({ length: partitions }, (_, partitionIndex) => ({
          errorCode: 0,
          partitionIndex,
          leaderId: node,
          leaderEpoch: 0,
          replicaNodes: [node],
          isrNodes: [node],
          offlineReplicas: [],
        })),
      },
    ],
  };
}

/** Each record is a batch of its own, so a log's length is its end offset. */
function produceTo(logs: readonly Uint8Array[][], body: RequestBody<'Produce'>): ResponseBody<'Produce'> {
  const responses = body.topicData.map(({ name, partitionData }) => ({
    name,
    partitionResponses: partitionData.map(({ index, records }) => {
      const log = logs[index]!;
      const bytes = Uint8Array.from(records!.bytes as Uint8Array);
      const [batch] = records!.batches;
      stampBatches(bytes, [{ ...batch!, baseOffset: log.length, lastOffset: log.length, leaderEpoch: 0 }]);
      return { index, errorCode: 0, baseOffset: log.push(bytes) - 1, logAppendTimeMs: -1, logStartOffset: 0 };
    }),
  }));
  return { responses, throttleTimeMs: 0 };
}

function fetchFrom(logs: readonly Uint8Array[][], body: RequestBody<'Fetch'>): ResponseBody<'Fetch'> {
  const responses = body.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ partition, fetchOffset }) => {
      const log = logs[partition]!;
      return {
        partitionIndex: partition,
        errorCode: fetchOffset > log.length ? 1 : 0,
        highWatermark: log.length,
        lastStableOffset: log.length,
        logStartOffset: 0,
        abortedTransactions: null,
        preferredReadReplica: -1,
        records: parseRecordSet(Uint8Array.from(Buffer.concat(log.slice(fetchOffset, fetchOffset + 100)))),
      };
    }),
  }));
  return { throttleTimeMs: 0, errorCode: 0, sessionId: 0, responses };
}

function listOffsetsOf(logs: readonly Uint8Array[][], body: RequestBody<'ListOffsets'>): ResponseBody<'ListOffsets'> {
  const topics = body.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map(({ partitionIndex, timestamp }) => ({
      partitionIndex,
      errorCode: 0,
      timestamp: -1,
      offset: timestamp === -2 ? 0 : logs[partitionIndex]!.length,
      leaderEpoch: 0,
    })),
  }));
  return { throttleTimeMs: 0, topics };
}
