import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RecoveredLog } from '../../../broker/core/step.ts';
import { DataDirectory } from '../../../broker/storage/data-directory.ts';
import { StorageError } from '../../../broker/storage/files.ts';
import { append, batch } from './batches.ts';
import { temporaryDirectory } from './temporary.ts';

const owner = { node: 1, clusterId: 'test' };
const log = 'tide-0';
const first = '00000000000000000000.log';
const a = batch(0, 0, 'a0', 'a1');
const b = batch(2, 0, 'b2');
const c = batch(3, 1, 'c3', 'c4', 'c5');

/** A directory with one log of three batches in two epochs, all of them in the page cache only. */
function directoryWithLog(): { path: string; storage: DataDirectory } {
  const path = temporaryDirectory();
  const storage = new DataDirectory(path, owner);
  storage.perform({ type: 'create-log', log });
  storage.perform(append(log, 0, a, b));
  storage.perform({ type: 'epoch-checkpoint', log, entries: [{ epoch: 0, startOffset: 0 }] });
  storage.perform(append(log, a.bytes.length + b.bytes.length, c));
  storage.perform({
    type: 'epoch-checkpoint',
    log,
    entries: [
      { epoch: 0, startOffset: 0 },
      { epoch: 1, startOffset: 3 },
    ],
  });
  return { path, storage };
}

/** What a process that starts on the directory is told of the log. */
function recover(path: string): RecoveredLog {
  const found = new DataDirectory(path, owner).recovered.find((one) => one.log === log);
  if (found === undefined) throw new Error(`${log} was not found`);
  return found;
}

const logBytes = (path: string): Buffer => readFileSync(join(path, log, first));

describe('a start', () => {
  test('after a kill finds everything that was written, and knows none of it to be flushed', () => {
    const { path } = directoryWithLog();
    expect(recover(path)).toEqual({
      log,
      logStartOffset: 0,
      batches: [a.info, b.info, c.info],
      epochs: [
        { epoch: 0, startOffset: 0 },
        { epoch: 1, startOffset: 3 },
      ],
      checkpointedHighWatermark: 0,
      flushedOffset: 0,
      foundEndOffset: 6,
      cut: 'none',
    });
  });

  test('counts the boots, and keeps the count flushed beside the logs', () => {
    const path = temporaryDirectory();
    expect(new DataDirectory(path, owner).boot).toBe(1);
    expect(new DataDirectory(path, owner).boot).toBe(2);
    expect(readFileSync(join(path, 'boot-count'), 'utf8')).toBe('2\n');
    expect(readFileSync(join(path, 'meta.properties'), 'utf8')).toBe('version=1\ncluster.id=test\nnode.id=1\n');
  });

  test('cuts a batch that is torn anywhere off the disk, and says so', () => {
    const { path } = directoryWithLog();
    const whole = logBytes(path);
    const sound = a.bytes.length + b.bytes.length;
    for (let length = whole.length - 1; length > sound; length -= 7) {
      writeFileSync(join(path, log, first), whole.subarray(0, length));
      expect(recover(path)).toMatchObject({ batches: [a.info, b.info], cut: 'torn-tail', foundEndOffset: 3 });
      expect(logBytes(path)).toEqual(whole.subarray(0, sound));
      writeFileSync(join(path, log, 'leader-epoch-checkpoint'), '0\n2\n0 0\n1 3\n');
    }
  });

  test('ends the log before a batch whose bytes are wrong', () => {
    const { path } = directoryWithLog();
    const bytes = logBytes(path);
    bytes[a.bytes.length + 65]! ^= 0xff;
    writeFileSync(join(path, log, first), bytes);
    expect(recover(path)).toMatchObject({ batches: [a.info], cut: 'torn-tail' });
    expect(logBytes(path)).toEqual(Buffer.from(a.bytes));
  });

  test('drops epochs whose records are gone from the checkpoint on disk', () => {
    const { path } = directoryWithLog();
    truncateSync(join(path, log, first), a.bytes.length + b.bytes.length);
    expect(recover(path).epochs).toEqual([{ epoch: 0, startOffset: 0 }]);
    expect(readFileSync(join(path, log, 'leader-epoch-checkpoint'), 'utf8')).toBe('0\n1\n0 0\n');
  });

  test('finds an epoch that was appended just before a kill, without its checkpoint', () => {
    const { path } = directoryWithLog();
    writeFileSync(join(path, log, 'leader-epoch-checkpoint'), '0\n1\n0 0\n');
    expect(recover(path).epochs).toEqual([
      { epoch: 0, startOffset: 0 },
      { epoch: 1, startOffset: 3 },
    ]);
    expect(readFileSync(join(path, log, 'leader-epoch-checkpoint'), 'utf8')).toBe('0\n2\n0 0\n1 3\n');
  });

  test('takes the high watermark as it was checkpointed', () => {
    const { path, storage } = directoryWithLog();
    storage.perform({ type: 'offset-checkpoint', file: 'replication-offset-checkpoint', offsets: { [log]: 5 } });
    expect(recover(path).checkpointedHighWatermark).toBe(5);
  });

  test('begins a log anew at its log start when nothing above it was left', () => {
    const { path } = directoryWithLog();
    writeFileSync(join(path, 'log-start-offset-checkpoint'), '0\n1\ntide 0 7\n');
    expect(recover(path)).toMatchObject({ logStartOffset: 7, batches: [], epochs: [], foundEndOffset: 6 });
    expect(readdirSync(join(path, log)).sort()).toEqual(['00000000000000000007.log', 'leader-epoch-checkpoint']);
  });
});

