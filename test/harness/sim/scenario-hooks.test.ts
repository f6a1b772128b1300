/** The hooks by which a schedule is put in order, and what the checker is expected to find: each in its smallest scenario. */
import { expect, test } from 'vitest';
import { judgePlay } from '../../../harness/check/judge.ts';
import type { PlayEvidence } from '../../../harness/sim/judgement.ts';
import { ScenarioError } from '../../../harness/sim/scenario-lines.ts';
import { parseScenario, playScenario } from '../../../harness/sim/scenario.ts';

const play = (build: string, settings: readonly string[], ...lines: readonly string[]) => {
  const head = [
    '# A story.',
    '',
    `play on ${build}`,
    'cluster of 2 brokers',
    'set min.insync.replicas to 1',
    ...settings,
  ];
  const text = [...head, 'topic tide with replicas 1, 2', ...lines].join('\n');
  return playScenario(parseScenario('a.scenario', text), build, judgePlay);
};
const failure = (build: string, ...lines: readonly string[]) => play(build, [], ...lines).failure?.message ?? null;

test('an answer to a fetch that is dropped was processed by the leader, and never taken in by the follower', () => {
  const dropped = failure(
    'epoch',
    'produce m1 by alice',
    'run until HW of 2 is 1',
    'hold fetch answers to 2',
    'produce m2 by alice',
    'step a fetch answer to 2',
    'run until m2 is acknowledged',
    'expect HW of 2 is 1',
    'drop a fetch answer to 2',
    'expect HW of 1 is 2',
    'expect HW of 2 is 1',
    'deliver fetch answers to 2',
    'run until HW of 2 is 2',
  );
  expect(dropped).toBe(null);
});

test('a truncation by epochs is stepped at its question and at its answer', () => {
  const stepped = failure(
    'epoch',
    'produce m1 by alice',
    'run until HW of 2 is 1',
    'kill 2',
    'hold epoch questions of 2',
    'hold epoch answers to 2',
    'start 2',
    'run until leader known to 2 is 1',
    'expect epoch cache of 2 is 0 0',
    'step an epoch question of 2',
    'run for 50 ms',
    'expect 2 truncated nothing',
    'step an epoch answer to 2',
    'deliver epoch questions of 2',
    'deliver epoch answers to 2',
    'run until settled',
  );
  expect(stepped).toBe(null);
});

test('a push that is dropped is pushed again; one that is stepped is taken in alone', () => {
  const pushed = failure(
    'epoch',
    'hold pushes to 2',
    'move leader to 2',
    'drop a push to 2',
    'run for 10 ms',
    'expect leader known to 2 is 1',
    'step a push to 2',
    'expect leader known to 2 is 2',
  );
  expect(pushed).toBe(null);
});

test('an ISR change that is held leaves the ISR as it is, and its answer can be held alone', () => {
  const changed = failure(
    'epoch',
    'kill 2',
    'run until ISR is 1',
    'hold ISR changes of 1',
    'hold ISR answers to 1',
    'start 2',
    'run for 3 s',
    'expect ISR is 1',
    'step an ISR change of 1',
    'expect ISR is 1, 2',
    'expect ISR known to 1 is 1',
    'deliver ISR answers to 1',
    'deliver ISR changes of 1',
    'run until ISR known to 1 is 1, 2',
  );
  expect(changed).toBe(null);
});

test('a broker whose heartbeats are held is fenced, and lives again when they come', () => {
  const fenced = failure(
    'epoch',
    'hold heartbeats of 2',
    'run until 2 is fenced within 3 s',
    'deliver heartbeats of 2',
    'run until 2 is live within 10 s',
  );
  expect(fenced).toBe(null);
});

test('a hold may be narrowed to one partition, but not where a message is about none', () => {
  expect(failure('epoch', 'hold epoch questions of 2 in tide-0')).toBe(null);
  expect(() => failure('epoch', 'hold heartbeats of 2 in tide-0')).toThrow('heartbeats are about no partition');
  expect(() => failure('epoch', 'hold heartbeats of 2', 'drop a heartbeat of 2 in tide-0')).toThrow(
    'heartbeats are about no partition',
  );
  expect(() => failure('epoch', 'hold pushes to 2 at 1')).toThrow('only fetches are held "at" a broker');
  expect(() => failure('epoch', 'step a push to 2')).toThrow('say "hold pushes to 2" first');
});

/** Broker 1 leads tide-0, broker 2 leads tide-1, and the third broker fetches from both. */
const twoLeaders = (...lines: readonly string[]) => {
  const text = [
    '# A story.',
    '',
    'play on epoch',
    'cluster of 3 brokers',
    'set replica.lag.time.max.ms to 60000',
    'topic tide with replicas 1, 3; 2, 3',
    ...lines,
  ].join('\n');
  return playScenario(parseScenario('two.scenario', text), 'epoch', judgePlay).failure?.message ?? null;
};

