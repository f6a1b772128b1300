/** Two or three replicas of one log, of which one was damaged: each damage is named exactly, and where the replicas part. */
import { describe, expect, it } from 'vitest';
import type { PartitionReport } from '../../../checker/logs/report.ts';
import { batch, batches, changed, joined, replica, sealed, verify } from './replicas.ts';

const whole = joined(batches);
const starts = batches.map((_, at) => joined(batches.slice(0, at)).length);
const healthy = replica('broker-1', { 0: whole }, { highWatermark: 30 });

/** The healthy log beside one that was changed. */
function beside(damaged: Uint8Array): PartitionReport {
  return verify([healthy, replica('broker-2', { 0: damaged }, { highWatermark: 30 })]);
}

function findingsOf(report: PartitionReport, name = 'broker-2'): readonly object[] {
  return report.copies[name]?.findings ?? [];
}

describe('replicas that agree', () => {
  it('give no finding, and everything of each is counted', () => {
    const report = beside(whole);
    expect(report.copies['broker-2']).toMatchObject({
      records: 30,
      batches: 10,
      bytes: whole.length,
      first: 0,
      last: 29,
      leo: 30,
      epochs: [
        [0, 0, 11],
        [1, 12, 23],
        [2, 24, 29],
      ],
      findings: [],
    });
    expect(report.comparison).toMatchObject({ verdict: 'agree', exit: 0, first: null });
    expect(report.comparison.pairs).toEqual([{ copies: ['broker-1', 'broker-2'], from: 0, agreeUntil: 30 }]);
  });

  it('agree wherever their segments were cut', () => {
    const cut = replica('broker-2', {
      0: joined(batches.slice(0, 2)),
      6: joined(batches.slice(2, 9)),
      27: batches[9]!,
    });
    expect(verify([healthy, cut]).comparison).toMatchObject({ verdict: 'agree', exit: 0 });
  });

  it('agree if one has deleted its first segments, or says that its log starts later', () => {
    const shorter = replica('broker-2', { 9: joined(batches.slice(3)) });
    const marked = replica(
      'broker-3',
      { 0: changed(whole, (bytes) => (bytes[starts[1]! + 70]! ^= 1)) },
      { logStart: 6 },
    );
    const report = verify([healthy, shorter, marked]);
    expect(report.comparison).toMatchObject({ verdict: 'agree' });
    expect(report.comparison.pairs.map(({ from }) => from)).toEqual([9, 6, 9]);
    expect(findingsOf(report, 'broker-2')).toEqual([]);
  });

  it('agree about an empty segment at the end', () => {
    const rolled = replica('broker-2', { 0: whole, 30: new Uint8Array() });
    expect(verify([healthy, rolled]).comparison).toMatchObject({ verdict: 'agree', exit: 0 });
  });
});

describe('zeros in the middle of a file', () => {
  it.each([11, 12, 13, 60, 61, 62, 300_000])('hide no batch behind them: %i', (count) => {
    const gap = joined([...batches.slice(0, 4), new Uint8Array(count), ...batches.slice(4)]);
    const report = beside(gap);
    expect(findingsOf(report)).toMatchObject([{ name: 'unreadable', position: starts[4] }]);
    expect(report.copies['broker-2']).toMatchObject({ records: 30, leo: 30 });
    expect(report.comparison).toMatchObject({ differencesTotal: 0 });
  });
});