describe('a power loss', () => {
  test('leaves of each log what was flushed, removes the marker, and takes the epochs with it', () => {
    const { path, storage } = directoryWithLog();
    storage.perform({ type: 'truncate', log, offset: 3, position: a.bytes.length + b.bytes.length });
    storage.perform({ type: 'flush', log });
    storage.perform(append(log, a.bytes.length + b.bytes.length, c));
    writeFileSync(join(path, 'power-lost'), '');
    expect(recover(path)).toMatchObject({
      batches: [a.info, b.info],
      epochs: [{ epoch: 0, startOffset: 0 }],
      flushedOffset: 3,
      foundEndOffset: 6,
      cut: 'power-loss',
    });
    expect(logBytes(path).length).toBe(a.bytes.length + b.bytes.length);
    expect(existsSync(join(path, 'power-lost'))).toBe(false);
    expect(recover(path)).toMatchObject({ batches: [a.info, b.info], foundEndOffset: 3, cut: 'none' });
  });

  test('takes a log that was never flushed whole', () => {
    const { path } = directoryWithLog();
    writeFileSync(join(path, 'power-lost'), '');
    expect(recover(path)).toMatchObject({ batches: [], epochs: [], foundEndOffset: 6, cut: 'power-loss' });
    expect(logBytes(path).length).toBe(0);
  });

  test('after a truncation below the flushed length does not bring back what was written over', () => {
    const { path, storage } = directoryWithLog();
    storage.perform({ type: 'flush', log });
    storage.perform({ type: 'truncate', log, offset: 2, position: a.bytes.length });
    storage.perform(append(log, a.bytes.length, batch(2, 3, 'another')));
    writeFileSync(join(path, 'power-lost'), '');
    expect(recover(path)).toMatchObject({ batches: [a.info], flushedOffset: 2, foundEndOffset: 3, cut: 'power-loss' });
  });

  test('after a start that cut flushed bytes counts nothing as flushed that took their place', () => {
    const { path, storage } = directoryWithLog();
    storage.perform({ type: 'flush', log });
    truncateSync(join(path, log, first), a.bytes.length + b.bytes.length - 1);
    const after = new DataDirectory(path, owner);
    after.perform(append(log, a.bytes.length, batch(2, 3, 'another'), batch(3, 3, 'and another')));
    writeFileSync(join(path, 'power-lost'), '');
    expect(recover(path)).toMatchObject({ batches: [a.info], flushedOffset: 2, foundEndOffset: 4, cut: 'power-loss' });
  });

  test('costs nothing after a clean stop', () => {
    const { path, storage } = directoryWithLog();
    storage.closeCleanly();
    expect(existsSync(join(path, '.kafka_cleanshutdown'))).toBe(true);
    writeFileSync(join(path, 'power-lost'), '');
    expect(recover(path)).toMatchObject({ batches: [a.info, b.info, c.info], flushedOffset: 6, cut: 'none' });
    expect(existsSync(join(path, '.kafka_cleanshutdown'))).toBe(false);
  });
});

