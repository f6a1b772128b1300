/**
 * Packs the bars of faults, with their labels, into as few rows as keep them apart.
 *
 * First fit, by start: a fault takes the first row in which neither its bar nor its label meets another. Its label stands
 * inside of the bar where it fits, else to its right, else to its left. Where labels would crowd bars out, only those
 * inside remain; and only when not even its bar has room is a fault left out and counted.
 *
 * Invariant: within a row, nothing overlaps.
 */

export interface Bar {
  /** In pixels. */
  readonly from: number;
  readonly to: number;
  /** Widths of the labels that it may have, the best first. */
  readonly labelWidths: readonly number[];
}

export interface Label {
  /** Which of the labels. */
  readonly index: number;
  readonly x: number;
  readonly anchor: 'start' | 'end';
}

export interface PlacedBar<B extends Bar> {
  readonly bar: B;
  readonly row: number;
  /** Where the label stands; null without one. */
  readonly label: Label | null;
  /** What it takes of its row. */
  readonly taken: readonly [from: number, to: number];
}

export interface PlotArea {
  readonly left: number;
  readonly right: number;
  readonly rowsMax: number;
}

const APART = 3;
const MARGIN = 4;

export interface Packed<B extends Bar> {
  readonly placed: readonly PlacedBar<B>[];
  readonly rows: number;
  readonly omitted: number;
}

export function packBars<B extends Bar>(bars: readonly B[], area: PlotArea): Packed<B> {
  const labelled = pack(bars, area, (bar) => withLabel(bar, area));
  return labelled.omitted === 0 ? labelled : pack(bars, area, withoutLabel);
}

type Extent = Pick<PlacedBar<Bar>, 'label' | 'taken'>;

function pack<B extends Bar>(bars: readonly B[], area: PlotArea, extentOf: (bar: B) => Extent): Packed<B> {
  const placed: PlacedBar<B>[] = [];
  const ends: number[] = [];
  let omitted = 0;
  for (const bar of [...bars].sort((a, b) => a.from - b.from)) {
    const wanted = extentOf(bar);
    const row = freeRow(ends, wanted.taken, area.rowsMax);
    const extent = row === null ? withoutLabel(bar) : wanted;
    const place = row ?? freeRow(ends, extent.taken, area.rowsMax);
    if (place === null) {
      omitted += 1;
      continue;
    }
    ends[place] = extent.taken[1];
    placed.push({ bar, row: place, ...extent });
  }
  return { placed, rows: ends.length, omitted };
}

/** A label inside of the bar takes no room. */
function withoutLabel(bar: Bar): Extent {
  const index = bar.labelWidths.findIndex((width) => bar.to - bar.from >= width + 2 * MARGIN);
  const label = index === -1 ? null : ({ index, x: bar.from + MARGIN, anchor: 'start' } as const);
  return { label, taken: [bar.from, bar.to] };
}

function withLabel(bar: Bar, { left, right }: PlotArea): Extent {
  const inside = withoutLabel(bar);
  for (const [index, labelWidth] of bar.labelWidths.entries()) {
    const width = labelWidth + MARGIN;
    if (inside.label?.index === index) return inside;
    if (bar.to + width <= right)
      return { label: { index, x: bar.to + MARGIN, anchor: 'start' }, taken: [bar.from, bar.to + width] };
    if (bar.from - width >= left)
      return { label: { index, x: bar.from - MARGIN, anchor: 'end' }, taken: [bar.from - width, bar.to] };
  }
  return inside;
}

/** The first row that is free there; a new one while there may be more; else null. */
function freeRow(ends: readonly number[], [from]: readonly [number, number], rowsMax: number): number | null {
  const row = ends.findIndex((end) => end + APART <= from);
  if (row !== -1) return row;
  return ends.length < rowsMax ? ends.length : null;
}