describe('one byte changed', () => {
  it('in a value is a checksum that does not match, and both records are shown', () => {
    const at = whole.indexOf(Buffer.from('value 13')[7]!, starts[4]! + 61 + 20);
    const report = beside(changed(whole, (bytes) => (bytes[at] = 0x58)));
    expect(findingsOf(report)).toMatchObject([
      { name: 'crc-mismatch', offset: 12, file: 'tide-0/00000000000000000000.log', position: starts[4] },
    ]);
    expect(report.comparison).toMatchObject({ verdict: 'diverge', exit: 1, differencesTotal: 1 });
    expect(report.comparison.first).toEqual({ offset: 13, values: { 'broker-1': 'value 13', 'broker-2': 'value 1X' } });
    expect(report.comparison.differences[0]).toMatchObject({ what: ['value'], committed: true, agreeAgainAt: 15 });
    expect(report.comparison.differences[0]?.sides.map(({ record }) => record?.sound)).toEqual([true, false]);
  });

  it('anywhere at all is never overlooked, and nothing else is blamed', () => {
    for (let at = starts[3]!; at < starts[4]!; at += 1) {
      const report = beside(changed(whole, (bytes) => (bytes[at]! ^= 0x04)));
      expect(report.comparison, `byte ${at - starts[3]!}`).toMatchObject({ verdict: 'diverge', exit: 1 });
      expect(report.comparison.differences[0]?.offset).toBeGreaterThanOrEqual(9);
      expect(report.comparison.differences[0]?.offset).toBeLessThan(12);
      // A batch that claims offsets of later ones is in their way.
      const again = report.comparison.differences[0]?.agreeAgainAt ?? null;
      if (at >= starts[3]! + 8) expect(again).toBe(12);
      expect(findingsOf(report, 'broker-1')).toEqual([]);
    }
  });

  it('in a log that is alone is found as well, if a checksum covers it', () => {
    for (const at of [17, 21, 40, 61, 80]) {
      const report = verify([replica('broker-1', { 0: changed(whole, (bytes) => (bytes[starts[2]! + at]! ^= 1)) })]);
      expect(findingsOf(report, 'broker-1')).toMatchObject([{ name: 'crc-mismatch', offset: 6 }]);
      expect(report.comparison).toMatchObject({ verdict: 'not-compared', exit: 1 });
    }
  });
});

describe('one batch missing', () => {
  it('is a gap, and a difference that ends behind it', () => {
    const report = beside(joined([...batches.slice(0, 5), ...batches.slice(6)]));
    expect(findingsOf(report)).toMatchObject([{ name: 'offset-gap', offset: 15, last: 17, position: starts[5] }]);
    expect(report.comparison).toMatchObject({
      verdict: 'diverge',
      exit: 1,
      first: { offset: 15, values: { 'broker-1': 'value 15', 'broker-2': null } },
      differences: [{ what: ['missing'], agreeAgainAt: 18 }],
    });
  });

  it('at the end is a difference in length alone', () => {
    const report = beside(joined(batches.slice(0, 9)));
    expect(findingsOf(report)).toMatchObject([{ name: 'checkpoint-beyond-log', offset: 30, leo: 27 }]);
    expect(report.comparison).toMatchObject({ verdict: 'length', exit: 2, first: null, differences: [] });
    expect(report.comparison.pairs).toMatchObject([{ agreeUntil: 27 }]);
  });

  it('twice over is a batch too many', () => {
    const report = beside(joined([...batches.slice(0, 5), batches[4]!, ...batches.slice(5)]));
    expect(findingsOf(report)).toMatchObject([{ name: 'offset-regression', offset: 12, expected: 15 }]);
    expect(report.comparison.exit).toBe(1);
  });
});

