import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MetadataLog } from '../../../broker/storage/metadata-log.ts';
import { temporaryDirectory } from './temporary.ts';

test('a controller that starts again finds the records that it persisted, in order', () => {
  const directory = temporaryDirectory();
  const log = new MetadataLog(directory);
  expect(log.records).toEqual([]);
  log.append({ type: 'fence', broker: 1 });
  log.append({ type: 'unfence', broker: 2 });
  expect(new MetadataLog(directory).records).toEqual([
    { type: 'fence', broker: 1 },
    { type: 'unfence', broker: 2 },
  ]);
});

test('a last line that a kill has torn is cut, and the next record follows the ones before', () => {
  const directory = temporaryDirectory();
  new MetadataLog(directory).append({ n: 1 });
  appendFileSync(join(directory, 'metadata.jsonl'), '{"n":2');
  const log = new MetadataLog(directory);
  expect(log.records).toEqual([{ n: 1 }]);
  log.append({ n: 3 });
  expect(readFileSync(join(directory, 'metadata.jsonl'), 'utf8')).toBe('{"n":1}\n{"n":3}\n');
});

test('a line that is whole and not JSON is refused with its number', () => {
  const directory = join(temporaryDirectory(), 'controller');
  mkdirSync(directory);
  writeFileSync(join(directory, 'metadata.jsonl'), '{"n":1}\nrubbish\n{"n":3}\n');
  expect(() => new MetadataLog(directory)).toThrow('metadata.jsonl is corrupt: line 2 is not JSON');
});
