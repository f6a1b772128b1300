/** The twin of what a history says about places: one offset, one value; one value, one offset; each of them sent. */
import type { Operation } from '../../../checker/history.ts';
import type { Family, Found } from './family.ts';
import { calm, generate } from './generate.ts';
import { actsOf, isPromised, readBy, sentBy, type Read, type Sent } from './operations.ts';
import { withPlants, type Plants } from './plant.ts';

const plants: Plants = {
  'inconsistent-offsets': [
    (plot) => {
      plot.send(0, 1, 3);
      plot.poll(1, [[3, 2]]);
      plot.send(2, 2, null);
    },
    (plot) => {
      plot.send(0, 1, 3);
      plot.send(1, 2, 3, 'ok', 1);
    },
  ],
  'ack-conflict': [
    (plot) => {
      plot.send(0, 1, 3);
      plot.send(1, 2, 3);
    },
    (plot) => {
      plot.send(0, 1, 3);
      plot.send(1, 2, 3, 'info');
    },
  ],
  duplicate: [
    (plot) => {
      plot.send(0, 1, 3);
      plot.poll(1, [[4, 1]]);
    },
    (plot) => {
      plot.send(0, 1, 3, 'info');
      plot.poll(1, [[4, 1]]);
    },
  ],
  phantom: [
    (plot) => plot.poll(1, [[3, 1]]),
    (plot) => {
      plot.send(0, 1, null, 'info');
      plot.poll(1, [[3, 1]]);
    },
  ],
  G1a: [
    (plot) => {
      plot.send(0, 1, null, 'fail');
      plot.poll(1, [[3, 1]]);
    },
    (plot) => {
      plot.send(0, 1, null, 'info');
      plot.poll(1, [[3, 1]]);
    },
  ],
};

export const places: Family = {
  name: 'places',
  kinds: ['inconsistent-offsets', 'ack-conflict', 'duplicate', 'phantom', 'G1a'],
  generate: (draws) => {
    const history = generate(draws, {
      ...calm,
      keys: 1 + draws.below(2),
      weakAcks: draws.pick([0, 0.3]),
      strayOffsets: draws.pick([0, 0, 0.25]),
      fails: 0.12,
      infos: 0.12,
      replaced: draws.pick([0, 0, 0.15]),
      jumps: 0.3,
    });
    return withPlants(draws, history, plants);
  },
  plants,
  judge,
};

function judge(history: readonly Operation[]): Found {
  const acts = actsOf(history);
  const sends = acts.flatMap(sentBy);
  const reads = acts.flatMap(readBy);
  const found: Found = { present: [], near: [] };
  for (const key of ['a-0', 'a-1']) {
    const sent = sends.filter((each) => each.key === key);
    const read = reads.filter((each) => each.key === key);
    for (let offset = 0; offset < 70; offset += 1) judgeOffset(key, offset, sent, read, found);
    for (let value = 1; value < 70; value += 1) judgeValue(key, value, sent, read, found, reads);
  }
  return found;
}

function judgeOffset(key: string, offset: number, sent: readonly Sent[], read: readonly Read[], found: Found): void {
  const acked = new Set(sent.filter((each) => isPromised(each) && each.offset === offset).map(({ value }) => value));
  const polled = new Set(read.filter((each) => each.offset === offset).map(({ value }) => value));
  const told = new Set(sent.filter((each) => each.offset === offset).map(({ value }) => value));
  const seen = new Set([...acked, ...polled]);
  if (seen.size > 1) found.present.push(`inconsistent-offsets ${key} ${offset}`);
  // Only a claim that promises nothing contradicts.
  else if (new Set([...seen, ...told]).size > 1) found.near.push('inconsistent-offsets');
  if (acked.size > 1) found.present.push(`ack-conflict ${key} ${offset}`);
  else if (acked.size === 1 && new Set([...seen, ...told]).size > 1) found.near.push('ack-conflict');
}

function judgeValue(
  key: string,
  value: number,
  sent: readonly Sent[],
  read: readonly Read[],
  found: Found,
  all: readonly Read[],
): void {
  const send = sent.find((each) => each.value === value);
  const reads = read.filter((each) => each.value === value);
  // Where an acknowledgement of any kind put it, and where polls saw it.
  const acknowledged = send?.act.type === 'ok' && send.offset !== null ? [send.offset] : [];
  const offsets = new Set([...acknowledged, ...reads.map(({ offset }) => offset)]);
  if (offsets.size > 1) found.present.push(`duplicate ${key} ${value}`);
  else if (
    offsets.size === 1 &&
    all.some((each) => each.key !== key && each.value === value && !offsets.has(each.offset))
  )
    found.near.push('duplicate');
  else if (offsets.size === 1 && send?.offset !== undefined && send.offset !== null && !offsets.has(send.offset))
    found.near.push('duplicate');
  if (reads.length > 0 && send === undefined) found.present.push(`phantom ${key} ${value}`);
  if (reads.length > 0 && (send?.act.type === 'open' || send?.act.type === 'info')) found.near.push('phantom');
  if (reads.length > 0 && send?.act.type === 'fail') found.present.push(`G1a ${key} ${value}`);
  if (reads.length > 0 ? send?.act.type === 'info' : send?.act.type === 'fail') found.near.push('G1a');
}
