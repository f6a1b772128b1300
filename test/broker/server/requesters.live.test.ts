/**
 * The connections of those who ask a broker: requests come to the core one at a time and are answered in order, however
 * many are sent and whatever else is sent; what is no sound request costs its own connection, and nobody else's.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RequestEvent } from '../../../broker/core/step.ts';
import { ErrorCode, encodeRequest, frame, type RequestBody } from '../../../broker/protocol/index.ts';
import { limits } from '../../../broker/server/limits.ts';
import { append, batch } from '../storage/batches.ts';
import { RawClient } from './raw-client.ts';
import { echo, echoCore, eventQueue, move, smallServer } from './small-server.ts';

const fetchBody: RequestBody<'Fetch'> = {
  replicaId: -1,
  maxWaitMs: 0,
  minBytes: 1,
  maxBytes: 1e9,
  isolationLevel: 0,
  sessionId: 0,
  sessionEpoch: -1,
  topics: [],
  forgottenTopicsData: [],
  rackId: '',
};

describe('requests', () => {
  test('that are sent without waiting are delivered one at a time and answered in order', async () => {
    let underWay = 0;
    const held: RequestEvent[] = [];
    // Answers each request at the next deadline, five milliseconds later.
    let deadlineNs = Infinity;
    const { port } = await smallServer(
      (event, nowNs) => {
        if (event.type === 'request') {
          held.push(event);
          underWay = Math.max(underWay, held.length);
          deadlineNs = nowNs + 5e6;
          return [];
        }
        if (event.type !== 'deadline') return [];
        deadlineNs = Infinity;
        return held.splice(0).map(echo);
      },
      () => deadlineNs,
    );
    const client = await RawClient.connect(port);
    const sent = [1, 2, 3, 4, 5].map((target) => client.send('MoveLeader', 0, move(target)));
    for (const [index, correlationId] of sent.entries()) {
      const answer = await client.receive('MoveLeader', 0);
      expect(answer).toMatchObject({ correlationId, body: { errorCode: index + 1 } });
    }
    expect(underWay).toBe(1);
  });

  test('without an answer make room for the next one', async () => {
    const { port } = await smallServer((event) => {
      if (event.type !== 'request' || event.api !== 'MoveLeader') return [];
      return event.body.target === 0 ? [{ type: 'release', origin: event.origin }] : [echo(event)];
    });
    const client = await RawClient.connect(port);
    client.send('MoveLeader', 0, move(0));
    client.send('MoveLeader', 0, move(7));
    expect((await client.receive('MoveLeader', 0)).body.errorCode).toBe(7);
  });

  test('far more than the queue holds are all answered', async () => {
    const { port } = await smallServer(echoCore);
    const client = await RawClient.connect(port);
    const count = limits.queuedFrames * 100;
    const frames = Array.from({ length: count }, (_, index) =>
      frame(encodeRequest('MoveLeader', 0, { correlationId: index, clientId: 'many' }, move(1))),
    );
    client.socket.write(Buffer.concat(frames));
    for (let index = 0; index < count; index += 1) {
      expect((await client.receive('MoveLeader', 0)).correlationId).toBe(index);
    }
  });

  test('are not taken any more while their answers are not read', async () => {
    const log = 'tide-0';
    const large = batch(0, 0, 'x'.repeat(1_000_000));
    const range = { log, startPosition: 0, endPosition: large.bytes.length };
    let asked = 0;
    const { port, driver } = await smallServer((event) => {
      if (event.type === 'stop') return [{ type: 'create-log', log }, append(log, 0, large)];
      if (event.type !== 'request' || event.api !== 'Fetch') return [];
      asked += 1;
      const partition = {
        partitionIndex: 0,
        errorCode: 0,
        highWatermark: 1,
        lastStableOffset: 1,
        logStartOffset: 0,
        abortedTransactions: null,
        preferredReadReplica: -1,
        records: { batches: [large.info], bytes: range },
      };
      const body = {
        throttleTimeMs: 0,
        errorCode: 0,
        sessionId: 0,
        responses: [{ topic: 'tide', partitions: [partition] }],
      };
      return [{ type: 'respond', origin: event.origin, api: 'Fetch', version: event.version, body }];
    });
    driver.deliver({ type: 'stop' });
    const client = await RawClient.connect(port);
    client.socket.pause();
    const count = 60;
    for (let index = 0; index < count; index += 1) client.send('Fetch', 11, fetchBody);
    // Another connection's round trips: by then this one has taken all it will.
    const other = await RawClient.connect(port);
    for (let index = 0; index < 20; index += 1) other.send('Fetch', 11, fetchBody);
    for (let index = 0; index < 20; index += 1) await other.receive('Fetch', 11);
    expect(asked - 20).toBeLessThan(40);
    client.socket.resume();
    for (let index = 1; index <= count; index += 1) {
      const { correlationId, body } = await client.receive('Fetch', 11);
      expect(correlationId).toBe(index);
      expect(body.responses[0]?.partitions[0]?.records?.batches).toEqual([large.info]);
    }
  });

  test('are told to be over when their connection ends', async () => {
    const events = eventQueue();
    const { port } = await smallServer((event) => {
      events.push(event);
      return [];
    });
    const client = await RawClient.connect(port, 'client-3');
    client.send('MoveLeader', 0, move(1));
    const asked = await events.next();
    expect(asked).toMatchObject({ type: 'request', origin: { connection: 1, correlationId: 1, clientId: 'client-3' } });
    client.socket.destroy();
    expect(await events.next()).toEqual({ type: 'requester-closed', connection: 1 });
  });

  test('may be answered after their connection has ended: nothing happens', async () => {
    const events = eventQueue();
    let first: RequestEvent | undefined;
    const { port, driver } = await smallServer((event) => {
      events.push(event);
      if (event.type === 'request' && first === undefined) first = event;
      else if (event.type === 'request') return [echo(event)];
      return event.type === 'checkpoint-now' && first !== undefined ? [echo(first)] : [];
    });
    const gone = await RawClient.connect(port);
    gone.send('MoveLeader', 0, move(1));
    await events.next();
    gone.socket.destroy();
    expect(await events.next()).toMatchObject({ type: 'requester-closed' });
    driver.deliver({ type: 'checkpoint-now' });
    const client = await RawClient.connect(port);
    expect((await client.request('MoveLeader', 0, move(9))).errorCode).toBe(9);
  });
});

describe('what is no sound request', () => {
  test('closes its own connection and harms no other', async () => {
    const { port } = await smallServer(echoCore);
    const client = await RawClient.connect(port);
    const sound = frame(encodeRequest('MoveLeader', 0, { correlationId: 1, clientId: 'x' }, move(1)));
    const damaged = fc
      .record({
        keep: fc.nat({ max: sound.length }),
        flips: fc.array(fc.tuple(fc.nat({ max: sound.length - 1 }), fc.integer({ min: 1, max: 255 })), {
          maxLength: 4,
        }),
        tail: fc.uint8Array({ maxLength: 64 }),
      })
      .map(({ keep, flips, tail }) => {
        const bytes = Uint8Array.from(sound);
        for (const [at, mask] of flips) bytes[at]! ^= mask;
        return Buffer.concat([bytes.subarray(0, keep), tail]);
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 200 }), damaged), async (bytes) => {
        const bad = await RawClient.connect(port);
        bad.socket.end(bytes);
        await bad.closed;
        expect((await client.request('MoveLeader', 0, move(5))).errorCode).toBe(5);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['a negative size', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ['a size above the limit', Buffer.from([0x7f, 0xff, 0xff, 0xff])],
    ['an empty frame', Buffer.from([0, 0, 0, 0])],
    ['an API that is not spoken', Buffer.from([0, 0, 0, 10, 0x7f, 0, 0, 0, 0, 0, 0, 1, 0, 0])],
    // Produce 2 is in the tables for our client, which writes message sets to brokers of old.
    [
      'a version that is not served',
      Buffer.from([0, 0, 0, 20, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    ],
  ])('such as %s ends the connection at once', async (_, bytes) => {
    const { port } = await smallServer(echoCore);
    const bad = await RawClient.connect(port);
    bad.socket.write(bytes);
    await bad.closed;
  });

  test('such as an empty frame that arrives byte by byte ends the connection at once', async () => {
    const { port } = await smallServer(echoCore);
    const bad = await RawClient.connect(port);
    for (let index = 0; index < 4; index += 1) {
      bad.socket.write(Buffer.from([0]));
      await new Promise(setImmediate);
    }
    await bad.closed;
  });

  test('such as an array of millions, which would cost a hundred times its bytes, ends the connection', async () => {
    const { port } = await smallServer(echoCore);
    const other = await RawClient.connect(port);
    const topics = 1_000_000;
    const request = Buffer.alloc(14 + 4 + 2 * topics + 1);
    request.writeInt32BE(request.length - 4, 0);
    request.writeInt16BE(3, 4);
    request.writeInt16BE(4, 6);
    request.writeInt32BE(topics, 14);
    const bad = await RawClient.connect(port);
    bad.socket.write(request);
    await bad.closed;
    expect((await other.request('MoveLeader', 0, move(5))).errorCode).toBe(5);
  });

  test('or never becomes whole is let go when all that is held together is too much', async () => {
    const { port } = await smallServer(echoCore);
    const other = await RawClient.connect(port);
    const unfinished = Buffer.alloc(20 * 1024 * 1024);
    unfinished.writeInt32BE(limits.frameBytes, 0);
    const greedy: RawClient[] = [];
    for (let index = 0; index <= limits.heldBytes / unfinished.length; index += 1) {
      const client = await RawClient.connect(port);
      client.socket.write(unfinished);
      greedy.push(client);
    }
    await Promise.race(greedy.map((client) => client.closed));
    expect((await other.request('MoveLeader', 0, move(5))).errorCode).toBe(5);
  });

  test('but asks for the versions in one that is too new is told which there are', async () => {
    const { port } = await smallServer(echoCore);
    const client = await RawClient.connect(port);
    // ApiVersions v127, correlation id 5, client id "x", and a body that nobody here can read.
    client.socket.write(Buffer.from([0, 0, 0, 13, 0, 18, 0, 127, 0, 0, 0, 5, 0, 1, 0x78, 9, 9]));
    const { correlationId, body } = await client.receive('ApiVersions', 0);
    expect(correlationId).toBe(5);
    expect(body.errorCode).toBe(ErrorCode.UNSUPPORTED_VERSION);
    expect(body.apiKeys).toEqual([{ apiKey: 18, minVersion: 0, maxVersion: 3 }]);
    expect((await client.request('MoveLeader', 0, move(5))).errorCode).toBe(5);
  });
});
