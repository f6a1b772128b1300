/** Trace lines out of bytes that arrive in any portions. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { traceLines } from '../../../harness/local/trace-lines.ts';
import type { TraceLine } from '../../../nemesis/ports.ts';

function split(bytes: Buffer, cuts: readonly number[]) {
  const lines: TraceLine[] = [];
  const others: string[] = [];
  const take = traceLines({ line: (line) => lines.push(line), other: (text) => others.push(text) });
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  for (let index = 1; index < edges.length; index += 1) take(bytes.subarray(edges[index - 1], edges[index]));
  return { lines, others };
}

describe('trace lines', () => {
  it('are the same however the bytes were cut, even within a letter', () => {
    const text = [0, 1, 2, 3]
      .map((seq) => JSON.stringify({ seq, node: 1, boot: 1, time: 0, event: 'häß→' }))
      .join('\n');
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { maxLength: 30 }), (cuts) => {
        const { lines } = split(Buffer.from(`${text}\n`), cuts);
        expect(lines.map(({ seq, event }) => [seq, event])).toEqual([0, 1, 2, 3].map((seq) => [seq, 'häß→']));
      }),
    );
  });

  it('do not count without their end: a killed process never finished them', () => {
    const { lines, others } = split(Buffer.from('{"seq":0,"event":"start"}\n{"seq":1,"eve'), []);
    expect([lines.length, others]).toEqual([1, []]);
  });

  it('leave everything else as text', () => {
    const { lines, others } = split(Buffer.from('hello\n{"a":1}\n{"seq":1,\n\n{"seq":2,"event":"stop"}\n'), []);
    expect(lines.map(({ seq }) => seq)).toEqual([2]);
    expect(others).toEqual(['hello', '{"a":1}', '{"seq":1,', '']);
  });
});
