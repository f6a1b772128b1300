/** One replica on its way through its log: each batch is loaded once, looked at once, and taken note of. */
import { crc32, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Lane, type ByteTools } from '../../../checker/logs/lane.ts';
import { batch, batches, changed, joined, replica, sealed } from './replicas.ts';

/** A batch whose records are packed by gzip. */
function packed(bytes: Uint8Array): Uint8Array {
  return sealed(joined([bytes.subarray(0, 61), gzipSync(bytes.subarray(61))]), (view) => {
    view.setInt32(8, view.byteLength - 12);
    view.setInt16(21, 1);
  });
}

/** A lane over these bytes, and how often something was unpacked for it. */
function laneOver(bytes: Uint8Array, name = 'broker-1'): { readonly lane: Lane; readonly unpacked: () => number } {
  let count = 0;
  const tools: ByteTools = {
    decompressors: {
      gzip: (part) => {
        count += 1;
        return gunzipSync(part);
      },
    },
    sameBytes: () => false,
  };
  const checkpoints = { highWatermark: 1000 };
  return { lane: new Lane(replica(name, { 0: bytes }, checkpoints), false, tools), unpacked: () => count };
}

const twoPacked = joined([packed(batches[0]!), packed(batches[1]!)]);

describe('a lane', () => {
  it('stands at a batch until that is taken, however often it is asked to settle', () => {
    const { lane } = laneOver(joined(batches.slice(0, 2)));
    expect([lane.name, lane.settled, lane.ended]).toEqual(['broker-1', false, false]);
    for (const base of [0, 3]) {
      for (let time = 0; time < 3; time += 1) {
        expect(lane.settle()).toBe(true);
        expect([lane.settled, lane.ended, lane.stream.frame.base]).toEqual([true, false, base]);
      }
      lane.inspect();
      lane.take(lane);
      expect(lane.settled).toBe(false);
    }
  });

  it('ends once, and what its log does not reach is told once', () => {
    const { lane } = laneOver(batches[0]!);
    lane.settle();
    lane.take(lane);
    expect(lane.ledger.findings.total).toBe(1);
    for (let time = 0; time < 2; time += 1) {
      expect(lane.settle()).toBe(false);
      expect([lane.settled, lane.ended, lane.ledger.findings.total]).toEqual([false, true, 2]);
    }
    expect(lane.ledger.findings.list).toMatchObject([{ name: 'crc-mismatch' }, { name: 'checkpoint-beyond-log' }]);
  });

  it('looks into a batch when it is asked to, and once', () => {
    const { lane, unpacked } = laneOver(twoPacked);
    for (const expected of [1, 2]) {
      lane.settle();
      expect(unpacked()).toBe(expected - 1);
      for (let time = 0; time < 3; time += 1) {
        lane.inspect();
        lane.settle();
      }
      expect(unpacked()).toBe(expected);
      expect([lane.sound, lane.contents.records]).toEqual([true, 3]);
      lane.take(lane);
    }
    expect(lane.ledger).toMatchObject({ batches: 2, records: 6, leo: 6 });
  });

  it('knows the first offset of packed messages as soon as it stands there', () => {
    const { lane, unpacked } = laneOver(joined([wrapper(7, 3), batch(8, ['x'])]));
    lane.settle();
    expect([lane.stream.frame.base, lane.stream.frame.last, lane.sound]).toEqual([5, 7, true]);
    lane.settle();
    lane.inspect();
    expect([unpacked(), lane.stream.frame.base]).toEqual([1, 5]);
    lane.take(lane);
    lane.settle();
    expect(lane.stream.frame.base).toBe(8);
  });

  it('takes a wrapper that it cannot trust for the one offset that it names', () => {
    const { lane, unpacked } = laneOver(changed(wrapper(7, 3), (bytes) => (bytes[50]! ^= 1)));
    lane.settle();
    expect([lane.stream.frame.base, lane.stream.frame.last, lane.sound, unpacked()]).toEqual([7, 7, false, 0]);
  });

  it('finds nothing in a batch whose checksum is wrong', () => {
    const bad = changed(batches[1]!, (bytes) => (bytes[70]! ^= 1));
    const { lane } = laneOver(joined([batches[0]!, bad, batches[2]!]));
    lane.settle();
    lane.inspect();
    lane.take(lane);
    lane.settle();
    lane.inspect();
    expect([lane.sound, lane.contents.records, lane.stream.frame.base]).toEqual([false, 0, 3]);
    lane.take(lane);
    expect(lane.ledger.findings.list).toMatchObject([{ name: 'crc-mismatch', offset: 3 }]);
    lane.settle();
    expect(lane.stream.frame.base).toBe(6);
  });

  it('seeks the next batch after one whose checksum is wrong, and believes nothing below one that was sound', () => {
    const bad = changed(joined([batches[3]!, batches[5]!]), (bytes) => {
      new DataView(bytes.buffer).setInt32(8, bytes.length - 12);
    });
    const { lane } = laneOver(joined([bad, Uint8Array.of(1, 2, 3), batch(15, ['x', 'y']), batches[6]!]));
    const met: number[][] = [];
    while (lane.settle()) {
      met.push([lane.stream.frame.base, lane.stream.position]);
      lane.inspect();
      lane.take(lane);
    }
    // The one within the bad one, then none that ends at 16.
    const last = bad.length + 3 + batch(15, ['x', 'y']).length;
    expect(met).toEqual([
      [9, 0],
      [15, batches[3]!.length],
      [18, last],
    ]);
  });

  it('takes what another found in equal bytes, and unpacks nothing itself', () => {
    const [one, other] = [laneOver(twoPacked), laneOver(twoPacked, 'broker-2')];
    for (const { lane } of [one, other]) lane.settle();
    one.lane.inspect();
    other.lane.take(one.lane);
    one.lane.take(one.lane);
    for (const { lane } of [one, other]) {
      expect(lane.ledger).toMatchObject({ batches: 1, records: 3, leo: 3 });
      expect(lane.settle()).toBe(true);
      expect(lane.stream.frame.base).toBe(3);
    }
    expect([one.unpacked(), other.unpacked()]).toEqual([1, 0]);
  });

  it('tells flaws on its way to the next batch', () => {
    const { lane } = laneOver(joined([Uint8Array.of(1, 2, 3), batches[0]!]));
    lane.settle();
    expect(lane.ledger.findings.list).toMatchObject([{ name: 'unreadable', position: 0 }]);
    expect(lane.stream.position).toBe(3);
  });
});

/** A wrapper of format v1 around so many messages, under a right checksum. */
function wrapper(last: number, count: number): Uint8Array {
  const entries = Array.from({ length: count }, (_, at) => message(at, 0, new Uint8Array()));
  return message(last, 1, gzipSync(joined(entries)));
}

function message(offset: number, attributes: number, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(34 + value.length);
  const view = new DataView(bytes.buffer);
  view.setBigInt64(0, BigInt(offset));
  view.setInt32(8, bytes.length - 12);
  view.setUint8(16, 1);
  view.setUint8(17, attributes);
  view.setInt32(26, -1);
  view.setInt32(30, value.length);
  bytes.set(value, 34);
  view.setUint32(12, crc32(bytes.subarray(16)));
  return bytes;
}
