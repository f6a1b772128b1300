import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readEpochs, readOffsets, writeEpochs, writeOffsets } from '../../../broker/storage/checkpoints.ts';
import { StorageError } from '../../../broker/storage/files.ts';
import { temporaryDirectory } from './temporary.ts';

describe('the offset checkpoints', () => {
  test("are written in Kafka's format, with the topic split from the partition at the last dash", () => {
    const path = join(temporaryDirectory(), 'replication-offset-checkpoint');
    writeOffsets(path, { 'tide-0': 12, 'with-dash-11': 0 });
    expect(readFileSync(path, 'utf8')).toBe('0\n2\ntide 0 12\nwith-dash 11 0\n');
    expect(readOffsets(path, 'replication-offset-checkpoint')).toEqual(
      new Map([
        ['tide-0', 12],
        ['with-dash-11', 0],
      ]),
    );
  });

  test('that do not exist have no entries', () => {
    const path = join(temporaryDirectory(), 'log-start-offset-checkpoint');
    expect(readOffsets(path, 'log-start-offset-checkpoint')).toEqual(new Map());
  });

  test.each([
    ['an empty file', '', 'its version is not 0'],
    ['another version', '1\n0\n', 'its version is not 0'],
    ['no count', '0\nmany\n', 'second line is not a count'],
    ['fewer entries than announced', '0\n2\ntide 0 12\n', 'announces 2 entries and holds 1'],
    ['more entries than announced', '0\n1\ntide 0 12\ntide 1 3\n', 'announces 1 entries and holds 2'],
    ['a last line without its end', '0\n1\ntide 0 12', 'announces 1 entries and holds 0'],
    ['a line of two words', '0\n1\ntide 12\n', 'line 3 is not `topic partition number`'],
    ['a negative offset', '0\n1\ntide 0 -1\n', 'line 3 is not'],
    ['an offset above 2^53-1', '0\n1\ntide 0 9007199254740993\n', 'line 3 holds a number above 2^53-1'],
    ['a log named twice', '0\n2\ntide 0 1\ntide 0 2\n', 'line 4 names tide-0 again'],
  ])('with %s are refused in one line that names the file and the remedy', (_, text, complaint) => {
    const path = join(temporaryDirectory(), 'replication-offset-checkpoint');
    writeFileSync(path, text);
    const read = (): unknown => readOffsets(path, 'replication-offset-checkpoint');
    expect(read).toThrow(StorageError);
    expect(read).toThrow(complaint);
    expect(read).toThrow(`${path} is corrupt: `);
    expect(read).toThrow('restore the file, or delete it (then every high watermark starts at 0');
  });
});

describe('the leader epoch checkpoint', () => {
  test('reads as it was written', () => {
    const path = join(temporaryDirectory(), 'leader-epoch-checkpoint');
    const entries = [
      { epoch: 0, startOffset: 0 },
      { epoch: 1, startOffset: 300 },
    ];
    writeEpochs(path, entries);
    expect(readFileSync(path, 'utf8')).toBe('0\n2\n0 0\n1 300\n');
    expect(readEpochs(path)).toEqual(entries);
  });

  test('tells a missing file from one without entries', () => {
    const path = join(temporaryDirectory(), 'leader-epoch-checkpoint');
    expect(readEpochs(path)).toBeUndefined();
    writeEpochs(path, []);
    expect(readEpochs(path)).toEqual([]);
  });

  test.each([
    ['an epoch that goes back', '0\n2\n2 0\n1 5\n'],
    ['an offset that goes back', '0\n2\n1 5\n2 4\n'],
  ])('with %s is refused', (_, text) => {
    const path = join(temporaryDirectory(), 'leader-epoch-checkpoint');
    writeFileSync(path, text);
    expect(() => readEpochs(path)).toThrow(`${path} is corrupt: line 4 does not come after the one before it`);
  });
});
