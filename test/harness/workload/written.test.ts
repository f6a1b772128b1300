/** A load that is written out, as the threads of a run ask for it. */
import { describe, expect, test } from 'vitest';
import type { PlannedOperation } from '../../../harness/sim/simulation.ts';
import { evidenceOfCall, writtenLoad } from '../../../harness/workload/written.ts';

const send = (thread: number, atMs: number, value: number): PlannedOperation => ({
  atMs,
  thread,
  operation: { f: 'send', key: 'tide-0', value },
});
const plan = { schemaVersion: 1, operations: [send(0, 1, 1), send(1, 2, 2), send(0, 3, 3)] } as const;

test('each thread gets its own operations at their times, and then there is nothing left', () => {
  const source = writtenLoad(plan, 2, 1_000).sourceOf(0);
  expect([source.next(0), source.next(0), source.next(0)]).toEqual([
    { operation: plan.operations[0].operation, dueNs: 1_001_000 },
    { operation: plan.operations[2].operation, dueNs: 3_001_000 },
    null,
  ]);
});

test('what was due while another operation was under way begins as soon as that is over', () => {
  const source = writtenLoad(plan, 2, 0).sourceOf(1);
  expect(source.next(9_000_000)).toMatchObject({ dueNs: 9_000_000 });
});

test('a fresh process goes on where the one before it on its thread ended', () => {
  const { sourceOf } = writtenLoad(plan, 2, 0);
  expect(sourceOf(0).next(0)).toMatchObject({ operation: { value: 1 } });
  expect(sourceOf(2).next(0)).toMatchObject({ operation: { value: 3 } });
});

describe('an operation that has a name', () => {
  const named = { schemaVersion: 1, operations: [{ ...send(0, 0, 1), called: 'm1' }, send(0, 0, 2)] } as const;
  const ok = { type: 'ok', f: 'send', value: [['send', 'tide-0', [0, 1]]], node: 3 } as const;

  test('begins when it is called, and whoever called hears how it ended', () => {
    const { sourceOf, call } = writtenLoad(named, 1, 0);
    const source = sourceOf(0);
    const heard: unknown[] = [];
    source.next(0)?.await?.(() => heard.push('ready'));
    expect(heard).toEqual([]);
    call('m1', (ended) => heard.push(ended));
    source.observe(ok, new Map(), 0);
    expect(heard).toEqual(['ready', ok]);
    expect(source.next(0)).toMatchObject({ operation: { value: 2 } });
    expect(source.next(0)?.await).toBeUndefined();
  });

  test('begins at once where it was called before its thread came to it', () => {
    const { sourceOf, call } = writtenLoad(named, 1, 0);
    call('m1', () => {});
    const heard: string[] = [];
    sourceOf(0)
      .next(0)
      ?.await?.(() => heard.push('ready'));
    expect(heard).toEqual(['ready']);
  });

  test('is begun once: other calls, and calls of nobody, are answered at once', () => {
    const { call } = writtenLoad(named, 1, 0);
    const heard: unknown[] = [];
    call('m1', () => {});
    call('m1', (ended) => heard.push(ended));
    call('m7', (ended) => heard.push(ended));
    expect(heard).toEqual(['it has been called before', 'the load has no operation of that name']);
  });

  test('proves a step by its acknowledgement only', () => {
    expect(evidenceOfCall(ok)).toMatchObject({ effective: true, facts: { type: 'ok', node: 3 } });
    expect(evidenceOfCall({ ...ok, type: 'info', error: 'timeout' })).toMatchObject({
      effective: false,
      facts: { error: 'timeout' },
    });
    expect(evidenceOfCall('no such thing')).toEqual({ effective: false, facts: { error: 'no such thing' } });
  });
});
