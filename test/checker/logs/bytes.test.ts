/** A cursor over bytes: numbers of every width, to the last byte and not beyond. */
import { describe, expect, it } from 'vitest';
import { Cursor, MalformedError } from '../../../checker/logs/bytes.ts';

const over = (...bytes: number[]): Cursor => new Cursor(Uint8Array.from(bytes));

/** Zigzag and base 128, by the definition. */
function varint(value: bigint): number[] {
  let rest = value >= 0n ? value * 2n : -value * 2n - 1n;
  const bytes: number[] = [];
  for (; rest >= 128n; rest /= 128n) bytes.push(Number(rest % 128n) | 0x80);
  return [...bytes, Number(rest)];
}

describe('a cursor', () => {
  it.each([0, 1, -1, 63, -64, 64, -65, 8191, -8192, 8192, 2 ** 20, 2 ** 27, 2 ** 31 - 1, -(2 ** 31)])(
    'reads the number %i in as many bytes as it needs',
    (value) => {
      const bytes = varint(BigInt(value));
      for (const read of ['varint', 'varlong'] as const) {
        const cursor = over(...bytes, 9);
        expect(cursor[read]()).toBe(value);
        expect(cursor.at).toBe(bytes.length);
      }
    },
  );

  it.each([2 ** 34, -(2 ** 34) - 1, 2 ** 40 + 7, -(2 ** 49), 2 ** 52])('reads long numbers too: %i', (value) => {
    expect(over(...varint(BigInt(value))).varlong()).toBe(value);
  });

  it('takes five bytes for a number of 32 bits at most, and ten for one of 64', () => {
    expect(() => over(0x80, 0x80, 0x80, 0x80, 0x80, 0).varint()).toThrow('a varint is too long');
    expect(() => over(...Array<number>(10).fill(0x80), 0).varlong()).toThrow('a varint is too long');
    expect(over(0x80, 0x80, 0x80, 0x80, 0x00).varint()).toBe(0);
    expect(over(...Array<number>(9).fill(0x80), 0).varlong()).toBe(0);
  });

  it('reads whole numbers to the last byte', () => {
    expect(over(0xff, 0xff, 0xff, 0xfe).int32()).toBe(-2);
    expect(over(0, 0, 0, 1, 0, 0, 0, 2).int64()).toBe(2 ** 32 + 2);
    expect([...(over(1, 2).take(2) ?? [])]).toEqual([1, 2]);
    expect(over(1).take(-1)).toBeNull();
    const cursor = over(1, 2, 3);
    cursor.skip(-4);
    cursor.skip(0);
    expect(cursor.at).toBe(0);
    cursor.skip(3);
    expect(cursor.at).toBe(3);
  });

  it.each<[string, number, (cursor: Cursor) => unknown]>([
    ['a byte', 0, (cursor) => cursor.byte()],
    ['32 bits', 3, (cursor) => cursor.int32()],
    ['64 bits', 7, (cursor) => cursor.int64()],
    ['four bytes', 3, (cursor) => cursor.take(4)],
    ['a skip of four', 3, (cursor) => cursor.skip(4)],
  ])('ends where its bytes end, though there are more behind: %s', (_, left, read) => {
    const bytes = Uint8Array.from({ length: 30 }, (__, at) => at);
    expect(() => read(new Cursor(bytes, 10, 10 + left))).toThrow('it breaks off');
    expect(() => read(new Cursor(bytes, 10, 11 + left))).not.toThrow();
  });

  it('says what kind of error it throws', () => {
    expect(new MalformedError('x').name).toBe('MalformedError');
  });
});
