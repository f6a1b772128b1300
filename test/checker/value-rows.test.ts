/** What stands where: values, the offsets at which they were seen, and what contradicts that. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acksAll, outcome, ValueRows } from '../../checker/value-rows.ts';

function rowsOf(...keys: string[]): ValueRows {
  const rows = new ValueRows();
  for (const key of keys) rows.keyId(key);
  return rows;
}

describe('a value of a key', () => {
  it('has one row, as a number and as its text, and another in each other key', () => {
    const rows = rowsOf('a-0', 'b-0');
    const one = rows.rowOf(0, 1);
    const others = [rows.rowOf(0, 2), rows.rowOf(0, 'x'), rows.rowOf(1, 1), rows.rowOf(1, 'x')];
    expect([one, ...others]).toEqual([0, 1, 2, 3, 4]);
    expect([rows.rowOf(0, '1'), rows.rowOf(0, 1), rows.rowOf(1, 'x')]).toEqual([0, 0, 4]);
    expect(rows.count).toBe(5);
    expect([0, 1, 2, 3, 4].map((row) => rows.valueOf(row))).toEqual([1, 2, 'x', 1, 'x']);
    expect([0, 1, 2, 3, 4].map((row) => rows.columns.key.get(row))).toEqual([0, 0, 0, 1, 1]);
    expect([rows.keyId('a-0'), rows.keyId('b-0'), rows.keyId('c-0')]).toEqual([0, 1, 2]);
    expect(rows.keys).toEqual(['a-0', 'b-0', 'c-0']);
  });

  it('is found only where it was heard of', () => {
    const rows = rowsOf('a-0', 'b-0');
    rows.rowOf(1, 5);
    rows.rowOf(1, 'x');
    expect([rows.findRow(1, 5), rows.findRow(1, '5'), rows.findRow(1, 'x')]).toEqual([0, 0, 1]);
    expect([rows.findRow(0, 5), rows.findRow(0, 'x'), rows.findRow(1, 6), rows.findRow(1, 'y')]).toEqual([
      -1, -1, -1, -1,
    ]);
    expect([rows.findRow(7, 5), rows.findRow(7, 'x')]).toEqual([-1, -1]);
  });

  it('begins with nothing known of it, however many there are', () => {
    const rows = rowsOf('a-0');
    for (let value = 0; value < 200; value += 1) rows.rowOf(0, value);
    const { key, acks, outcome: became, readFinally, ...others } = rows.columns;
    for (let row = 0; row < 200; row += 1) {
      expect([key.get(row), became.get(row), acks.get(row), readFinally.get(row)]).toEqual([
        0,
        outcome.unsent,
        acksAll,
        0,
      ]);
      for (const column of Object.values(others)) expect([column.length, column.get(row)]).toEqual([200, -1]);
    }
  });
});

describe('a value that is read', () => {
  it('stands where it was read first, and costs nothing where it is read again', () => {
    const rows = rowsOf('a-0');
    const row = rows.rowOf(0, 1);
    rows.readAt(row, 4, 11, 0);
    rows.readAt(row, 4, 12, 0);
    expect([rows.columns.readOffset.get(row), rows.columns.readBy.get(row)]).toEqual([4, 11]);
    expect([rows.extraOffsets.size, rows.conflicts.size]).toEqual([0, 0]);
    expect([rows.ownerOf(0, 4), rows.ownerOf(0, 5), rows.ownerOf(3, 4)]).toEqual([row, -1, -1]);
  });

  it('elsewhere has that offset too, once, and owns it', () => {
    const rows = rowsOf('a-0');
    const row = rows.rowOf(0, 1);
    for (const [offset, index] of [
      [4, 11],
      [6, 12],
      [6, 13],
      [9, 14],
    ] as const)
      rows.readAt(row, offset, index, 0);
    expect(rows.extraOffsets.get(row)).toEqual([
      { row, offset: 6, index: 12 },
      { row, offset: 9, index: 14 },
    ]);
    expect([4, 6, 9].map((offset) => rows.ownerOf(0, offset))).toEqual([row, row, row]);
    expect([...rows.knownOffsets(0)]).toEqual([4, 6, 9]);
  });

  it('at more than a hundred offsets besides its own is noted at a hundred', () => {
    const rows = rowsOf('a-0');
    const row = rows.rowOf(0, 1);
    for (let offset = 0; offset < 105; offset += 1) rows.readAt(row, offset, offset, 0);
    expect(rows.extraOffsets.get(row)).toHaveLength(100);
    expect(rows.ownerOf(0, 104)).toBe(row);
  });
});

describe('an offset with several values', () => {
  const twoAt = (see: (rows: ValueRows, first: number, second: number) => void): ValueRows => {
    const rows = rowsOf('a-0', 'b-0');
    see(rows, rows.rowOf(0, 1), rows.rowOf(0, 2));
    return rows;
  };

  it('is a conflict, with who first saw each there', () => {
    const rows = twoAt((given, first, second) => {
      given.readAt(first, 4, 11, 0);
      given.readAt(second, 4, 12, 0);
      given.readAt(given.rowOf(0, 3), 4, 13, 0);
      given.readAt(given.rowOf(1, 9), 4, 14, 0);
    });
    expect([...rows.conflicts.values()]).toEqual([
      {
        key: 0,
        offset: 4,
        sightings: [
          { row: 0, index: 11 },
          { row: 1, index: 12 },
          { row: 2, index: 13 },
        ],
      },
    ]);
    expect([...rows.conflicts.keys()]).toEqual(['0:4']);
    expect(rows.ownerOf(0, 4)).toBe(0);
  });

  it('names each value once', () => {
    const rows = twoAt((given, first, second) => {
      given.sawAt(0, 4, first, 11, 0);
      given.sawAt(0, 4, second, 12, 0);
      given.sawAt(0, 4, second, 13, 0);
      given.sawAt(0, 4, first, 14, 0);
    });
    expect(rows.conflicts.get('0:4')?.sightings).toEqual([
      { row: 0, index: -1 },
      { row: 1, index: 12 },
    ]);
  });

  it('names the earliest of acknowledgement and reads for the first value', () => {
    const earliest = (acknowledged: number | null, reads: readonly (readonly [offset: number, index: number])[]) =>
      twoAt((given, first, second) => {
        if (acknowledged !== null) {
          given.columns.offset.set(first, 4);
          given.columns.completed.set(first, acknowledged);
          given.sawAt(0, 4, first, acknowledged, 0);
        }
        for (const [offset, index] of reads) given.readAt(first, offset, index, 0);
        given.readAt(second, 4, 90, 0);
      }).conflicts.get('0:4')?.sightings[0]?.index;
    expect(earliest(20, [])).toBe(20);
    expect(earliest(20, [[4, 15]])).toBe(15);
    expect(earliest(20, [[4, 25]])).toBe(20);
    const elsewhere = twoAt((given, first, second) => {
      given.columns.offset.set(first, 9);
      given.columns.completed.set(first, 5);
      for (const [offset, index] of [
        [3, 14],
        [6, 10],
        [4, 16],
      ] as const)
        given.readAt(first, offset, index, 0);
      given.readAt(second, 4, 90, 0);
    });
    expect(elsewhere.conflicts.get('0:4')?.sightings[0]?.index).toBe(16);
    expect(
      earliest(null, [
        [3, 14],
        [4, 16],
      ]),
    ).toBe(16);
    expect(
      earliest(20, [
        [3, 14],
        [4, 16],
      ]),
    ).toBe(16);
  });

  it('keeps the first hundred', () => {
    const rows = rowsOf('a-0');
    for (let value = 0; value < 105; value += 1) rows.readAt(rows.rowOf(0, value), 4, value, 0);
    const { sightings } = rows.conflicts.get('0:4')!;
    expect([sightings.length, sightings.at(-1)?.row]).toEqual([100, 99]);
  });
});

describe('a value in the final log', () => {
  it('stands where it was found first, and also elsewhere, which is no sighting of a client', () => {
    const rows = rowsOf('a-0');
    const row = rows.rowOf(0, 1);
    rows.sawInFinalLog(row, 4);
    rows.sawInFinalLog(row, 7);
    rows.sawInFinalLog(row, 7);
    expect(rows.columns.finalOffset.get(row)).toBe(4);
    expect(rows.extraOffsets.get(row)).toEqual([{ row, offset: 7, index: -1 }]);
    expect([rows.ownerOf(0, 4), rows.ownerOf(0, 7), rows.columns.readOffset.get(row)]).toEqual([-1, -1, -1]);
  });

  it('is noted beside a read at the same offset', () => {
    const rows = rowsOf('a-0');
    const row = rows.rowOf(0, 1);
    rows.readAt(row, 4, 11, 0);
    rows.readAt(row, 7, 12, 0);
    rows.sawInFinalLog(row, 4);
    rows.sawInFinalLog(row, 7);
    expect(rows.extraOffsets.get(row)).toEqual([
      { row, offset: 7, index: 12 },
      { row, offset: 7, index: -1 },
    ]);
  });
});

describe('when a key was known to reach beyond an offset', () => {
  it('is when the first higher offset was seen, by whomever', () => {
    const sighting = fc.tuple(fc.nat(30), fc.nat(5));
    fc.assert(
      fc.property(fc.array(sighting), (sightings) => {
        const rows = rowsOf('a-0');
        for (const [time, [offset, value]] of sightings.entries()) rows.sawAt(0, offset, rows.rowOf(0, value), 0, time);
        for (let offset = -1; offset <= 31; offset += 1) {
          const time = sightings.findIndex(([seen]) => seen > offset);
          expect(rows.knownBeyondAt(0, offset)).toBe(time === -1 ? Infinity : time);
        }
      }),
      { numRuns: 200 },
    );
    expect(rowsOf().knownBeyondAt(0, 4)).toBe(Infinity);
  });
});
