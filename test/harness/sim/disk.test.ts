import { expect, test } from 'vitest';
import { recoverLog } from '../../../broker/core/recovery.ts';
import { decodeRecords, encodeBatch, parseRecordSet } from '../../../broker/protocol/index.ts';
import type { BatchInfo } from '../../../broker/protocol/index.ts';
import { createRandom } from '../../../harness/plan/random.ts';
import { Disk, endOffsetOf } from '../../../harness/sim/disk.ts';

/** One record in a batch as a producer sends it, and its header as a leader of `leaderEpoch` would store it. */
const record = (value: string, offset: number, leaderEpoch = 0) => {
  const bytes = encodeBatch({ baseOffset: 0, leaderEpoch: -1, records: [{ key: null, value }] });
  const [sent] = parseRecordSet(bytes).batches;
  const batch: BatchInfo = { ...sent!, baseOffset: offset, lastOffset: offset, leaderEpoch };
  return { bytes, batch };
};

const diskWith = (...values: readonly string[]) => {
  const disk = new Disk();
  disk.create('tide-0');
  for (const [offset, value] of values.entries()) append(disk, value, offset);
  return disk;
};

const append = (disk: Disk, value: string, offset: number, leaderEpoch = 0) => {
  const { bytes, batch } = record(value, offset, leaderEpoch);
  disk.append('tide-0', disk.find('tide-0')?.sizeBytes ?? 0, [batch], bytes);
};

const valuesOf = (disk: Disk) => {
  const log = disk.find('tide-0')!;
  return decodeRecords(disk.read('tide-0', 0, log.sizeBytes)).map(
    ({ offset, value }) => `${offset}:${new TextDecoder().decode(value ?? new Uint8Array())}`,
  );
};

test('a written batch holds the offset and the epoch that the leader gave it, and the bytes of the producer are left alone', () => {
  const disk = new Disk();
  disk.create('tide-0');
  const { bytes, batch } = record('a', 7, 3);
  const before = bytes.slice();
  disk.append('tide-0', 0, [batch], bytes);
  expect(bytes).toEqual(before);
  expect(parseRecordSet(disk.read('tide-0', 0, batch.sizeBytes)).batches).toEqual([batch]);
});

test('a log can be read from any batch to any batch', () => {
  const disk = diskWith('a', 'b', 'c');
  const size = disk.find('tide-0')!.sizeBytes / 3;
  expect(valuesOf(disk)).toEqual(['0:a', '1:b', '2:c']);
  expect(parseRecordSet(disk.read('tide-0', size, 2 * size)).batches.map(({ baseOffset }) => baseOffset)).toEqual([1]);
  expect(disk.read('tide-0', size, size)).toHaveLength(0);
});

test('bytes that were read stay as they are, whatever is cut and written afterwards', () => {
  const disk = diskWith('a', 'b');
  const size = disk.find('tide-0')!.sizeBytes / 2;
  const before = disk.read('tide-0', size, 2 * size);
  const copy = before.slice();
  disk.truncate('tide-0', size);
  append(disk, 'x', 1, 1);
  for (let offset = 2; offset < 200; offset += 1) append(disk, 'y', offset, 1);
  expect(before).toEqual(copy);
  expect(valuesOf(disk).slice(0, 3)).toEqual(['0:a', '1:x', '2:y']);
  expect(valuesOf(disk)).toHaveLength(200);
});

test('a power loss keeps what was flushed, and no more than the given bytes of the rest', () => {
  const disk = diskWith('a');
  disk.flush('tide-0');
  append(disk, 'b', 1);
  append(disk, 'c', 2);
  const size = disk.find('tide-0')!.sizeBytes / 3;
  disk.losePower(size + 1);
  expect(disk.recover()).toMatchObject([{ foundEndOffset: 3, flushedOffset: 2, cut: 'power-loss' }]);
  expect(endOffsetOf(disk.find('tide-0')!)).toBe(2);
  disk.losePower();
  expect(disk.recover()).toMatchObject([{ foundEndOffset: 2, cut: 'none' }]);
});

