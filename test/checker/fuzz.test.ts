/** Operations that may hold anything: the checker comes to a verdict, whatever it is given, and so does its EDN. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import { EdnHistory } from '../../checker/edn-history.ts';
import { operationToEdn } from '../../checker/edn-write.ts';
import type { Operation } from '../../checker/history.ts';
import { historyInput } from './story.ts';

const PATIENCE_MS = 60_000;
const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>('a-0', 'a-1', 5, ':k') },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const number = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(-1, 1.5, 2 ** 53, 2 ** 53 - 1, null, '7', 'x', Number.NaN) },
);
const records = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.tuple(number, number), { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const micro = fc.oneof(
  fc.tuple(fc.constant('send'), key, fc.oneof(number, fc.tuple(number, number))),
  fc.tuple(
    fc.constant('poll'),
    fc.dictionary(fc.constantFrom('a-0', 'a-1', '5', '__proto__'), records, { maxKeys: 2 }),
  ),
  fc.constant(['poll']),
  fc.jsonValue(),
);
const operation = fc.record({
  process: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 0, max: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>('nemesis', -1, null) },
  ),
  type: fc.constantFrom('invoke', 'invoke', 'ok', 'ok', 'fail', 'info'),
  f: fc.constantFrom(
    'send',
    'poll',
    'txn',
    'assign',
    'subscribe',
    'crash',
    'debug-topic-partitions',
    'kill',
    '__proto__',
  ),
  value: fc.oneof(
    { weight: 8, arbitrary: fc.array(micro, { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.jsonValue() },
  ),
  more: fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<object>(
        { acks: 1 },
        { error: 'OFFSET_OUT_OF_RANGE' },
        { errors: { 'a-0': 'OFFSET_OUT_OF_RANGE' } },
        { errors: 7 },
        { final: true },
        { seek: 'earliest' },
        { 'seek-to-beginning?': true },
        { 'rebalance-log': [{ keys: ['a-0', 5] }, null, 3] },
        { 'rebalance-log': 'x' },
        { msg: 'client-1#2' },
        { msg: 5 },
      ),
    },
  ),
});

const histories = fc
  .array(operation, { maxLength: 24 })
  .map((operations) =>
    operations.map(
      ({ more, ...fields }, index) => ({ index, time: index, ...fields, ...more }) as unknown as Operation,
    ),
  );

describe('any operations', () => {
  it(
    'come to a verdict that can be written down',
    () => {
      fc.assert(
        fc.property(histories, (history) => {
          const results = checkRun(historyInput([], { history }));
          expect([true, false, 'unknown']).toContain(results.valid);
          expect(JSON.parse(JSON.stringify(results))).toEqual(results);
        }),
        { numRuns: 4000, seed: 21 },
      );
    },
    PATIENCE_MS,
  );

  it(
    'can be written as EDN, and read back',
    () => {
      fc.assert(
        fc.property(histories, (history) => {
          const lines = history.map(operationToEdn);
          for (const line of lines) expect(line).not.toContain('\n');
          const results = checkRun(historyInput([], { history: new EdnHistory(lines) }));
          expect(results.notes.join('\n')).not.toContain('not EDN');
        }),
        { numRuns: 2000, seed: 22 },
      );
    },
    PATIENCE_MS,
  );
});
