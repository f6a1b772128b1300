/**
 * What the tests get in the place of `vitest` while mutants run: the real `expect`, and a `describe` and an `it` that only
 * collect. The tests are then plain functions that can be called again for each mutant, in milliseconds, without a new
 * module graph; the price is that hooks, mocks, skips and modes are not known here, and the checker's tests use none.
 */
import { format } from 'node:util';

export { expect } from 'vitest';

type Body = (...parameters: never[]) => unknown;

export interface CollectedTest {
  readonly id: string;
  readonly name: string;
  readonly file: string;
  readonly run: () => unknown;
}

export const collected: CollectedTest[] = [];

const path: string[] = [];
const seen = new Map<string, number>();
let currentFile = '';

/** Imports a file of tests; they are in `collected` then. */
export async function collect(file: string, href: string): Promise<void> {
  currentFile = file;
  await import(href);
}

export function describe(title: string, body: () => void): void {
  path.push(title);
  body();
  path.pop();
}

export function it(title: string, body: Body): void {
  const name = [...path, title].join(' > ');
  const plain = `${currentFile}#${name}`;
  // Rows of a table may have one title.
  const count = seen.get(plain) ?? 0;
  seen.set(plain, count + 1);
  const id = count === 0 ? plain : `${plain} (${count + 1})`;
  collected.push({ id, name, file: currentFile, run: body as () => unknown });
}

describe.each = forEachRow(describe as (title: string, body: () => unknown) => void);
it.each = forEachRow(it);

export { it as test };

function forEachRow(one: (title: string, body: () => unknown) => void) {
  return (rows: readonly unknown[]) =>
    (title: string, body: Body): void => {
      for (const row of rows) {
        const cells = Array.isArray(row) ? row : [row];
        one(titleOf(title, cells), () => body(...(cells as never[])));
      }
    };
}

function titleOf(title: string, cells: readonly unknown[]): string {
  const holes = title.match(/%[sdifjoO]/g)?.length ?? 0;
  const fields = (cells[0] ?? {}) as Readonly<Record<string, unknown>>;
  const filled = format(title, ...cells.slice(0, holes));
  return filled.replace(/\$(\w+)/g, (_, field: string) => format('%s', fields[field]));
}
