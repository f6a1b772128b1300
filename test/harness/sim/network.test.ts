import { expect, test } from 'vitest';
import { createRandom } from '../../../harness/plan/random.ts';
import { Kernel } from '../../../harness/sim/kernel.ts';
import { ToyNode } from './toy-node.ts';

const ms = 1e6;

/** Two nodes on a network that draws from a seed. */
const pair = (seed = 1) => {
  const kernel = new Kernel({ random: createRandom(seed) });
  return { kernel, one: new ToyNode(kernel, 1), two: new ToyNode(kernel, 2) };
};

/** When node 2 took each request of node 1, in milliseconds. */
const arrivals = ({ two }: ReturnType<typeof pair>) =>
  two.seen.filter((line) => line.includes('request')).map((line) => Number(line.split(' ')[0]));

test('a message takes a quarter of a millisecond and a jitter of less than one, drawn from the stream of its link', () => {
  const { network } = pair().kernel;
  const again = pair().kernel.network;
  const delays = Array.from({ length: 1000 }, () => network.delayNs(1, 2));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0.25 * ms);
  expect(Math.max(...delays)).toBeLessThan(1.25 * ms);
  expect(new Set(delays).size).toBeGreaterThan(900);
  /* Draws of other links shift nothing. */
  again.delayNs(2, 1);
  expect(Array.from({ length: 1000 }, () => again.delayNs(1, 2))).toEqual(delays);
  expect(pair(2).kernel.network.delayNs(1, 2)).not.toBe(delays[0]);
});

test('messages of one connection keep their order, whatever they take', () => {
  const run = pair();
  run.kernel.setLinks([], [{ from: 1, to: 2, delayMs: 0, jitterMs: 50, loss: 0.3 }]);
  for (let id = 0; id < 50; id += 1) {
    run.one.ask(2, id);
    run.kernel.runFor(ms);
  }
  run.kernel.runFor(60_000 * ms);
  const names = run.two.seen.map((line) => line.split('#')[1]);
  expect(names).toEqual(Array.from({ length: 50 }, (_, id) => String(id)));
  expect(arrivals(run)).toEqual(arrivals(run).toSorted((a, b) => a - b));
});

test('a slow link adds its delay and its jitter, and a packet that is lost comes after a timeout of TCP', () => {
  const run = pair();
  run.one.ask(2, 0);
  run.kernel.runFor(10 * ms);
  run.kernel.setLinks([], [{ from: 1, to: 2, delayMs: 20, jitterMs: 10, loss: 0.2 }]);
  const delays: number[] = [];
  for (let id = 1; id <= 200; id += 1) {
    const sentMs = run.kernel.nowNs / ms;
    run.one.ask(2, id);
    run.kernel.runFor(20_000 * ms);
    delays.push(arrivals(run).at(-1)! - sentMs);
  }
  expect(Math.min(...delays)).toBeGreaterThan(20);
  const inTime = delays.filter((delay) => delay < 32);
  const lostOnce = delays.filter((delay) => delay > 220 && delay < 232);
  expect(inTime.length).toBeGreaterThan(130);
  expect(lostOnce.length).toBeGreaterThan(15);
  expect(delays.length - inTime.length - lostOnce.length).toBeLessThan(20);
  expect(run.kernel.setLinks([])).toEqual({ dropped: {}, slowed: { '1→2': 200 } });
});

test('what a cut kept arrives when TCP sends it again, not as soon as the link has healed', () => {
  const run = pair();
  run.one.ask(2, 0);
  run.kernel.runFor(10 * ms);
  run.kernel.setLinks([{ from: 1, to: 2 }]);
  run.one.ask(2, 1);
  run.kernel.runFor(300 * ms);
  expect(run.kernel.setLinks([])).toEqual({ dropped: { '1→2': 1 }, slowed: {} });
  run.kernel.runFor(5_000 * ms);
  /* Sent at 10 ms; sent again after 200 ms and, in vain until then, after 400 ms more. */
  expect(arrivals(run)[1]).toBeGreaterThan(610);
  expect(arrivals(run)[1]).toBeLessThan(612);
});

