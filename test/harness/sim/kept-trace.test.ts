import { describe, expect, it } from 'vitest';
import type { MessageName, TraceEvent, TraceLine, WrittenLine } from '../../../broker/core/trace.ts';
import { ackLine, appendLine, fetchLine, hwLine, told } from '../../../broker/core/trace.ts';
import { KeptTrace } from '../../../harness/sim/kept-trace.ts';

const isr = [1, 2, 3];

function name(clientId: string, correlationId: number): MessageName {
  return { clientId, correlationId };
}

/** As a driver completes it. */
function completed(event: TraceEvent, seq: number, node: TraceLine['node'] = 2): WrittenLine {
  return Object.assign({ ...event }, { seq, time: 1_234_567_890_123 + seq, node, boot: 3 }) as WrittenLine;
}

function batch(base: number, last = base): { base: number; last: number; epoch: number; crc: number } {
  return { base, last, epoch: 7, crc: 0xfbadc0de };
}

const events: readonly TraceEvent[] = [
  { event: 'start', port: 9092, build: 'epoch', defects: [] },
  appendLine('tide-0', 7, [batch(4)], name('client-3', 17)),
  appendLine('tide-0', 7, [batch(5, 8), batch(9), batch(10, 2 ** 53 - 1)], name('broker-2.1', 4)),
  appendLine('tide-1', -1, [], undefined as MessageName | undefined),
  fetchLine('tide-1', 7, 3, 2 ** 40, 2 ** 41, name('broker-3.1', 9)),
  hwLine('tide-1', 7, 4, 5, isr, name('broker-3.1', 9)),
  hwLine('tide-0', 7, 5, 6, undefined, undefined),
  ackLine('tide-0', 7, 4, 4, -1, isr, name('client-3', 17)),
  ackLine('tide-1', 8, 0, 9, 1, [2], undefined),
  {
    event: 'truncation',
    partition: 'tide-0',
    leaderEpoch: 8,
    from: 9,
    to: 5,
    rule: 'high-watermark',
    evidence: { highWatermark: 5 },
  },
  { event: 'stop' },
];

describe('the trace of a simulated run as it is kept', () => {
  it('gives every kind of line back, field by field in the order of the fields', () => {
    const trace = new KeptTrace();
    const lines = events.map((event, seq) => completed(event, seq));
    for (const line of lines) trace.push(line);
    expect([...trace].map((line) => JSON.stringify(line))).toEqual(lines.map((line) => JSON.stringify(told(line))));
    expect([...trace].map((line) => Object.keys(line))).toEqual(lines.map((line) => Object.keys(line)));
  });

  it('gives the lines back in their order, however many there are', () => {
    const trace = new KeptTrace();
    const lines = Array.from({ length: 10_000 }, (_, seq) => completed(events[(seq * 7) % events.length]!, seq));
    for (const line of lines) trace.push(line);
    expect(trace.length).toBe(10_000);
    expect([...trace]).toEqual(lines.map((line) => told(line)));
  });

  it('can be read again, though a reader changed what it was given', () => {
    const trace = new KeptTrace();
    trace.push(completed(appendLine('tide-0', 7, [batch(4)], name('client-3', 17)), 0));
    for (const line of trace) Object.assign(line, { partition: 'other', batches: [] });
    expect([...trace]).toEqual([told(completed(appendLine('tide-0', 7, [batch(4)], name('client-3', 17)), 0))]);
  });

  it("tells the controller's lines of a frequent kind from those of a broker", () => {
    const trace = new KeptTrace();
    trace.push(completed(hwLine('tide-0', 7, 5, 6, isr, undefined), 0, 'controller'));
    trace.push(completed(hwLine('tide-0', 7, 5, 6, isr, undefined), 1, 1));
    expect([...trace].map(({ node }) => node)).toEqual(['controller', 1]);
  });

  it('has no line before one was put in', () => {
    expect([...new KeptTrace()]).toEqual([]);
    expect(new KeptTrace().length).toBe(0);
  });
});
