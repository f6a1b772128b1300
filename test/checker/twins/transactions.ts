/** The twin of what belongs together: own reads, and circles of reads, found by asking who reaches whom. */
import type { Operation } from '../../../checker/history.ts';
import type { Family, Found } from './family.ts';
import { calm, generate } from './generate.ts';
import { actsOf, readBy, sentBy, type Act } from './operations.ts';
import { withPlants, type Plants } from './plant.ts';

const plants: Plants = {
  'precommitted-read': [
    (plot) => {
      plot.invokeTransaction(0, [1], 1);
      plot.completeTransaction(0, [[3, 1]], [[[3, 1]]]);
    },
    (plot) => {
      plot.invokeTransaction(0, [1], 1);
      plot.completeTransaction(0, [[3, 1]], []);
      plot.poll(0, [[3, 1]]);
    },
  ],
  G1c: [
    (plot) => {
      plot.invokeTransaction(0, [1], 1);
      plot.invokeTransaction(1, [2], 1);
      plot.completeTransaction(0, [[3, 1]], [[[4, 2]]]);
      plot.completeTransaction(1, [[4, 2]], [[[3, 1]]]);
    },
    (plot) => {
      plot.invokeTransaction(0, [1], 1);
      plot.invokeTransaction(1, [2], 1);
      plot.completeTransaction(0, [[3, 1]], [[[4, 2]]]);
      plot.completeTransaction(1, [[4, 2]], []);
      plot.poll(2, [[3, 1]]);
    },
  ],
  'G1c-process': [
    (plot) => {
      plot.invokeTransaction(0, [1], 1);
      plot.poll(1, [[3, 1]]);
      plot.invokeTransaction(1, [2], 0);
      plot.completeTransaction(0, [[3, 1]], [[[4, 2]]]);
      plot.completeTransaction(1, [[4, 2]], []);
    },
    (plot) => {
      plot.invokeTransaction(0, [1], 1);
      plot.invokeTransaction(1, [2], 0);
      plot.completeTransaction(0, [[3, 1]], [[[4, 2]]]);
      plot.completeTransaction(1, [[4, 2]], []);
      plot.poll(1, [[3, 1]]);
    },
  ],
  'G1c-realtime': [
    (plot) => {
      plot.invokeTransaction(0, [1], 1);
      plot.poll(2, [[3, 1]]);
      plot.invokeTransaction(1, [2], 0);
      plot.completeTransaction(0, [[3, 1]], [[[4, 2]]]);
      plot.completeTransaction(1, [[4, 2]], []);
    },
    (plot) => {
      plot.invokeTransaction(0, [1], 1);
      plot.begin(2, 'poll', [['poll']]);
      plot.invokeTransaction(1, [2], 0);
      plot.end(2, 'poll', [['poll', {}]], 'ok');
      plot.completeTransaction(0, [[3, 1]], [[[4, 2]]]);
      plot.completeTransaction(1, [[4, 2]], []);
    },
  ],
};

export const transactions: Family = {
  name: 'transactions',
  kinds: ['precommitted-read', 'G1c', 'G1c-process', 'G1c-realtime'],
  generate: (draws) => {
    const history = generate(draws, {
      ...calm,
      steps: 16,
      sends: draws.pick([0.1, 0.3]),
      transactions: draws.pick([0.4, 0.6]),
      processes: 2 + draws.below(3),
      replaced: draws.pick([0, 0.15, 0.5]),
      infos: 0.08,
      fails: 0.05,
    });
    return withPlants(draws, history, plants);
  },
  plants,
  judge,
};

function judge(history: readonly Operation[]): Found {
  const acts = actsOf(history);
  const found: Found = { present: [], near: [] };
  const read = new Set(acts.flatMap(readBy).map(({ key, value }) => `${key} ${value}`));
  for (const act of acts) judgeOwn(act, acts, found);
  const counted = acts.filter((act) => {
    return (
      act.type === 'ok' || (act.type === 'info' && sentBy(act).some(({ key, value }) => read.has(`${key} ${value}`)))
    );
  });
  judgeCircles(counted, found);
  return found;
}

function judgeOwn(act: Act, acts: readonly Act[], found: Found): void {
  for (const { key, value } of sentBy(act)) {
    const readers = acts.filter((each) => readBy(each).some((read) => read.key === key && read.value === value));
    if (readers.includes(act)) found.present.push(`precommitted-read ${key} ${value}`);
    else if (readers.some((each) => each.process === act.process || each.begin < act.end))
      found.near.push('precommitted-read');
    if (readers.some((each) => each.end < act.begin)) found.present.push(`G1c-realtime ${key} ${value}`);
    else if (readers.some((each) => each.begin < act.begin)) found.near.push('G1c-realtime');
  }
}

type Edge = (from: Act, to: Act) => boolean;

function judgeCircles(acts: readonly Act[], found: Found): void {
  const reads: Edge = (from, to) =>
    from !== to &&
    to.end > from.begin &&
    sentBy(from).some(({ key, value }) => readBy(to).some((read) => read.key === key && read.value === value));
  const process: Edge = (from, to) => from.process === to.process && from.begin < to.begin;
  const realtime: Edge = (from, to) => from.type === 'ok' && from.end < to.begin;
  const explained = new Set<Act>();
  for (const [kind, order] of [
    ['G1c', () => false],
    ['G1c-process', process],
    ['G1c-realtime', realtime],
  ] as const) {
    for (const circle of circlesOf(acts, (from, to) => reads(from, to) || order(from, to))) {
      if (circle.some((act) => explained.has(act))) continue;
      for (const act of circle) explained.add(act);
      found.present.push(`${kind} ${circle[0]?.begin}`);
    }
  }
  // Somebody reads from somebody who read: a chain that does not close.
  const chained = acts.some((one) => acts.some((two) => reads(one, two) && acts.some((three) => reads(two, three))));
  if (chained) found.near.push('G1c', 'G1c-process');
}

/** Sets of operations each of which reaches all others. */
function circlesOf(acts: readonly Act[], edge: Edge): Act[][] {
  const reach = acts.map((from) => acts.map((to) => edge(from, to)));
  for (const over of acts.keys())
    for (const from of acts.keys())
      for (const to of acts.keys()) reach[from]![to] ||= reach[from]![over]! && reach[over]![to]!;
  const circles: Act[][] = [];
  const placed = new Set<number>();
  for (const at of acts.keys()) {
    if (placed.has(at)) continue;
    const circle = [...acts.keys()].filter((other) => other === at || (reach[at]![other]! && reach[other]![at]!));
    for (const each of circle) placed.add(each);
    if (circle.length > 1) circles.push(circle.map((each) => acts[each] as Act));
  }
  return circles;
}
