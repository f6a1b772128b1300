import { expect, test } from 'vitest';
import { Kernel } from '../../../harness/sim/kernel.ts';
import { ask } from '../../../harness/sim/sim-requests.ts';
import { ToyNode } from './toy-node.ts';

const ms = 1e6;

const pair = () => {
  const kernel = new Kernel({ delayNs: () => ms });
  return { kernel, one: new ToyNode(kernel, 1), two: new ToyNode(kernel, 2) };
};

test('a request travels after the handshake and its answer comes back', () => {
  const { kernel, one, two } = pair();
  one.ask(2, 0);
  kernel.runFor(10 * ms);
  expect(two.seen).toEqual(['3 request broker-1.1#0']);
  expect(one.seen).toEqual(['4 response 2#0']);
  one.ask(2, 1);
  kernel.runFor(10 * ms);
  expect(one.seen.at(-1)).toBe('12 response 2#1');
});

test('a connection delivers its next request only after the answer to the one before', () => {
  const { kernel, one, two } = pair();
  two.answersAtOnce = false;
  one.ask(2, 0);
  one.ask(2, 1);
  kernel.runFor(10 * ms);
  expect(two.seen).toEqual(['3 request broker-1.1#0']);
  two.act(two.answer(two.requests[0]!));
  kernel.runFor(0);
  expect(two.seen).toEqual(['3 request broker-1.1#0', '10 request broker-1.1#1']);
  two.act({ type: 'release', origin: two.requests[1]!.origin });
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual(['11 response 2#0']);
});

test('a request to a process that does not run ends the connection', () => {
  const { kernel, one, two } = pair();
  two.node.kill();
  one.ask(2, 0);
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual(['4 closed 2']);
});

test('a process that dies takes its connections with it, and its next life knows nothing of them', () => {
  const { kernel, one, two } = pair();
  two.answersAtOnce = false;
  one.ask(2, 0);
  kernel.runFor(10 * ms);
  two.node.kill();
  one.ask(2, 1);
  two.node.start();
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual(['11 closed 2']);
  expect(two.seen).toEqual(['3 request broker-1.1#0']);
  one.ask(2, 2);
  kernel.runFor(10 * ms);
  expect(two.seen.at(-1)).toBe('23 request broker-1.1#2');
  one.node.kill();
  kernel.runFor(10 * ms);
  expect(two.seen.at(-1)).toBe('31 requester-closed');
});

test('after a close of ours no answer and no closed arrive', () => {
  const { kernel, one, two } = pair();
  one.ask(2, 0);
  kernel.runFor(3 * ms);
  one.act({ type: 'close', peer: 2 });
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual([]);
  expect(two.seen).toEqual(['3 request broker-1.1#0', '4 requester-closed']);
});

test('a core can end the connection of a requester', () => {
  const { kernel, one, two } = pair();
  two.answersAtOnce = false;
  one.ask(2, 0);
  kernel.runFor(5 * ms);
  two.act({ type: 'disconnect', connection: two.requests[0]!.origin.connection });
  two.act(two.answer(two.requests[0]!));
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual(['6 closed 2']);
});

test('a cut link keeps messages until it is healed, and nothing is lost', () => {
  const { kernel, one, two } = pair();
  kernel.cut(1, 2);
  one.ask(2, 0);
  kernel.runFor(1000 * ms);
  expect(two.seen).toEqual([]);
  kernel.heal(1, 2);
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual(['1001 response 2#0']);
});

test('a cut of one direction delivers what the other had in flight, and then nothing', () => {
  const { kernel, one, two } = pair();
  one.ask(2, 0);
  one.ask(2, 1);
  two.answersAtOnce = false;
  kernel.runFor(3 * ms);
  two.act(two.answer(two.requests[0]!));
  kernel.cut(1, 2);
  kernel.runFor(10 * ms);
  two.act(two.answer(two.requests[1]!));
  kernel.runFor(1000 * ms);
  expect(one.seen).toEqual([]);
  kernel.heal(1, 2);
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual(['1013 response 2#0', '1013 response 2#1']);
});

