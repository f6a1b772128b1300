import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOffsetAxis } from '../../../harness/report/offset-axis.ts';

const points = fc.array(fc.nat({ max: 2 ** 40 }), { maxLength: 30 });

describe('the axis of offsets', () => {
  it('shows the first points whatever their number, in order, each column beside the one before', () => {
    fc.assert(
      fc.property(points, fc.integer({ min: 1, max: 20 }), (wanted, columnsMax) => {
        const { columns } = createOffsetAxis(wanted, columnsMax);
        const shown = columns.flatMap((column) => (column.kind === 'offset' ? [column.offset] : []));
        for (const point of [...new Set(wanted)].slice(0, columnsMax)) expect(shown).toContain(point);
        expect(shown).toEqual([...new Set(shown)].sort((a, b) => a - b));
        let x = 0;
        let next = 0;
        for (const column of columns) {
          expect(column.x).toBeCloseTo(x);
          expect(column.kind === 'offset' ? column.offset : column.from).toBe(next);
          x += column.width;
          next = column.kind === 'offset' ? column.offset + 1 : column.to;
        }
      }),
    );
  });

  it('places ends in the order of their offsets, within the picture', () => {
    fc.assert(
      fc.property(points, fc.nat({ max: 2 ** 40 }), fc.nat({ max: 2 ** 40 }), (wanted, a, b) => {
        const axis = createOffsetAxis(wanted, 12);
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        expect(axis.edge(low)).toBeLessThanOrEqual(axis.edge(high));
        expect(axis.edge(low)).toBeGreaterThanOrEqual(0);
        expect(axis.edge(high)).toBeLessThanOrEqual(axis.width);
      }),
    );
  });

  it('puts the end of a log behind its last shown record', () => {
    const axis = createOffsetAxis([5], 5);
    const last = axis.columns.find((column) => column.kind === 'offset' && column.offset === 5);
    expect(axis.edge(6)).toBe((last?.x ?? 0) + 1);
  });
});
