/** The table of the page: what the tries came to, and whether that is what was known. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { columns } from '../../../harness/fidelity/columns.ts';
import { cellOf, tableOf, withTable } from '../../../harness/fidelity/table.ts';
import { addTry, readTries } from '../../../harness/fidelity/tries.ts';
import type { Try } from '../../../harness/fidelity/tries.ts';

const made = (changes: Partial<Try>): Try => ({
  build: 'hw',
  schedule: 's1a-paused',
  seed: 1,
  startedAt: '2026-01-01T00:00:00.000Z',
  directory: 'hw-s1a-paused/1',
  uncounted: null,
  lost: true,
  diverged: true,
  others: [],
  seconds: 10,
  ...changes,
});
const [hw] = columns;

describe('a cell', () => {
  test('counts tries in which everything went as scripted, and sets the others apart', () => {
    const tries = [made({}), made({ lost: false }), made({ uncounted: 'it did not come' }), made({ build: 'epoch' })];
    expect(cellOf('s1a-paused', hw!, tries)).toEqual({ tries: 2, lost: 1, diverged: 2, uncounted: 1, agrees: false });
  });

  test('agrees when every try answers as the rule, and says nothing without any', () => {
    expect(cellOf('s1a-paused', hw!, [made({}), made({})]).agrees).toBe(true);
    expect(cellOf('s1a-paused', hw!, [made({ diverged: false })]).agrees).toBe(false);
    expect(cellOf('s1a-paused', hw!, [made({ others: ['no-convergence'] })]).agrees).toBe(false);
    expect(cellOf('s1a-paused', hw!, [made({ uncounted: 'no' })]).agrees).toBeNull();
  });

  test('does not ask for a loss where that is allowed to everybody', () => {
    for (const lost of [true, false]) {
      expect(cellOf('s2', hw!, [made({ schedule: 's2', lost })]).agrees).toBe(true);
      expect(cellOf('s2', hw!, [made({ schedule: 's2', lost, diverged: false })]).agrees).toBe(false);
    }
  });
});

test('the table has a row for each column that was tried, and marks what differs', () => {
  const table = tableOf([
    made({ build: 'epoch', lost: false, diverged: false }),
    made({ build: 'kafka:2.0.1', schedule: 's3a', lost: false }),
    made({}),
  ]);
  expect(table.split('\n').slice(2)).toEqual([
    '| `hw` | `hw` | 1 / **1** / **1** | – | – | – |',
    '| `kip279` | `kafka:2.0.1` | – | – | – | 1 / **1** (differs) |',
    '| `epoch` | `epoch` | 1 / 0 / 0 | – | – | – |',
  ]);
});

test('the page keeps all but its table, and a page without a place for one is refused', () => {
  const page = 'before\n<!-- table: npm run fidelity -->\nold\n<!-- end of table -->\nafter\n';
  const written = withTable(page, '| new |');
  expect(written).toBe('before\n<!-- table: npm run fidelity -->\n\n| new |\n\n<!-- end of table -->\nafter\n');
  expect(withTable(written ?? '', '| new |')).toBe(written);
  expect(withTable('no place', '| new |')).toBeNull();
});

test('tries are kept line by line, and half a line is passed over', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-tries-'));
  try {
    const path = join(directory, 'tries.jsonl');
    expect(readTries(path)).toEqual([]);
    addTry(path, made({}));
    addTry(path, made({ seed: 2 }));
    expect(readTries(path)).toEqual([made({}), made({ seed: 2 })]);
    writeFileSync(path, `${JSON.stringify(made({}))}\n{"build":"hw"`);
    expect(readTries(path)).toEqual([made({})]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