test('a connection that is opened during a cut is tried again after a second, and a long cut is noticed within four', () => {
  const run = pair();
  run.kernel.setLinks([{ from: 1, to: 2 }]);
  run.one.ask(2, 0);
  run.kernel.runFor(500 * ms);
  run.kernel.setLinks([]);
  run.kernel.runFor(5_000 * ms);
  expect(Math.floor(arrivals(run)[0]!)).toBe(1000);
  run.kernel.setLinks([{ from: 1, to: 2 }]);
  run.one.ask(2, 1);
  run.kernel.runFor(60_000 * ms);
  const healedMs = run.kernel.nowNs / ms;
  run.kernel.setLinks([]);
  run.kernel.runFor(4_002 * ms);
  expect(arrivals(run)[1]! - healedMs).toBeLessThan(4_002);
});

test('a cut that resets ends the connection for both, at the next message on it', () => {
  const run = pair();
  run.one.ask(2, 0);
  run.kernel.runFor(10 * ms);
  run.kernel.setLinks([{ from: 1, to: 2, mode: 'reset' }]);
  run.kernel.runFor(10 * ms);
  const quiet = run.one.seen.length;
  run.one.ask(2, 1);
  run.kernel.runFor(10 * ms);
  expect(run.one.seen.slice(quiet).map((line) => line.split(' ').slice(1).join(' '))).toEqual(['closed 2']);
  expect(run.two.seen.at(-1)).toMatch(/requester-closed$/);
  run.kernel.setLinks([]);
  run.one.ask(2, 2);
  run.kernel.runFor(10 * ms);
  expect(run.one.seen.at(-1)).toMatch(/response 2#2$/);
});

test('an answer that would not be acknowledged is reset as well, and one that was under way arrives', () => {
  const run = pair();
  run.two.answersAtOnce = false;
  run.one.ask(2, 0);
  run.kernel.runFor(10 * ms);
  run.two.act(run.two.answer(run.two.requests[0]!));
  run.kernel.runFor(0.1 * ms);
  run.kernel.setLinks([{ from: 1, to: 2, mode: 'reset' }]);
  run.kernel.runFor(10 * ms);
  expect(run.one.seen.at(-1)).toMatch(/response 2#0$/);
  run.kernel.setLinks([]);
  run.one.ask(2, 1);
  run.kernel.runFor(10 * ms);
  run.kernel.setLinks([{ from: 1, to: 2, mode: 'reset' }]);
  run.two.act(run.two.answer(run.two.requests[1]!));
  run.kernel.runFor(10 * ms);
  expect(run.one.seen.at(-1)).toMatch(/closed 2$/);
});

test('a cut becomes one that resets: what it had stopped loses its connection', () => {
  const run = pair();
  run.kernel.setLinks([{ from: 1, to: 2 }]);
  run.one.ask(2, 0);
  run.kernel.runFor(100 * ms);
  run.kernel.setLinks([{ from: 1, to: 2, mode: 'reset' }]);
  run.kernel.runFor(5_000 * ms);
  expect(run.one.seen.at(-1)).toMatch(/closed 2$/);
});

test('the wanted links are the whole state: what is not named any more is healed', () => {
  const { kernel } = pair();
  const { network } = kernel;
  kernel.setLinks([
    { from: 1, to: 2 },
    { from: 'clients', to: 1 },
  ]);
  kernel.setLinks([{ from: 1, to: 2 }], [{ from: 2, to: 1, delayMs: 5, jitterMs: 0, loss: 0 }]);
  const place = (who: number | 'clients') => kernel.placeOf(who);
  expect(network.isCut(place(1), place(2))).toBe(true);
  expect(network.isCut(place('clients'), place(1))).toBe(false);
  expect(network.delayNs(place(2), place(1))).toBeGreaterThanOrEqual(5.25 * ms);
  expect(network.delayNs(place(1), place(2))).toBeLessThan(1.25 * ms);
});