test('a step or a drop that is narrowed to a partition lets through, or loses, what is about that one alone', () => {
  const held = ['hold fetches of 3', 'produce a by alice in tide-0', 'produce b by bob in tide-1', 'run for 600 ms'];
  const stepped = ['step a fetch of 3 in tide-1', 'expect LEO of 3 is 1 in tide-1', 'expect LEO of 3 is 0 in tide-0'];
  expect(twoLeaders(...held, ...stepped)).toBe(null);
  const other = ['step a fetch of 3 in tide-0', 'expect LEO of 3 is 0 in tide-1', 'expect LEO of 3 is 1 in tide-0'];
  expect(twoLeaders(...held, ...other)).toBe(null);
  const answers = ['hold fetch answers to 3', 'produce a by alice', 'produce b by bob in tide-1', 'run for 600 ms'];
  const dropped = ['drop a fetch answer to 3 in tide-1', 'step a fetch answer to 3 in tide-0', 'run for 1 ms'];
  expect(twoLeaders(...answers, ...dropped, 'expect LEO of 3 is 1', 'expect LEO of 3 is 0 in tide-1')).toBe(null);
});

test('a hold of one partition is not stepped by a step about another, and what two holds stop is let through both', () => {
  expect(() => twoLeaders('hold fetches of 3 in tide-0', 'step a fetch of 3 in tide-1')).toThrow(
    'say "hold fetches of 3 in tide-1" first',
  );
  const twice = ['hold fetches of 3', 'hold fetches of 3 in tide-0', 'produce a by alice', 'run for 600 ms'];
  expect(twoLeaders(...twice, 'step a fetch of 3 in tide-0', 'expect LEO of 3 is 1')).toBe(null);
  const answers = ['hold fetches of 3', 'hold fetch answers to 3 in tide-1', 'produce a by alice', 'run for 600 ms'];
  /* The answer about tide-0 is not held, so the step waits for it. */
  expect(twoLeaders(...answers, 'step a fetch of 3 in tide-0', 'expect LEO of 3 is 1')).toBe(null);
});

test('an administrator may elect uncleanly whatever the setting says, where nobody leads', () => {
  const elected = failure(
    'epoch',
    'produce m1 by alice',
    'run until HW of 2 is 1',
    'kill 2',
    'run until ISR is 1',
    'kill 1',
    'run until leader is none',
    'start 2',
    'run until 2 is live',
    'expect leader is none',
    'elect a leader uncleanly',
    'expect leader is 2',
    'expect ISR is 2',
  );
  expect(elected).toBe(null);
});

test('what is on the disk is told apart from what the broker knows', () => {
  const disk = failure(
    'epoch',
    'produce m1 by alice',
    'run until HW of 1 is 1',
    'expect HW checkpoint of 1 is 0',
    'checkpoint 1',
    'expect HW checkpoint of 1 is 1',
    'expect log of 1 is flushed to 0',
    'flush 1',
    'expect log of 1 is flushed to 1',
  );
  expect(disk).toBe(null);
});

test('a power loss keeps what was flushed, and so many bytes more, which may tear a batch in two', () => {
  const lost = (bytes: string, ...expected: readonly string[]) =>
    failure(
      'epoch',
      'produce m1 by alice',
      'run until HW of 1 is 1',
      'flush 1',
      'produce m2 by alice',
      'produce m3 by bob',
      'run until m3 is acknowledged',
      `power off 1${bytes}`,
      ...expected,
    );
  expect(lost('', 'expect log of 1 is m1')).toBe(null);
  expect(lost(' keeping 20 more bytes', 'expect log of 1 has a torn tail', 'expect LEO of 1 is 1')).toBe(null);
  expect(lost(' keeping 71 more bytes', 'expect LEO of 1 is 2', 'expect log of 1 has a torn tail')).toBe(null);
  expect(lost(' keeping 9999 more bytes', 'expect log of 1 is m1, m2, m3')).toBe(null);
  const back = lost(' keeping 20 more bytes', 'start 1', 'expect log of 1 has a torn tail');
  expect(back).toContain('it ends with a whole batch');
});

test('healing everything ends what was held, cut, paused and killed, and settles', () => {
  const healed = failure(
    'epoch',
    'produce m1 by alice',
    'hold pushes to 2',
    'cut 1 and 2',
    'pause 2',
    'kill controller',
    'heal everything and settle',
    'expect settled',
    'expect nothing is broken',
  );
  expect(healed).toBe(null);
});

test('a cluster that had its time and is not at rest has not converged', () => {
  const { judgement } = play('epoch', [], 'kill 2', 'run until ISR is 1', 'heal everything and settle within 1 ms');
  expect(judgement).toMatchObject({ valid: false, anomalies: [{ kind: 'no-convergence', class: 'violation' }] });
});

