import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packBars } from '../../../harness/report/fault-rows.ts';

const area = { left: 100, right: 1_100, rowsMax: 6 };
const bar = fc
  .record({
    from: fc.integer({ min: 100, max: 1_097 }),
    length: fc.integer({ min: 3, max: 600 }),
    labelWidths: fc.array(fc.nat({ max: 400 }), { maxLength: 2 }),
  })
  .map(({ from, length, labelWidths }) => ({ from, to: Math.min(1_100, from + length), labelWidths }));

describe('the rows of faults', () => {
  it('never lets a bar or a label meet another, and counts what has no room', () => {
    fc.assert(
      fc.property(fc.array(bar, { maxLength: 80 }), (bars) => {
        const { placed, rows, omitted } = packBars(bars, area);
        expect(placed.length + omitted).toBe(bars.length);
        expect(rows).toBeLessThanOrEqual(area.rowsMax);
        for (const [index, one] of placed.entries()) {
          for (const other of placed.slice(index + 1)) {
            if (one.row !== other.row) continue;
            expect(one.taken[1] < other.taken[0] || other.taken[1] < one.taken[0]).toBe(true);
          }
        }
      }),
    );
  });

  it('keeps every label within the plot and within what it has taken', () => {
    fc.assert(
      fc.property(fc.array(bar, { maxLength: 30 }), (bars) => {
        for (const { bar: own, label, taken } of packBars(bars, area).placed) {
          expect(taken[0]).toBeLessThanOrEqual(own.from);
          expect(taken[1]).toBeGreaterThanOrEqual(own.to);
          if (label === null) continue;
          const width = own.labelWidths[label.index] ?? Number.NaN;
          const from = label.anchor === 'start' ? label.x : label.x - width;
          expect(from).toBeGreaterThanOrEqual(taken[0]);
          expect(from + width).toBeLessThanOrEqual(Math.max(taken[1], own.from));
          expect(from).toBeGreaterThanOrEqual(area.left);
          expect(from + width).toBeLessThanOrEqual(area.right);
        }
      }),
    );
  });

  it('takes a shorter label where the best has no room', () => {
    const { placed } = packBars([{ from: 400, to: 720, labelWidths: [410, 120] }], area);
    expect(placed[0]?.label?.index).toBe(1);
  });

  it('prefers a bar without its label to no bar', () => {
    const crowded = Array.from({ length: 100 }, (_, index) => ({
      from: 100 + index * 9,
      to: 105 + index * 9,
      labelWidths: [200],
    }));
    const { omitted, placed } = packBars(crowded, area);
    expect(omitted).toBe(0);
    expect(placed.some(({ label }) => label === null)).toBe(true);
  });
});
