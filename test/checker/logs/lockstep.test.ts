/**
 * How replicas are walked through side by side: which bytes are compared with which, and which batches are looked into. A
 * comparison that never sees two windows as equal walks batch by batch, and says the same.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ByteTools } from '../../../checker/logs/lane.ts';
import type { PartitionReport } from '../../../checker/logs/report.ts';
import type { ReplicaCopy } from '../../../checker/logs/source.ts';
import { verifyPartition } from '../../../checker/logs/verify-partition.ts';
import { tools } from '../../../harness/verify/tools.ts';
import { Draws } from '../twins/random.ts';
import { batch, batches, changed, joined, replica, sealed } from './replicas.ts';

interface Walked {
  readonly report: PartitionReport;
  /** Lengths of what was compared, in order. */
  readonly compared: readonly number[];
  readonly unpacked: number;
}

function walk(copies: readonly ReplicaCopy[]): Walked {
  const compared: number[] = [];
  let unpacked = 0;
  const watched: ByteTools = {
    sameBytes: (one, at, other, otherAt, length) => {
      compared.push(length);
      return tools.sameBytes(one, at, other, otherAt, length);
    },
    decompressors: {
      gzip: (bytes) => {
        unpacked += 1;
        return gunzipSync(bytes);
      },
    },
  };
  const report = verifyPartition('tide-0', copies, false, watched);
  return { report, compared, unpacked };
}

/** A batch of one record, packed by gzip and of 200 bytes. */
function packed(base: number, value = 'value'): Uint8Array {
  const plain = batch(base, [value]);
  // Zeros behind the packed bytes are padding.
  const bytes = joined([plain.subarray(0, 61), gzipSync(plain.subarray(61)), new Uint8Array(200)]).slice(0, 200);
  return sealed(bytes, (view) => {
    view.setInt32(8, 188);
    view.setInt16(21, 1);
  });
}

const ten = Array.from({ length: 10 }, (_, at) => packed(at));
const log = joined(ten);
const copiesOf = (...logs: readonly Uint8Array[]): ReplicaCopy[] =>
  logs.map((bytes, at) => replica(`broker-${at + 1}`, { 0: bytes }));

describe('replicas that agree', () => {
  it('are compared a window at a time, and only one of them is looked into', () => {
    const { report, compared, unpacked } = walk(copiesOf(log, log, log));
    expect(report.comparison).toMatchObject({ verdict: 'agree', exit: 0 });
    // The first batch shows that they stand together; all that follows is compared at once.
    expect(compared).toEqual([200, 200, 1800, 1800]);
    expect(unpacked).toBe(10);
  });

  it('are compared as far as the shorter window goes, wherever files were cut', () => {
    const cut = replica('broker-2', { 0: joined(ten.slice(0, 3)), 3: joined(ten.slice(3)) });
    const { report, compared, unpacked } = walk([...copiesOf(log), cut]);
    expect(report.comparison).toMatchObject({ verdict: 'agree', exit: 0 });
    expect(compared).toEqual([200, 400, 1400]);
    expect(unpacked).toBe(10);
  });

  it('are compared once, also if each batch has a file of its own', () => {
    const files = replica('broker-2', Object.fromEntries(ten.map((part, at) => [at, part])));
    const { compared, unpacked } = walk([...copiesOf(log), files]);
    expect(compared).toEqual(Array<number>(10).fill(200));
    expect(unpacked).toBe(10);
  });

  it('are compared up to the end of the shorter, and what follows is read alone', () => {
    for (const logs of [
      [log, joined(ten.slice(0, 4))],
      [joined(ten.slice(0, 4)), log],
    ]) {
      const { report, compared, unpacked } = walk(copiesOf(...logs));
      expect(report.comparison).toMatchObject({ verdict: 'length', exit: 2 });
      expect(compared).toEqual([200, 600]);
      expect(unpacked).toBe(10);
    }
  });

  it('may be one alone: nothing is compared', () => {
    const { report, compared, unpacked } = walk(copiesOf(log));
    expect(report.copies['broker-1']).toMatchObject({ records: 10, leo: 10, findings: [] });
    expect(compared).toEqual([]);
    expect(unpacked).toBe(10);
  });
});

