/** What a ledger survives, and what it refuses. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EnvironmentError } from '../../../harness/errors.ts';
import { openLedger, parseLedger, type LedgerLine } from '../../../harness/nightly/ledger.ts';
import { pairOf } from './pairs.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-ledger-'));
  path = join(directory, 'ledger.jsonl');
});

afterEach(() => rmSync(directory, { recursive: true }));

function line(cell: string, seed: number, usedMs = 10 * seed): LedgerLine {
  return { cell, pair: pairOf(seed, false, true), telling: 2, tookMs: 5, usedMs };
}

const textOf = (...lines: readonly LedgerLine[]): string => lines.map((each) => `${JSON.stringify(each)}\n`).join('');

describe('the ledger of a night', () => {
  it('gives back what was written, after it was opened again', () => {
    const first = openLedger(path);
    expect(first.lines).toEqual([]);
    first.append(line('a.b.c', 1));
    first.close();
    const second = openLedger(path);
    second.append(line('a.b.d', 1));
    second.close();
    const third = openLedger(path);
    third.close();
    expect(third.lines).toEqual([line('a.b.c', 1), line('a.b.d', 1)]);
  });

  it.each(['half a line', 'zeros, as after a loss of power', 'a character cut in two'])(
    'drops %s at the end, and goes on behind what is whole',
    (torn) => {
      writeFileSync(path, textOf(line('ü', 1)));
      const half = Buffer.from(textOf(line('ü', 2)));
      if (torn === 'half a line') appendFileSync(path, half.subarray(0, 100));
      else if (torn === 'a character cut in two') appendFileSync(path, half.subarray(0, half.indexOf('ü') + 1));
      else appendFileSync(path, `${'\0'.repeat(40)}\n`);
      const ledger = openLedger(path);
      expect(ledger.lines).toEqual([line('ü', 1)]);
      ledger.append(line('ü', 3));
      ledger.close();
      expect(readFileSync(path, 'utf8')).toBe(textOf(line('ü', 1), line('ü', 3)));
    },
  );

  it.each([
    ['what is no JSON', '{"cell":'],
    ['what is no pair', '{"cell":"a.b.c","pair":{},"telling":0,"tookMs":1,"usedMs":1}'],
    ['an empty line', ''],
  ])('refuses %s in the middle, with the line and the remedy', (_, damaged) => {
    writeFileSync(path, `${textOf(line('a.b.c', 1))}${damaged}\n${textOf(line('a.b.c', 2))}`);
    const opening = (): unknown => openLedger(path);
    expect(opening).toThrow(EnvironmentError);
    expect(opening).toThrow(`${path} is damaged in line 2: remove that line, and its pair is run again`);
  });

  it('is read again where all pairs that a night may have have filled it', () => {
    writeFileSync(path, textOf(line('a.b.c', 1)));
    truncateSync(path, 300_000 * 900);
    const ledger = openLedger(path);
    ledger.close();
    expect(ledger.lines).toEqual([line('a.b.c', 1)]);
  });

  it('counts a pair once that stands in it twice', () => {
    const parsed = parseLedger(textOf(line('a.b.c', 1, 10), line('a.b.c', 1, 99), line('a.b.d', 1)));
    expect(parsed).toHaveProperty('lines', [line('a.b.c', 1, 10), line('a.b.d', 1)]);
  });
});
