/** Kafka's checkpoint files: every line of every kind, and every way in which a text is none. */
import { describe, expect, it } from 'vitest';
import { parseEpochCheckpoint, parseOffsetCheckpoint } from '../../../checker/logs/checkpoint-files.ts';

const offsets = (text: string): unknown => {
  const parsed = parseOffsetCheckpoint(text);
  return 'flaw' in parsed ? parsed.flaw : [...parsed.entries];
};

const epochs = (text: string): unknown => {
  const parsed = parseEpochCheckpoint(text);
  return 'flaw' in parsed ? parsed.flaw : parsed.entries.map(({ epoch, start }) => [epoch, start]);
};

describe('a checkpoint file', () => {
  it.each(['', '\n', ' \n\t\r\n '])('of nothing but space has no entries: %j', (text) => {
    expect(offsets(text)).toEqual([]);
    expect(epochs(text)).toEqual([]);
  });

  it.each(['0\n0\n', '0\n0', '0\r\n0\r\n', '0\r\n0'])('may say that it has no entries: %j', (text) => {
    expect(offsets(text)).toEqual([]);
    expect(epochs(text)).toEqual([]);
  });

  it('may end its lines in either way, the last one too, or not at all', () => {
    for (const end of ['\n', '\r\n']) {
      for (const last of [end, '']) {
        expect(offsets(['0', '2', 'tide 0 1', 'tide 1 22'].join(end) + last)).toEqual([
          ['tide-0', 1],
          ['tide-1', 22],
        ]);
        expect(epochs(['0', '2', '3 4', '15 16'].join(end) + last)).toEqual([
          [3, 4],
          [15, 16],
        ]);
      }
    }
  });

  it('takes numbers as long as Kafka writes them, and topics without a space', () => {
    expect(offsets('0\n1\n__a.b-c 2147483647 9223372036854775807\n')).toEqual([['__a.b-c-2147483647', 2 ** 63]]);
    expect(epochs('0\n1\n2147483647 9223372036854775807\n')).toEqual([[2147483647, 2 ** 63]]);
    expect(offsets(`0\n12\n${'t 0 1\n'.repeat(12)}`)).toEqual([['t-0', 1]]);
  });

  it.each([
    ['0 \n0\n', 'its first line is not the version 0'],
    ['00\n0\n', 'its first line is not the version 0'],
    ['1\n0\n', 'its first line is not the version 0'],
    ['\n0\n0\n', 'its first line is not the version 0'],
    ['0', 'its second line is not a count'],
    ['0\n\n', 'its second line is not a count'],
    ['0\nx\n', 'its second line is not a count'],
    ['0\n1x\n', 'its second line is not a count'],
    ['0\nx1\n', 'its second line is not a count'],
    ['0\n-1\n', 'its second line is not a count'],
    ['0\n1\n', 'it announces 1 entries and holds 0'],
    ['0\n0\n\n', 'its line 3 cannot be understood'],
  ])('of any kind is refused as a whole: %j', (text, flaw) => {
    expect(offsets(text)).toBe(flaw);
    expect(epochs(text)).toBe(flaw);
  });

  it.each([
    't 0',
    't 0 1 2',
    ' t 0 1',
    't 0 1 ',
    't  0 1',
    't u 0 1',
    't x 1',
    't 0 x',
    't -1 1',
    't 0 -1',
    't 12345678901 1',
    't 0 12345678901234567890',
    't  1',
    ' 0 1',
    't 0 ',
    '',
  ])('of offsets has lines of a topic, a partition and an offset, and not: %j', (line) => {
    expect(offsets(`0\n2\nt 1 1\n${line}\n`)).toBe('its line 4 cannot be understood');
  });

  it.each([
    '0',
    '0 1 2',
    ' 0 1',
    '0 1 ',
    '0  1',
    'x 1',
    '0 x',
    '-1 1',
    '0 -1',
    '12345678901 1',
    '0 12345678901234567890',
    ' 1',
    '0 ',
  ])('of epochs has lines of an epoch and an offset, and not: %j', (line) => {
    expect(epochs(`0\n2\n1 1\n${line}\n`)).toBe('its line 4 cannot be understood');
  });

  it('of epochs is read by rising offset, and at one offset by rising epoch', () => {
    expect(epochs('0\n5\n4 30\n3 20\n1 10\n9 20\n2 20\n')).toEqual([
      [1, 10],
      [2, 20],
      [3, 20],
      [9, 20],
      [4, 30],
    ]);
  });

  it('of offsets keeps the last of two lines about one partition', () => {
    expect(offsets('0\n2\ntide 0 1\ntide 0 2\n')).toEqual([['tide-0', 2]]);
  });
});
