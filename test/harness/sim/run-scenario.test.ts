import { expect, test } from 'vitest';
import { fidelityPlan } from '../../../harness/fidelity/schedules.ts';
import { defaultRunConfig } from '../../../harness/plan/config.ts';
import { checkSimulation } from '../../../harness/run/simulated-run.ts';
import { playRunScenario } from '../../../harness/sim/play-run.ts';
import { isRunScenario, parseRunScenario, writeRunScenario } from '../../../harness/sim/run-scenario.ts';
import { ScenarioError } from '../../../harness/sim/scenario-lines.ts';
import type { SimulationRequest } from '../../../harness/sim/simulation.ts';

const request: SimulationRequest = {
  config: { ...defaultRunConfig, build: 'hw', runtime: 'sim', seed: 7, partitions: 1, timeLimitMs: 3_000 },
  schedule: {
    schemaVersion: 1,
    seed: 7,
    durationMs: 3_000,
    faults: [
      {
        id: 'f1',
        kind: 'pause',
        targets: { role: 'leader', partition: 'tide-0' },
        at: { ms: 812 },
        until: { ms: 488 },
      },
      {
        id: 'f9',
        kind: 'crash',
        targets: { role: 'nodes', nodes: [2, 'controller'] },
        at: { await: { seen: 'truncation', partition: 'tide-0' }, fromMs: 900, deadlineMs: 1_000 },
        until: { ms: 50 },
      },
    ],
  },
  load: {
    schemaVersion: 1,
    operations: [
      { atMs: 0, thread: 1, operation: { f: 'assign', keys: ['tide-0'], seek: 'earliest' } },
      { atMs: 5, thread: 0, operation: { f: 'send', key: 'tide-0', value: 1 } },
      { atMs: 40.5, thread: 1, operation: { f: 'poll' } },
    ],
  },
};
const text = writeRunScenario(request, [{ build: 'hw', expects: 'nothing is broken' }], 'A pause, and a kill.');

const refusal = (changed: string) => {
  try {
    parseRunScenario('a.scenario', changed);
  } catch (error) {
    if (error instanceof ScenarioError && error.kind === 'malformed') return error.message;
    throw error;
  }
  return null;
};

test('a script and the operations that it calls are written down whole', () => {
  const { config, schedule, load } = fidelityPlan('s1a-paused', {
    build: 'hw',
    runtime: 'sim',
    seed: 3,
    topic: 'tide',
  });
  const written = writeRunScenario(
    { config, schedule, load },
    [{ build: 'hw', expects: 'nothing is broken' }],
    'A script.',
  );
  expect(written).toContain('\nthread 1 at 0 ms when m4 is called: send 4 to tide-0\n');
  expect(parseRunScenario('a.scenario', written).request).toEqual({ config, schedule, load });
});

test('a run is written in lines that a person can read, and objects only where there is no sentence for them', () => {
  expect(text.split('\n')).toEqual([
    '# A pause, and a kill.',
    '',
    'run on hw',
    'cluster of 3 brokers',
    'seed 7',
    'set num.partitions to 1',
    'set time-limit-ms to 3000',
    'load as written',
    '',
    'at 812 ms: pause the leader of tide-0 until 1300 ms',
    '# f9 crash (nodes 2, controller) from 900 ms on when a replica of tide-0 truncated, at 1000 ms in any case, for 50 ms',
    expect.stringMatching(/^fault \{"id":"f9","kind":"crash",.+\}$/),
    'heal everything at 3000 ms',
    '',
    'thread 1 at 0 ms: assign tide-0 from earliest',
    'thread 0 at 5 ms: send 1 to tide-0',
    'thread 1 at 40.5 ms: poll',
    '',
    'expect on hw: nothing is broken',
    '',
  ]);
  expect(isRunScenario(text)).toBe(true);
  expect(parseRunScenario('a.scenario', text).request).toEqual(request);
});

test('what is expected on several builds stands once', () => {
  const expectations = ['hw', 'kip101', 'epoch'].map((build) => ({
    build,
    expects: build === 'hw' ? 'lost-acked-write of 1 is a violation' : 'nothing is broken',
  }));
  const lines = writeRunScenario(request, expectations, 'A story.').trimEnd().split('\n');
  expect(lines.slice(-2)).toEqual([
    'expect on hw: lost-acked-write of 1 is a violation',
    'expect on kip101, epoch: nothing is broken',
  ]);
  expect(lines[2]).toBe('run on hw, kip101, epoch');
});

test('numbers may be written as people write them', () => {
  const read = parseRunScenario('a.scenario', text.replace('until 1300 ms', 'until 1,300 ms'));
  expect(read.request.schedule.faults[0]?.until).toEqual({ ms: 488 });
});

