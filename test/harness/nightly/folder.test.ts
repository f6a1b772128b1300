/** Which night is resumed, and which is not. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../../harness/errors.ts';
import { concludeNight } from '../../../harness/nightly/conclude.ts';
import {
  differenceOf,
  isOver,
  newestUnfinished,
  readDeclared,
  writeDeclared,
  type Declared,
} from '../../../harness/nightly/folder.ts';
import { cellOf } from './pairs.ts';

let store: string;
beforeEach(() => (store = mkdtempSync(join(tmpdir(), 'tidemark-nights-'))));
afterEach(() => rmSync(store, { recursive: true }));

const declared: Declared = {
  schemaVersion: 1,
  file: resolve('n.json'),
  config: {
    budget: '3h',
    seeds: { count: 5 },
    builds: { x: { control: { build: 'hw' }, candidate: { build: 'epoch' } } },
    workloads: { w: { rate: 100 } },
    faults: { f: {} },
  },
  seeds: { from: 7, count: 5 },
  runtime: 'sim',
};

function night(name: string, changes: Partial<Declared> = {}, ended?: 'all-run' | 'budget' | 'unfinished'): string {
  const directory = join(store, 'nightly', name);
  mkdirSync(directory, { recursive: true });
  writeDeclared(directory, { ...declared, ...changes });
  if (ended === undefined) return directory;
  const facts = { runtime: 'sim', seeds: declared.seeds, command: '', budgetMs: 1, usedMs: 1, ended };
  writeFileSync(join(directory, 'results.json'), JSON.stringify(concludeNight(facts, [cellOf('x.w.f', [])])));
  return directory;
}

describe('the night to resume', () => {
  it('is the newest of the same file and shard that is not over', () => {
    night('2026-01-01');
    const unfinished = night('2026-01-02', {}, 'unfinished');
    night('2026-01-03', {}, 'budget');
    night('2026-01-04', {}, 'all-run');
    night('2026-01-05', { file: resolve('other.json') });
    const sharded = night('2026-01-06', { shard: { index: 1, count: 2 } });
    mkdirSync(join(store, 'nightly', '2026-01-07'));
    expect(newestUnfinished(store, 'n.json', undefined)).toBe(unfinished);
    expect(newestUnfinished(store, 'n.json', { index: 1, count: 2 })).toBe(sharded);
    expect(() => newestUnfinished(store, 'n.json', { index: 2, count: 2 })).toThrow(UsageError);
    expect(() => newestUnfinished(join(store, 'nowhere'), 'n.json', undefined)).toThrow('no night of n.json in');
  });

  it('is not over where its results are damaged: the ledger counts', () => {
    const directory = night('2026-01-01', {}, 'all-run');
    expect(isOver(directory)).toBe(true);
    writeFileSync(join(directory, 'results.json'), '{');
    expect(isOver(directory)).toBe(false);
  });

  it('is what was declared, or one clear line', () => {
    const directory = night('2026-01-01');
    expect(readDeclared(directory)).toEqual(declared);
    writeFileSync(join(directory, 'night.json'), '{"schemaVersion":1}');
    expect(() => readDeclared(directory)).toThrow(/night\.json is damaged \(file: .*\): start a new night$/);
    writeFileSync(join(directory, 'night.json'), '{');
    expect(() => readDeclared(directory)).toThrow('is not JSON: start a new night');
    expect(() => readDeclared(store)).toThrow(/there is no .*night\.json: name the folder of a night/);
  });
});

describe('two configs', () => {
  it('differ in the first field that differs', () => {
    const { config } = declared;
    expect(differenceOf(config, { ...config })).toBeNull();
    expect(differenceOf(config, { ...config, workloads: { w: { rate: 200 } } })).toBe(
      'workloads.w.rate is 200, and was 100',
    );
    expect(differenceOf(config, { ...config, runtime: 'sim' })).toBe('runtime is "sim", and was absent');
    expect(differenceOf(config, { ...config, faults: {} })).toBe('faults.f is absent, and was {}');
  });
});
