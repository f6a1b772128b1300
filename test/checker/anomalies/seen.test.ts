/** What readers saw and should not have, and what the last of them did not see: word for word, by histories and final logs. */
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../checker/anomalies/finding.ts';
import {
  findAbortedReads,
  findPhantoms,
  findVanishedReads,
  noteHidden,
} from '../../../checker/anomalies/visibility.ts';
import type { Evidence } from '../../../checker/evidence.ts';
import { Told } from './told.ts';

const references = ({ evidence }: Finding): number[] =>
  evidence.map((reference) => (reference.source === 'history' ? reference.index : -1));
const doubts = (evidence: Evidence): string[] => [...(evidence.unknown.get('visibility') ?? [])];

/** A send of value n + 1 that ends so. */
function send(told: Told, offset: number, type: string, acks: 'all' | 0 | 1 = 'all'): Told {
  const value = offset + 1;
  for (const [at, micro] of [
    ['send', 'a-0', value],
    ['send', 'a-0', type === 'ok' ? [offset, value] : value],
  ].entries())
    told.lines.push({
      index: told.lines.length,
      time: 0,
      process: 1,
      type: at === 0 ? 'invoke' : type,
      f: 'send',
      value: [micro],
      acks,
    });
  return told;
}

describe('a value that nobody sent', () => {
  it('is a phantom, told with its first reader', () => {
    const told = send(new Told(), 0, 'ok').poll(7, 0, 1).poll(8, 1);
    const found = findPhantoms(told.evidence);
    expect(found).toMatchObject([
      {
        kind: 'phantom',
        class: 'violation',
        key: 'a-0',
        offset: 1,
        values: [2],
        rows: [1],
        ranges: [[1, 1]],
        labels: [],
        nodes: [],
        summary: '2 was read at offset 1 of a-0, but nobody sent it',
      },
    ]);
    expect(references(found[0]!)).toEqual([3]);
    expect(findAbortedReads(told.evidence)).toEqual([]);
  });

  it('is none if its send was only invoked, or is indefinite', () => {
    const told = send(new Told(), 0, 'info').poll(7, 0);
    expect(findPhantoms(told.evidence)).toEqual([]);
    expect(findPhantoms(send(new Told(), 0, 'ok').evidence)).toEqual([]);
  });
});

describe('a value whose send failed', () => {
  it('is a read of what was aborted', () => {
    const found = findAbortedReads(send(new Told(), 0, 'fail').poll(7, 0).evidence);
    expect(found).toMatchObject([
      { kind: 'G1a', offset: 0, values: [1], summary: '1 was read at offset 0 of a-0, but its send failed' },
    ]);
    expect(references(found[0]!)).toEqual([0, 1, 3]);
    expect(findAbortedReads(send(new Told(), 0, 'fail').evidence)).toEqual([]);
  });
});

describe('what the last readers did not see', () => {
  const hidden = (evidence: Evidence, complete: boolean | null = true): string[] => {
    noteHidden({ ...evidence, run: { ...evidence.run, finalReadComplete: complete } });
    return doubts(evidence);
  };
  const three = (acks: 'all' | 0 | 1 = 'all'): Told => send(send(send(new Told(), 0, 'ok'), 1, 'ok', acks), 2, 'ok');
  const one = 'a-0: 1 acknowledged record stands in the log of its leader, and the last readers did not see it';

  it('leaves visibility in doubt, if the leader has it', () => {
    expect(hidden(three().withLog(0, 1, 2))).toEqual([
      'a-0: 3 acknowledged records stand in the log of its leader, and the last readers did not see it',
    ]);
    expect(
      hidden(
        three()
          .op(
            7,
            'poll',
            [['poll']],
            [
              [
                'poll',
                {
                  'a-0': [
                    [0, 1],
                    [2, 3],
                  ],
                },
              ],
            ],
            { final: true },
          )
          .withLog(0, 1, 2),
      ),
    ).toEqual([one]);
    expect(hidden(three().withLog(1))).toEqual([one]);
    expect(hidden(three(1).withLog(1))).toEqual([one]);
  });

  it('is nothing where they did not read to the end, where nothing was acknowledged, or nobody knows when', () => {
    expect([hidden(three().withLog(0, 1, 2), false), hidden(three().withLog(0, 1, 2), null)]).toEqual([[], []]);
    expect(hidden(three().evidence)).toEqual([]);
    expect(hidden(three(0).withLog(1))).toEqual([]);
    expect(hidden(send(new Told(), 1, 'info').withLog(1))).toEqual([]);
  });
});