describe('replicas that differ somewhere', () => {
  const other = joined(ten.with(4, packed(4, 'other')));

  it('are compared batch by batch as far as the windows that differ go, then at once again', () => {
    // The window of the second replica ends after seven batches.
    const cut = replica('broker-2', { 0: other.subarray(0, 1400), 7: other.subarray(1400) });
    const { report, compared, unpacked } = walk([...copiesOf(log), cut]);
    expect(report.comparison.differences).toMatchObject([{ offset: 4, agreeAgainAt: 5 }]);
    expect(compared).toEqual([200, 1200, 200, 200, 200, 200, 200, 200, 600]);
    // Of the batch in which they differ there are two, and both are looked into again to say how.
    expect(unpacked).toBe(10 + 1 + 2);
  });

  it('are looked into once for each side', () => {
    const { report, compared, unpacked } = walk(copiesOf(log, other, other, log));
    expect(report.comparison.differences[0]?.sides.map(({ copies }) => copies)).toEqual([
      ['broker-1', 'broker-4'],
      ['broker-2', 'broker-3'],
    ]);
    // At the batch that differs the third is compared with the first side, then with the second.
    expect(compared.slice(0, 4)).toEqual([200, 200, 200, 1800]);
    expect(unpacked).toBe(10 + 1 + 2);
  });

  it('are not compared where their batches are of different lengths', () => {
    const longer = joined([...ten.slice(0, 9), batch(9, ['another length'])]);
    const { compared } = walk(copiesOf(log, longer));
    expect(compared).toEqual([200, 1600 + batch(9, ['another length']).length, ...Array<number>(8).fill(200)]);
  });

  it('at a checksum in both are one side, and each seeks what follows for itself', () => {
    const first = batch(0, ['a first batch of another length']);
    const whole = joined([first, ...ten.slice(1)]);
    const bad = changed(whole, (bytes) => (bytes[first.length + 700]! ^= 1));
    const { report, unpacked } = walk(copiesOf(bad, bad));
    for (const name of ['broker-1', 'broker-2']) {
      expect(report.copies[name]).toMatchObject({
        batches: 10,
        records: 9,
        findings: [{ name: 'crc-mismatch', offset: 4 }],
      });
    }
    expect(report.comparison).toMatchObject({ verdict: 'agree', exit: 1 });
    expect(unpacked).toBe(8);
  });
});

describe('replicas with the same batch whose checksum is wrong', () => {
  it('go on alike, though a sound one stands within it', () => {
    const bad = changed(joined([batches[3]!, batches[5]!]), (bytes) => {
      new DataView(bytes.buffer).setInt32(8, bytes.length - 12);
    });
    const bytes = joined([...batches.slice(0, 3), bad, ...batches.slice(4)]);
    const { report } = walk(copiesOf(bytes, bytes));
    for (const name of ['broker-1', 'broker-2']) {
      expect(report.copies[name]).toMatchObject({
        batches: 10,
        records: 27,
        leo: 30,
        findings: [{ name: 'crc-mismatch' }],
      });
    }
    expect(report.comparison.verdict).toBe('agree');
  });
});

describe('replicas of which one says that its log begins later', () => {
  const first = joined(batches);
  const other = joined([batch(0, ['x', 'y', 'z']), ...batches.slice(1)]);
  const at = (logStart: number): ReplicaCopy[] => [
    replica('broker-1', { 0: first }),
    replica('broker-2', { 0: other }, { logStart }),
  ];

  it.each([
    [0, 0],
    [1, 1],
    [2, 2],
  ])('are compared from its start on, also within a batch: %i', (logStart, offset) => {
    expect(walk(at(logStart)).report.comparison.first).toMatchObject({ offset });
  });

  it('are not compared in a batch that it has deleted', () => {
    expect(walk(at(3)).report.comparison).toMatchObject({ verdict: 'agree', pairs: [{ from: 3, agreeUntil: 30 }] });
  });

  it('differ where it holds nothing within a batch of the other', () => {
    const later = replica('broker-2', { 3: joined(batches.slice(2)) });
    const { report } = walk([replica('broker-1', { 0: first }), later]);
    expect(report.comparison.first).toEqual({ offset: 3, values: { 'broker-1': 'value 3', 'broker-2': null } });
    const within = replica('broker-2', { 4: joined(batches.slice(2)) });
    expect(walk([replica('broker-1', { 0: first }), within]).report.comparison.first?.offset).toBe(4);
    const behind = replica('broker-2', { 6: joined(batches.slice(2)) });
    expect(walk([replica('broker-1', { 0: first }), behind]).report.comparison.first).toBeNull();
  });
});

describe('any replicas', () => {
  it('are judged alike batch by batch and a window at a time', () => {
    for (let seed = 0; seed < 150; seed += 1) {
      const draws = new Draws(seed);
      const copies = ['broker-1', 'broker-2', 'broker-3'].map((name) => {
        const parts = Array.from({ length: 12 }, (_, at) =>
          batch(at * 2, [`${at}`, draws.chance(0.04) ? 'another' : 'same'], Math.floor(at / 5)),
        );
        if (draws.chance(0.3)) parts.splice(draws.below(12), 1);
        if (draws.chance(0.2)) parts.splice(draws.below(11), 0, Uint8Array.of(1, 2, 3));
        if (draws.chance(0.2)) parts.splice(draws.below(6), 0, parts[draws.below(6)]!);
        if (draws.chance(0.3)) parts.splice(6 + draws.below(6));
        const bytes = joined(parts);
        if (draws.chance(0.2)) bytes[draws.below(bytes.length)]! ^= 1;
        const first = draws.chance(0.3) ? draws.below(5) : 0;
        return replica(name, { [first]: bytes }, { logStart: draws.chance(0.2) ? draws.below(9) : null });
      });
      const slow: ByteTools = {
        ...tools,
        // No batch here is of 100 bytes.
        sameBytes: (...of) => of[4] < 100 && tools.sameBytes(...of),
      };
      const fast = verifyPartition('tide-0', copies, false, tools);
      expect(verifyPartition('tide-0', copies, false, slow), `seed ${seed}`).toEqual(fast);
    }
  });
});
