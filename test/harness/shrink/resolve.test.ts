/** A schedule as it was resolved: played again, it hits the nodes that it hit. */
import { expect, test } from 'vitest';
import { parseSchedule } from '../../../harness/shrink/plan-schema.ts';
import { resolveSchedule } from '../../../harness/shrink/resolve.ts';
import { faultKindsOf } from '../../../harness/plan/config.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import type { Operation } from '../../../checker/history.ts';
import { requestOf } from './failing.ts';

function hit(history: readonly Operation[]): Record<string, unknown> {
  const starts = history.filter(({ process, value }) => process === 'nemesis' && isStart(value));
  return Object.fromEntries(starts.map(({ value }) => [(value as { fault: string }).fault, nodesOf(value)]));
}

function isStart(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'phase' in value && value.phase === 'start';
}

/** The nodes on the side that is cut away may stand in any order. */
function nodesOf(value: unknown): string {
  const { nodes } = value as { nodes: Record<string, number | readonly number[]> };
  const one = nodes['targets'] ?? nodes['side'] ?? nodes['middle'] ?? nodes;
  return JSON.stringify(Array.isArray(one) ? one.map(String).toSorted((a, b) => a.localeCompare(b)) : one);
}

test.each([1, 2, 3, 4, 5])('of seed %i, every kind of fault hits on epoch what it hit on hw', (seed) => {
  const request = requestOf({ seed, nemesis: faultKindsOf.sim, timeLimitMs: 30_000, nemesisIntervalMs: 2_000 });
  const first = simulate(request);
  const schedule = resolveSchedule(request.schedule, first.history);
  expect(parseSchedule(JSON.parse(JSON.stringify(schedule)))).toEqual(schedule);
  const again = simulate({ config: { ...request.config, build: 'epoch' }, schedule });
  const [were, are] = [hit(first.history), hit(again.history)];
  const fired = Object.entries(were).filter(([, nodes]) => nodes !== '{}');
  expect(fired.length).toBeGreaterThan(2);
  expect(Object.fromEntries(fired.map(([fault]) => [fault, are[fault]]))).toEqual(Object.fromEntries(fired));
});