test('a play that ends before it is at rest proves nothing', () => {
  const lines = ['produce m1 by alice', 'run until m1 is acknowledged', 'expect verdict is unknown'];
  expect(failure('epoch', ...lines)).toBe(null);
  expect(failure('epoch', ...lines.slice(0, 2), 'expect nothing is broken')).toContain('the run never got to settling');
});

test('defects are built in by name, and what they break is found', () => {
  const lines = [
    'hold fetches of 2',
    'produce m1 by alice',
    'run for 600 ms',
    'kill 1',
    'run until leader known to 2 is 2',
    'deliver fetches of 2',
    'start 1',
    'run until settled',
  ];
  const settings = ['with defects ack-at-leo', 'set replica.lag.time.max.ms to 60000'];
  expect(play('epoch', settings, ...lines, 'expect lost-acked-write of m1 is a violation').failure).toBe(null);
  expect(play('epoch', settings.slice(1), ...lines, 'expect nothing is broken').failure).toBe(null);
});

test('an expectation about anomalies is exact: kind, values, offset, class and label', () => {
  const lose = [
    'produce m1 by alice',
    'run until m1 is acknowledged',
    'expect HW of 2 is 0',
    'kill 1',
    'run until leader known to 2 is 2',
    'start 1',
    'run until settled',
  ];
  const found = (expectation: string) => failure('hw-elect', ...lose, `expect ${expectation}`);
  expect(found('lost-acked-write of m1 at 0 is a violation')).toBe(null);
  expect(found('lost-acked-write is a violation')).toBe(null);
  expect(found('lost-acked-write of m1 in tide-0 is a violation')).toBe(null);
  expect(found('lost-acked-write of m2 is a violation')).toContain('lost-acked-write of m1 at 0: a violation');
  expect(found('lost-acked-write of m1 at 1 is a violation')).not.toBe(null);
  expect(found('lost-acked-write of m1 is expected')).not.toBe(null);
  expect(found('lost-acked-write of m1 is a violation, labelled last-replica-standing')).not.toBe(null);
  expect(found('inconsistent-offsets follows from lost-acked-write')).not.toBe(null);
  expect(found('nothing else is broken')).toContain('lost-acked-write of m1 at 0: a violation');
  expect(found('verdict is not valid')).toBe(null);
});

test('what is about the whole play cannot stand before its end', () => {
  expect(() => play('epoch', [], 'expect nothing is broken', 'run for 1 s')).toThrow(ScenarioError);
  expect(() => play('epoch', [], 'expect nothing is broken', 'run for 1 s')).toThrow(
    'a.scenario:8: "run for 1 s" comes after line 7, which is about the whole play; move that one to the end',
  );
  expect(() => play('epoch', ['with defects no-such'])).toThrow(
    'a.scenario:6: there is no defect "no-such"; there are',
  );
});

test('the history of a play is what a recorder would write: one operation at a time for each process', () => {
  const seen: PlayEvidence[] = [];
  const lines = [
    'play on epoch',
    'cluster of 2 brokers',
    'set min.insync.replicas to 1',
    'topic tide with replicas 1, 2',
    'produce m1 by alice',
    'produce m2, m3 by alice',
    'produce m4 by bob acks 0',
    'run until m3 is acknowledged',
    'read at 2 by alice',
    'produce m5 by carol to broker 2',
    'run until settled',
  ];
  playScenario(parseScenario('a.scenario', lines.join('\n')), 'epoch', (evidence) => {
    seen.push(evidence);
    return judgePlay(evidence);
  });
  const told = seen[0]?.history.map(({ process, type, f, value, error }) => [process, type, f, value, error ?? '']);
  expect(told).toEqual([
    [0, 'invoke', 'send', [['send', 'tide-0', 'm1']], ''],
    [
      1,
      'invoke',
      'send',
      [
        ['send', 'tide-0', 'm2'],
        ['send', 'tide-0', 'm3'],
      ],
      '',
    ],
    [2, 'invoke', 'send', [['send', 'tide-0', 'm4']], ''],
    [2, 'ok', 'send', [['send', 'tide-0', [null, 'm4']]], ''],
    [0, 'ok', 'send', [['send', 'tide-0', [0, 'm1']]], ''],
    [
      1,
      'ok',
      'send',
      [
        ['send', 'tide-0', [2, 'm2']],
        ['send', 'tide-0', [3, 'm3']],
      ],
      '',
    ],
    [1, 'invoke', 'assign', ['tide-0'], ''],
    [1, 'ok', 'assign', ['tide-0'], ''],
    [1, 'invoke', 'poll', [['poll']], ''],
    [
      1,
      'ok',
      'poll',
      [
        [
          'poll',
          {
            'tide-0': [
              [2, 'm2'],
              [3, 'm3'],
            ],
          },
        ],
      ],
      '',
    ],
    [3, 'invoke', 'send', [['send', 'tide-0', 'm5']], ''],
    [3, 'info', 'send', [['send', 'tide-0', 'm5']], 'NOT_LEADER_OR_FOLLOWER'],
  ]);
});
