import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EnvironmentError } from '../../harness/errors.ts';
import { createStoreDirectory, latestDirectory, pointLatest, writeJson, writeWhole } from '../../harness/store.ts';

let temporary = '';
let store = '';
const now = new Date('2026-03-04T05:06:07.089Z');

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-store-'));
  store = join(temporary, 'deep/down/store');
});

afterEach(() => rmSync(temporary, { recursive: true, force: true }));

describe('a folder of the store', () => {
  it('is made with all that is above it, and is named by the time in UTC', () => {
    expect(createStoreDirectory(store, 'run', now)).toBe(join(store, 'run/2026-03-04T050607089Z'));
    expect(readdirSync(join(store, 'run'))).toEqual(['2026-03-04T050607089Z']);
  });

  it('is never used twice, even within one millisecond', () => {
    const folders = [1, 2, 3].map(() => createStoreDirectory(store, 'run', now));
    expect(new Set(folders).size).toBe(3);
    expect(folders.toSorted()).toEqual(folders);
  });

  it('sorts by name as by time', () => {
    const times = [0, 1, 10, 1_000, 86_400_000, 40 * 86_400_000].map((ms) => new Date(now.getTime() + ms));
    const folders = times.map((time) => createStoreDirectory(store, 'run', time));
    expect(folders.toSorted()).toEqual(folders);
  });

  it('that cannot be made is one line with the path, where a file is in the way', () => {
    writeFileSync(join(temporary, 'file'), '');
    expect(() => createStoreDirectory(join(temporary, 'file'), 'run', now)).toThrow(EnvironmentError);
    mkdirSync(store, { recursive: true });
    writeFileSync(join(store, 'run'), '');
    expect(() => createStoreDirectory(store, 'run', now)).toThrow(`cannot make a folder in the store ${store}: `);
  });

  it('that cannot be made where folders never can ends with an error, and ends', () => {
    expect(() => createStoreDirectory('/proc/tidemark/store', 'run', now)).toThrow(EnvironmentError);
  });
});

describe('latest', () => {
  it('points at the newest, by a relative link, so that the store can be moved', () => {
    pointLatest(store, createStoreDirectory(store, 'run', now));
    const newest = createStoreDirectory(store, 'compare', now);
    pointLatest(store, newest);
    expect(readlinkSync(join(store, 'latest'))).toBe('compare/2026-03-04T050607089Z');
    expect(latestDirectory(store)).toBe(newest);
    renameSync(store, join(temporary, 'moved'));
    expect(latestDirectory(join(temporary, 'moved'))).toBe(join(temporary, 'moved/compare/2026-03-04T050607089Z'));
  });

  it('leaves nothing else behind, and is null where there is none', () => {
    expect(latestDirectory(store)).toBeNull();
    pointLatest(store, createStoreDirectory(store, 'run', now));
    expect(readdirSync(store).sort()).toEqual(['latest', 'run']);
  });

  it('that is a folder of somebody else is not replaced', () => {
    const directory = createStoreDirectory(store, 'run', now);
    mkdirSync(join(store, 'latest'));
    writeFileSync(join(store, 'latest/precious'), 'mine');
    expect(() => pointLatest(store, directory)).toThrow(`cannot point ${store}/latest at the new run: `);
    expect(readFileSync(join(store, 'latest/precious'), 'utf8')).toBe('mine');
  });
});

describe('a file that others read whole', () => {
  it('is replaced whole, and leaves nothing beside it', () => {
    const path = join(temporary, 'results.json');
    writeJson(path, { valid: true });
    writeJson(path, { valid: false });
    expect(readFileSync(path, 'utf8')).toBe('{\n  "valid": false\n}\n');
    expect(readdirSync(temporary)).toEqual(['results.json']);
  });

  it('that cannot be put in its place leaves nothing half-done', () => {
    mkdirSync(join(temporary, 'taken'));
    expect(() => writeWhole(join(temporary, 'taken'), 'text')).toThrow(`cannot write ${join(temporary, 'taken')}: `);
    expect(readdirSync(temporary)).toEqual(['taken']);
    expect(() => writeWhole(join(temporary, 'nowhere/x'), 'text')).toThrow(EnvironmentError);
  });
});
