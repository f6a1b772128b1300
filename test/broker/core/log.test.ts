import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendBatches, createLog, readLog, readableBytes, resetLog, truncateLog } from '../../../broker/core/log.ts';
import type { Log } from '../../../broker/core/log.ts';
import { batch } from './values.ts';

/** Batches of 1, 2 and 3 records: offsets 0, 1–2, 3–5; each 100 bytes. */
function sample(): Log {
  const batches = [
    batch({ value: 1, base: 0, count: 1 }),
    batch({ value: 2, base: 1, count: 2 }),
    batch({ value: 3, base: 3, count: 3 }),
  ];
  return createLog('t-0', 0, batches);
}

const valuesOf = (log: Log, ...read: [number, number, number, boolean]) =>
  readLog(log, ...read).batches.map(({ crc }) => crc);

describe('a log', () => {
  it('knows where each batch stands', () => {
    const log = sample();
    expect([log.endOffset, log.endPosition, log.positions]).toEqual([6, 300, [0, 100, 200]]);
    expect(appendBatches(log, [batch({ value: 4, base: 6 })])).toBe(300);
    expect(log.endOffset).toBe(7);
  });

  it('takes only what follows its end', () => {
    expect(() => appendBatches(sample(), [batch({ value: 4, base: 7 })])).toThrow('ends at 6, a batch at 7');
  });

  it('reads from the batch that holds the offset, and whole batches only', () => {
    const log = sample();
    expect(readLog(log, 2, 6, 1_000, true).range).toEqual({ log: 't-0', startPosition: 100, endPosition: 300 });
    expect(valuesOf(log, 0, 5, 1_000, true)).toEqual([1, 2]);
    expect(valuesOf(log, 0, 6, 250, true)).toEqual([1, 2]);
    expect(valuesOf(log, 6, 6, 1_000, true)).toEqual([]);
  });

  it('gives one batch that is larger than asked for, but only where it must', () => {
    expect(valuesOf(sample(), 1, 6, 10, true)).toEqual([2]);
    expect(valuesOf(sample(), 1, 6, 10, false)).toEqual([]);
    expect(valuesOf(sample(), 1, 2, 10, true)).toEqual([]);
  });

  it('is cut at batch boundaries, below the offset where a batch straddles it', () => {
    const log = sample();
    truncateLog(log, 4);
    expect([log.endOffset, log.endPosition, log.batches.length]).toEqual([3, 200, 2]);
    truncateLog(log, 9);
    expect(log.endOffset).toBe(3);
    truncateLog(log, 0);
    expect([log.endOffset, log.endPosition, log.batches.length]).toEqual([0, 0, 0]);
  });

  it('begins anew where it is told to', () => {
    const log = sample();
    resetLog(log, 40);
    expect([log.startOffset, log.endOffset, log.endPosition]).toEqual([40, 40, 0]);
    expect(appendBatches(log, [batch({ value: 4, base: 40 })])).toBe(0);
  });

  it('counts as readable exactly what a read would give', () => {
    const sizes = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 50 })), { maxLength: 8 });
    fc.assert(
      fc.property(sizes, fc.nat(30), fc.nat(30), (batches, offset, limit) => {
        const log = createLog('t-0', 0, []);
        for (const [count, sizeBytes] of batches) {
          appendBatches(log, [batch({ value: 1, base: log.endOffset, count, sizeBytes })]);
        }
        expect(readableBytes(log, offset, limit)).toBe(readLog(log, offset, limit, 1e9, false).sizeBytes);
      }),
    );
  });
});