test.each([
  [text.replace('run on hw\n', ''), 'a.scenario:19: no line says "run on <builds>", such as "run on hw, epoch"'],
  [text.replace('seed 7\n', ''), 'no line says "seed <n>"'],
  [text.replace('load as written', 'load drawn from the seed'), 'no line says "load as written"'],
  [text.replace('cluster of 3', 'cluster of 2'), '2 brokers cannot hold 3 replicas of a partition'],
  [
    text.replace('num.partitions to 1', 'num.partitions to many'),
    'a.scenario:6: cannot set num.partitions to many: it is a number, as 8',
  ],
  [text.replace('set num.partitions', 'set colour'), 'a.scenario:6: cannot set colour to 1: what can be set: '],
  [
    text.replace('pause the leader', 'tickle the leader'),
    'a.scenario:10: "at 812 ms: tickle the leader of tide-0 until 1300 ms" cannot be read: it is no fault; simple ones are: at <n> ms: pause|kill|power off <target> until <n> ms',
  ],
  [text.replace('"kind":"crash"', '"kind":"flood"'), 'a.scenario:12: "fault {"id":"f9","kind":"flood",'],
  [
    text.replace('send 1', 'send one'),
    'cannot be read: it is no operation; operations are: thread <n> at <n> ms: send',
  ],
  [text.replace('nothing is broken', 'nothing is'), '"nothing is" is no verdict; closest: nothing is broken'],
  [text.replace('expect on hw', 'expect on kip101'), 'line 19: it is not played on "kip101"'],
  [`${text}expect lost-acked-write in tide-1 is a violation`, 'a.scenario:20: there is no tide-1; there are tide-0'],
  [`${text}dance`, 'a.scenario:20: "dance" is no line of a run; docs/scenarios.md lists them all'],
])('a line that cannot be read is named with its number and what would be right: %#', (changed, message) => {
  expect(refusal(changed)).toContain(message);
});

const withLate = (...lines: readonly string[]): string =>
  text.replace('load as written', ['load as written', ...lines].join('\n'));

test('a late message is read by its name in the trace, of a broker, the controller or a client', () => {
  const late = ['request broker-3.2#0', 'response controller.1#25', 'request client-0#5'];
  const read = parseRunScenario('a.scenario', withLate(...late.map((message) => `${message} is late by 0.5 ms`)));
  expect(read.request.late).toEqual(late.map((message) => ({ message, byMs: 0.5 })));
});

test.each([
  [['request broker-4.1#1 is late by 5 ms'], 'a.scenario:9: broker 4 is none of this run, which has 3 brokers'],
  [['request broker-0.1#1 is late by 5 ms'], 'a.scenario:9: broker 0 is none of this run, which has 3 brokers'],
  [['request broker-1.0#1 is late by 5 ms'], 'a.scenario:9: "request broker-1.0#1" is no name of a message, such as '],
  [['request broker-1.1#01 is late by 5 ms'], 'a.scenario:9: "request broker-1.1#01" is no name of a message'],
  [['request alice.1#1 is late by 5 ms'], 'a.scenario:9: "request alice.1#1" is no name of a message'],
  [
    ['request broker-1.1#1 is late by 5 ms', 'request broker-1.1#1 is late by 6 ms'],
    'a.scenario:10: request broker-1.1#1 is late already',
  ],
  [
    ['request broker-1.1#1 is late by 86400001 ms'],
    'a.scenario:9: no message can be so late: give a number of milliseconds, 86400000 at most',
  ],
  [
    ['request broker-1.1#1 is late by 1e400 ms'],
    'a.scenario:9: no message can be so late: give a number of milliseconds, 86400000 at most',
  ],
  [
    ['request broker-1.1#1 is late by 1.2.3 ms'],
    'a.scenario:9: no message can be so late: give a number of milliseconds, 86400000 at most',
  ],
])('a message that cannot be late is refused with its line: %j', (lines, message) => {
  expect(refusal(withLate(...lines))).toContain(message);
});

test('a run is played on each build, judged by the checker, and told as far as it decides', () => {
  const judged = playRunScenario(parseRunScenario('a.scenario', text), ['hw', 'epoch'], (...run) =>
    checkSimulation(...run),
  );
  const performances = [...judged];
  expect(performances.map(({ build, failure, judgement }) => [build, failure, judgement?.valid])).toEqual([
    ['hw', null, true],
    ['epoch', null, true],
  ]);
  expect(performances[0]?.lines[0]).toBe('a.scenario on hw: seed 7, 3 brokers, 2 faults, 3 operations');
  expect(performances[0]?.lines.some((line) => line.includes('nemesis       pause f1 begins'))).toBe(true);
});

test('a late message that nobody sends is told, on each build, and is no failure', () => {
  const late = withLate('request broker-2.9#1 is late by 5 ms', 'response broker-2.1#3 is late by 1 ms');
  const played = playRunScenario(parseRunScenario('a.scenario', late), ['hw', 'epoch'], (...run) =>
    checkSimulation(...run),
  );
  for (const { build, lines, failure } of played) {
    expect(lines.filter((line) => line.includes('late'))).toEqual([
      `  request broker-2.9#1 is not late: nobody sent it on ${build}`,
    ]);
    expect(failure).toBeNull();
  }
});

test('an expectation that does not hold says what the checker found instead', () => {
  const wrong = text.replace('nothing is broken', 'lost-acked-write of 1 is a violation');
  const [performance] = playRunScenario(parseRunScenario('a.scenario', wrong), ['hw'], (...run) =>
    checkSimulation(...run),
  );
  expect(performance?.failure?.message).toBe(
    'a.scenario:19: "expect on hw: lost-acked-write of 1 is a violation" does not hold on hw: The checker says: valid',
  );
});
