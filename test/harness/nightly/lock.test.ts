/** Who may have a night, and who may not. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { thisProcess } from '../../../docker/labels.ts';
import { EnvironmentError } from '../../../harness/errors.ts';
import { lockNight } from '../../../harness/nightly/lock.ts';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'tidemark-lock-'))));
afterEach(() => rmSync(directory, { recursive: true }));

const dead = JSON.stringify({ ...thisProcess(), startTicks: '1' });
const locks = (): string[] => readdirSync(directory).toSorted();

describe('the lock of a night', () => {
  it('is refused to others while its process lives, with what to do', () => {
    lockNight(directory);
    expect(() => lockNight(directory)).toThrow(EnvironmentError);
    expect(() => lockNight(directory)).toThrow(
      /is still going on: wait for it; if it surely is not, remove .*lock-1\.json$/,
    );
    expect(locks()).toEqual(['lock-1.json']);
  });

  it('is free when it was given back, and its number is never given again', () => {
    lockNight(directory)();
    expect(readFileSync(join(directory, 'lock-1.json'), 'utf8')).toBe('{"given":"back"}\n');
    lockNight(directory)();
    expect(locks()).toEqual(['lock-2.json']);
  });

  it.each([
    ['dead', dead],
    ['half written by one that is dead', '{"mach'],
  ])('is taken from a process that is %s', (_, text) => {
    writeFileSync(join(directory, 'lock-7.json'), text);
    lockNight(directory);
    expect(locks()).toEqual(['lock-8.json']);
  });

  it('belongs to whoever has the highest number, however many dead ones lie below', () => {
    for (const number of [2, 9]) writeFileSync(join(directory, `lock-${number}.json`), dead);
    writeFileSync(join(directory, 'lock-10.json'), JSON.stringify(thisProcess()));
    expect(() => lockNight(directory)).toThrow(/lock-10\.json$/);
  });
});