describe('one epoch wrong', () => {
  const lowered = changed(whole, (bytes) => new DataView(bytes.buffer).setInt32(starts[6]! + 12, 0));
  const entries = [
    { epoch: 0, start: 0 },
    { epoch: 1, start: 12 },
    { epoch: 2, start: 24 },
  ];

  it('is an epoch that falls, a contradiction to the checkpoint, and a difference', () => {
    const report = verify([healthy, replica('broker-2', { 0: lowered }, { leaderEpochs: entries })]);
    expect(findingsOf(report)).toMatchObject([
      { name: 'epoch-regression', offset: 18, from: 1, to: 0, position: starts[6] },
      { name: 'checkpoint-mismatch', offset: 18, log: 0, checkpoint: 1 },
    ]);
    expect(report.comparison).toMatchObject({
      verdict: 'diverge',
      exit: 1,
      differences: [{ offset: 18, what: ['epoch'], agreeAgainAt: 21 }],
    });
  });

  it('in the checkpoint alone is told, and changes no exit code', () => {
    const wrong = [entries[0]!, { epoch: 1, start: 15 }, entries[2]!];
    const report = verify([replica('broker-1', { 0: whole }, { leaderEpochs: wrong })]);
    expect(findingsOf(report, 'broker-1')).toEqual([
      { name: 'checkpoint-mismatch', offset: 12, log: 1, checkpoint: 0 },
    ]);
    expect(report.comparison.exit).toBe(0);
  });

  it.each([
    ['an entry at the log end', [...entries, { epoch: 7, start: 30 }], 0],
    ['entries cut at the log start', [{ epoch: 1, start: 15 }, entries[2]!], 15],
    ['an empty file', [], 0],
  ])('is not what %s means', (_, leaderEpochs, logStart) => {
    const report = verify([replica('broker-1', { 0: whole }, { leaderEpochs, logStart })]);
    expect(findingsOf(report, 'broker-1')).toEqual([]);
  });

  it.each([
    ['an entry beyond the log end', [...entries, { epoch: 7, start: 31 }], { offset: 31, log: null, checkpoint: 7 }],
    [
      'an entry within a batch',
      [entries[0]!, { epoch: 5, start: 10 }, ...entries.slice(1)],
      { offset: 10, log: 0, checkpoint: 5 },
    ],
    ['an entry that is missing', [entries[0]!, entries[2]!], { offset: 12, log: 1, checkpoint: 0 }],
    ['a first entry that is missing', entries.slice(1), { offset: 0, log: 0, checkpoint: null }],
  ])('is what %s means', (_, leaderEpochs, finding) => {
    const report = verify([replica('broker-1', { 0: whole }, { leaderEpochs })]);
    expect(findingsOf(report, 'broker-1')).toEqual([{ name: 'checkpoint-mismatch', ...finding }]);
  });
});

describe('a torn tail', () => {
  it('is named with its place wherever the log was torn, and the rest is compared', () => {
    for (let size = starts[9]! + 1; size < whole.length; size += 1) {
      const report = beside(whole.subarray(0, size));
      expect(findingsOf(report)[0]).toMatchObject({
        name: 'torn-tail',
        offset: 27,
        position: starts[9],
        bytes: size - starts[9]!,
      });
      expect(report.comparison).toMatchObject({ verdict: 'length', exit: 2 });
    }
  });

  it('of zeros is one too', () => {
    const report = beside(joined([whole, new Uint8Array(5000)]));
    expect(findingsOf(report)).toMatchObject([{ name: 'torn-tail', offset: 30, position: whole.length, bytes: 5000 }]);
    expect(report.comparison).toMatchObject({ verdict: 'agree', exit: 2 });
  });

  it('of a file in the middle leaves a gap', () => {
    const first = joined(batches.slice(0, 4));
    const torn = { 0: first.subarray(0, first.length - 5), 12: joined(batches.slice(4)) };
    const report = verify([healthy, replica('broker-2', torn)]);
    expect(findingsOf(report)).toMatchObject([
      { name: 'torn-tail', offset: 9 },
      { name: 'offset-gap', offset: 9, last: 11 },
    ]);
    expect(report.comparison).toMatchObject({ verdict: 'diverge', exit: 1, first: { offset: 9 } });
  });
});

describe('bytes that are no batch', () => {
  it('are stepped over, and reading goes on with the next sound batch', () => {
    const noise = Uint8Array.from({ length: 100 }, (_, at) => (at * 37) & 0xff);
    const report = beside(joined([...batches.slice(0, 5), noise, ...batches.slice(5)]));
    expect(findingsOf(report)).toMatchObject([{ name: 'unreadable', offset: 15, position: starts[5] }]);
    expect(report.copies['broker-2']).toMatchObject({ records: 30, leo: 30 });
    expect(report.comparison).toMatchObject({ verdict: 'agree', exit: 2 });
  });

  it('that claim a length which cuts off the rest hide nothing of it', () => {
    const lie = changed(whole, (bytes) => new DataView(bytes.buffer).setInt32(starts[5]! + 8, 0x7000_0000));
    const report = beside(lie);
    expect(findingsOf(report)).toMatchObject([
      { name: 'unreadable', offset: 15, position: starts[5], reason: expect.stringContaining('no batch') as string },
      { name: 'offset-gap', offset: 15, last: 17 },
    ]);
    expect(report.comparison).toMatchObject({ exit: 1, differences: [{ offset: 15, agreeAgainAt: 18 }] });
  });

  it('under a right checksum are records that cannot be read', () => {
    const senseless = sealed(batches[5]!, (view) => view.setInt32(57, 17));
    const report = beside(joined([...batches.slice(0, 5), senseless, ...batches.slice(6)]));
    expect(findingsOf(report)).toMatchObject([{ name: 'unreadable', offset: 15, position: starts[5] }]);
    expect(report.comparison).toMatchObject({ verdict: 'diverge', exit: 1 });
  });
});

