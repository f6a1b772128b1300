/** Text in columns: each as wide as its widest cell, but for the last one of a row, which is as wide as it likes. */

/** Rows of cells as lines. Columns whose index is in `right` end where the others begin: numbers stand so. */
export function aligned(rows: readonly (readonly string[])[], indent = '  ', right: readonly number[] = []): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, text] of row.slice(0, -1).entries()) widths[at] = Math.max(widths[at] ?? 0, text.length);
  const cell = (row: readonly string[], text: string, at: number): string => {
    if (at === row.length - 1) return text;
    return right.includes(at) ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0);
  };
  return rows.map((row) => `${indent}${row.map((text, at) => cell(row, text, at)).join('  ')}`.trimEnd());
}