test('a power loss at random keeps all that was flushed and, of the rest, nothing, some, all, or a part of a batch', () => {
  const random = createRandom(1).stream('disk:1');
  const kept = new Set<number>();
  let torn = 0;
  for (let loss = 0; loss < 100; loss += 1) {
    const disk = diskWith('a', 'b');
    disk.flush('tide-0');
    for (const [index, value] of ['c', 'd', 'e'].entries()) append(disk, value, 2 + index);
    const size = disk.find('tide-0')!.sizeBytes / 5;
    disk.losePowerAtRandom(random);
    const file = disk.file('tide-0');
    /* What the scan of a real start makes of that file is what is kept. */
    const { endOffset, validBytes } = recoverLog(file, 0);
    kept.add(endOffset);
    if (file.length > validBytes) torn += 1;
    expect(file.length - validBytes).toBeLessThan(size);
    expect(disk.recover()).toMatchObject([
      { foundEndOffset: 5, flushedOffset: endOffset, cut: endOffset < 5 ? 'power-loss' : 'none' },
    ]);
    expect(endOffsetOf(disk.find('tide-0')!)).toBe(endOffset);
    expect(disk.file('tide-0')).toHaveLength(validBytes);
  }
  expect([...kept].toSorted((one, other) => one - other)).toEqual([2, 3, 4, 5]);
  expect(torn).toBeGreaterThan(20);
});

test('a second power loss before the next start does not hide how far the log had reached', () => {
  const disk = diskWith('a', 'b');
  disk.losePower(1000);
  disk.losePower();
  expect(disk.recover()).toMatchObject([{ foundEndOffset: 2, flushedOffset: 2, cut: 'none' }]);
  append(disk, 'c', 2);
  disk.losePower();
  disk.losePower();
  expect(disk.recover()).toMatchObject([{ foundEndOffset: 3, flushedOffset: 2, cut: 'power-loss' }]);
});

test('a truncation cuts at a batch, and what was flushed beyond is not flushed any more', () => {
  const disk = diskWith('a', 'b');
  disk.flush('tide-0');
  const size = disk.find('tide-0')!.sizeBytes / 2;
  disk.truncate('tide-0', size);
  append(disk, 'x', 1, 1);
  disk.losePower();
  expect(valuesOf(disk)).toEqual(['0:a']);
  expect(() => disk.truncate('tide-0', size - 1)).toThrow('would cut a batch in two');
});

test('a start finds checkpoints, and epochs as far as the log reaches', () => {
  const disk = diskWith('a');
  disk.writeEpochs('tide-0', [{ epoch: 0, startOffset: 0 }]);
  disk.writeOffsets('replication-offset-checkpoint', { 'tide-0': 1 });
  disk.flush('tide-0');
  append(disk, 'b', 1, 2);
  disk.writeEpochs('tide-0', [
    { epoch: 0, startOffset: 0 },
    { epoch: 2, startOffset: 1 },
  ]);
  disk.losePower();
  expect(disk.recover()).toMatchObject([
    { log: 'tide-0', checkpointedHighWatermark: 1, epochs: [{ epoch: 0, startOffset: 0 }], logStartOffset: 0 },
  ]);
});

test('a log that was reset starts where it was told to', () => {
  const disk = diskWith('a', 'b');
  disk.reset('tide-0', 40);
  append(disk, 'x', 40);
  expect(valuesOf(disk)).toEqual(['40:x']);
  expect(disk.recover()).toMatchObject([{ logStartOffset: 40, flushedOffset: 40, foundEndOffset: 41 }]);
});

test('what contradicts the disk is a bug and ends the process', () => {
  const disk = diskWith('a');
  expect(() => disk.create('tide-0')).toThrow('the log tide-0 exists');
  expect(() => disk.flush('tide-1')).toThrow('there is no log tide-1');
  const { bytes, batch } = record('b', 1);
  expect(() => disk.append('tide-0', 0, [batch], bytes)).toThrow('append to tide-0 at 0, it ends at');
});
