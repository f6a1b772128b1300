import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendLine } from '../../../broker/core/trace.ts';
import { TraceLostError, traceWriter } from '../../../broker/server/trace-writer.ts';
import { temporaryDirectory } from '../storage/temporary.ts';

const line = { event: 'delete', partition: 'x'.repeat(1_000) } as const;

test('a slow reader of a pipe that does not block gets every line whole', async () => {
  const directory = temporaryDirectory();
  const [fifo, copy] = [join(directory, 'fifo'), join(directory, 'copy')];
  expect(spawnSync('sh', ['-c', `mkfifo ${fifo}`]).status).toBe(0);
  const descriptor = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  const reader = spawn('sh', ['-c', `sleep 0.2; exec head -n 500 < ${fifo} > ${copy}`], { stdio: 'inherit' });
  let time = 0;
  const trace = traceWriter(descriptor, { node: 2, boot: 7 }, () => (time += 1));
  // Half a megabyte: far more than a pipe holds before the reader begins.
  for (let count = 0; count < 500; count += 1) trace.write(line);
  await once(reader, 'close');
  closeSync(descriptor);
  const lines = readFileSync(copy, 'utf8').split('\n').slice(0, -1);
  expect(lines).toHaveLength(500);
  for (const [seq, found] of lines.entries()) {
    expect(JSON.parse(found)).toEqual({ seq, time: seq + 1, node: 2, boot: 7, ...line });
  }
});

test('a line names its message and the checksum of each batch by their texts, behind what every line has', () => {
  const path = join(temporaryDirectory(), 'trace.jsonl');
  const descriptor = openSync(path, 'w');
  const trace = traceWriter(descriptor, { node: 2, boot: 7 }, () => 9);
  const batches = [0x7, 0xfbadc0de].map((crc, base) => ({ base, last: base, epoch: 3, crc }));
  trace.write(appendLine('tide-0', 3, batches, { clientId: 'client-0', correlationId: 2 ** 31 - 1 }));
  trace.write({ event: 'log-start', partition: 'tide-0', leaderEpoch: 3, from: 0, to: 1, reason: 'asked' });
  closeSync(descriptor);
  const told = '[{"base":0,"last":0,"epoch":3,"hash":"00000007"},{"base":1,"last":1,"epoch":3,"hash":"fbadc0de"}]';
  const where = '"partition":"tide-0","leaderEpoch":3';
  expect(readFileSync(path, 'utf8').split('\n')).toEqual([
    `{"seq":0,"time":9,"node":2,"boot":7,"event":"append",${where},"batches":${told},"msg":"client-0#2147483647"}`,
    `{"seq":1,"time":9,"node":2,"boot":7,"event":"log-start",${where},"from":0,"to":1,"reason":"asked"}`,
    '',
  ]);
});

test('a reader that is gone is an error of its own', () => {
  const closed = openSync('/dev/null', 'r');
  const trace = traceWriter(closed, { node: 1, boot: 1 }, () => 0);
  expect(() => trace.write(line)).toThrow(TraceLostError);
  closeSync(closed);
});
