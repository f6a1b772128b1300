/** What a signature looks at, and what it leaves out. */
import { expect, test } from 'vitest';
import type { Anomaly, Reference } from '../../../checker/results.ts';
import { signatureOf } from '../../../harness/shrink/signature.ts';
import type { TraceLine } from '../../../nemesis/ports.ts';

const trace = (rule: string, clean = true, role = 'follower', partition = 'tide-3'): TraceLine[] => [
  { seq: 4, time: 10, node: 3, boot: 1, event: 'role', partition, leaderEpoch: 1, role, leader: 2 },
  { seq: 5, time: 11, node: 3, boot: 1, event: 'truncation', partition, leaderEpoch: 1, from: 7, to: 6, rule },
  { seq: 9, time: 20, node: 'controller', boot: 1, event: 'election', partition, leaderEpoch: 2, leader: 3, clean },
];
const named: Reference[] = [
  { source: 'trace', node: 3, boot: 1, seq: 5 },
  { source: 'trace', node: 'controller', boot: 1, seq: 9 },
];
const loss = (change: Partial<Anomaly> = {}): Anomaly => ({
  kind: 'lost-acked-write',
  class: 'violation',
  guarantee: 'durability',
  key: 'tide-3',
  offset: 6,
  values: [41],
  summary: 'one record is gone',
  labels: ['lost-tail'],
  nodes: [2, 3],
  evidence: [],
  why: [{ text: 'broker 3 truncated', references: named }],
  consequences: [],
  ...change,
});

test('it names the kind, the rule, the role and the election', () => {
  expect(signatureOf(loss(), trace('high-watermark'))).toBe(
    'lost-acked-write: a follower truncated by high-watermark; clean election',
  );
});

test('another rule, role or election is another bug', () => {
  const signatures = [
    signatureOf(loss(), trace('high-watermark')),
    signatureOf(loss(), trace('leader-epoch')),
    signatureOf(loss(), trace('high-watermark', false)),
    signatureOf(loss(), trace('high-watermark', true, 'leader')),
    signatureOf(loss({ kind: 'offset-moved' }), trace('high-watermark')),
    signatureOf(loss({ class: 'expected' }), trace('high-watermark')),
  ];
  expect(new Set(signatures).size).toBe(signatures.length);
});

test('other names, offsets, values, words and neighbours are the same bug', () => {
  const other = loss({
    key: 'tide-0',
    offset: 900,
    values: ['x'],
    summary: 'gone',
    labels: ['lost-middle'],
    nodes: [1],
  });
  expect(signatureOf(other, trace('high-watermark', true, 'follower', 'tide-0'))).toBe(
    signatureOf(loss(), trace('high-watermark')),
  );
});

test('a loss that nobody truncated away is one of a replica that joined the ISR without the record', () => {
  const isr = {
    seq: 7,
    time: 12,
    node: 'controller',
    boot: 1,
    event: 'isr',
    partition: 'tide-3',
    leaderEpoch: 1,
  } as const;
  const [, , election] = trace('none');
  const references: Reference[] = [7, 9].map((seq) => ({ source: 'trace', node: 'controller', boot: 1, seq }));
  const joined = loss({ why: [{ text: 'broker 3 was taken into the ISR', references }] });
  expect(signatureOf(joined, [isr, election as TraceLine])).toBe(
    'lost-acked-write: a replica without it joined the ISR; clean election',
  );
});

test('an anomaly that names no line of the trace is its kind with its labels', () => {
  expect(signatureOf(loss({ kind: 'no-convergence', labels: ['stuck'], why: [], evidence: [] }), [])).toBe(
    'no-convergence: stuck',
  );
});
