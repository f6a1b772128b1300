/** Lines of a trace, sound and broken: what is read of each, and what is said of those that cannot be read. */
import { describe, expect, it } from 'vitest';
import { kind, readTrace, type TraceStore } from '../../checker/parse-trace.ts';

const partition = 'tide-0';
const batch = { base: 3, last: 5, epoch: 2, hash: 'ffffffff' };

/** A sound line of each event, as far as the checker reads it. */
const sound: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  append: { partition, leaderEpoch: 2, batches: [batch], msg: 'client-4#9' },
  ack: { partition, leaderEpoch: 2, base: 3, last: 5, acks: -1, isr: [1, 2], msg: 'client-4#9' },
  hw: { partition, leaderEpoch: 2, from: 3, to: 6, isr: [1, 2] },
  'log-start': { partition, leaderEpoch: 2, from: 0, to: 3, reason: 'retention' },
  role: { partition, leaderEpoch: 2, role: 'leader', leader: 1, leo: 6, hw: 3, isr: [1, 2] },
  truncation: { partition, leaderEpoch: 2, from: 6, to: 3, rule: 'high-watermark', evidence: { highWatermark: 3 } },
  recover: { partition, logStart: 0, flushed: 3, from: 6, to: 3, cut: 'none', hw: 3, epochs: [[0, 0]] },
  election: { partition, leaderEpoch: 2, leader: 1, previousLeader: null, isr: [1, 2], clean: true, reason: 'x' },
  isr: { partition, leaderEpoch: 2, from: [1], to: [1, 2], reason: 'lag' },
  create: { partition, replicas: [1, 2] },
  delete: { partition },
};

function read(...lines: readonly object[]): TraceStore {
  return readTrace(lines.map((line, seq) => JSON.stringify({ seq, time: seq, node: 1, boot: 1, ...line })));
}

/** Values that are of the wrong kind for a field that holds this one. */
function wrong(value: unknown): unknown[] {
  if (typeof value === 'number') return [undefined, -2.5, '1', null];
  if (typeof value === 'string') return [undefined, 7];
  if (typeof value === 'boolean') return [undefined, 1];
  if (Array.isArray(value)) return [undefined, {}, 'x', [0.5], ['1'], [null]];
  return [undefined, null, 'x'];
}

/** Fields without which the line is broken. */
const needed: Readonly<Record<string, readonly string[]>> = {
  append: ['partition', 'batches'],
  ack: ['partition', 'base', 'last', 'acks'],
  hw: ['partition', 'from', 'to'],
  'log-start': ['partition', 'from', 'to'],
  role: ['partition', 'role', 'leader', 'leo', 'hw', 'isr'],
  truncation: ['partition', 'from', 'to', 'rule', 'evidence'],
  recover: ['partition', 'logStart', 'flushed', 'from', 'to', 'cut', 'hw', 'epochs'],
  election: ['partition', 'leader', 'isr', 'clean'],
  isr: ['partition', 'to'],
  create: ['partition', 'replicas'],
  delete: ['partition'],
};