test('what was sent before the cut of the other direction arrives', () => {
  const { kernel, one } = pair();
  one.ask(2, 0);
  kernel.runFor(3 * ms);
  kernel.runFor(0.5 * ms);
  kernel.cut(1, 2);
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual(['4 response 2#0']);
});

test('a paused process gets everything that came meanwhile, in order, when it goes on', () => {
  const { kernel, one, two } = pair();
  two.deadlineNs = 5 * ms;
  one.ask(2, 0);
  kernel.runFor(2 * ms);
  two.node.pause();
  one.ask(2, 1);
  kernel.runFor(20 * ms);
  one.act({ type: 'close', peer: 2 });
  kernel.runFor(8 * ms);
  expect(two.seen).toEqual([]);
  two.node.resume();
  kernel.runFor(10 * ms);
  expect(two.seen).toEqual([
    '30 request broker-1.1#0',
    '30 request broker-1.1#1',
    '30 requester-closed',
    '30 deadline',
  ]);
});

test('what waited for the answer before it comes before what arrived in a pause', () => {
  const { kernel, one, two } = pair();
  two.answersAtOnce = false;
  one.ask(2, 0);
  one.ask(2, 1);
  kernel.runFor(10 * ms);
  two.act(two.answer(two.requests[0]!));
  two.node.pause();
  one.ask(2, 2);
  kernel.runFor(10 * ms);
  two.answersAtOnce = true;
  two.node.resume();
  kernel.runFor(10 * ms);
  expect(two.seen.map((line) => line.split('#')[1])).toEqual(['0', '1', '2']);
});

test('a paused process that is killed ends the connections of which it never heard', () => {
  const { kernel, one, two } = pair();
  two.node.pause();
  one.ask(2, 0);
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual([]);
  two.node.kill();
  two.node.start();
  one.ask(2, 1);
  kernel.runFor(10 * ms);
  expect(one.seen).toEqual(['11 closed 2']);
  expect(two.seen).toEqual([]);
});

test('a request under way to a process that dies meets nobody, and whoever sent it is told at once', () => {
  const { kernel, two } = pair();
  const told: string[] = [];
  const body = { clientSoftwareName: '', clientSoftwareVersion: '' };
  const where = { from: 'client-1', place: kernel.placeOf('clients'), address: 'node-2:9092' };
  ask(kernel, { ...where, api: 'ApiVersions', version: 0, body, timeoutMs: 1_000 }, ({ failure }) =>
    told.push(`${kernel.nowNs / ms} ${failure ?? 'answered'}`),
  );
  kernel.runFor(2.5 * ms);
  two.node.kill();
  two.node.start();
  kernel.runFor(10 * ms);
  expect(told).toEqual(['4 ApiVersions to node-2:9092: the connection ended']);
  expect(two.seen).toEqual([]);
});

test('a held message stops its lane; one can be let through, and a release delivers the rest', () => {
  const { kernel, one, two } = pair();
  const hold = kernel.network.hold((_, message) => message.kind === 'request');
  for (let correlationId = 0; correlationId < 3; correlationId++) one.ask(2, correlationId);
  kernel.runFor(10 * ms);
  expect(two.seen).toEqual([]);
  const [held, ...others] = kernel.network.heldBy(hold.matches);
  expect([held?.message.correlationId, others]).toEqual([0, []]);
  kernel.network.letThrough(hold, held!.message);
  kernel.runFor(10 * ms);
  expect(two.seen).toEqual(['10 request broker-1.1#0']);
  kernel.network.release(hold);
  kernel.runFor(10 * ms);
  expect(two.seen.slice(1)).toEqual(['20 request broker-1.1#1', '20 request broker-1.1#2']);
});

