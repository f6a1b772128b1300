/** The twin of how readers go on: what they skip, what they repeat, within and between operations. */
import type { Operation } from '../../../checker/history.ts';
import type { Family, Found } from './family.ts';
import { calm, generate } from './generate.ts';
import { actsOf, isPromised, readBy, sentBy, type Act } from './operations.ts';
import { withPlants, type Plants } from './plant.ts';

const plants: Plants = {
  'poll-skip': [
    (plot) => {
      plot.send(0, 1, 3);
      plot.poll(1, [[2, 8]]);
      plot.poll(1, [[4, 9]]);
    },
    (plot) => {
      plot.assign(1, 'subscribe');
      plot.send(0, 1, 3);
      plot.poll(1, [[2, 8]]);
      plot.poll(1, [[4, 9]]);
    },
  ],
  'nonmonotonic-poll': [
    (plot) => {
      plot.poll(1, [[4, 8]]);
      plot.assign(1, 'assign');
      plot.poll(1, [[4, 8]]);
    },
    (plot) => {
      plot.poll(1, [[4, 8]]);
      plot.assign(1, 'assign', { seek: 'earliest' });
      plot.poll(1, [[2, 9]]);
    },
  ],
  'int-poll-skip': [
    (plot) => {
      plot.poll(0, [[3, 1]]);
      plot.polls(1, [[2, 8]], [[4, 9]]);
    },
    (plot) => plot.polls(1, [[2, 8]], [[4, 9]]),
  ],
  'int-nonmonotonic-poll': [
    (plot) => plot.polls(1, [[4, 8]], [], [[3, 9]]),
    (plot) => {
      const moved = { 'rebalance-log': [{ type: 'revoked', keys: ['a-0'] }] };
      plot.poll(
        1,
        [
          [4, 8],
          [3, 9],
        ],
        'ok',
        moved,
      );
    },
  ],
};

export const readerOrder: Family = {
  name: 'order of reads',
  kinds: ['poll-skip', 'nonmonotonic-poll', 'int-poll-skip', 'int-nonmonotonic-poll'],
  generate: (draws) => {
    const history = generate(draws, {
      ...calm,
      steps: 32,
      sends: 0.4,
      processes: 2 + draws.below(2),
      keys: 1 + draws.below(2),
      assigns: 0.08,
      seeks: 0.4,
      subscribes: draws.pick([0, 0, 0.6]),
      outOfRange: draws.pick([0, 0.1]),
      holes: draws.pick([0, 0.2]),
      dropped: draws.pick([0, 0.1, 0.25]),
      repeated: draws.pick([0, 0, 0.2]),
      jumps: draws.pick([0, 0.1, 0.3]),
      fails: 0.08,
      several: draws.pick([0, 0.4]),
      rebalances: draws.pick([0, 0.4]),
      weakAcks: draws.pick([0, 0, 0.5]),
    });
    return withPlants(draws, history, plants);
  },
  plants,
  judge,
};

function judge(history: readonly Operation[]): Found {
  const acts = actsOf(history);
  const found: Found = { present: [], near: [] };
  for (const key of ['a-0', 'a-1']) {
    const acked = acts.flatMap(sentBy).filter((sent) => sent.key === key && isPromised(sent));
    const read = acts.flatMap(readBy).filter((each) => each.key === key);
    const known = new Set([...acked.map(({ offset }) => offset as number), ...read.map(({ offset }) => offset)]);
    for (const act of acts) judgeAct(acts, act, key, known, found);
  }
  return found;
}

function judgeAct(acts: readonly Act[], act: Act, key: string, known: ReadonlySet<number>, found: Found): void {
  const offsets = offsetsOf(act, key);
  const [first] = offsets;
  if (first === undefined) return;
  judgeWithin(act, key, offsets, known, found);
  const own = acts.filter((each) => each.process === act.process && each.end < act.end);
  const previous = own.findLastIndex((each) => each.type === 'ok' && offsetsOf(each, key).length > 0);
  const last = offsetsOf(own[previous], key).at(-1);
  if (last === undefined) return;
  const since = own.slice(previous + 1);
  const failed = Math.max(-1, ...since.flatMap((each) => offsetsOf(each, key)));
  const back = first <= last;
  const from = Math.max(last, failed);
  const skips = first > from + 1;
  const moved = [own[previous] as Act, ...since].some((each) => loses(each, key)) || changesMode(own, previous);
  const free = moved || isSubscribed(own);
  if (back) {
    if (free) found.near.push('nonmonotonic-poll');
    else found.present.push(`nonmonotonic-poll ${key} ${act.end}`);
  } else if (skips) {
    if (!free && passes(known, from, first)) found.present.push(`poll-skip ${key} ${from} ${first}`);
    else found.near.push('poll-skip');
  }
}

function judgeWithin(
  act: Act,
  key: string,
  offsets: readonly number[],
  known: ReadonlySet<number>,
  found: Found,
): void {
  const log = (act.completion as { 'rebalance-log'?: { keys: string[] }[] } | null)?.['rebalance-log'] ?? [];
  const free = log.some(({ keys }) => keys.includes(key));
  for (const [at, to] of offsets.entries()) {
    const from = offsets[at - 1];
    if (from === undefined) continue;
    if (to <= from) {
      if (free) found.near.push('int-nonmonotonic-poll');
      else found.present.push(`int-nonmonotonic-poll ${key} ${act.end} ${at}`);
    } else if (to > from + 1) {
      if (!free && passes(known, from, to)) found.present.push(`int-poll-skip ${key} ${from} ${to}`);
      else found.near.push('int-poll-skip');
    }
  }
}

function passes(known: ReadonlySet<number>, from: number, to: number): boolean {
  return [...known].some((offset) => from < offset && offset < to);
}

function offsetsOf(act: Act | undefined, key: string): number[] {
  if (act === undefined) return [];
  return readBy(act).flatMap((read) => (read.key === key ? [read.offset] : []));
}

/** After it, the process reads the key from wherever it likes. */
function loses(act: Act, key: string): boolean {
  if (act.completion?.errors?.[key] === 'OFFSET_OUT_OF_RANGE') return true;
  if (!isAssignment(act)) return false;
  return act.invocation.seek !== undefined || !(act.invocation.value as string[]).includes(key);
}

function isAssignment(act: Act): boolean {
  return (act.f === 'assign' || act.f === 'subscribe') && act.type === 'ok';
}

function isSubscribed(own: readonly Act[]): boolean {
  return own.findLast(isAssignment)?.f === 'subscribe';
}

/** The process went from assign to subscribe, or back, after the operation at `previous`. */
function changesMode(own: readonly Act[], previous: number): boolean {
  return own.some(
    (act, at) => at > previous && isAssignment(act) && (act.f === 'subscribe') !== isSubscribed(own.slice(0, at)),
  );
}
