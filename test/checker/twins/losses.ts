/** The twin of what a history alone says of losses: acknowledged and passed over, or read and then passed over. */
import type { Operation } from '../../../checker/history.ts';
import type { Family, Found } from './family.ts';
import { calm, generate } from './generate.ts';
import { actsOf, isPromised, readBy, sentBy, type Read, type Sent } from './operations.ts';
import { withPlants, type Plants } from './plant.ts';
import { sessionsOf, stretchesOf } from './sessions.ts';

const plants: Plants = {
  'lost-write': [
    (plot) => {
      plot.send(0, 1, 3);
      plot.poll(1, [[2, 8]]);
      plot.poll(1, [[4, 9]]);
    },
    (plot) => {
      plot.send(0, 1, 3, 'ok', 1);
      plot.poll(1, [[2, 8]]);
      plot.poll(1, [[4, 9]]);
    },
  ],
  'consumer-saw-uncommitted': [
    (plot) => {
      plot.poll(0, [[3, 1]]);
      plot.poll(1, [[2, 8]]);
      plot.poll(1, [[4, 9]]);
    },
    (plot) => {
      plot.poll(1, [[2, 8]]);
      plot.poll(0, [[3, 1]]);
      plot.poll(1, [[4, 9]]);
    },
  ],
};

export const losses: Family = {
  name: 'losses',
  kinds: ['lost-write', 'consumer-saw-uncommitted'],
  generate: (draws) => {
    const history = generate(draws, {
      ...calm,
      steps: 30,
      keys: 1 + draws.below(2),
      assigns: 0.1,
      finals: 0.4,
      seeks: 0.3,
      subscribes: draws.pick([0, 0, 0.4]),
      weakAcks: draws.pick([0, 0.3]),
      strayOffsets: draws.pick([0, 0, 0.15]),
      dropped: draws.pick([0, 0.1, 0.3]),
      fails: draws.pick([0.02, 0.2]),
      infos: 0.05,
      replaced: draws.pick([0, 0, 0.1]),
    });
    return withPlants(draws, history, plants);
  },
  plants,
  judge,
};

/** Offsets strictly between two records that were read one after the other, without a break. */
interface Gap {
  readonly key: string;
  readonly after: number;
  readonly before: number;
  readonly since: number;
  readonly final: boolean;
}

function judge(history: readonly Operation[]): Found {
  const acts = actsOf(history);
  const sends = acts.flatMap(sentBy);
  const reads = acts.flatMap(readBy).sort((x, y) => x.act.end - y.act.end);
  const sessions = sessionsOf(acts);
  const finalReads = sessions
    .filter(({ final }) => final)
    .flatMap((session) => ['a-0', 'a-1'].flatMap((key) => stretchesOf(session, key).flatMap((each) => each.reads)));
  const gapsOf = (which: typeof sessions): Gap[] =>
    which.flatMap((session) =>
      ['a-0', 'a-1'].flatMap((key) =>
        stretchesOf(session, key).flatMap(({ from, reads: stretch }) =>
          stretch.flatMap(({ offset }, at) => {
            const last = at === 0 ? from : (stretch[at - 1] as Read).offset;
            if (last === null || offset <= last + 1) return [];
            return [{ key, after: last, before: offset, since: session.since, final: session.final }];
          }),
        ),
      ),
    );
  const gaps = gapsOf(sessions.filter(({ subscribed }) => !subscribed));
  const weakGaps = gapsOf(sessions.filter(({ subscribed }) => subscribed));
  const found: Found = { present: [], near: [] };
  for (const send of sends) judgeSend(send, reads, finalReads, gaps, weakGaps, found);
  for (const key of ['a-0', 'a-1']) {
    for (const value of new Set(reads.filter((read) => read.key === key).map((read) => read.value)))
      judgeValue(key, value, reads, gaps, found);
  }
  return found;
}

function inside(gap: Gap, key: string, offset: number): boolean {
  return gap.key === key && gap.after < offset && offset < gap.before;
}

function judgeSend(
  send: Sent,
  reads: readonly Read[],
  finalReads: readonly Read[],
  gaps: readonly Gap[],
  weakGaps: readonly Gap[],
  found: Found,
): void {
  const { key, value, offset } = send;
  if (offset === null) return;
  const own = reads.filter((read) => read.key === key && read.value === value);
  const readFinally = (other: number): boolean => finalReads.some((read) => read.key === key && read.value === other);
  const others = reads.filter((read) => read.key === key && read.offset === offset && read.value !== value);
  const passing = (all: readonly Gap[]): boolean =>
    all.some((gap) => inside(gap, key, offset) && (own.length === 0 || gap.final));
  const replaced = others.some((read) => own.length === 0 || readFinally(read.value));
  const missed = passing(gaps) || replaced;
  if (isPromised(send) && !readFinally(value) && missed) found.present.push(`lost-write ${key} ${value}`);
  // Nothing was promised, somebody read it, or whoever passed over it may have been moved by its group.
  else if (missed || (own.length === 0 && passing(weakGaps)) || gaps.some((gap) => inside(gap, key, offset)))
    found.near.push('lost-write');
}

function judgeValue(key: string, value: number, reads: readonly Read[], gaps: readonly Gap[], found: Found): void {
  const first = reads.find((read) => read.key === key && read.value === value) as Read;
  const passing = gaps.filter((gap) => inside(gap, key, first.offset));
  if (passing.some((gap) => first.act.end < gap.since)) found.present.push(`consumer-saw-uncommitted ${key} ${value}`);
  // Whoever passed over it had begun to read before.
  else if (passing.length > 0) found.near.push('consumer-saw-uncommitted');
}
