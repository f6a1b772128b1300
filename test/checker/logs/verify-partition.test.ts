/** What is said of a partition as a whole: how its replicas are compared, what came of it, and each of them in figures. */
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Checkpoints } from '../../../checker/logs/source.ts';
import { batch, batches, changed, joined, replica, sealed, verify } from './replicas.ts';

const log = joined(batches);
const of = (name: string, bytes: Uint8Array = log, checkpoints: Partial<Checkpoints> = {}) =>
  replica(name, { 0: bytes }, checkpoints);

describe('a partition', () => {
  it('is compared by records if one replica was cleaned, or if that is known', () => {
    expect(verify([of('a'), of('b')]).compacted).toBe(false);
    expect(verify([of('a'), of('b')], true).compacted).toBe(true);
    for (const cleaned of [0, 1]) {
      const copies = ['a', 'b'].map((name, at) => of(name, log, { cleaner: at === cleaned ? 3 : null }));
      expect(verify(copies).compacted).toBe(true);
    }
  });

  it.each<[string, readonly Uint8Array[], object]>([
    ['not-compared', [log], { exit: 0, first: null }],
    ['agree', [log, log], { exit: 0, first: null }],
    ['length', [log, log.subarray(0, batches[0]!.length)], { exit: 2, first: null }],
    ['diverge', [log, joined(batches.with(2, batch(6, ['x', 'y', 'z'])))], { exit: 1 }],
  ])('comes to the verdict %s', (verdict, logs, expected) => {
    const { comparison, partition } = verify(logs.map((bytes, at) => of(`broker-${at}`, bytes)));
    expect(partition).toBe('tide-0');
    expect(comparison).toMatchObject({ verdict, ...expected, notes: [] });
  });

  it('has the worst exit code of its replicas and of the comparison', () => {
    const bad = changed(log, (bytes) => (bytes[70]! ^= 1));
    const torn = log.subarray(0, log.length - 1);
    const exits = [[log], [torn], [bad], [bad, torn], [torn, torn], [log, torn]].map(
      (logs) => verify(logs.map((bytes, at) => of(`broker-${at}`, bytes))).comparison.exit,
    );
    expect(exits).toEqual([0, 2, 1, 1, 2, 2]);
  });

  it('shows the values of its first difference by the names of its replicas', () => {
    const other = joined(batches.with(2, batch(6, ['x', 'y', 'z'])));
    for (const names of [
      ['a', 'b', 'c'],
      ['c', 'a', 'b'],
      ['b', 'c', 'a'],
    ]) {
      const { first } = verify(names.map((name) => of(name, name === 'b' ? other : log))).comparison;
      expect(Object.entries(first!.values)).toEqual([
        ['a', 'value 6'],
        ['b', 'x'],
        ['c', 'value 6'],
      ]);
      expect(first!.offset).toBe(6);
    }
    const gone = verify([of('a'), of('b', joined(batches.toSpliced(2, 1)))]).comparison.first;
    expect(gone).toEqual({ offset: 6, values: { a: 'value 6', b: null } });
  });
});

describe('a replica', () => {
  it('is told in figures', () => {
    const leaderEpochs = [
      { epoch: 0, start: 0 },
      { epoch: 1, start: 12 },
      { epoch: 2, start: 24 },
    ];
    const report = verify([of('a', log, { highWatermark: 7, recoveryPoint: 5, logStart: 3, leaderEpochs })]).copies[
      'a'
    ];
    expect(report).toEqual({
      records: 30,
      batches: 10,
      bytes: log.length,
      first: 0,
      last: 29,
      leo: 30,
      logStart: 3,
      hw: 7,
      recoveryPoint: 5,
      formats: ['v2'],
      codecs: ['none'],
      epochs: [
        [0, 0, 11],
        [1, 12, 23],
        [2, 24, 29],
      ],
      control: [],
      openTransactions: [],
      leaderEpochCheckpoint: [
        [0, 0],
        [1, 12],
        [2, 24],
      ],
      findings: [],
      findingsTotal: 0,
    });
  });

  it('may hold nothing, and have no checkpoints', () => {
    expect(verify([of('a', new Uint8Array())]).copies['a']).toMatchObject({
      records: 0,
      first: null,
      last: null,
      hw: null,
      recoveryPoint: null,
      formats: [],
      codecs: [],
      leaderEpochCheckpoint: null,
    });
  });

  it('has its formats and codecs in order, whichever came first', () => {
    const message = (offset: number, magic: number): Uint8Array => {
      const bytes = new Uint8Array(magic === 0 ? 26 : 34).fill(255, magic === 0 ? 18 : 26);
      const view = new DataView(bytes.buffer);
      view.setInt32(4, offset);
      view.setInt32(8, bytes.length - 12);
      view.setUint8(16, magic);
      view.setUint32(12, crc32(bytes.subarray(16)));
      return bytes;
    };
    const mixed = verify([of('a', joined([batches[0]!, message(3, 1), message(4, 0)]))]).copies['a'];
    expect(mixed).toMatchObject({ formats: ['v0', 'v1', 'v2'], records: 5, findings: [] });
    const empty = (offset: number, codec: number): Uint8Array =>
      sealed(batch(offset, ['x']).slice(0, 61), (view) => {
        view.setInt32(8, 49);
        view.setInt16(21, codec);
        view.setInt32(57, 0);
      });
    const report = verify([of('a', joined([empty(0, 4), empty(1, 3), empty(2, 0), empty(3, 1)]))], true).copies['a'];
    expect(report?.codecs).toEqual(['gzip', 'lz4', 'none', 'zstd']);
  });
});
