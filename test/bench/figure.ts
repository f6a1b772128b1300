/** What a benchmark yields: figures with units, each beside its budget if there is one. Nothing here is a test. */

export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** What the design asks for, in words. */
  readonly budget?: string;
  readonly note?: string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

export async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const started = performance.now();
  const result = await work();
  return { ms: performance.now() - started, result };
}

/** `from 12 to 34 in 5` beside a median. */
export function spread(values: readonly number[], digits = 0): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `median of ${values.length}, ${least.toFixed(digits)} to ${most.toFixed(digits)}`;
}

/** Rows as a Markdown table, the first as its head, so that a run can be kept in a document. */
export function markdownTable(rows: readonly (readonly string[])[]): string[] {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}