describe('a line of a trace', () => {
  it.each(Object.keys(sound))('is read whole: %s', (event) => {
    const store = read({ event, ...sound[event] });
    expect(store.damage).toEqual([]);
    expect([store.rowCount, store.lines, store.keys]).toEqual([1, 1, [partition]]);
  });

  it.each(Object.entries(needed).flatMap(([event, fields]) => fields.map((field) => [event, field] as const)))(
    'of %s is broken without a right %s, and says so by its number',
    (event, field) => {
      const line = sound[event] as Readonly<Record<string, unknown>>;
      for (const value of wrong(line[field])) {
        // Nobody may be the leader.
        if (field === 'leader' && value === null) continue;
        const { damage } = read({ event: 'start' }, { event, ...line, [field]: value });
        const detail =
          field === 'batches' && Array.isArray(value) ? 'a broken batch in an append' : `a broken ${event}`;
        expect(damage, `${field}: ${JSON.stringify(value)}`).toEqual([`trace line 2 cannot be read: ${detail}`]);
      }
    },
  );

  it.each([
    ['base', -1],
    ['last', 2],
    ['last', 'x'],
    ['epoch', 0.5],
    ['hash', 7],
  ])('has a broken batch where %s is %j', (field, value) => {
    const { damage } = read({ event: 'append', partition, leaderEpoch: 0, batches: [{ ...batch, [field]: value }] });
    expect(damage).toEqual(['trace line 1 cannot be read: a broken batch in an append']);
  });

  it.each([undefined, null, 7, 'x'])('has a broken batch that is %j', (value) => {
    const line = { seq: 0, time: 0, node: 1, boot: 1, event: 'append', partition, leaderEpoch: 0, batches: [value] };
    expect(readTrace([line]).damage).toEqual(['trace line 1 cannot be read: a broken batch in an append']);
  });

  it.each([
    ['seq', -1],
    ['time', '5'],
    ['boot', 0.5],
    ['event', 7],
  ])('needs %s: %j is none', (field, value) => {
    expect(read({ event: 'start', [field]: value }).damage).toEqual([
      'trace line 1 cannot be read: it needs seq, time, node, boot and event',
    ]);
  });

  it.each([-1, 'broker', null])('is of a broker or of the controller, and %j is neither', (node) => {
    expect(read({ event: 'start', node }).damage[0]).toBe(
      'trace line 1 cannot be read: node is neither a broker id nor "controller"',
    );
  });

  it('is an object', () => {
    expect(readTrace(['7', 'null', '"x"', '[]']).damage).toEqual([
      'trace line 1 cannot be read: not an object',
      'trace line 2 cannot be read: not an object',
      'trace line 3 cannot be read: not an object',
      'trace line 4 cannot be read: it needs seq, time, node, boot and event',
    ]);
  });

  it('that is empty is none; one that breaks off at the end is passed over, anywhere else it is broken', () => {
    const start = JSON.stringify({ seq: 0, time: 0, node: 1, boot: 1, event: 'start' });
    expect(readTrace(['', start, '\r', '{"seq":1']).damage).toEqual([]);
    expect(readTrace(['{"seq"', start]).damage).toEqual(['trace line 1 cannot be read: not JSON']);
  });

  it('of an event that nobody knows is a line all the same', () => {
    const store = read({ event: 'start' }, { event: 'fetch', partition }, { event: 'stop' });
    expect([store.damage, store.rowCount, store.kind.get(1)]).toEqual([[], 3, kind.other]);
  });
});

