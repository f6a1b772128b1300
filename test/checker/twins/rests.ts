/**
 * The twin of coming to rest, over random last states of a few partitions and what the harness says about settling.
 *
 * By definition: after healing a cluster comes to rest, in its bound. One that did not is one anomaly; of one that is said
 * to have come to rest each partition is one that belies it: nobody leads it, a replica is not in its ISR, or a log or
 * a high watermark is not where the leader's log ends. Where it was not proven that all had healed nothing is said.
 */
import { encodeBatch } from '../../../broker/protocol/index.ts';
import type { CheckInput } from '../../../checker/check.ts';
import type { Found, RunFamily } from './family.ts';
import type { Draws } from './random.ts';
import { TraceLines } from './trace-lines.ts';

const keys = ['a-0', 'a-1'];

export const rests: RunFamily = {
  name: 'rests',
  kinds: ['no-convergence'],
  generate,
  judge,
};

/** What the twin is told besides the input, since it must not decode bytes with the checker's decoder. */
interface State {
  readonly key: string;
  readonly replicas: readonly number[];
  readonly leader: number | null;
  readonly isr: readonly number[];
  readonly ends: ReadonlyMap<number, number>;
  readonly highWatermarks: ReadonlyMap<number, number>;
  readonly isDeleted: boolean;
}

const states = new WeakMap<CheckInput, readonly State[]>();

function generate(draws: Draws): CheckInput {
  const all = keys.slice(0, 1 + draws.below(2)).map((key) => stateOf(draws, key));
  const settled = draws.pick([true, true, true, true, true, false, null]);
  const healed = draws.pick([true, true, true, true, null, false]);
  const told = new TraceLines();
  for (const node of [1, 2, 3]) told.add(node, 'start', { port: 1, build: 'x', defects: [] });
  for (const state of all) tell(state, told);
  const { run } = told.input();
  const input = told.input({
    run: { ...run, settled, healed, settleMs: settled === false ? 1_000 : 10, completed: true, logsCollected: true },
    logs: {
      nodes: [1, 2, 3],
      files: all.flatMap(({ key, ends }) =>
        [...ends].map(([node, end]) => ({
          node,
          key,
          segments: [{ baseOffset: 0, bytes: Buffer.concat(Array.from({ length: end }, (_, at) => bytesOf(at))) }],
          logStart: 0,
        })),
      ),
    },
  });
  states.set(input, all);
  return input;
}

/** Mostly at rest but for one thing, or for none. */
function stateOf(draws: Draws, key: string): State {
  const replicas = draws.pick([
    [1, 2, 3],
    [1, 2, 3],
    [2, 3],
  ]);
  const end = 1 + draws.below(4);
  const odd = draws.pick(replicas);
  const trouble = draws.below(12);
  const leader = trouble === 0 ? null : draws.pick(replicas);
  const isr = trouble === 1 ? replicas.filter((node) => node !== odd) : replicas;
  const other = draws.chance(0.5) ? end - 1 : end + 1;
  return {
    key,
    replicas,
    leader,
    isr: draws.chance(0.5) ? isr : isr.toReversed(),
    ends: new Map(replicas.map((node) => [node, node === odd && trouble === 2 ? other : end])),
    highWatermarks: new Map(
      replicas.flatMap((node): [number, number][] => {
        // Of a broker that never told its high watermark nothing is known.
        if (draws.chance(0.1)) return [];
        return [[node, node === odd && trouble === 3 ? other : end]];
      }),
    ),
    isDeleted: trouble === 4,
  };
}

function tell({ key, replicas, leader, isr, highWatermarks, isDeleted }: State, told: TraceLines): void {
  const where = { partition: key, leaderEpoch: 0 };
  told.add('controller', 'create', { partition: key, replicas });
  const election = { leader, previousLeader: null, isr: replicas, clean: true, reason: 'test' };
  told.add('controller', 'election', { ...where, ...election });
  if (isr.length < replicas.length) told.add('controller', 'isr', { ...where, from: replicas, to: isr, reason: 'lag' });
  for (const [node, to] of highWatermarks) told.add(node, 'hw', { ...where, from: 0, to });
  if (isDeleted) told.add('controller', 'delete', { partition: key });
}

function bytesOf(offset: number): Uint8Array {
  return encodeBatch({ baseOffset: offset, leaderEpoch: 0, records: [{ key: null, value: String(offset) }] });
}

function judge(input: CheckInput): Found {
  const found: Found = { present: [], near: [] };
  const { settled, healed } = input.run;
  const unrest = (states.get(input) as readonly State[]).filter(belies);
  if (settled === true && healed !== false) found.present.push(...unrest.map(({ key }) => `no-convergence ${key}`));
  else if (settled === false && healed !== false) found.present.push('no-convergence run');
  else if (unrest.length > 0 || settled === false) found.near.push('no-convergence');
  // Something is not at its place, of which nobody promised anything any more.
  if ((states.get(input) as readonly State[]).some(({ isDeleted }) => isDeleted)) found.near.push('no-convergence');
  return found;
}

function belies({ replicas, leader, isr, ends, highWatermarks, isDeleted }: State): boolean {
  if (isDeleted) return false;
  if (leader === null || isr.length < replicas.length) return true;
  const end = ends.get(leader);
  return [...ends.values(), ...highWatermarks.values()].some((each) => each !== end);
}
