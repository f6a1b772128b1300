/**
 * Random schedules on the real cores, judged by the checker alone.
 *
 * On the epoch build it may raise no alarm: not for crashes, pauses and cuts, and not when disks lose power and leaders
 * are elected uncleanly, where losses are expected but nothing else is. On any build it finds exactly the losses that
 * the play itself knows of.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import type { RunResults } from '../../checker/results.ts';
import { Play } from '../../harness/sim/play.ts';
import { parseCondition } from '../../harness/sim/scenario-conditions.ts';
import { scenarioDefaults } from '../../harness/sim/scenario-settings.ts';
import { parseStep } from '../../harness/sim/scenario-steps.ts';
import { inputOf, playedSteps } from './played.ts';

/** How many schedules are tried of each kind, if not as many as stand below. Some take a few seconds on an idle machine. */
const { RUNS } = process.env;
const PATIENCE_MS = Math.max(120_000, Number(RUNS ?? 0) * 200);

const broker = fc.constantFrom('1', '2', '3');
const place = fc.constantFrom('1', '2', '3', 'controller');
const gentle = [
  { weight: 5, arbitrary: fc.constant('produce') },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 40 }).map((ms) => `run for ${ms} ms`) },
  { weight: 2, arbitrary: fc.integer({ min: 100, max: 2500 }).map((ms) => `run for ${ms} ms`) },
  { weight: 3, arbitrary: broker.map((id) => `move leader to ${id}`) },
  { weight: 3, arbitrary: broker.map((id) => `kill ${id}`) },
  { weight: 4, arbitrary: broker.map((id) => `start ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `pause ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `resume ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `checkpoint ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `hold pushes to ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `deliver pushes to ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `hold fetches of ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `deliver fetches of ${id}`) },
  { weight: 1, arbitrary: fc.tuple(place, place).map(([from, to]) => `cut ${from} to ${to}`) },
  { weight: 2, arbitrary: fc.tuple(place, place).map(([from, to]) => `heal ${from} and ${to}`) },
  { weight: 2, arbitrary: broker.map((id) => `read at 0 by reader${id} from ${id}`) },
];
const order = fc.shuffledSubarray(['1', '2', '3'], { minLength: 3 });
/** What single steps hardly ever do: the last replica standing, a power cut for all, a new leader that dies at once. */
const handover = fc.tuple(order, fc.integer({ min: 1, max: 6 })).map(([[id], ms]) => {
  return ['produce', `run for ${ms} ms`, `move leader to ${id}`, 'run for 1 ms', `kill ${id}`, 'run for 1800 ms'];
});
const lastStanding = fc
  .tuple(order, fc.boolean())
  .map(([[a, b, c], loses]) => [
    `kill ${a}`,
    `kill ${b}`,
    'run for 2500 ms',
    'produce',
    'run for 100 ms',
    loses ? `power off ${c}` : `kill ${c}`,
    `start ${loses ? c : a}`,
    'run for 2500 ms',
    'produce',
  ]);
const blackout = fc
  .tuple(order, order)
  .map(([down, up]) => [
    'produce',
    'run for 5 ms',
    `flush ${up[1]}`,
    ...down.map((id) => `power off ${id}`),
    'run for 2000 ms',
    `start ${up[0]}`,
    'run for 1500 ms',
    'produce',
  ]);
const single = (kinds: typeof gentle) => fc.oneof(...kinds).map((text) => [text]);
const gentleSteps = fc.array(fc.oneof({ weight: 12, arbitrary: single(gentle) }, { weight: 1, arbitrary: handover }), {
  minLength: 8,
  maxLength: 40,
});
const cruelSteps = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: single(gentle) },
    { weight: 2, arbitrary: single([{ weight: 1, arbitrary: broker.map((id) => `power off ${id}`) }]) },
    { weight: 1, arbitrary: single([{ weight: 1, arbitrary: broker.map((id) => `flush ${id}`) }]) },
    { weight: 1, arbitrary: handover },
    { weight: 1, arbitrary: lastStanding },
    { weight: 1, arbitrary: blackout },
  ),
  { minLength: 8, maxLength: 40 },
);

/** Plays the steps, mends everything, and has the run checked. Null when the play could not settle. */
function judge(
  texts: readonly string[],
  build: string,
  cruelly: boolean,
): { results: RunResults; lost: boolean } | null {
  const settings = {
    ...scenarioDefaults,
    minInsyncReplicas: cruelly ? 1 : 2,
    uncleanElection: cruelly,
    replicaLagTimeMaxMs: 2000,
    highWatermarkCheckpointIntervalMs: 5000,
  };
  const play = new Play(build, 3, settings);
  play.start();
  const all = ['topic tide with replicas 1, 2, 3', 'produce', 'run for 20 ms', ...texts].map((text, at) =>
    text === 'produce' ? `produce m${at} by client${at}` : text,
  );
  const mend = (): string[] => {
    const nodes = ['1', '2', '3', 'controller'];
    return [
      ...[...play.holds.keys()].map((name) => `deliver ${name}`),
      ...nodes.flatMap((from) => nodes.map((to) => `heal ${from} to ${to}`)),
      ...nodes.flatMap((id) => [`resume ${id}`, `start ${id}`]),
      'run for 5000 ms',
    ];
  };
  const act = (text: string) => (): void => parseStep(text)?.(play);
  const clients = playedSteps(play, all.map(act));
  playedSteps(play, mend().map(act));
  const input = inputOf(play, clients, settings);
  if (input.run.settled === false) return null;
  return { results: checkRun(input), lost: parseCondition('nothing is lost')?.(play).holds === false };
}

describe('on random schedules', () => {
  it(
    'the epoch build raises no alarm',
    () => {
      let count = 0;
      fc.assert(
        fc.property(gentleSteps, (texts) => {
          const judged = judge(texts.flat(), 'epoch', false);
          if (judged === null) return;
          expect(judged.results).toMatchObject({ valid: true, anomalies: [], notes: [] });
          count += 1;
        }),
        { seed: 5, numRuns: Number(RUNS ?? 60) },
      );
      expect(count).toBeGreaterThan(30);
    },
    PATIENCE_MS,
  );

  it(
    'the epoch build loses only what power loss and unclean elections excuse, and never diverges',
    () => {
      let losses = 0;
      fc.assert(
        fc.property(cruelSteps, (texts) => {
          const judged = judge(texts.flat(), 'epoch', true);
          if (judged === null) return;
          expect(judged.results.anomalies.filter((anomaly) => anomaly.class === 'violation')).toEqual([]);
          expect(judged.results).toMatchObject({ valid: true, notes: [] });
          if (judged.lost) losses += 1;
        }),
        { seed: 6, numRuns: Number(RUNS ?? 60) },
      );
      expect(losses).toBeGreaterThan(5);
    },
    PATIENCE_MS,
  );

  it.each(['hw', 'hw-elect', 'epoch'])(
    'the losses found on %s are those that happened',
    (build) => {
      let losses = 0;
      fc.assert(
        fc.property(cruelSteps, (texts) => {
          const judged = judge(texts.flat(), build, true);
          if (judged === null) return;
          if (judged.lost) losses += 1;
          const found = judged.results.anomalies.some(({ kind }) => kind === 'lost-acked-write');
          expect(found).toBe(judged.lost);
        }),
        { seed: 8, numRuns: Number(RUNS ?? 40) },
      );
      expect(losses).toBeGreaterThan(5);
    },
    PATIENCE_MS,
  );
});
