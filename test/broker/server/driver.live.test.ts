/** What a driver does for its core: it performs the effects of a step in order, and wakes the core when it is due. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { append, batch } from '../storage/batches.ts';
import { RawClient } from './raw-client.ts';
import { echo, eventQueue, move, smallServer } from './small-server.ts';

describe('the effects of a step', () => {
  test('are performed in order: traced and written before the answer leaves', async () => {
    const log = 'tide-0';
    const one = batch(0, 0, 'one');
    const { port, directory, trace } = await smallServer((event) => {
      if (event.type !== 'request') return [];
      const batches = [{ base: 0, last: 0, epoch: 0, crc: 0 }];
      return [
        { type: 'create-log', log },
        { type: 'trace', line: { event: 'append', partition: log, leaderEpoch: 0, batches } },
        append(log, 0, one),
        { type: 'offset-checkpoint', file: 'replication-offset-checkpoint', offsets: { [log]: 1 } },
        echo(event),
      ];
    });
    const client = await RawClient.connect(port);
    await client.request('MoveLeader', 0, move(1));
    expect(trace()).toMatchObject([{ seq: 0, node: 1, boot: 1, event: 'append', partition: log }]);
    expect(readFileSync(join(directory, log, '00000000000000000000.log'))).toEqual(Buffer.from(one.bytes));
    expect(readFileSync(join(directory, 'replication-offset-checkpoint'), 'utf8')).toBe('0\n1\ntide 0 1\n');
  });

  test('end with a clean stop when the core asks for it', async () => {
    const { directory, driver } = await smallServer(() => [{ type: 'create-log', log: 'tide-0' }, { type: 'exit' }]);
    driver.deliver({ type: 'stop' });
    expect(existsSync(join(directory, '.kafka_cleanshutdown'))).toBe(true);
  });

  test('can end the connection of a requester', async () => {
    const { port } = await smallServer((event) =>
      event.type === 'request' ? [{ type: 'disconnect', connection: event.origin.connection }] : [],
    );
    const client = await RawClient.connect(port);
    client.send('MoveLeader', 0, move(1));
    await client.closed;
  });
});

describe('a deadline', () => {
  test('is delivered when it is due, also one that was moved nearer', async () => {
    const events = eventQueue();
    let deadlineNs = Infinity;
    const { driver } = await smallServer(
      (event, nowNs) => {
        if (event.type === 'stop') deadlineNs = nowNs + 3_600e9;
        if (event.type === 'checkpoint-now') deadlineNs = nowNs + 10e6;
        if (event.type === 'deadline') {
          expect(nowNs).toBeGreaterThanOrEqual(deadlineNs);
          deadlineNs = Infinity;
          events.push(event);
        }
        return [];
      },
      () => deadlineNs,
    );
    driver.deliver({ type: 'stop' });
    driver.deliver({ type: 'checkpoint-now' });
    expect(await events.next()).toEqual({ type: 'deadline' });
  });
});
