/** The twin of the order in which sends took their places. */
import type { Operation } from '../../../checker/history.ts';
import type { Family, Found } from './family.ts';
import { calm, generate } from './generate.ts';
import { actsOf, combinations, isPromised, readBy, sentBy, type Read, type Sent } from './operations.ts';
import { withPlants, type Plants } from './plant.ts';

const plants: Plants = {
  'realtime-order': [
    (plot) => {
      plot.send(0, 1, 4);
      plot.send(1, 2, 3);
    },
    (plot) => {
      plot.invokeSend(1, 2);
      plot.send(0, 1, 4);
      plot.completeSend(1, 2, 3);
    },
  ],
  'nonmonotonic-send': [
    (plot) => {
      plot.send(0, 1, 4);
      plot.send(0, 2, 4);
    },
    (plot) => {
      plot.send(0, 1, 4);
      plot.send(1, 2, 4);
    },
  ],
  'int-nonmonotonic-send': [
    (plot) =>
      plot.sends(0, [
        [1, 4],
        [2, 3],
      ]),
    (plot) =>
      plot.sends(
        0,
        [
          [1, 4],
          [2, 3],
        ],
        'fail',
      ),
  ],
};

export const sendOrder: Family = {
  name: 'order of sends',
  kinds: ['realtime-order', 'nonmonotonic-send', 'int-nonmonotonic-send'],
  generate: (draws) => {
    const history = generate(draws, {
      ...calm,
      steps: 20,
      sends: 0.8,
      processes: 2 + draws.below(2),
      strayOffsets: draws.pick([0, 0.05, 0.2]),
      weakAcks: draws.pick([0, 0.3]),
      fails: 0.06,
      infos: 0.1,
      several: draws.pick([0, 0.5]),
      unknownOffsets: 0.1,
    });
    return withPlants(draws, history, plants);
  },
  plants,
  judge,
};

function judge(history: readonly Operation[]): Found {
  const acts = actsOf(history);
  const sends = acts.flatMap(sentBy).filter(({ key }) => key === 'a-0');
  const reads = acts.flatMap(readBy).sort((x, y) => x.act.end - y.act.end);
  const found: Found = { present: [], near: [] };
  for (const later of sends) {
    const offset = placeOf(later, reads);
    if (offset === null) {
      // It landed lower, but nothing proves that.
      if (sends.some((earlier) => isPromised(earlier) && earlier.act.end < later.act.begin && isBelow(later, earlier)))
        found.near.push('realtime-order');
      continue;
    }
    const above = sends.filter((earlier) => isPromised(earlier) && (earlier.offset as number) > offset);
    if (above.some((earlier) => earlier.act.end < later.act.begin)) found.present.push(`realtime-order ${later.value}`);
    // Acknowledged only after it was invoked: the two ran side by side.
    else if (above.some((earlier) => earlier.act.begin < later.act.begin)) found.near.push('realtime-order');
    judgeProcess(later, offset, sends, reads, found);
  }
  for (const act of acts) judgeWithin(act.type, sentBy(act), reads, found);
  return found;
}

function isBelow(later: Sent, earlier: Sent): boolean {
  return later.offset !== null && earlier.offset !== null && later.offset < earlier.offset;
}

/** Where it certainly came to stand. */
function placeOf(sent: Sent, reads: readonly Read[]): number | null {
  if (isPromised(sent)) return sent.offset;
  return reads.find((read) => read.key === sent.key && read.value === sent.value)?.offset ?? null;
}

function judgeProcess(later: Sent, offset: number, sends: readonly Sent[], reads: readonly Read[], found: Found): void {
  const counts = ({ act }: Sent): boolean => act.type === 'ok' || act.type === 'info';
  const placed = sends.filter((each) => counts(each) && placeOf(each, reads) !== null);
  const isFirst = placed.find((each) => each.act === later.act) === later;
  const before = placed.findLast((each) => each.act.process === later.act.process && each.act.begin < later.act.begin);
  if (!counts(later) || !isFirst) return;
  const place = before === undefined ? null : placeOf(before, reads);
  if (before !== undefined && isPromised(before) && place !== null && offset <= place)
    found.present.push(`nonmonotonic-send ${later.value}`);
  // The same of two processes, or of one whose first send nobody promised to keep.
  else if (sends.some((each) => each.act.end < later.act.begin && each.offset !== null && each.offset >= offset))
    found.near.push('nonmonotonic-send');
}

function judgeWithin(type: string, sent: readonly Sent[], reads: readonly Read[], found: Found): void {
  for (const [at, second] of sent.entries()) {
    const first = sent[at - 1];
    if (first === undefined) continue;
    const [from, to] = [placeOf(first, reads), placeOf(second, reads)];
    if (from !== null && to !== null && to <= from) {
      if (type !== 'fail') found.present.push(`int-nonmonotonic-send ${second.value}`);
      else found.near.push('int-nonmonotonic-send');
    }
  }
  // Not one after the other, or not where it is proved.
  for (const [first, second] of combinations(sent)) {
    if (first.offset !== null && second.offset !== null && second.offset <= first.offset + 1 && sent.length > 1)
      found.near.push('int-nonmonotonic-send');
  }
}
