import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import type { Operation } from '../../checker/history.ts';
import type { Anomaly } from '../../checker/results.ts';
import { historyInput } from './story.ts';
import { twin } from './twin.ts';

const keys = ['tide-0', 'tide-1'];

/** One step of a random history: what a process does, and what comes of it. */
const step = fc.record({
  process: fc.integer({ min: 0, max: 3 }),
  what: fc.constantFrom('send', 'send', 'poll', 'poll', 'poll', 'assign'),
  key: fc.constantFrom(...keys),
  type: fc.constantFrom('ok', 'ok', 'ok', 'ok', 'info', 'fail', 'open'),
  offset: fc.option(fc.integer({ min: 0, max: 4 }), { freq: 8 }),
  acks: fc.constantFrom<'all' | 0 | 1>('all', 'all', 'all', 1, 0),
  records: fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 6 })), { maxLength: 4 }),
  inOrder: fc.boolean(),
  error: fc.boolean(),
  final: fc.integer({ min: 0, max: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A history in which processes take turns; a process that got info, or never an answer, is replaced by a new one. */
function play(steps: readonly Step[]): Operation[] {
  const history: Operation[] = [];
  const names = [0, 1, 2, 3];
  const sent = new Map<string, number>();
  const add = (fields: Omit<Operation, 'index' | 'time'>): void => {
    history.push({ index: history.length, time: history.length, ...fields });
  };
  for (const { process: place, what, key, type, offset, acks, records, inOrder, error, final } of steps) {
    const process = names[place] as number;
    if (what === 'assign') {
      add({ process, type: 'invoke', f: 'assign', value: keys, ...(final === 0 ? { final: true as const } : {}) });
      add({ process, type: 'ok', f: 'assign', value: keys });
      continue;
    }
    if (what === 'send') {
      const value = (sent.get(key) ?? 0) + 1;
      sent.set(key, value);
      add({ process, type: 'invoke', f: 'send', value: [['send', key, value]], acks });
      if (type === 'ok') add({ process, type, f: 'send', value: [['send', key, [offset, value]]] });
      else if (type !== 'open') add({ process, type, f: 'send', value: [['send', key, value]], error: 'timeout' });
    } else {
      const sorted = inOrder ? [...records].sort((x, y) => x[0] - y[0]) : records;
      add({ process, type: 'invoke', f: 'poll', value: [['poll']] });
      const broken = type === 'ok' && error && final === 1 ? { error: 'OFFSET_OUT_OF_RANGE' } : {};
      if (type !== 'open') add({ process, type, f: 'poll', value: [['poll', { [key]: sorted }]], ...broken });
    }
    if (type === 'info' || type === 'open') names[place] = process + 4;
  }
  return history;
}

function counted(anomalies: readonly Anomaly[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind, values, consequences } of anomalies) {
    // Values lost by one cause are one anomaly; the twin names each.
    counts[kind] = (counts[kind] ?? 0) + (kind === 'lost-write' ? values.length : 1);
    for (const consequence of consequences) {
      counts[consequence.kind] = (counts[consequence.kind] ?? 0) + consequence.count;
    }
  }
  return Object.fromEntries(Object.entries(counts).filter(([kind]) => judged.has(kind)));
}

/** What the twin knows. */
const judged = new Set(
  'inconsistent-offsets ack-conflict phantom G1a duplicate consumer-saw-uncommitted lost-write'.split(' '),
);

describe('the checker and its twin', () => {
  it('agree on thousands of random small histories', () => {
    let anomalous = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
        const history = play(steps);
        const results = checkRun(historyInput(history.map((operation) => JSON.stringify(operation))));
        const expected: Record<string, number> = {};
        for (const line of twin(history)) {
          const kind = line.slice(0, line.indexOf(' '));
          expected[kind] = (expected[kind] ?? 0) + 1;
        }
        if (Object.keys(expected).length > 0) anomalous += 1;
        expect(counted(results.anomalies)).toEqual(expected);
      }),
      { numRuns: 5000, seed: 7 },
    );
    expect(anomalous).toBeGreaterThan(1000);
  });
});
