/** What a power loss leaves of the logs of Apache Kafka: everything that was surely flushed, in whole batches. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readHeader } from '../../docker/agent/segment-headers.ts';
import { bytesBelow, readRecoveryPoints } from '../../docker/power-loss.ts';

const fixtures = fileURLToPath(new URL('../fixtures/kafka-logs', import.meta.url));
const segments = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.log'))
  .map((path) => ({ path, bytes: readFileSync(join(fixtures, path)) }));

/** Where each batch ends, in bytes, with its last offset. */
function ends(bytes: Uint8Array): { readonly last: number; readonly end: number }[] {
  const found: { last: number; end: number }[] = [];
  for (let position = 0; ;) {
    const header = readHeader(bytes.subarray(position));
    if (typeof header === 'string') return found;
    position += header.bytes;
    found.push({ last: header.last, end: position });
  }
}

describe('a segment that Apache Kafka wrote', () => {
  test.each(segments)('$path is cut at the end of the last batch below the offset', ({ bytes }) => {
    const batches = ends(bytes);
    for (const [index, { last, end }] of batches.entries()) {
      expect(bytesBelow(bytes, last + 1)).toBe(end);
      expect(bytesBelow(bytes, last)).toBe(batches[index - 1]?.end ?? 0);
    }
    expect(bytesBelow(bytes, 0)).toBe(0);
    expect(bytesBelow(bytes, Number.MAX_SAFE_INTEGER)).toBe(batches.at(-1)?.end ?? 0);
  });

  test('there are some to cut', () => {
    expect(segments.length).toBeGreaterThan(20);
  });
});

describe('recovery points', () => {
  test('are read from the file that Kafka leaves beside its logs', () => {
    const file = join(fixtures, '0.10.2.2-s1a-diverged', 'broker-1', 'recovery-point-offset-checkpoint');
    const points = readRecoveryPoints(readFileSync(file, 'utf8'));
    expect([...points.keys()]).toContain('pause1-0');
    expect(readRecoveryPoints('0\n2\ntide 0 7\nmy-topic 3 0\n')).toEqual(
      new Map([
        ['tide-0', 7],
        ['my-topic-3', 0],
      ]),
    );
  });

  test('are none before the file was first written: Kafka makes it empty', () => {
    expect(readRecoveryPoints('')).toEqual(new Map());
  });

  test('of another version are refused', () => {
    expect(() => readRecoveryPoints('1\n0\n')).toThrow('has version 1, not 0');
  });
});
