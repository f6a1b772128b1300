import { expect, test } from 'vitest';
import { judgePlay } from '../../../harness/check/judge.ts';
import { ScenarioError } from '../../../harness/sim/scenario-lines.ts';
import { parseScenario, playScenario } from '../../../harness/sim/scenario.ts';

const head = ['# A story.', '', 'play on hw, epoch', 'cluster of 2 brokers', 'topic tide with replicas 1, 2'];

const play = (...lines: readonly string[]) =>
  playScenario(parseScenario('a.scenario', [...head, ...lines].join('\n')), 'hw', judgePlay);

const refusal = (...lines: readonly string[]) => {
  try {
    parseScenario('a.scenario', lines.join('\n'));
  } catch (error) {
    if (error instanceof ScenarioError && error.kind === 'malformed') return error.message;
    throw error;
  }
  return null;
};

test('a scenario is its story, its builds, its settings and its statements', () => {
  const text = ['# One.', '# Two.', '', 'play on hw, 1=hw,2-3=epoch', 'cluster of 3 brokers'];
  const scenario = parseScenario(
    'a.scenario',
    [...text, 'set min.insync.replicas to 1', '# Why.', 'run for 1 s'].join('\n'),
  );
  expect(scenario).toMatchObject({
    story: ['One.', 'Two.'],
    builds: ['hw', '1=hw,2-3=epoch'],
    brokers: 3,
    settings: { minInsyncReplicas: 1 },
    statements: [{ line: 7 + 1, text: 'run for 1 s', comment: ['Why.'], on: null }],
  });
});

test.each([
  [['play on hw'], 'a.scenario:1: no line says "cluster of <n> brokers"'],
  [['cluster of 1 broker'], 'a.scenario:1: no line says "play on <builds>", such as "play on hw, epoch"'],
  [['play on hw', 'cluster of 99 brokers'], 'a.scenario:2: a cluster has 1 to 9 brokers'],
  [[...head, 'kill broker two'], 'a.scenario:6: "kill broker two" is no step; closest: kill <node>'],
  [[...head, 'dance'], 'a.scenario:6: "dance" is no step; docs/scenarios.md lists them all'],
  [
    [...head, 'expect HW of broker 1 be 3'],
    'a.scenario:6: "HW of broker 1 be 3" is no condition; closest: HW of <broker> is <offset>',
  ],
  [[...head, 'expect on kip101: HW of broker 1 is 3'], 'a.scenario:6: the scenario is not played on "kip101"'],
  [
    [...head, 'set min.insync.replicas to 1'],
    'a.scenario:6: "set min.insync.replicas to 1" has to stand before the first step',
  ],
  [['set colour to blue'], 'a.scenario:1: cannot set colour to blue; what can be set: replica.lag.time.max.ms'],
  [['set min.insync.replicas to few'], 'a.scenario:1: cannot set min.insync.replicas to few'],
  [['play on kip999', 'cluster of 2 brokers'], 'there is no build "kip999"'],
])('a line that cannot be read is named with its file, its number and what would be right: %s', (lines, message) => {
  expect(refusal(...lines)).toContain(message);
});

test('a line of any bytes and any length is named in one short line', () => {
  for (const strange of ['\u001B[2J\u0007\r', 'x'.repeat(1_000_000), `set ${'y'.repeat(100_000)} to 1`]) {
    const message = refusal(...head.slice(0, 4), `dance ${strange}`, strange);
    expect(message?.length).toBeLessThan(1_500);
    expect(message).not.toMatch(/\p{Cc}/u);
  }
});

test('an expectation that does not hold ends the play, and says where, on which build, and how things are', () => {
  const { failure, lines } = play('expect LEO of broker 1 is 7', 'run for 1 s');
  expect(failure).toMatchObject({ kind: 'failed' });
  expect(failure?.message).toBe('a.scenario:6: "expect LEO of broker 1 is 7" does not hold on hw: it is 0');
  expect(lines.at(-1)).toBe('! expect LEO of broker 1 is 7');
});

