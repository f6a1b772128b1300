/**
 * The offsets that a film shows, across: the interesting ones with some of their neighbours, and gaps between them.
 *
 * All pictures of a film share one axis, so that the eye can compare them. Places are in units of one cell.
 */

export type Column =
  | { readonly kind: 'offset'; readonly offset: number; readonly x: number; readonly width: number }
  /** Offsets `from` to `to - 1` are left out here. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number; readonly x: number; readonly width: number };

export interface OffsetAxis {
  readonly columns: readonly Column[];
  readonly width: number;
  /** First offset shown, and the one after the last. */
  readonly first: number;
  readonly end: number;
  /** Where a log that ends at `offset` ends, clamped to what is shown. */
  edge(offset: number): number;
}

const NEIGHBOURS = 2;
const GAP_WIDTH = 0.7;

/** `points` are offsets by importance; the first of them get room until `columnsMax` is reached. */
export function createOffsetAxis(points: readonly number[], columnsMax: number): OffsetAxis {
  const shown = new Set<number>();
  const want = (offset: number): void => {
    if (offset >= 0 && shown.size < columnsMax) shown.add(offset);
  };
  for (const point of points) want(point);
  for (let distance = 1; distance <= NEIGHBOURS; distance += 1) {
    for (const point of points) {
      want(point - distance);
      want(point + distance);
    }
  }
  if (shown.size === 0) for (let offset = 0; offset < Math.min(6, columnsMax); offset += 1) shown.add(offset);
  return layOut([...shown].sort((a, b) => a - b));
}

function layOut(offsets: readonly number[]): OffsetAxis {
  const columns: Column[] = [];
  let x = 0;
  let next = 0;
  for (const offset of offsets) {
    if (offset === next + 1 && offset > 1) {
      // A gap of one offset is no wider than the offset itself.
      columns.push({ kind: 'offset', offset: next, x, width: 1 });
      x += 1;
    } else if (offset > next) {
      columns.push({ kind: 'gap', from: next, to: offset, x, width: GAP_WIDTH });
      x += GAP_WIDTH;
    }
    columns.push({ kind: 'offset', offset, x, width: 1 });
    x += 1;
    next = offset + 1;
  }
  const first = offsets[0] ?? 0;
  return { columns, width: x, first, end: next, edge: (offset) => edgeOf(columns, offset, x) };
}

function edgeOf(columns: readonly Column[], offset: number, width: number): number {
  for (const column of columns) {
    if (column.kind === 'offset' && column.offset >= offset) return column.x;
    if (column.kind === 'gap' && column.to > offset) {
      return column.from >= offset ? column.x : column.x + column.width / 2;
    }
  }
  return width;
}
