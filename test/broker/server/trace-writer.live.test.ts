import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test('a reader that is gone is an error of its own', () => {
  const closed = openSync('/dev/null', 'r');
  const trace = traceWriter(closed, { node: 1, boot: 1 }, () => 0);
  expect(() => trace.write(line)).toThrow(TraceLostError);
  closeSync(closed);
});