test('what is waited for in vain is a failure after its time', () => {
  const { failure, trace } = play('run until HW of broker 1 is 1 within 2 s');
  expect(failure?.message).toBe(
    'a.scenario:6: "run until HW of broker 1 is 1 within 2 s" did not come within 2000 ms: it is 0',
  );
  expect(trace.every(({ time }) => time <= 2.1e9)).toBe(true);
});

test.each([
  ['kill broker 7', 'there is no broker 7'],
  ['cut 1 and 7', 'there is no broker 7'],
  ['hold fetches of 1 at 3', 'there is no broker 3'],
  ['expect HW of 3 is 1', 'there is no broker 3'],
  ['step a fetch of broker 2', 'say "hold fetches of 2" first'],
  ['deliver pushes to broker 2', 'pushes to 2 are not held; held are nothing'],
  ['read at 0 by bob in tide-9', 'there is no tide-9; there are tide-0'],
  ['hold fetches of 2 in tide-9', 'there is no tide-9; there are tide-0'],
  ['run until settled in tide-9', 'there is no tide-9; there are tide-0'],
  ['expect lost-acked-write in tide-9 is a violation', 'there is no tide-9; there are tide-0'],
  ['flush broker 1 in tide-0', 'it is about no single partition: leave out "in tide-0"'],
  ['kill 2 in tide-5', 'it is about no single partition: leave out "in tide-5"'],
  ['run for 10 ms in tide-3', 'it is about no single partition: leave out "in tide-3"'],
  ['expect 1 is live in tide-0', 'it is about no single partition: leave out "in tide-0"'],
  ['expect m1 is acknowledged', 'nobody produced m1'],
  ['run until m1 is acknowledged', 'nobody produced m1'],
  ['expect m1 is lost', 'nobody produced m1'],
  ['expect bob got nothing', 'bob has read nothing yet'],
  ['produce m1 by controller', 'controller is no name of a client'],
  ['produce m1, m1 by alice', 'm1 was produced before'],
  ['produce r0 to r10000 by alice', 'a batch holds 10000 records at the most'],
  ['run for 3601 s', 'a step lasts an hour at the most'],
  ['heal everything and settle within 3601 s', 'a step lasts an hour at the most'],
  ['produce r5 to r0 by alice', 'r0 comes before r5'],
  ['read at 99999999999999999999 by bob', 'an offset is 9007199254740991 at the most'],
  [`topic wide with replicas ${Array(201).fill('1').join(';')}`, 'a topic has 200 partitions at the most'],
  ['topic wide with replicas 1, 3', 'a partition stands on brokers from 1 to 2, apart by commas'],
  ['topic wide with replicas 1 2', 'a partition stands on brokers from 1 to 2, apart by commas'],
  ['topic wide with replicas 1;', 'a partition stands on brokers from 1 to 2, apart by commas'],
  ['topic wide with replicas 1, 1', 'a broker holds one replica of a partition'],
  ['topic tide with replicas 1', 'there is a topic tide already'],
])('a line that could never be done is named before anything is played: %s', (line, why) => {
  expect(refusal(...head, line)).toBe(`a.scenario:6: "${line}" cannot be done: ${why}`);
});

test('a line may name only what lines before it have made', () => {
  const made = ['produce m1 by alice', 'hold fetches of 2', 'hold fetches of 2 in tide-0', 'read at 0 by bob'];
  expect(refusal(...head, ...made, 'expect m1 is lost', 'expect bob got nothing', 'step a fetch of 2')).toBe(null);
  expect(refusal(...head, ...made, 'hold fetches of 2')).toContain('fetches of 2 are held already');
  expect(refusal(...head, ...made, 'produce m1 by carol')).toContain('m1 was produced before');
  expect(refusal(...head, 'expect m1 is lost', ...made)).toContain('nobody produced m1');
  const healed = refusal(...head, ...made, 'heal everything and settle', 'deliver fetches of 2');
  expect(healed).toContain('fetches of 2 are not held; held are nothing');
  expect(refusal(...head.slice(0, 4), 'expect leader is 1')).toContain('there is no topic yet');
  expect(refusal(...head.slice(0, 4), '2 is live', ...head.slice(4))).toContain('is no step');
});