describe('a swapped segment', () => {
  const cuts = [0, 3, 6, 10].map((from, at, all) => joined(batches.slice(from, all[at + 1])));
  const [first, second, third] = cuts as [Uint8Array, Uint8Array, Uint8Array];

  it('is named by its files if two were exchanged, and no gap is told of it', () => {
    const report = verify([healthy, replica('broker-2', { 0: second, 9: first, 18: third })]);
    expect(findingsOf(report)).toMatchObject([
      { name: 'segment-mismatch', offset: 9, expected: 0, file: 'tide-0/00000000000000000000.log' },
      { name: 'segment-mismatch', offset: 0, expected: 9, file: 'tide-0/00000000000000000009.log' },
    ]);
    expect(report.comparison).toMatchObject({ verdict: 'diverge', exit: 1, first: { offset: 0 } });
  });

  it('is a difference at its first record if it comes from another log', () => {
    const other = [3, 4, 5].map((at) => batch(at * 3, ['x', 'y', 'z'], at < 4 ? 0 : 1));
    const report = verify([healthy, replica('broker-2', { 0: first, 9: joined(other), 18: third })]);
    expect(findingsOf(report)).toEqual([]);
    expect(report.comparison).toMatchObject({
      verdict: 'diverge',
      first: { offset: 9, values: { 'broker-1': 'value 9', 'broker-2': 'x' } },
      differences: [{ agreeAgainAt: 18 }],
    });
  });
});

describe('three replicas', () => {
  it('are told apart by sides, each difference with all of them', () => {
    const one = joined([...batches.slice(0, 4), batch(12, ['a', 'b', 'c'], 1), ...batches.slice(5)]);
    const two = joined([...batches.slice(0, 4), batch(12, ['a', 'b', 'd'], 1), ...batches.slice(5)]);
    const report = verify([healthy, replica('broker-2', { 0: one }), replica('broker-3', { 0: two })]);
    expect(report.comparison.first).toEqual({
      offset: 12,
      values: { 'broker-1': 'value 12', 'broker-2': 'a', 'broker-3': 'a' },
    });
    expect(report.comparison.pairs.map(({ agreeUntil }) => agreeUntil)).toEqual([12, 12, 14]);
  });

  it('below the high watermark of one side only do not make a committed difference', () => {
    const other = joined([...batches.slice(0, 9), batch(27, ['a', 'b', 'c'], 2)]);
    const behind = replica('broker-2', { 0: other }, { highWatermark: 27 });
    expect(verify([healthy, behind]).comparison.differences).toMatchObject([{ offset: 27, committed: false }]);
  });
});

describe('replicas that part', () => {
  const other = batch(27, ['x', 'value 28', 'value 29'], 2);
  const further = batch(30, ['more'], 2);

  it('agree again only if replicas of both sides go on', () => {
    const copies = [
      replica('broker-1', { 0: joined([...batches.slice(0, 9), other]) }),
      replica('broker-2', { 0: joined([...batches, further]) }),
      replica('broker-3', { 0: joined([...batches, further]) }),
    ];
    const [alone] = verify(copies).comparison.differences;
    expect(alone).toMatchObject({ offset: 27, agreeAgainAt: null });
    copies[0] = replica('broker-1', { 0: joined([...batches.slice(0, 9), other, further]) });
    const [again] = verify(copies).comparison.differences;
    expect(again).toMatchObject({ offset: 27, agreeAgainAt: 30 });
  });
});
