import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apis, encodeRequest, frame, parseRecordSet, type ApiName } from '../../../broker/protocol/index.ts';
import { temporaryDirectory } from '../storage/temporary.ts';
import { freePort, NodeProcess, processConfig, type TraceLine } from './node-process.ts';
import { createTopic, oneBroker, produceRequest } from './one-broker.ts';
import { RawClient } from './raw-client.ts';

const segment = join('tide-0', '00000000000000000000.log');

/** What a trace says was appended, as `base hash`, in order. */
function appended(trace: readonly TraceLine[]): string[] {
  return trace
    .filter((line) => line.event === 'append' && line.partition === 'tide-0')
    .flatMap((line) => line['batches'] as { base: number; hash: string }[])
    .map(({ base, hash }) => `${base} ${hash}`);
}

/** What a log file holds, in the same form. */
function stored(path: string): string[] {
  return parseRecordSet(readFileSync(path)).batches.map(
    ({ baseOffset, crc }) => `${baseOffset} ${crc.toString(16).padStart(8, '0')}`,
  );
}

describe('a broker that is killed', () => {
  test('at random instants while it is written to has, when it starts again, all that it had traced', async () => {
    const cluster = await oneBroker();
    let { broker } = cluster;
    await createTopic(await RawClient.connect(cluster.port), 'tide', 1);
    await broker.traced((line) => line.event === 'role' && line['role'] === 'leader');
    const written: string[] = [];
    let acknowledged = -1;
    for (let round = 0; round < 5; round += 1) {
      const client = await RawClient.connect(cluster.port);
      const delayMs = Math.random() * 300;
      setTimeout(() => void broker.kill('SIGKILL'), delayMs);
      for (let value = 0; ; value += 1) {
        const request = produceRequest('tide', -1, `${round}.${value}`, 'x'.repeat(Math.random() * 5_000));
        const answer = await client.request('Produce', 7, request).catch(() => undefined);
        if (answer === undefined) break;
        acknowledged = Math.max(acknowledged, answer.responses[0]!.partitionResponses[0]!.baseOffset);
      }
      await broker.exited;
      written.push(...appended(broker.trace));

      broker = await new NodeProcess(broker.config).listening();
      const recovered = broker.trace.find((line) => line.event === 'recover');
      const found = stored(join(cluster.directory, '1', segment));
      // A line is traced before its effect: the last one may tell of a batch that the kill came before.
      expect(written.slice(0, found.length)).toEqual(found);
      expect(written.length - found.length).toBeLessThanOrEqual(1);
      written.length = found.length;
      expect(recovered?.['to']).toBeGreaterThan(acknowledged);
      expect(broker.trace[0]).toMatchObject({ seq: 0, boot: round + 2, event: 'start' });
      await broker.traced((line) => line.event === 'role' && line['role'] === 'leader');
    }
    expect(written.length).toBeGreaterThan(20);
  });

  test('and whose last batch is torn cuts it, and says so in its trace', async () => {
    const cluster = await oneBroker();
    const client = await RawClient.connect(cluster.port);
    await createTopic(client, 'tide', 1);
    await cluster.broker.traced((line) => line.event === 'role');
    for (const value of ['a', 'b']) await client.request('Produce', 7, produceRequest('tide', 1, value));
    await cluster.broker.kill('SIGKILL');
    const path = join(cluster.directory, '1', segment);
    const whole = readFileSync(path);
    truncateSync(path, whole.length - 1);
    const again = await new NodeProcess(cluster.broker.config).listening();
    expect(again.trace[1]).toMatchObject({ event: 'recover', partition: 'tide-0', from: 1, to: 1, cut: 'torn-tail' });
    expect(readFileSync(path)).toEqual(whole.subarray(0, whole.length / 2));
  });

  test('by a loss of power has only what was flushed', async () => {
    const cluster = await oneBroker();
    const client = await RawClient.connect(cluster.port);
    await createTopic(client, 'tide', 1);
    await cluster.broker.traced((line) => line.event === 'role');
    await client.request('Produce', 7, produceRequest('tide', 1, 'flushed'));
    expect(await cluster.broker.kill('SIGTERM')).toEqual({ code: 0, signal: null });

    const second = await new NodeProcess(cluster.broker.config).listening();
    await second.traced((line) => line.event === 'role' && line['role'] === 'leader');
    const again = await RawClient.connect(cluster.port);
    await again.request('Produce', 7, produceRequest('tide', 1, 'lost'));
    await second.kill('SIGKILL');
    writeFileSync(join(cluster.directory, '1', 'power-lost'), '');

    const third = await new NodeProcess(cluster.broker.config).listening();
    expect(third.trace[1]).toMatchObject({ event: 'recover', flushed: 1, from: 2, to: 1, cut: 'power-loss' });
  });
});

