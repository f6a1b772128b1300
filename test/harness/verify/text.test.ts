/** What people read, for logs that Apache Kafka 0.10.2 and 0.11 left behind, and for some that were damaged here. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../../harness/errors.ts';
import { verifyText } from '../../../harness/verify/text.ts';
import { verifyDirectories } from '../../../harness/verify/verify.ts';
import { expectGolden } from '../../golden.ts';

const root = 'test/fixtures/kafka-logs';
let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-verify-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

/** A copy of a fixture to damage. */
function copyOf(name: string): string {
  const directory = join(temporary, name);
  cpSync(join(root, name), directory, { recursive: true });
  return directory;
}

describe('the text of verify-logs', () => {
  it.each(['0.10.2.2-s1a-diverged', '0.11.0.3-s3a-diverged', '4.4.0-compacted', '0.10.2.2-segments'])(
    'says of %s where, what, and both records',
    async (name) => {
      expectGolden(`test/golden/verify-logs/${name}.txt`, verifyText(await verifyDirectories([join(root, name)], [])));
    },
  );

  it('says of damaged files what is damaged', async () => {
    const directory = copyOf('4.4.0-headers');
    const partition = join(directory, 'broker-2', 'headers-0');
    truncateSync(join(partition, '00000000000000000000.log'), 100);
    writeFileSync(join(partition, 'leader-epoch-checkpoint'), '0\n5\n0 0\n');
    writeFileSync(join(directory, 'broker-3', 'replication-offset-checkpoint'), '0\n1\nheaders 0 99\n');
    expectGolden('test/golden/verify-logs/damaged.txt', verifyText(await verifyDirectories([directory], [])));
  });
});

describe('the directories of verify-logs', () => {
  it('may be partitions themselves', async () => {
    const broker = (number: number): string => join(root, '0.10.2.2-s1a-diverged', `broker-${number}`, 'pause1-0');
    const document = await verifyDirectories([broker(1), broker(2)], []);
    expect(Object.keys(document.brokers)).toEqual(['broker-1', 'broker-2']);
    expect(document.exit).toBe(1);
  });

  it('may be links, and a segment that is a folder is an unreadable file', async () => {
    const directory = copyOf('4.4.0-epochs');
    const linked = join(temporary, 'linked');
    mkdirSync(linked);
    for (const broker of ['broker-1', 'broker-2']) symlinkSync(join(directory, broker), join(linked, broker));
    const segment = join(directory, 'broker-2', 'epochs-0', '00000000000000000000.log');
    rmSync(segment);
    mkdirSync(segment);
    const document = await verifyDirectories([linked], []);
    expect(document.exit).toBe(2);
    expect(document.brokers['broker-2']?.['epochs-0']?.findings).toMatchObject([
      { name: 'unreadable', file: 'epochs-0/00000000000000000000.log', reason: 'it is a folder' },
      { name: 'checkpoint-mismatch' },
      { name: 'checkpoint-mismatch' },
      { name: 'checkpoint-mismatch' },
      { name: 'checkpoint-beyond-log' },
      { name: 'checkpoint-beyond-log' },
    ]);
  });

  it('of one name are told apart by their parents', async () => {
    const given = ['0.10.2.2-v1-none', '0.10.2.2-v0-none'].map((name) => join(root, name, 'broker-1'));
    expect(Object.keys((await verifyDirectories(given, [])).brokers)).toEqual([
      '0.10.2.2-v0-none/broker-1',
      '0.10.2.2-v1-none/broker-1',
    ]);
  });

  /** Two runs of two brokers, as far as directories tell. */
  function twoRuns(name: string, brokers: readonly string[], properties?: readonly string[]): string[] {
    return ['run-1', 'run-2'].map((run, at) => {
      for (const broker of brokers) {
        const directory = join(temporary, name, run, 'data', broker);
        cpSync(join(root, '4.4.0-epochs', 'broker-1', 'epochs-0'), join(directory, 'epochs-0'), { recursive: true });
        const lines = properties?.[at];
        if (lines !== undefined) writeFileSync(join(directory, 'meta.properties'), lines);
      }
      return join(temporary, name, run, 'data');
    });
  }

  it.each([
    ['are numbers', ['1', '2'], undefined],
    ['are broker-<number>', ['broker-1'], undefined],
    ['say nothing, but the id of Kafka’s file', ['kafka'], ['version=0\nbroker.id=1\n', 'version=0\nbroker.id=1']],
    ['are ids of before, whose file is damaged', ['1'], ['version=1\n', '#\nversion=1\nnode.id = 1\r\n']],
  ])('of several clusters are refused where their names %s', async (name, brokers, properties) => {
    const runs = twoRuns(name, brokers, properties);
    const refused = verifyDirectories(runs, []);
    await expect(refused).rejects.toThrow(UsageError);
    const [one, other] = runs.map((run) => join(run, brokers[0]!));
    const told = /\s/.test(name) ? `'${runs[0]}'` : runs[0];
    await expect(refused).rejects.toThrow(
      `${one} and ${other} are both broker 1 with a replica of epochs-0, so they are of several clusters, or of one at several times; give those of one alone, such as: verify-logs ${told}`,
    );
    const single = runs.map((run) => join(run, brokers[0]!, 'epochs-0'));
    await expect(verifyDirectories(single, [])).rejects.toThrow('are both broker 1');
    expect((await verifyDirectories([runs[0]!], [])).exit).toBe(0);
  });

  it('of one broker at several times, side by side, are refused, and one that can be verified is named', async () => {
    const parent = join(temporary, 'copies');
    for (const name of ['after', 'before']) {
      const directory = join(parent, name);
      cpSync(join(root, '4.4.0-epochs', 'broker-1', 'epochs-0'), join(directory, 'epochs-0'), { recursive: true });
      writeFileSync(join(directory, 'meta.properties'), 'version=1\nnode.id=1\n');
    }
    const alone = join(parent, 'after');
    await expect(verifyDirectories([parent], [])).rejects.toThrow(new RegExp(`such as: verify-logs ${alone}$`));
    expect((await verifyDirectories([alone], [])).exit).toBe(0);
  });

  it.each([
    ['ids', ['1'], ['node.id=1\n', 'node.id=2\n']],
    ['hosts', ['kafka-logs'], undefined],
    ['hosts with a disk each', ['disk1'], undefined],
  ])('of one name are compared where %s may tell them apart', async (name, brokers, properties) => {
    const document = await verifyDirectories(twoRuns(name, brokers, properties), []);
    expect(Object.keys(document.brokers)).toHaveLength(2);
    expect(document.exit).toBe(0);
  });

  it.each([
    [['no-such-place'], 'no-such-place: there is no such directory'],
    [['package.json'], 'package.json is no directory'],
    [['docs'], 'docs holds no log directory of a broker'],
    [[join(root, '4.4.0-epochs'), join(root, '4.4.0-epochs', 'broker-1')], 'was given twice'],
  ])('are refused if they are not: %j', async (directories, message) => {
    const refused = verifyDirectories(directories, []);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(message);
  });
});