test.each([
  ['start broker 1', 'broker 1 runs already'],
  ['move leader to broker 1', 'ELECTION_NOT_NEEDED: broker 1 leads already'],
])('a step that makes no sense as things stand is named when its turn comes: %s', (line, why) => {
  expect(play(line).failure).toMatchObject({
    kind: 'failed',
    message: `a.scenario:6: "${line}" cannot be done: ${why}`,
  });
});

test('what is lost is said in the words of the condition', () => {
  const kept = ['produce m1 by alice', 'produce m2 by bob', 'run until settled'];
  expect(play(...kept, 'expect m1 is lost').failure?.message).toMatch(/does not hold on hw: nothing is lost$/);
  expect(play(...kept, 'expect nothing is lost').failure).toBe(null);
});

test('what is expected on other builds is passed over', () => {
  expect(play('expect on epoch: LEO of broker 1 is 7', 'expect on hw: LEO of broker 1 is 0').failure).toBe(null);
});

test('the same scenario gives the same trace, to the byte', () => {
  const lines = ['produce m1 by alice', 'run until m1 is acknowledged', 'kill broker 1', 'run until leader is 2'];
  expect(JSON.stringify(play(...lines).trace)).toBe(JSON.stringify(play(...lines).trace));
});

test('a broker that does not lead, or that is down, answers as a real one would', () => {
  const { failure } = play(
    'produce m1 by alice to broker 2',
    'run until m1 is refused with NOT_LEADER_OR_FOLLOWER',
    'kill broker 2',
    'read at 0 by bob from broker 2',
    'produce m2 by carol to broker 2',
    'run for 1 s',
    'expect m2 is not acknowledged',
    'expect broker 2 is down',
  );
  expect(failure).toBe(null);
});

test('several partitions are told apart by name', () => {
  const text = [
    '# Two partitions.',
    '',
    'play on epoch',
    'cluster of 2 brokers',
    'topic tide with replicas 1, 2; 2, 1',
    'hold fetches of broker 2 in tide-0',
    'produce a1 by alice in tide-0',
    'produce b1 by bob in tide-1',
    'run until b1 is acknowledged',
    'expect leader is 1 in tide-0',
    'expect leader is 2 in tide-1',
    'expect a1 is not acknowledged',
    'expect HW of broker 2 is 1 in tide-1',
    'expect LEO of broker 2 is 0 in tide-0',
    'deliver fetches of broker 2 in tide-0',
    'run until settled in tide-0',
    'expect log of broker 2 is a1 in tide-0',
  ];
  const scenario = parseScenario('two.scenario', text.join('\n'));
  expect(playScenario(scenario, 'epoch', judgePlay).failure).toBe(null);
});

test('a hold that is lost ends the connections of what it stopped, and they are made anew', () => {
  const { failure } = play(
    'hold fetch answers to broker 2',
    'produce m1 by alice',
    'run for 10 ms',
    'expect LEO of broker 2 is 0',
    'lose fetch answers to broker 2',
    'run until m1 is acknowledged within 1 s',
    'expect log of broker 2 is m1',
  );
  expect(failure).toBe(null);
});

test('builds can be mixed in one cluster', () => {
  const text = ['# Mixed.', '', 'play on 1=hw,2-3=epoch', 'cluster of 3 brokers', 'topic tide with replicas 1, 2, 3'];
  const steps = ['produce m1 by alice', 'run until settled', 'move leader to broker 2', 'run until settled'];
  const scenario = parseScenario('mixed.scenario', [...text, ...steps, 'expect logs agree'].join('\n'));
  const { failure, lines } = playScenario(scenario, '1=hw,2-3=epoch', judgePlay);
  expect(failure).toBe(null);
  expect(lines.filter((line) => line.includes('starts with build')).map((line) => line.slice(14))).toEqual([
    '  broker 1      starts with build hw (life 1)'.slice(2),
    '  broker 2      starts with build epoch (life 1)'.slice(2),
    '  broker 3      starts with build epoch (life 1)'.slice(2),
  ]);
});
