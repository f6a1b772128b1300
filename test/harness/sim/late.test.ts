/** One message that comes late, in a run that is otherwise the same. */
import { expect, test } from 'vitest';
import type { Fault } from '../../../nemesis/schedule.ts';
import { nameOfMessage } from '../../../harness/sim/late.ts';
import type { Lane, Message } from '../../../harness/sim/network.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import type { LateMessage, Simulation } from '../../../harness/sim/simulation.ts';
import { requestWith } from './requests.ts';

interface Played {
  readonly simulation: Simulation;
  /** By name of the message, in nanoseconds; a broker's only. */
  readonly arrivals: ReadonlyMap<string, number>;
  readonly events: readonly string[];
}

function play(late: readonly LateMessage[] = []): Played {
  const arrivals = new Map<string, number>();
  const events: string[] = [];
  const simulation = simulate(
    { ...requestWith([]), ...(late.length === 0 ? {} : { late }) },
    {
      onMessage: (lane, message, nowNs) => arrivals.set(nameOfMessage(lane, message), nowNs),
      onEvent: ({ describe }) => events.push(describe()),
    },
  );
  return { simulation, arrivals, events };
}

const whole = play();
const fetched = [...whole.arrivals].find(
  ([name, atNs]) => name.startsWith('response broker-2.') && atNs > (whole.simulation.loadStartNs ?? 0),
);

test('a late message comes exactly so much later, and before it would have come the run is the same', () => {
  const [message, atNs] = fetched ?? ['', 0];
  const { arrivals, events } = play([{ message, byMs: 7.25 }]);
  expect(arrivals.get(message)).toBe(atNs + 7_250_000);
  const before = whole.events.findIndex((line, index) => line !== events[index]);
  expect(whole.events[before]).toContain(`${(atNs / 1e6).toFixed(3)} ms: `);
  expect(whole.events[before]).toContain('arrives');
});

test('a message that is never sent cannot be late, and is named', () => {
  const sent = { message: fetched?.[0] ?? '', byMs: 0 };
  const { simulation } = play([{ message: 'request broker-9.1#1', byMs: 500 }, sent]);
  expect(simulation.hash).toBe(whole.simulation.hash);
  expect(simulation.unsent).toEqual(['request broker-9.1#1']);
  expect(whole.simulation.unsent).toEqual([]);
});

test('messages have the names that traces and histories give them', () => {
  const names = [...whole.arrivals.keys()];
  for (const name of ['request broker-1.1#0', 'response controller.1#3', 'request client-0#1']) {
    expect(names).toContain(name);
  }
  expect(names.every((name) => /^(request|response) [a-z0-9.-]+#\d+$/.test(name))).toBe(true);
});

test('a message of a process that has ended keeps its name', () => {
  const crash: Fault = {
    id: 'f1',
    kind: 'crash',
    at: { ms: 500 },
    until: { ms: 200 },
    targets: { role: 'nodes', nodes: [2] },
  };
  const taken: { readonly lane: Lane; readonly message: Message; readonly name: string }[] = [];
  simulate(requestWith([crash]), {
    onMessage: (lane, message) => taken.push({ lane, message, name: nameOfMessage(lane, message) }),
  });
  const names = taken.map(({ name }) => name);
  expect(taken.map(({ lane, message }) => nameOfMessage(lane, message))).toEqual(names);
  expect(names.some((name) => name.startsWith('request broker-2.1#'))).toBe(true);
  expect(names.some((name) => name.startsWith('request broker-2.2#'))).toBe(true);
});
