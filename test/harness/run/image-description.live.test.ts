/** Description files as people write them: with mistakes, each of which is one clear line. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readImageDescription } from '../../../harness/run/image-description.ts';

type Json = Record<string, unknown>;
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'description-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function complaintOf(change: (description: { broker: Json } & Json) => void): string {
  const description = JSON.parse(readFileSync('docs/examples/apache-kafka.json', 'utf8')) as { broker: Json } & Json;
  change(description);
  const file = join(folder, 'description.json');
  writeFileSync(file, JSON.stringify(description));
  try {
    readImageDescription(file);
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
}

it('takes the example of the docs, and fills in what it leaves out', () => {
  const { broker, controller } = readImageDescription('docs/examples/apache-kafka.json');
  expect(broker).toMatchObject({ memoryMb: 700, pidsMax: 400, ready: null, orderlyExits: [0, 143] });
  expect(controller?.port).toBe(9093);
});

it.each<[string, (description: { broker: Json } & Json) => void]>([
  ['broker.port: ', ({ broker }) => delete broker['port']],
  ['Unrecognized key: "comand"', ({ broker }) => (broker['comand'] = [])],
  ['there is no placeholder "adress"', ({ broker }) => (broker['command'] = ['${adress}'])],
  ['/etc/x must lie below dataDirectory', ({ broker }) => (broker['files'] = { '/etc/x': [] })],
  ['logDirectory must lie in dataDirectory', ({ broker }) => (broker['logDirectory'] = '/var/lib')],
  ['broker.ready: Invalid regular expression', ({ broker }) => (broker['ready'] = '(')],
  [
    'broker.ready: Invalid regular expression: /(a)\\1/: a line could stall it',
    ({ broker }) => (broker['ready'] = '(a)\\1'),
  ],
  ['broker.command: name a program', ({ broker }) => (broker['command'] = [''])],
  ['broker.command.1: a text cannot hold', ({ broker }) => (broker['command'] = ['x', 'a\0b'])],
  ['broker.environment.A=B: ', ({ broker }) => (broker['environment'] = { 'A=B': '' })],
  ['without . and ..', ({ broker }) => (broker['dataDirectory'] = '/var/lib/..')],
  [
    '/var/lib/kafka/a is a file, and /var/lib/kafka/a/b would lie in it',
    ({ broker }) => (broker['files'] = { '/var/lib/kafka/a': [], '/var/lib/kafka/a/b': [] }),
  ],
  ['broker.user: ', ({ broker }) => (broker['user'] = 0)],
  ['cannot.faults: ', (description) => (description['cannot'] = { faults: { crsh: 'no' } })],
])('says what is wrong: %s', (complaint, change) => {
  expect(complaintOf(change)).toContain(complaint);
  expect(complaintOf(change)).not.toContain('\n');
});

it('reads files only: a device without an end, and a pipe without a writer, are refused', () => {
  expect(() => readImageDescription('/dev/zero')).toThrow('--description /dev/zero: it is no regular file');
  expect(() => readImageDescription(folder)).toThrow('it is a folder');
});

it('says where a file is not there, or is no JSON', () => {
  expect(() => readImageDescription(join(folder, 'nowhere.json'))).toThrow(/--description .*nowhere.json: ENOENT/);
  const file = join(folder, 'broken.json');
  writeFileSync(file, '{');
  expect(() => readImageDescription(file)).toThrow(/--description .*broken.json: /);
});
