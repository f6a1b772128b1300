import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Catalogue, listStore } from '../../../harness/serve/catalogue.ts';
import { comparisonOf, runOf } from '../report/reported.ts';

let root = '';
const outside = mkdtempSync(join(tmpdir(), 'tidemark-outside-'));
const now = Date.parse('2026-11-30T12:00:00Z');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemark-serve-'));
});

afterEach(() => rmSync(root, { recursive: true }));

/** A file of the store, an hour old unless it is fresh. */
function put(name: string, content: unknown = '', agoMs = 3_600_000): void {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  const time = new Date(now - agoMs);
  for (const each of [path, dirname(path)]) utimesSync(each, time, time);
}

const stateOf = (name: string) => new Catalogue(root).describe(name, now);

describe('the list of a store', () => {
  it('has the newest first, by the time in the name or of the last change', () => {
    put('run/2026-11-30T101019227Z/run.json');
    put('compare/2026-11-30T101015239Z-1/results.json');
    put('fidelity/epoch-s2/run.json');
    put('unpacked-run/history.jsonl', '', 60_000);
    put('empty.txt');
    symlinkSync('run/2026-11-30T101019227Z', join(root, 'latest'));
    expect(listStore(root).map(({ name }) => name)).toEqual([
      'unpacked-run',
      'fidelity/epoch-s2',
      'run/2026-11-30T101019227Z',
      'compare/2026-11-30T101015239Z-1',
    ]);
  });

  it('of a store that is gone or empty is empty', () => {
    expect(listStore(root)).toEqual([]);
    expect(listStore(join(root, 'nowhere'))).toEqual([]);
  });
});

describe('an entry', () => {
  it('of a run says what its report says, and what can be opened', () => {
    put('run/a/results.json', runOf('hw'));
    put('run/a/report.html');
    expect(stateOf('run/a')).toEqual({
      state: 'done',
      verdict: false,
      sentence:
        'hw broke its word: it lost 1 write that it had acknowledged and left replicas that hold different records.',
      files: ['report.html', 'results.json'],
    });
  });

  it('of a comparison has no green verdict where its control showed nothing', () => {
    put('compare/a/results.json', comparisonOf([['broken', 'valid']]));
    put('compare/b/results.json', comparisonOf([['valid', 'valid']]));
    expect([stateOf('compare/a').verdict, stateOf('compare/b').verdict]).toEqual([true, 'unknown']);
  });

  it('is in progress as long as its files change', () => {
    put('run/a/history.jsonl', '', 1_000);
    put('run/b/history.jsonl');
    put('compare/a/results.json', comparisonOf([['broken', 'valid']], { declared: 2 }), 1_000);
    put('compare/b/results.json', comparisonOf([['broken', 'valid']], { declared: 2 }));
    expect(['run/a', 'run/b', 'compare/a', 'compare/b'].map((name) => stateOf(name).state)).toEqual([
      'in-progress',
      'no-verdict',
      'in-progress',
      'done',
    ]);
  });

  it('that is damaged is said to be, and how', () => {
    put('run/a/results.json', '{');
    put('run/b/results.json', { ...runOf('hw'), valid: 'perhaps' });
    mkdirSync(join(root, 'run/c/results.json'), { recursive: true });
    put('run/d/results.json');
    truncateSync(join(root, 'run/d/results.json'), 65_000_000);
    put('run/e/run.json');
    writeFileSync(join(outside, 'results.json'), JSON.stringify(runOf('hw')));
    symlinkSync(join(outside, 'results.json'), join(root, 'run/e/results.json'));
    const told = ['a', 'b', 'c', 'd', 'e'].map((name) => stateOf(`run/${name}`));
    expect(told.map(({ state, verdict }) => [state, verdict])).toEqual(told.map(() => ['damaged', null]));
    expect(told.map(({ sentence }) => sentence.replace('Its results.json cannot be used: ', ''))).toEqual([
      'it is not JSON.',
      expect.stringMatching(/^valid: /),
      'it is a folder.',
      'it is larger than 64000000 bytes.',
      'it is a link out of the store.',
    ]);
  });

  it('of a search says how many runs it holds, and anything else that it is none', () => {
    put('explore/a/run-1/run.json');
    put('mutation/a/notes.txt');
    for (const name of ['explore/a', 'mutation/a']) utimesSync(join(root, name), 1, 1);
    expect([stateOf('explore/a'), stateOf('mutation/a')].map(({ state, sentence }) => [state, sentence])).toEqual([
      ['folder', '1 run within.'],
      ['folder', 'No run: 1 file or folder.'],
    ]);
  });

  it('is read again when its results change', () => {
    const catalogue = new Catalogue(root);
    put('run/a/results.json', runOf('hw'));
    expect(catalogue.describe('run/a', now).verdict).toBe(false);
    put('run/a/results.json', runOf('epoch'), 0);
    expect(catalogue.describe('run/a', now).verdict).toBe(true);
  });
});
