/**
 * Whatever is done to a cluster of the epoch build, short of losing disks and of unclean elections: afterwards nothing
 * acknowledged is lost, all replicas agree, and no reader ever got what was not committed.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgePlay } from '../../../harness/check/judge.ts';
import { evidenceOf } from '../../../harness/sim/play-end.ts';
import { Play, PlayError } from '../../../harness/sim/play.ts';
import { parseCondition } from '../../../harness/sim/scenario-conditions.ts';
import { scenarioDefaults } from '../../../harness/sim/scenario-settings.ts';
import { parseStep } from '../../../harness/sim/scenario-steps.ts';

/** Searching takes a few seconds on an idle machine. */
const PATIENCE_MS = 120_000;

const node = fc.constantFrom('1', '2', '3', 'controller');
const broker = fc.constantFrom('1', '2', '3');
const twoBrokers = fc.constantFrom(['1', '2'], ['2', '3'], ['1', '3'], ['2', '1'], ['3', '2'], ['3', '1']);
const place = fc.constantFrom('1', '2', '3', 'controller', 'clients');

const verb = fc.constantFrom('step', 'drop');
const sort = fc.constantFrom('a fetch of', 'a fetch answer to', 'an epoch answer to', 'a push to', 'an ISR change of');

/** Steps that may make no sense as things stand; those are passed over. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant('produce') },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 40 }).map((ms) => `run for ${ms} ms`) },
  { weight: 2, arbitrary: fc.integer({ min: 100, max: 2500 }).map((ms) => `run for ${ms} ms`) },
  { weight: 3, arbitrary: broker.map((id) => `move leader to ${id}`) },
  { weight: 2, arbitrary: node.map((id) => `kill ${id}`) },
  { weight: 3, arbitrary: node.map((id) => `start ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `stop ${id}`) },
  { weight: 1, arbitrary: node.map((id) => `pause ${id}`) },
  { weight: 2, arbitrary: node.map((id) => `resume ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `checkpoint ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `hold pushes to ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `deliver pushes to ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `lose pushes to ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `hold fetches of ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `deliver fetches of ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `hold fetch answers to ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `deliver fetch answers to ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `hold epoch answers to ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `deliver epoch answers to ${id}`) },
  { weight: 1, arbitrary: fc.tuple(verb, sort, broker).map(([does, what, id]) => `${does} ${what} ${id}`) },
  { weight: 1, arbitrary: broker.map((id) => `hold ISR changes of ${id}`) },
  { weight: 2, arbitrary: broker.map((id) => `deliver ISR changes of ${id}`) },
  { weight: 1, arbitrary: twoBrokers.map(([from, to]) => `cut ${from} and ${to}`) },
  { weight: 1, arbitrary: fc.tuple(place, place).map(([from, to]) => `cut ${from} to ${to}`) },
  { weight: 3, arbitrary: fc.tuple(place, place).map(([from, to]) => `heal ${from} and ${to}`) },
  { weight: 1, arbitrary: broker.map((id) => `read at 0 by reader${id} from ${id}`) },
);

/** A leader change under load, and then the new leader dies: what a single step does hardly ever find. */
const handover = fc
  .record({ id: broker, before: fc.integer({ min: 1, max: 6 }), after: fc.nat(6) })
  .map((drawn) => [
    'produce',
    `run for ${drawn.before} ms`,
    `move leader to ${drawn.id}`,
    `run for ${drawn.after / 2} ms`,
    `kill ${drawn.id}`,
    'run for 1800 ms',
  ]);

const schedule = fc
  .array(fc.oneof({ weight: 12, arbitrary: step.map((each) => [each]) }, { weight: 1, arbitrary: handover }), {
    minLength: 5,
    maxLength: 40,
  })
  .map((parts) => parts.flat());

function attempt(play: Play, text: string): void {
  const act = parseStep(text);
  if (act === null) throw new Error(`no step: ${text}`);
  try {
    act(play);
  } catch (error) {
    if (!(error instanceof PlayError)) throw error;
  }
}

/** Ends every fault, and waits for those that are still about to stop. */
function mend(play: Play): void {
  for (const name of play.holds.keys()) attempt(play, `deliver ${name}`);
  const places = ['1', '2', '3', 'controller', 'clients'];
  for (const from of places) for (const to of places) attempt(play, `heal ${from} to ${to}`);
  const nodes = ['controller', '1', '2', '3'];
  for (const id of nodes) attempt(play, `resume ${id}`);
  for (const id of nodes) attempt(play, `start ${id}`);
  play.runFor(5000);
  for (const id of nodes) attempt(play, `start ${id}`);
}

function playAll(steps: readonly string[], build: string): Play {
  const settings = { ...scenarioDefaults, replicaLagTimeMaxMs: 2000, highWatermarkCheckpointIntervalMs: 5000 };
  const play = new Play(build, 3, settings);
  play.start();
  attempt(play, 'topic tide with replicas 1, 2, 3');
  /* Without an operation there would be nothing to judge. */
  attempt(play, 'read at 0 by bob');
  let produced = 0;
  for (const each of steps) {
    /* A client of its own for each record, so that none waits for another. */
    produced += 1;
    attempt(play, each === 'produce' ? `produce m${produced} by client${produced}` : each);
  }
  mend(play);
  return play;
}

const holds = (play: Play, condition: string) => parseCondition(condition)!(play);

test(
  'no schedule of crashes, pauses, cuts, delays and leader moves loses or diverges anything on epoch',
  () => {
    fc.assert(
      fc.property(schedule, (steps) => {
        const play = playAll(steps, 'epoch');
        const settled = play.runUntil(() => holds(play, 'settled').holds, 60_000);
        expect(settled ? 'settled' : holds(play, 'settled').actual).toBe('settled');
        expect(holds(play, 'nothing is lost')).toEqual({ holds: true, actual: 'nothing is lost' });
        expect(holds(play, 'logs agree')).toEqual({ holds: true, actual: 'it is logs agree' });
        expect(holds(play, 'no read went beyond the high watermark').actual).toBe('none did');
        const { valid, anomalies, notes } = judgePlay(evidenceOf(play, 'drawn'));
        expect({ valid, anomalies, notes }).toEqual({ valid: true, anomalies: [], notes });
      }),
      { seed: 1, numRuns: 150 },
    );
  },
  PATIENCE_MS,
);

test.each(['hw', 'hw-elect'])(
  'schedules of the same kind find a loss on %s',
  (build) => {
    const loses = (steps: readonly string[]) => {
      const play = playAll(steps, build);
      return play.runUntil(() => holds(play, 'settled').holds, 60_000) && !holds(play, 'nothing is lost').holds;
    };
    expect(fc.sample(schedule, { seed: 7, numRuns: 500 }).some(loses)).toBe(true);
  },
  PATIENCE_MS,
);
