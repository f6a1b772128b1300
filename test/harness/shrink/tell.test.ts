/** Two plans told as one: what both hold once, what differs under its own name. */
import { expect, test } from 'vitest';
import type { Fault } from '../../../nemesis/schedule.ts';
import { withFaults, withOperations } from '../../../harness/shrink/case.ts';
import { sideBySide, storyLines } from '../../../harness/shrink/tell.ts';
import { caseOf } from './failing.ts';

const fault = (id: string, ms: number): Fault => ({
  id,
  kind: 'pause',
  at: { ms },
  until: { ms: 500 },
  targets: { role: 'leader', partition: 'tide-0' },
});
const send = { atMs: 700, thread: 0, operation: { f: 'send', key: 'tide-0', value: 1 } } as const;
const base = withOperations(caseOf({ timeLimitMs: 2_000 }), [send]);
const failing = withFaults(base, [fault('f1', 1_000), fault('f2', 1_500)]);

test('a fault that was moved', () => {
  expect(sideBySide(failing, withFaults(base, [fault('f1', 1_000), fault('f2', 1_520)]))).toEqual([
    '        3 brokers, 3 replicas, min.insync.replicas 2, seed 5',
    '        thread 0 at 700 ms: sends 1 to tide-0',
    '        f1 pause (leader of tide-0) at 1000 ms, for 500 ms',
    'fails   f2 pause (leader of tide-0) at 1500 ms, for 500 ms',
    'passes  f2 pause (leader of tide-0) at 1520 ms, for 500 ms',
    '        all is healed at 2000 ms',
  ]);
});

test('a fault that was left out', () => {
  const lines = sideBySide(failing, withFaults(base, [fault('f2', 1_500)]));
  expect(lines.filter((line) => !line.startsWith(' '))).toEqual([
    'fails   f1 pause (leader of tide-0) at 1000 ms, for 500 ms',
  ]);
});

test('one of several equal steps is shown where it stands', () => {
  const burst = (waits: readonly number[]): Fault => ({
    id: 'f1',
    kind: 'leader-burst',
    at: { ms: 800 },
    until: { await: { seen: 'steps-done' }, deadlineMs: 2_000 },
    partition: 'tide-0',
    steps: waits.map((ms) => ({ step: 'wait', ms })),
  });
  const lines = sideBySide(withFaults(base, [burst([100, 100, 100])]), withFaults(base, [burst([150, 100, 100])]));
  expect(lines.slice(3, 7).map((line) => line.replace(/ +/, ' '))).toEqual([
    'fails wait 100 ms',
    'passes wait 150 ms',
    ' wait 100 ms',
    ' wait 100 ms',
  ]);
});

const meaning =
  '(the smallest log end of the in-sync replicas, as far as a broker has heard: consumers see only what lies below)';

test.each([
  [
    'it held the record, its log ended at 1 and its high watermark was 0.',
    `it held the record, its log ended at 1 and its high watermark was 0 ${meaning}.`,
  ],
  ['by its own high watermark 12, on being elected', `by its own high watermark 12 ${meaning}, on being elected`],
  ['The high watermark of broker 3 passed it.', `The high watermark of broker 3 ${meaning} passed it.`],
])('a story says once what a high watermark is: %s', (said, explained) => {
  const why = ['Broker 1 put 1.', said, said].map((text) => ({ text, references: [] }));
  expect(storyLines(why)).toEqual(['Broker 1 put 1.', explained, said]);
});

test('a story that speaks of no high watermark explains none', () => {
  expect(storyLines([{ text: 'Broker 2 copied 1.', references: [] }])).toEqual(['Broker 2 copied 1.']);
});