describe('what a line says', () => {
  const rowOf = (event: string): TraceStore => read({ event, ...sound[event] });

  it('is in the columns of the store', () => {
    const append = rowOf('append');
    expect([append.a.get(0), append.b.get(0), append.client.get(0), append.correlation.get(0)]).toEqual([0, 1, 4, 9]);
    expect([append.batches.base.get(0), append.batches.last.get(0), append.batches.hash.get(0)]).toEqual([3, 5, -1]);
    const ack = rowOf('ack');
    expect([ack.a.get(0), ack.b.get(0), ack.c.get(0), ack.isrs[ack.isr.get(0)]]).toEqual([3, 5, -1, [1, 2]]);
    expect([ack.epoch.get(0), ack.boot.get(0), ack.seq.get(0), ack.nodeOf(0)]).toEqual([2, 1, 0, 1]);
    const moved = rowOf('log-start');
    expect([moved.a.get(0), moved.b.get(0), moved.reasons.get(0), moved.isr.get(0)]).toEqual([0, 3, 'retention', -1]);
    expect(rowOf('create').created.get(0)).toEqual([1, 2]);
    expect(rowOf('role').roles.get(0)).toMatchObject({ role: 'leader', leo: 6 });
  });

  it('is told apart from what it leaves out', () => {
    const store = read({ event: 'start' });
    const { a, b, c, isr, epoch, client, correlation } = store;
    const columns = [a, b, c, isr, epoch, client, correlation];
    expect(columns.map((column) => column.get(0))).toEqual([-1, -1, 0, -1, -1, -1, -1]);
    expect([store.kind.get(0), store.keyId('tide-9')]).toEqual([kind.start, -1]);
    expect(rowOf('append').keyId(partition)).toBe(0);
    expect(rowOf('create').kind.get(0)).toBe(kind.create);
    expect(read({ event: 'log-start', ...sound['log-start'], reason: 7 }).reasons.size).toBe(0);
    const many = Array.from({ length: 70 }, () => ({ event: 'ack', ...sound['ack'] }));
    expect(read({ event: 'start' }, ...many).c.get(70)).toBe(-1);
  });

  it('needs a time that is a number', () => {
    const line = { seq: 0, time: Number.NaN, node: 1, boot: 1, event: 'start' };
    expect(readTrace([line]).damage).toEqual(['trace line 1 cannot be read: it needs seq, time, node, boot and event']);
  });

  it('names the client only where its message has the form of ours', () => {
    const clientOf = (msg: unknown): number => read({ event: 'append', ...sound['append'], msg }).client.get(0);
    expect(clientOf('client-0#0')).toBe(0);
    for (const msg of ['client-4', 'app-4#9', 'client-x#9', 'client-4#x', 'client--4#9', 'client-4#-9', 7, null]) {
      expect(clientOf(msg), JSON.stringify(msg)).toBe(-1);
    }
  });

  it('shares one list of in-sync replicas among lines with the same', () => {
    const { isr, isrs } = read(
      { event: 'hw', ...sound['hw'] },
      { event: 'ack', ...sound['ack'] },
      { event: 'hw', ...sound['hw'], isr: [12] },
    );
    expect([isr.get(0), isr.get(1), isr.get(2)]).toEqual([0, 0, 1]);
    expect(isrs).toEqual([[1, 2], [12]]);
  });
});

describe('the lines of a node', () => {
  const at = (boot: number, seq: number): string =>
    JSON.stringify({ seq, time: 0, node: 1, boot, event: 'start', partition });

  it('are in the order of its boots and numbers, however they came', () => {
    const store = readTrace([at(2, 1), at(1, 1), at(2, 0), at(1, 0)]);
    expect(store.damage).toEqual([]);
    expect(store.rowsOf(1)).toEqual([3, 1, 2, 0]);
    expect(readTrace([at(2, 0), at(1, 0)]).rowsOf(1)).toEqual([1, 0]);
  });

  it('that are missing, or stand twice, are a hole, named by the numbers beside it', () => {
    expect(readTrace([at(1, 0), at(1, 2)]).damage).toEqual(['the trace of broker 1, boot 1, goes from seq 0 to 2']);
    expect(readTrace([at(1, 1)]).damage).toEqual(['the trace of broker 1, boot 1, goes from seq -1 to 1']);
    expect(readTrace([at(1, 0), at(2, 0), at(2, 0)]).damage).toEqual([
      'the trace of broker 1, boot 2, goes from seq 0 to 0',
    ]);
    const holes = Array.from({ length: 30 }, (_, place) => at(1, place * 2));
    expect(readTrace(holes).damage).toHaveLength(20);
  });

  it('that cannot be read are counted beyond those that are named', () => {
    const { damage } = readTrace(Array.from({ length: 60 }, () => '7'));
    expect(damage.at(-1)).toMatch(/^\d+ more trace lines cannot be read$/);
    expect(damage.length - 1 + Number.parseInt(damage.at(-1) ?? '', 10)).toBe(60);
  });

  it('come by broker, the controller first', () => {
    const lines = [3, 0, 'controller', 1].map((node) =>
      JSON.stringify({ seq: 0, time: 0, node, boot: 1, event: 'start' }),
    );
    const store = readTrace(lines);
    expect(store.nodes).toEqual(['controller', 0, 1, 3]);
    expect([store.nodeOf(2), store.rowsOf('controller'), store.rowsOf(9)]).toEqual(['controller', [2], []]);
  });
});
