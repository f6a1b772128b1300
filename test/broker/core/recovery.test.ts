import { describe, expect, it } from 'vitest';
import { recoverLog } from '../../../broker/core/recovery.ts';
import { encodeBatch } from '../../../broker/protocol/index.ts';

function encoded(baseOffset: number, leaderEpoch: number, ...values: readonly string[]): Uint8Array {
  return encodeBatch({ baseOffset, leaderEpoch, records: values.map((value) => ({ key: null, value })) });
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

const parts = [encoded(0, 0, 'a'), encoded(1, 0, 'b', 'c'), encoded(3, 2, 'd')] as const;
const whole = concat(...parts);
const boundaries = [0, parts[0].length, parts[0].length + parts[1].length, whole.length];
const ends = [0, 1, 3, 4];

describe('crash recovery', () => {
  it('keeps a sound log, and rebuilds its epochs', () => {
    const { batches, validBytes, endOffset, epochs } = recoverLog(whole, 0);
    expect([batches.length, validBytes, endOffset]).toEqual([3, whole.length, 4]);
    expect(epochs).toEqual([
      { epoch: 0, startOffset: 0 },
      { epoch: 2, startOffset: 3 },
    ]);
  });

  it('cuts a tail that was torn at any byte, to the last whole batch', () => {
    for (let length = 0; length <= whole.length; length++) {
      const kept = boundaries.filter((boundary) => boundary <= length).length - 1;
      const { validBytes, endOffset, batches } = recoverLog(whole.subarray(0, length), 0);
      expect([length, validBytes, endOffset, batches.length]).toEqual([length, boundaries[kept], ends[kept], kept]);
    }
  });

  it('cuts at the batch whose content was changed at any byte that the checksum covers', () => {
    const second = boundaries[1]!;
    for (let index = second + 17; index < boundaries[2]!; index++) {
      const bytes = Uint8Array.from(whole);
      bytes[index]! ^= 0xff;
      expect([index, recoverLog(bytes, 0).validBytes]).toEqual([index, second]);
    }
  });

  it('cuts where offsets do not follow: a hole, a repetition, a foreign beginning', () => {
    expect(recoverLog(concat(parts[0], parts[2]), 0).endOffset).toBe(1);
    expect(recoverLog(concat(parts[0], parts[0]), 0).endOffset).toBe(1);
    expect(recoverLog(parts[1], 0)).toMatchObject({ validBytes: 0, endOffset: 0, batches: [], epochs: [] });
    expect(recoverLog(parts[1], 1).endOffset).toBe(3);
  });

  it('keeps batches of a decreasing epoch: a build without epochs leaves such logs', () => {
    expect(recoverLog(concat(encoded(0, 3, 'a'), encoded(1, 1, 'b')), 0).endOffset).toBe(2);
  });
});
