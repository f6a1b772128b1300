/**
 * The ledger of a night: one JSON line for each pair that is over, on the disk before the next is counted.
 *
 * It alone says what a resumed night need not run again. A process that was killed, or a machine that lost its power,
 * may leave half a line at the end: that pair is not over, and is run again. Everything before it must be whole.
 *
 * Invariant: no pair is counted twice, whatever stands in the file.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { z } from 'zod';
import type { PairResults } from '../../checker/results.ts';
import { EnvironmentError, environmentErrorFrom } from '../errors.ts';
import { demandFile } from '../regular-file.ts';
import { pairSchema } from '../schemas.ts';

export interface LedgerLine {
  /** Its cell, by name. */
  readonly cell: string;
  readonly pair: PairResults;
  /** How much a report has to tell of it: see `tellingOf`. */
  readonly telling: number;
  readonly tookMs: number;
  /** Of the night's budget, when the pair was over. */
  readonly usedMs: number;
}

export interface Ledger {
  /** What was there before. */
  readonly lines: readonly LedgerLine[];
  /** Returns when the line would survive a loss of power. */
  append(line: LedgerLine): void;
  close(): void;
}

const lineSchema = z.looseObject({
  cell: z.string(),
  pair: pairSchema,
  telling: z.number(),
  tookMs: z.number().nonnegative(),
  usedMs: z.number().nonnegative(),
});

/** Near what a string may hold: as many pairs as a night may have, of commands of a thousand characters. */
const MOST_BYTES = 536_000_000;

/** Opens the ledger at `path`, new or not, and cuts off what a killed process left half written. */
export function openLedger(path: string): Ledger {
  let lines: readonly LedgerLine[] = [];
  let file: number;
  try {
    if (existsSync(path)) {
      demandFile(path, MOST_BYTES);
      const text = readFileSync(path, 'utf8');
      const parsed = parseLedger(text);
      if ('flaw' in parsed) throw new EnvironmentError(`${path} ${parsed.flaw}`);
      ({ lines } = parsed);
      if (parsed.whole.length < text.length) truncateSync(path, Buffer.byteLength(parsed.whole));
    }
    file = openSync(path, 'a');
  } catch (error) {
    throw environmentErrorFrom(error, `cannot open ${path}`);
  }
  return {
    lines,
    append(line) {
      const before = fstatSync(file).size;
      try {
        // All of it: a full disk may take a part, and say nothing.
        writeFileSync(file, `${JSON.stringify(line)}\n`);
        fdatasyncSync(file);
      } catch (error) {
        dropFrom(file, before);
        throw environmentErrorFrom(error, `cannot write ${path}`);
      }
    },
    close: () => closeSync(file),
  };
}

/** Half a line is nothing that another may be written behind. */
function dropFrom(file: number, length: number): void {
  try {
    ftruncateSync(file, length);
  } catch {
    // The first error is the one to tell; whoever opens the ledger next cuts it off.
  }
}

/**
 * The lines of a ledger, each pair once, and the text of those that are whole; or in one clause what is wrong with it.
 * Only the last may be damaged: each is on the disk before the next is written. It is left out.
 */
export function parseLedger(
  text: string,
): { readonly lines: readonly LedgerLine[]; readonly whole: string } | { readonly flaw: string } {
  const rows = text.split('\n');
  // What stands behind the last end of a line: nothing, or half a line.
  rows.pop();
  const lines = new Map<string, LedgerLine>();
  let wholeLength = 0;
  for (const [index, row] of rows.entries()) {
    const line = parseLine(row);
    if (line === null) {
      if (index === rows.length - 1) break;
      return { flaw: `is damaged in line ${index + 1}: remove that line, and its pair is run again` };
    }
    wholeLength += row.length + 1;
    const id = `${line.cell} ${line.pair.seed}`;
    if (!lines.has(id)) lines.set(id, line);
  }
  return { lines: [...lines.values()], whole: text.slice(0, wholeLength) };
}

function parseLine(row: string): LedgerLine | null {
  let value: unknown;
  try {
    value = JSON.parse(row);
  } catch {
    return null;
  }
  const checked = lineSchema.safeParse(value);
  return checked.success ? checked.data : null;
}