describe('the effects', () => {
  test('of an append stamp base offset and leader epoch into the bytes', () => {
    const { path, storage } = directoryWithLog();
    const fromProducer = batch(0, -1, 'x');
    const info = { ...fromProducer.info, baseOffset: 6, lastOffset: 6, leaderEpoch: 4 };
    const position = logBytes(path).length;
    storage.perform({ type: 'append', log, position, batches: [info], bytes: fromProducer.bytes });
    expect(recover(path).batches.at(-1)).toEqual(info);
  });

  test('read back the bytes of a range', () => {
    const { storage } = directoryWithLog();
    const startPosition = a.bytes.length;
    const endPosition = startPosition + b.bytes.length;
    expect(storage.read({ log, startPosition, endPosition })).toEqual(Buffer.from(b.bytes));
  });

  test('of a reset leave one empty file, named by the new start', () => {
    const { path, storage } = directoryWithLog();
    storage.perform({ type: 'reset-log', log, offset: 42 });
    storage.perform({ type: 'epoch-checkpoint', log, entries: [] });
    expect(readdirSync(join(path, log)).sort()).toEqual(['00000000000000000042.log', 'leader-epoch-checkpoint']);
    expect(recover(path)).toMatchObject({ logStartOffset: 42, batches: [], foundEndOffset: 42, flushedOffset: 42 });
  });

  test('of a deletion leave nothing of the log', () => {
    const { path, storage } = directoryWithLog();
    storage.perform({ type: 'flush', log });
    for (const file of ['replication-offset-checkpoint', 'log-start-offset-checkpoint'] as const) {
      storage.perform({ type: 'offset-checkpoint', file, offsets: { [log]: 4, 'tide-1': 5 } });
    }
    storage.perform({ type: 'delete-log', log });
    expect(readdirSync(path).filter((name) => name.includes(log))).toEqual([]);
    expect(readFileSync(join(path, 'flushed-lengths'), 'utf8')).toBe('0\n0\n');
    expect(readFileSync(join(path, 'log-start-offset-checkpoint'), 'utf8')).toBe('0\n1\ntide 1 5\n');
    storage.perform({ type: 'create-log', log });
    expect(recover(path)).toMatchObject({ batches: [], foundEndOffset: 0, checkpointedHighWatermark: 0 });
  });

  test('with the longest name that a topic may have is deleted as well (KAFKA-4893)', () => {
    const { path, storage } = directoryWithLog();
    const longest = `${'x'.repeat(249)}-9999`;
    storage.perform({ type: 'create-log', log: longest });
    storage.perform({ type: 'delete-log', log: longest });
    expect(readdirSync(path).filter((name) => name.startsWith('x'))).toEqual([]);
  });
});

describe('a kill in the middle', () => {
  test('of a reset, before the new file, undoes it', () => {
    const { path } = directoryWithLog();
    renameSync(join(path, log, first), join(path, log, `${first}.deleted`));
    expect(recover(path).batches).toEqual([a.info, b.info, c.info]);
  });

  test('of a reset, after the new file, ends it', () => {
    const { path } = directoryWithLog();
    renameSync(join(path, log, first), join(path, log, `${first}.deleted`));
    writeFileSync(join(path, log, '00000000000000000042.log'), '');
    expect(recover(path)).toMatchObject({ logStartOffset: 42, batches: [], epochs: [] });
    expect(readdirSync(join(path, log)).sort()).toEqual(['00000000000000000042.log', 'leader-epoch-checkpoint']);
  });

  test('of a deletion ends it', () => {
    const { path } = directoryWithLog();
    renameSync(join(path, log), join(path, `${log}.0123456789abcdef-delete`));
    expect(new DataDirectory(path, owner).recovered).toEqual([]);
    expect(readdirSync(path).filter((name) => name.includes(log))).toEqual([]);
  });

  test('of a creation leaves an empty log', () => {
    const path = temporaryDirectory();
    mkdirSync(join(path, log));
    expect(recover(path)).toMatchObject({ batches: [], logStartOffset: 0 });
  });
});

describe('what cannot be believed', () => {
  test.each([
    ['meta.properties', 'version=1\nrubbish\n', 'is corrupt: `rubbish` is no property'],
    ['meta.properties', 'version=1\ncluster.id=test\n', 'is corrupt: node.id or cluster.id is missing'],
    ['meta.properties', 'version=1\ncluster.id=test\nnode.id=2\n', 'says node 2 of cluster test, this is node 1'],
    ['boot-count', '', 'is corrupt: it holds no number'],
    ['replication-offset-checkpoint', '0\n1\n', 'is corrupt'],
    ['recovery-point-offset-checkpoint', '0\n1\n', 'is corrupt'],
    ['log-start-offset-checkpoint', '0\n1\n', 'is corrupt'],
    ['flushed-lengths', '0\n1\n', 'is corrupt'],
    [join(log, 'leader-epoch-checkpoint'), '0\n1\n', 'is corrupt'],
    [join(log, '00000000000000000500.log'), '', 'holds 2 segments'],
  ])('%s holding %j is one error that names its place', (name, text, complaint) => {
    const { path } = directoryWithLog();
    writeFileSync(join(path, name), text);
    const start = (): unknown => new DataDirectory(path, owner);
    expect(start).toThrow(StorageError);
    expect(start).toThrow(complaint);
    expect(start).toThrow(join(path, name.endsWith('.log') ? log : name));
  });

  test('a full disk fails the append with the file and the remedy', () => {
    const path = temporaryDirectory();
    mkdirSync(join(path, log));
    symlinkSync('/dev/full', join(path, log, first));
    const storage = new DataDirectory(path, owner);
    const act = (): void => storage.perform(append(log, 0, a));
    expect(act).toThrow(StorageError);
    expect(act).toThrow(/cannot append to .*tide-0.*ENOSPC.*make room on the disk/);
  });
});