describe('a value that was read and is gone', () => {
  it('from the final log is told with who had read it', () => {
    const found = findVanishedReads(send(new Told(), 5, 'info').poll(7, 5, 6).withLog(6));
    expect(found).toMatchObject([
      {
        kind: 'consumer-saw-uncommitted',
        class: 'violation',
        key: 'a-0',
        offset: 5,
        values: [6],
        rows: [0],
        ranges: [[5, 5]],
        labels: ['vanished'],
        lackingEpoch: null,
        summary: '6 was read at offset 5 of a-0, but it is gone',
      },
    ]);
    expect(references(found[0]!)).toEqual([0, 1, 3]);
  });

  it('is none below the start of the log, nor where the log cannot be read', () => {
    const log = (changes: object, offset = 5, unreadable: readonly string[] = []): readonly [number, string[]] => {
      const evidence = new Told().poll(7, offset).withLog();
      const final = { node: 1, log: { start: 0, end: 10, flaw: null, ...changes } };
      const logs = { byKey: new Map([['a-0', new Map([[1, final]])]]) };
      const whole = { ...evidence, logs, unreadable: new Set(unreadable) } as unknown as Evidence;
      return [findVanishedReads(whole).length, doubts(whole)];
    };
    expect(log({})).toEqual([1, []]);
    expect([log({ start: 5 })[0], log({ start: 6 })[0]]).toEqual([1, 0]);
    const flawed = ["a-0: the leader's log cannot be read beyond offset 5"];
    expect(log({ flaw: {}, end: 5 })).toEqual([0, flawed]);
    expect(log({ flaw: {}, end: 6 })).toEqual([1, []]);
    expect(log({ end: 5 })).toEqual([1, []]);
    expect(log({}, 5, ['a-0'])).toEqual([0, []]);
    expect(log({}, 5, ['b-0'])).toEqual([1, []]);
  });

  it('is in doubt where no log of the leader was copied', () => {
    const evidence = new Told().poll(7, 5).withLog();
    const without = { ...evidence, logs: { byKey: new Map() } } as unknown as Evidence;
    expect([findVanishedReads(without), doubts(without)]).toEqual([
      [],
      ['a-0: there is no log of its leader to look up what was read'],
    ]);
  });

  it('by a later reader, where there are no logs, is told with that', () => {
    const found = findVanishedReads(new Told().poll(7, 3, 4, 5).poll(8, 3).poll(8, 5).evidence);
    expect(found).toMatchObject([{ offset: 4, values: [5], labels: ['vanished'] }]);
    expect(references(found[0]!)).toEqual([1, 5]);
  });

  it('is none where that reader had begun before, or was not passed over', () => {
    const gone = (told: Told): number[] => findVanishedReads(told.evidence).map(({ offset }) => offset ?? -1);
    expect(gone(new Told().poll(8, 3).poll(7, 3, 4, 5).poll(8, 5))).toEqual([]);
    expect(gone(new Told().poll(7, 3, 4, 5).poll(8, 3).poll(8, 4).poll(8, 5))).toEqual([]);
    expect(gone(new Told().poll(7, 3, 4, 5, 6, 7).poll(8, 3).poll(8, 6).poll(9, 4).poll(9, 7))).toEqual([4, 5, 6]);
    expect(gone(new Told().poll(7, 1, 2, 3, 4, 5).poll(8, 2).poll(8, 4))).toEqual([3]);
    const [last] = findVanishedReads(new Told().poll(7, 1, 2, 3).poll(8, 1).poll(8, 3).poll(9, 1).poll(9, 3).evidence);
    expect(references(last!)).toEqual([1, 9]);
    const nested = new Told().poll(7, 0, 1, 2, 3, 4).poll(8, 0).poll(8, 4).poll(9, 1).poll(9, 3);
    expect(findVanishedReads(nested.evidence).map((found) => [found.offset, references(found)])).toEqual([
      [1, [1, 5]],
      [2, [1, 9]],
      [3, [1, 5]],
    ]);
  });

  it('may have been allowed where an unclean election is', () => {
    const { evidence } = new Told().poll(7, 3, 4, 5).poll(8, 3).poll(8, 5);
    const unclean = { ...evidence, promises: { ...evidence.promises, uncleanElection: true } };
    expect(findVanishedReads(unclean)).toEqual([]);
    expect(doubts(unclean)[0]).toMatch(/^a-0: records were read and are gone, and /);
  });
});
