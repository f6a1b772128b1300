/** Who led when, by the brokers' own lines: where a leadership begins and ends, what it wrote first, and where it fell back. */
import { describe, expect, it } from 'vitest';
import { leaderships } from '../../checker/leaderships.ts';
import { readTrace } from '../../checker/parse-trace.ts';

const partition = 'tide-0';

/** Lines in order, with `seq` for each node and boot; told are the leaderships by the places of lines among all. */
function told(...lines: readonly (readonly [node: number | 'controller', fields: object, boot?: number])[]): unknown[] {
  const seqs = new Map<string, number>();
  const all = lines.map(([node, fields, boot = 1], at) => {
    const name = `${node} ${boot}`;
    const seq = seqs.get(name) ?? 0;
    seqs.set(name, seq + 1);
    return { seq, time: at, node, boot, partition, leaderEpoch: 0, ...fields };
  });
  const store = readTrace(all);
  const placeOf = (row: number): number => store.time.get(row);
  return leaderships(store).map(({ key, node, epoch, row, wrote, fall }) => [
    `${key} ${node} in ${epoch} from ${placeOf(row)}`,
    wrote === -1 ? null : placeOf(wrote),
    fall === null ? null : `${fall.from} to ${fall.to} at ${placeOf(fall.row)}`,
  ]);
}

const leads = (hw: number, leaderEpoch = 0, more: object = {}): object => ({
  event: 'role',
  role: 'leader',
  leader: 1,
  leo: 9,
  hw,
  isr: [1, 2],
  leaderEpoch,
  ...more,
});
const follows = (leaderEpoch = 0): object => ({ ...leads(0, leaderEpoch), role: 'follower', leader: 2 });
const mark = (to: number, from = 0): object => ({ event: 'hw', from, to, isr: [1, 2] });
const append = (epoch = 0): object => ({
  event: 'append',
  leaderEpoch: epoch,
  batches: [{ base: 9, last: 9, epoch, hash: '0000000a' }],
});

describe('a leadership', () => {
  it('begins with a role, and notes the first that was written in its epoch', () => {
    expect(told([1, leads(0)], [1, append()], [1, append()])).toEqual([['tide-0 1 in 0 from 0', 1, null]]);
    expect(told([1, leads(0, 1)], [1, append(0)], [1, append(1)])).toEqual([['tide-0 1 in 1 from 0', 2, null]]);
    expect(told([1, append()])).toEqual([]);
    expect(told([1, follows()], [1, append()], [1, mark(5)], [1, mark(3)])).toEqual([]);
  });

  it('notes where its high watermark first went back, by a line or by a role of the same epoch', () => {
    const led = 'tide-0 1 in 0 from 0';
    expect(told([1, leads(2)], [1, mark(5)], [1, mark(4)], [1, mark(3)])).toEqual([[led, null, '5 to 4 at 2']]);
    expect(told([1, leads(2)], [1, mark(2)], [1, mark(2)])).toEqual([[led, null, null]]);
    expect(told([1, leads(2)], [1, mark(1)])).toEqual([[led, null, '2 to 1 at 1']]);
    expect(told([1, leads(2)], [1, leads(1)])).toEqual([[led, null, '2 to 1 at 1']]);
    expect(told([1, leads(2)], [1, leads(4)], [1, mark(3)])).toEqual([[led, null, '4 to 3 at 2']]);
  });

  it('ends where the broker follows, leads in another epoch, or starts again', () => {
    const first = ['tide-0 1 in 0 from 0', null, null];
    expect(told([1, leads(5)], [1, follows(1)], [1, mark(3)], [1, append(0)])).toEqual([first]);
    expect(told([1, leads(5)], [1, leads(3, 1)], [1, append(1)])).toEqual([first, ['tide-0 1 in 1 from 1', 2, null]]);
    expect(told([1, leads(5)], [1, mark(3), 2], [1, append(), 2])).toEqual([first]);
    expect(told([1, leads(5)], [1, leads(3), 2], [1, mark(2), 2])).toEqual([
      first,
      ['tide-0 1 in 0 from 1', null, '3 to 2 at 2'],
    ]);
  });

  it('is of one broker and one partition', () => {
    const other = { partition: 'tide-1' };
    expect(told([1, leads(5)], [1, { ...mark(3), ...other }], [2, mark(3)], [2, append()])).toEqual([
      ['tide-0 1 in 0 from 0', null, null],
    ]);
    expect(told([1, leads(5)], [2, leads(4, 0, { leader: 2 })], [1, leads(5, 0, other)], [1, append()])).toEqual([
      ['tide-0 1 in 0 from 0', 3, null],
      ['tide-1 1 in 0 from 2', null, null],
      ['tide-0 2 in 0 from 1', null, null],
    ]);
  });

  it('is told by no line of the controller, and by none of no partition', () => {
    const election = { event: 'election', leader: 1, previousLeader: null, isr: [1], clean: true, reason: 'x' };
    const start = { event: 'start', port: 1, build: 'hw', defects: [], partition: undefined, leaderEpoch: undefined };
    expect(told(['controller', election], [1, start], [1, leads(5)], [1, mark(6)])).toEqual([
      ['tide-0 1 in 0 from 2', null, null],
    ]);
  });
});
