/** `tidemark show` as a user meets it: text, one document on standard output, and lines that help. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s1aPrime } from '../../checker/schedules.ts';
import { storeStory } from '../stored-story.ts';
import { tidemark } from './tidemark.ts';

let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-show-cli-'));
  storeStory(directory, s1aPrime('hw'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('show', () => {
  it('tells the life of a record, and exits with 0', async () => {
    const ended = await tidemark(['show', directory, '--key', 'tide-0', '--offset', '1']);
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(ended.out).toMatch(/^tide-0, offset 1: 2, then or instead 3\n/);
  });

  it('prints one document under --json', async () => {
    const ended = await tidemark(['show', directory, '--key', 'tide-0', '--value', '3', '--json']);
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(ended.out)).toMatchObject({ schemaVersion: 1, type: 'record', key: 'tide-0', offset: 1 });
  });

  it.each([
    [['--offset', '1'], "required option '--key <key>' not specified"],
    [['--key', 'tide-0'], 'name the record by one of --offset and --value'],
    [['--key', 'tide-0', '--offset', '1', '--value', '2'], 'name the record by one of --offset and --value'],
    [['--key', 'tide-0', '--offset', '-1'], '--offset -1: give a whole number from 0 to 2^53-1'],
    [['--key', 'tide-0', '--offset', '9007199254740993'], 'give a whole number from 0 to 2^53-1'],
    [['--key', 'tide-0', '--offset', '7'], 'nothing ever stood at offset 7 of tide-0'],
    [['--key', 'other-0', '--offset', '1'], 'the history names no key other-0'],
  ])('refuses %j with 254 and one clear line', async (flags, line) => {
    const ended = await tidemark(['show', directory, ...flags]);
    expect(ended).toMatchObject({ code: 254, out: '' });
    expect(ended.lines[0]).toContain(line);
  });
});
