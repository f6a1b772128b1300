/** Histories as Jepsen's Kafka workload writes them, and ours in the same words. */
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import { EdnHistory, operationOf } from '../../checker/edn-history.ts';
import { operationToEdn } from '../../checker/edn-write.ts';
import { EdnReader } from '../../checker/edn.ts';
import type { Operation } from '../../checker/history.ts';
import type { RunResults } from '../../checker/results.ts';
import { leaderChangeThenDeath, s1aPrime } from './schedules.ts';
import { historyInput, kinds } from './story.ts';

function check(...lines: string[]): RunResults {
  return checkRun(historyInput([], { history: new EdnHistory(lines) }));
}

/** Two operations of a process. */
function pair(index: number, process: number, f: string, invoked: string, completed: string, more = ''): string[] {
  return [
    `{:index ${index}, :time ${index}, :type :invoke, :process ${process}, :f ${f}, :value ${invoked}${more}}`,
    `{:index ${index + 1}, :time ${index + 1}, :type :ok, :process ${process}, :f ${f}, :value ${completed}${more}}`,
  ];
}

describe('a history of Jepsen', () => {
  it('is read whatever kind its keys are of', () => {
    for (const key of ['5', ':five', '"t-5"', '[1 "a"]', '{:topic "x"}']) {
      const sound = [
        ...pair(0, 0, ':send', `[[:send ${key} 1]]`, `[[:send ${key} [0 1]]]`),
        ...pair(2, 1, ':poll', '[[:poll]]', `[[:poll {${key} [[0 1]]}]]`, ', :poll-ms 100'),
      ];
      expect(check(...sound)).toMatchObject({ valid: true, anomalies: [] });
      const phantom = pair(4, 1, ':poll', '[[:poll]]', `[[:poll {${key} [[1 2]]}]]`);
      expect(kinds(check(...sound, ...phantom))).toEqual(['phantom']);
    }
  });

  it('holds transactions, assignments, subscriptions, crashes, and operations of the nemesis', () => {
    const results = check(
      '{:index 0 :time 0 :type :info :process :nemesis :f :start-partition :value :majority}',
      '{:index 1 :time 1 :type :info :process :nemesis :f :start-partition :value [:isolated {"n1" #{"n2"}}]}',
      ...pair(2, 0, ':subscribe', '[5]', '[5]'),
      ...pair(4, 0, ':txn', '[[:send 5 1] [:poll] [:send 5 2]]', '[[:send 5 [0 1]] [:poll {}] [:send 5 [2 2]]]'),
      '{:index 6 :time 6 :type :invoke :process 0 :f :crash :value nil}',
      '{:index 7 :time 7 :type :info :process 0 :f :crash :value nil :error [:crashed "x"]}',
      ...pair(8, 1, ':debug-topic-partitions', '[5]', '{"n1" {:node-id 0}}'),
      ...pair(10, 1, ':assign', '[5]', '[5]', ', :seek-to-beginning? true'),
      ...pair(12, 1, ':poll', '[[:poll]]', '[[:poll {5 [[0 1] [2 2]]}]]'),
    );
    expect(results).toMatchObject({ valid: true, anomalies: [], guarantees: { transactions: true, order: true } });
    expect(results.faults).toHaveLength(2);
    expect(results.notes).toEqual([]);
  });

  it('may be one vector, have tags and comments, and go over several lines', () => {
    const [invoke, ok] = pair(0, 0, ':send', '[[:send 5 1]]', '[[:send 5 [nil 1]]]');
    expect(check(`[${invoke}`, `#jepsen.history.Op${ok}]`).measures).toMatchObject({ sends: 1, sendsOk: 1 });
    expect(check('; by hand', ...(invoke as string).split(', '), '#_ {:a 1}', ok as string).measures['sendsOk']).toBe(
      1,
    );
  });

  it('names a broken form by its line, and goes on', () => {
    const lines = pair(0, 0, ':send', '[[:send 5 1]]', '[[:send 5 [0 1]]]');
    const results = check(
      lines[0] as string,
      '{:a "\\q"}',
      ...lines.slice(1),
      ...pair(2, 0, ':poll', '[[:poll]]', '[[:poll {}]]'),
    );
    expect(results.notes.join()).toContain('history line 2: not EDN: there is no escape \\q');
    expect(results.measures['sendsOk']).toBe(1);
  });

  it('that breaks off is read up to there', () => {
    const lines = [...pair(0, 0, ':send', '[[:send 5 1]]', '[[:send 5 [0 1]]]'), '{:index 2, :time 2, :ty'];
    const results = check(...lines);
    expect(results).toMatchObject({ valid: 'unknown', anomalies: [] });
    expect(results.notes.join()).toContain('breaks off');
  });

  it('never rounds an offset', () => {
    const results = check(...pair(0, 0, ':poll', '[[:poll]]', '[[:poll {5 [[9007199254740993 1]]}]]'));
    expect(results.anomalies.map(({ kind }) => kind)).toEqual(['malformed']);
  });

  it('with operations that nobody understands is judged without them, and tells which', () => {
    const results = check(...pair(0, 0, ':dance', 'nil', ':done'));
    expect(results.notes).toContain('1 operation "dance" of the history are not understood, and were left aside');
  });

  it('without indices and times is counted by its lines', () => {
    const results = check(
      '{:type :invoke :process 0 :f :send :value [[:send 5 1]]}',
      '{:type :ok :process 0 :f :send :value [[:send 5 [0 1]]]}',
    );
    expect(results).toMatchObject({ measures: { sendsOk: 1 }, notes: [expect.stringContaining('never read')] });
  });
});

describe('a history as EDN', () => {
  it.each([
    ['ours', [...s1aPrime('hw').history, ...leaderChangeThenDeath('hw').history]],
    [
      'one with errors, seeks and strange texts',
      [
        '{"index":0,"time":1.5,"process":3,"type":"invoke","f":"assign","value":["a \\"b\\"-0",":k"],"seek":{"a-0":3}}',
        '{"index":1,"time":2,"process":3,"type":"info","f":"poll","value":null,"error":"timeout","errors":{"a-0":"NOT_LEADER_OR_FOLLOWER"}}',
        '{"index":2,"time":3,"process":3,"type":"ok","f":"txn","value":[["send","7",[null,"x\\ny"]],["poll",{"7":[[1,"z"]]}],["poll"]],"acks":"all"}',
      ],
    ],
  ])('reads back as it was: %s', (_, lines) => {
    for (const line of lines) {
      const operation = JSON.parse(line) as Operation;
      const text = operationToEdn({ ...operation, time: Math.round(operation.time) });
      expect(text).not.toContain('\n');
      const form = new EdnReader([text]).next();
      const back = operationOf(form as never);
      expect(JSON.parse(JSON.stringify(back))).toEqual({ ...operation, time: Math.round(operation.time) });
    }
  });

  it('is judged as it was', () => {
    const { history } = s1aPrime('hw');
    const plain = checkRun(historyInput(history));
    const lines = history.map((line) => operationToEdn(JSON.parse(line) as Operation));
    const results = checkRun(historyInput([], { history: new EdnHistory(lines) }));
    expect(results.anomalies).toEqual(plain.anomalies);
    expect(results.measures).toEqual(plain.measures);
  });
});