test('what one hold lets through is stopped by another, and not again by the first when that one ends', () => {
  const { kernel, one, two } = pair();
  const { network } = kernel;
  const first = network.hold((_, message) => message.kind === 'request');
  const second = network.hold((_, message) => message.correlationId === 0);
  one.ask(2, 0);
  kernel.runFor(10 * ms);
  network.letThrough(first, network.heldBy(first.matches)[0]!.message);
  kernel.runFor(10 * ms);
  expect(two.seen).toEqual([]);
  network.release(second);
  kernel.runFor(10 * ms);
  expect(two.seen).toEqual(['20 request broker-1.1#0']);
});

test('a core is woken at its deadline, also at one that it moved', () => {
  const { kernel, one } = pair();
  one.deadlineNs = 30 * ms;
  one.act();
  one.deadlineNs = 40 * ms;
  one.act();
  one.deadlineNs = 20 * ms;
  one.act();
  one.deadlineNs = 25 * ms;
  kernel.runFor(100 * ms);
  expect(one.seen).toEqual(['25 deadline']);
});

test('a core that never comes to rest is stopped', () => {
  const kernel = new Kernel();
  const restless = kernel.addNode({
    id: 1,
    address: 'node-1:9092',
    boot: () => ({ core: { clientId: '', step: () => [], nextDeadlineNs: () => 0 }, effects: [] }),
  });
  restless.start();
  expect(() => kernel.runFor(ms)).toThrow('time stands still at 0 ns');
});

test('a peer without an endpoint is a bug of the core', () => {
  const { one } = pair();
  expect(() => one.ask(9, 0)).toThrow('node 1 sends to 9, of which it has no endpoint');
});

test('an exit flushes the logs and ends the process', () => {
  const { kernel, one, two } = pair();
  two.ask(1, 0);
  kernel.runFor(10 * ms);
  one.act({ type: 'create-log', log: 'tide-0' }, { type: 'exit' });
  kernel.runFor(10 * ms);
  expect([one.node.running, one.node.exited]).toEqual([false, true]);
  expect(one.node.disk.find('tide-0')).toMatchObject({ sizeBytes: 0 });
  expect(two.seen.at(-1)).toBe('11 closed 1');
});

test('trace lines carry the time, the node, its life and their number within it', () => {
  const lines: unknown[] = [];
  const kernel = new Kernel({ onTrace: (line) => lines.push(line) });
  const one = new ToyNode(kernel, 1);
  kernel.runFor(7);
  one.act({ type: 'trace', line: { event: 'stop' } }, { type: 'trace', line: { event: 'stop' } });
  one.node.kill();
  one.node.start();
  one.act({ type: 'trace', line: { event: 'stop' } });
  expect(lines).toEqual([
    { seq: 0, time: 7, node: 1, boot: 1, event: 'stop' },
    { seq: 1, time: 7, node: 1, boot: 1, event: 'stop' },
    { seq: 0, time: 7, node: 1, boot: 2, event: 'stop' },
  ]);
});

test('a client asks and is answered, or learns that the connection ended', () => {
  const { kernel, one } = pair();
  one.answersAtOnce = false;
  const alice = kernel.client('alice');
  const body = { clientSoftwareName: '', clientSoftwareVersion: '' };
  const first = alice.call(1, 'ApiVersions', 0, body);
  const second = alice.call(1, 'ApiVersions', 0, body);
  kernel.runFor(10 * ms);
  one.act(one.answer(one.requests[0]!));
  kernel.runFor(10 * ms);
  expect(first).toMatchObject({ msg: 'client-alice#0', answer: { errorCode: 0 }, closed: false });
  one.node.kill();
  kernel.runFor(10 * ms);
  expect(second).toMatchObject({ answer: null, closed: true });
  const third = kernel.client('alice').call(1, 'ApiVersions', 0, body);
  kernel.runFor(10 * ms);
  expect(third).toMatchObject({ msg: 'client-alice#2', answer: null, closed: true });
});
