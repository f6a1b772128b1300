/** Whether a record stands where it was seen, by the final leader's log alone. */
import { describe, expect, it } from 'vitest';
import { encodeBatch } from '../../broker/protocol/index.ts';
import type { Evidence } from '../../checker/evidence.ts';
import { readFinalLogs, readLeaderValues } from '../../checker/final-logs.ts';
import { HistoryIndex } from '../../checker/index-history.ts';
import { isInLog, standsAt } from '../../checker/standing.ts';

const key = 'tide-0';

/** Value n was read at offset n and, if n is 3, at offset 6 too; the leader's log holds offsets 2 to 4, and perhaps a torn end. */
function evidence({ torn = false, unreadable = false } = {}): Evidence {
  const history = new HistoryIndex({ acks: 'all' });
  const records = [...[1, 2, 3, 4, 5].map((value) => [value, value]), [6, 3]] as [number, number][];
  history.add({ index: 0, time: 0, process: 0, type: 'invoke', f: 'poll', value: [['poll']] });
  history.add({ index: 1, time: 1, process: 0, type: 'ok', f: 'poll', value: [['poll', { [key]: records }]] });
  const parts = [2, 3, 4].map((offset) =>
    encodeBatch({ baseOffset: offset, leaderEpoch: 0, records: [{ key: null, value: String(offset) }] }),
  );
  const bytes = Uint8Array.from(Buffer.concat(torn ? [...parts, new Uint8Array(20)] : parts));
  const files = [{ node: 1, key, segments: [{ baseOffset: 2, bytes }], logStart: null }];
  const logs = readFinalLogs(files, [1], {});
  readLeaderValues(history, key, logs.byKey.get(key)!.get(1)!.log, {});
  return {
    history,
    logs,
    cluster: null,
    run: { settled: true, finalLeaders: { [key]: 1 } },
    unreadable: new Set(unreadable ? [key] : []),
  } as unknown as Evidence;
}

const stands = (from: Evidence, value: number, offset = value): boolean | null =>
  standsAt(from, from.history.findRow(0, value), offset);

describe('a record that was read', () => {
  it('stands where the log holds it, and below the start of the log', () => {
    expect([1, 2, 3, 4].map((value) => stands(evidence(), value))).toEqual([true, true, true, true]);
  });

  it('does not stand where the log ends before it, or holds its value elsewhere only', () => {
    expect(stands(evidence(), 5)).toBe(false);
    expect(stands(evidence(), 3, 6)).toBe(false);
    expect(stands(evidence(), 3, 4)).toBe(false);
    expect([stands(evidence(), 3, 2), stands(evidence(), 3, 1)]).toEqual([false, true]);
  });

  it('is in no log at an offset where only a reader saw it', () => {
    const from = evidence();
    const row = from.history.findRow(0, 3);
    expect([3, 4, 6].map((offset) => isInLog(from, row, offset))).toEqual([true, false, false]);
  });

  it('may stand from the place on where the log cannot be read', () => {
    const torn = evidence({ torn: true });
    expect([stands(torn, 3, 4), stands(torn, 5), stands(torn, 3, 6)]).toEqual([false, null, null]);
  });

  it('may stand anywhere if its log could not be unpacked', () => {
    expect([1, 3, 5].map((value) => stands(evidence({ unreadable: true }), value))).toEqual([null, null, null]);
  });
});

describe('a record that stands twice in the log', () => {
  it('stands at both places', () => {
    const from = evidence();
    const row = from.history.findRow(0, 3);
    from.history.sawInFinalLog(row, 4);
    expect([3, 4, 5].map((offset) => standsAt(from, row, offset))).toEqual([true, true, false]);
  });
});