describe('a broker that is told to stop', () => {
  test('hands over, flushes, marks its directory and ends with 0', async () => {
    const { broker, directory } = await oneBroker();
    expect(await broker.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(broker.trace.at(-1)?.event).toBe('stop');
    expect(existsSync(join(directory, '1', '.kafka_cleanshutdown'))).toBe(true);
  });
});

describe('a broker that cannot go on', () => {
  const lonely = async (change: object = {}): Promise<NodeProcess> => {
    const directory = join(temporaryDirectory(), 'data');
    return new NodeProcess({ ...processConfig(1, 'epoch', directory, await freePort(), await freePort()), ...change });
  };

  test.each([
    [
      'an unknown build',
      { build: 'old' },
      'tidemark broker 1: there is no build old; choose one of hw, hw-elect, kip101, kip279, epoch',
    ],
    [
      'an unknown defect',
      { defects: ['none'] },
      'tidemark broker 1: there is no defect none; choose among truncate-none',
    ],
    ['the number of nobody', { node: 0 }, 'tidemark broker: node is 0; it has to be a number from 1'],
    ['no port', { listen: { host: '127.0.0.1' } }, 'listen.port is missing; it has to be a port'],
    ['an address of another machine', { listen: { host: '192.0.2.1', port: 9092 } }, 'no such address; choose another'],
    ['a directory that cannot be made', { dataDirectory: '/dev/null/data' }, 'cannot create /dev/null/data: ENOTDIR'],
  ])('because of %s says so in one line and ends with 255', async (_, change, complaint) => {
    const broker = await lonely(change);
    expect(await broker.exited).toEqual({ code: 255, signal: null });
    expect(broker.errors).toContain(complaint);
    expect(broker.errors.split('\n')).toHaveLength(2);
    expect(broker.trace).toEqual([]);
  });

  test('because its port is in use leaves the data directory of the other alone', async () => {
    const { broker } = await oneBroker();
    const second = new NodeProcess(broker.config);
    expect(await second.exited).toEqual({ code: 255, signal: null });
    expect(second.errors).toBe(
      `tidemark broker 1: port in use: 127.0.0.1:${broker.config.listen.port}; ` +
        'stop the process that listens there, or choose another port\n',
    );
    expect(readFileSync(join(broker.config.dataDirectory, 'boot-count'), 'utf8')).toBe('1\n');
  });

  test('because a checkpoint is corrupt names the file and the remedy', async () => {
    const broker = await lonely();
    await broker.listening();
    await broker.kill('SIGKILL');
    const path = join(broker.config.dataDirectory, 'replication-offset-checkpoint');
    writeFileSync(path, '0\n3\ntide 0 1\n');
    const again = new NodeProcess(broker.config);
    expect(await again.exited).toEqual({ code: 255, signal: null });
    expect(again.errors).toBe(
      `tidemark broker 1: ${path} is corrupt: it announces 3 entries and holds 1 whole lines; restore the file, ` +
        'or delete it (then every high watermark starts at 0 until a leader tells a newer one)\n',
    );
  });

  test('because nobody reads its trace any more ends', async () => {
    const { broker, port } = await oneBroker();
    broker.closeTrace();
    const client = await RawClient.connect(port);
    await createTopic(client, 'tide', 1).catch(() => {});
    expect(await broker.exited).toEqual({ code: 255, signal: null });
    expect(broker.errors).toContain('the trace cannot be written');
  });

  test('because its disk is full acknowledges nothing and ends', async () => {
    const cluster = await oneBroker();
    await createTopic(await RawClient.connect(cluster.port), 'tide', 1);
    await cluster.broker.traced((line) => line.event === 'role');
    await cluster.broker.kill('SIGKILL');
    const path = join(cluster.directory, '1', segment);
    rmSync(path);
    symlinkSync('/dev/full', path);
    const full = await new NodeProcess(cluster.broker.config).listening();
    await full.traced((line) => line.event === 'role' && line['role'] === 'leader');
    const client = await RawClient.connect(cluster.port);
    await expect(client.request('Produce', 7, produceRequest('tide', 1, 'x'))).rejects.toThrow('closed');
    expect(await full.exited).toEqual({ code: 255, signal: null });
    expect(full.errors).toContain('ENOSPC: no space left on device');
    expect(full.errors).toContain('make room on the disk');
    expect(full.trace.filter((line) => line.event === 'ack')).toEqual([]);
  });
});

describe('whatever is sent to a broker', () => {
  test('of every API, damaged or nonsensical, it goes on serving', async () => {
    const { broker, port } = await oneBroker();
    const client = await RawClient.connect(port);
    await createTopic(client, 'tide', 1);
    await broker.traced((line) => line.event === 'role');
    const produce = frame(
      encodeRequest('Produce', 7, { correlationId: 1, clientId: 'x' }, produceRequest('tide', -1, 'v')),
    );
    const names = Object.keys(apis) as ApiName[];
    const header = fc
      .record({ api: fc.constantFrom(...names), version: fc.nat({ max: 12 }), body: fc.uint8Array({ maxLength: 60 }) })
      .map(({ api, version, body }) => {
        const { key } = apis[api];
        const payload = Buffer.from([key >> 8, key & 0xff, 0, version, 0, 0, 0, 1, 0, 1, 0x78, ...body]);
        return frame(payload);
      });
    const damaged = fc
      .array(fc.tuple(fc.integer({ min: 4, max: produce.length - 1 }), fc.integer({ min: 1, max: 255 })), {
        minLength: 1,
        maxLength: 3,
      })
      .map((flips) => {
        const bytes = Uint8Array.from(produce);
        for (const [at, mask] of flips) bytes[at]! ^= mask;
        return bytes;
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(header, damaged), async (bytes) => {
        const bad = await RawClient.connect(port);
        bad.socket.end(bytes);
        bad.socket.resume();
        const answer = await client.request('Produce', 7, produceRequest('tide', 1, 'sound'));
        expect(answer.responses[0]?.partitionResponses[0]?.errorCode).toBe(0);
        bad.socket.destroy();
      }),
      { numRuns: 500 },
    );
    expect(broker.errors).not.toContain('a rule of our own is broken');
  });
});

describe('a controller', () => {
  test('that is killed knows its cluster again, and cuts the record that the kill has torn', async () => {
    const { broker, controller, directory, port } = await oneBroker();
    const client = await RawClient.connect(port);
    await createTopic(client, 'tide', 1);
    await broker.traced((line) => line.event === 'role');
    await controller.kill('SIGKILL');
    const path = join(directory, 'controller', 'metadata.jsonl');
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, `${whole}{"type":"fen`);
    const again = await new NodeProcess(controller.config).listening();
    expect(again.trace[0]).toMatchObject({ event: 'start', boot: 2 });
    await createTopic(client, 'more', 1);
    expect(readFileSync(path, 'utf8').startsWith(`${whole}{"type":"topic","topic":"more"`)).toBe(true);
  });

  test('refuses a data directory of a broker', async () => {
    const directory = temporaryDirectory();
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'meta.properties'), 'version=1\ncluster.id=test\nnode.id=1\n');
    const port = await freePort();
    const controller = new NodeProcess(processConfig('controller', 'epoch', directory, port, port));
    expect(await controller.exited).toEqual({ code: 255, signal: null });
    expect(controller.errors).toContain('says node 1 of cluster test, this is node controller of cluster test');
  });
});
