/** The epochs of a log beside what its checkpoint says, batch by batch. */
import { describe, expect, it } from 'vitest';
import { Epochs } from '../../../checker/logs/epochs.ts';
import { Findings, type Finding } from '../../../checker/logs/findings.ts';
import type { EpochEntry } from '../../../checker/logs/source.ts';

type Noted = readonly [epoch: number, base: number, last: number];

const entriesOf = (...list: readonly (readonly [epoch: number, start: number])[]): EpochEntry[] =>
  list.map(([epoch, start]) => ({ epoch, start }));

/** Notes batches, `restart` between them, and ends the log where `leo` says. */
function note(
  batches: readonly (Noted | 'restart')[],
  { entries = null, logStart = 0, leo }: { entries?: EpochEntry[] | null; logStart?: number; leo?: number } = {},
): { readonly runs: Epochs['runs']; readonly findings: readonly Finding[] } {
  const findings = new Findings();
  const epochs = new Epochs(entries, logStart, findings);
  for (const [at, batch] of batches.entries()) {
    if (batch === 'restart') epochs.restart();
    else epochs.note(...batch, 'tide-0/0.log', at);
  }
  if (leo !== undefined) epochs.end(leo);
  return { runs: epochs.runs, findings: findings.list };
}

describe('the epochs of a log', () => {
  it('are told as runs of batches', () => {
    const { runs, findings } = note([
      [0, 0, 4],
      [0, 5, 5],
      [2, 6, 9],
      [7, 10, 10],
      [7, 11, 30],
    ]);
    expect(runs).toEqual([
      [0, 0, 5],
      [2, 6, 9],
      [7, 10, 30],
    ]);
    expect(findings).toEqual([]);
  });

  it('are none where a batch has none', () => {
    expect(
      note(
        [
          [3, 0, 4],
          [-1, 5, 6],
          [3, 7, 8],
        ],
        { entries: entriesOf([3, 0], [4, 5]) },
      ),
    ).toMatchObject({ runs: [[3, 0, 8]] });
    expect(note([[-1, 0, 4]], { entries: entriesOf([3, 0]) })).toEqual({ runs: [], findings: [] });
  });

  it('may not fall', () => {
    const { runs, findings } = note([
      [5, 0, 4],
      [3, 5, 6],
      [3, 7, 8],
      [4, 9, 9],
    ]);
    expect(runs).toEqual([
      [5, 0, 4],
      [3, 5, 8],
      [4, 9, 9],
    ]);
    expect(findings).toEqual([
      { name: 'epoch-regression', offset: 5, from: 5, to: 3, file: 'tide-0/0.log', position: 1 },
    ]);
  });

  it('are judged anew where batches stand in a wrong place', () => {
    const { runs, findings } = note([[5, 10, 14], 'restart', [3, 0, 4], 'restart', [3, 5, 9]]);
    expect(findings).toEqual([]);
    expect(runs).toEqual([
      [5, 10, 14],
      [3, 0, 4],
      [3, 5, 9],
    ]);
    // The checkpoint is read from its beginning again, too.
    const entries = entriesOf([3, 0], [5, 10]);
    expect(note([[5, 10, 14], 'restart', [3, 0, 4]], { entries }).findings).toEqual([]);
    expect(
      note(
        [
          [5, 10, 14],
          [3, 0, 4],
        ],
        { entries },
      ).findings,
    ).toMatchObject([{ name: 'epoch-regression' }, { name: 'checkpoint-mismatch', log: 3, checkpoint: 5 }]);
  });

  it('are kept up to ten thousand runs, and judged beyond', () => {
    const many = Array.from({ length: 10_001 }, (_, at): Noted => [at, at, at]);
    const { runs, findings } = note([...many, [5, 10_001, 10_001]]);
    expect([runs.length, runs.at(-1)]).toEqual([10_000, [9_999, 9_999, 9_999]]);
    expect(findings).toMatchObject([{ name: 'epoch-regression', from: 10_000, to: 5 }]);
  });
});

describe('a checkpoint of epochs', () => {
  const entries = entriesOf([0, 0], [1, 10], [2, 20]);
  const mismatch = (offset: number, log: number | null, checkpoint: number | null): object => ({
    name: 'checkpoint-mismatch',
    offset,
    log,
    checkpoint,
  });

  it.each<[string, readonly Noted[], readonly object[]]>([
    [
      'agrees',
      [
        [0, 0, 9],
        [1, 10, 14],
        [1, 15, 19],
        [2, 20, 25],
      ],
      [],
    ],
    [
      'ends an epoch too late',
      [
        [0, 0, 8],
        [1, 9, 12],
        [1, 13, 19],
      ],
      [mismatch(9, 1, 0)],
    ],
    ['begins an epoch within a batch', [[0, 0, 10]], [mismatch(10, 0, 1)]],
    ['begins an epoch behind a batch', [[0, 0, 9]], []],
    ['begins several within a batch', [[0, 0, 30]], [mismatch(10, 0, 1), mismatch(20, 0, 2)]],
    [
      'contradicts two batches of one run, and is told once',
      [
        [0, 5, 9],
        [0, 11, 12],
        [0, 13, 14],
      ],
      [mismatch(11, 0, 1)],
    ],
    [
      'contradicts one run in two entries, and is told for each',
      [
        [0, 11, 12],
        [0, 21, 22],
      ],
      [mismatch(11, 0, 1), mismatch(21, 0, 2)],
    ],
    [
      'contradicts two runs in one entry, and is told for each',
      [
        [5, 11, 12],
        [6, 13, 14],
      ],
      [mismatch(11, 5, 1), mismatch(13, 6, 1)],
    ],
  ])('%s', (_, batches, findings) => {
    expect(note(batches, { entries }).findings).toEqual(findings);
  });

  it('that begins too late says nothing of what is before', () => {
    expect(
      note(
        [
          [0, 0, 4],
          [0, 5, 8],
        ],
        { entries: entriesOf([0, 5]) },
      ).findings,
    ).toEqual([mismatch(0, 0, null)]);
  });

  it.each<[number, readonly object[]]>([
    [0, [mismatch(0, 7, 0), mismatch(10, 7, 1)]],
    [9, [mismatch(9, 7, 0), mismatch(10, 7, 1)]],
    [10, [mismatch(10, 7, 1)]],
    [12, [mismatch(12, 7, 1)]],
    [13, []],
  ])('is asked from the start of the log on: %i', (logStart, findings) => {
    expect(note([[7, 0, 12]], { entries, logStart }).findings).toEqual(findings);
  });

  it('without entries, or that is not there, says nothing', () => {
    expect(note([[4, 0, 9]], { entries: [], leo: 10 }).findings).toEqual([]);
    expect(note([[4, 0, 9]], { leo: 10 }).findings).toEqual([]);
  });

  it('may speak of the end of the log, and not of what is beyond', () => {
    const { findings } = note([], { entries: entriesOf([4, 9], [5, 10], [6, 11], [8, 12]), leo: 10 });
    expect(findings).toEqual([mismatch(11, null, 6), mismatch(12, null, 8)]);
  });
});
