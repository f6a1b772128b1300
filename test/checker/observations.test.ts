/** What each line of `observations.jsonl` is taken for, and which of them are damage. */
import { describe, expect, it } from 'vitest';
import { lastBy, readObservations, saidIn, type Observations } from '../../checker/observations.ts';

const partition = 'tide-0';

/** The lines with `seq` counted for each node and boot, one millisecond after the other. */
function read(lines: readonly Readonly<Record<string, unknown>>[]): Observations {
  const seqs = new Map<string, number>();
  return readObservations(
    lines.map((line, at) => {
      const { node = 1, boot = 1 } = line as { node?: number | 'controller'; boot?: number };
      const seq = seqs.get(`${node}.${boot}`) ?? 0;
      seqs.set(`${node}.${boot}`, seq + 1);
      return { seq, time: at * 1e6, node, boot, partition, source: 'metadata', ...line };
    }),
  );
}

const only = (line: Readonly<Record<string, unknown>>) => read([line]).partitions.get(partition)!;
const at = (seq: number, node: number | 'controller' = 1, boot = 1) => ({
  time: seq * 1e6,
  reference: { source: 'observation', node, boot, seq },
});

describe('what is decided for the cluster', () => {
  const controller = { node: 'controller' };

  it('is who the replicas are', () => {
    expect(only({ ...controller, event: 'create', replicas: [3, 1, 2] })).toEqual({
      key: partition,
      replicas: [3, 1, 2],
      elections: [],
      isrs: [],
      truncations: [],
      acks: [],
      byNode: new Map(),
    });
    expect(only({ ...controller, event: 'isr', to: [1] }).replicas).toBeNull();
  });

  it('is who was elected, by whom it is in sync then, and in which epoch', () => {
    const election = { ...controller, event: 'election', leader: 2, isr: [2, 3], leaderEpoch: 4 };
    const seen = at(0, 'controller');
    expect(only(election)).toMatchObject({
      elections: [{ ...seen, leader: 2, isr: [2, 3], epoch: 4 }],
      isrs: [{ ...seen, isr: [2, 3] }],
    });
    expect(only({ ...election, leader: null, leaderEpoch: -1 }).elections).toEqual([
      { ...seen, leader: null, isr: [2, 3], epoch: null },
    ]);
  });

  it('is who is in sync from then on', () => {
    const { isrs, elections } = only({ ...controller, event: 'isr', from: [1, 2], to: [1] });
    expect(isrs).toEqual([{ ...at(0, 'controller'), isr: [1] }]);
    expect(elections).toEqual([]);
  });

  it.each([
    { event: 'create' },
    { event: 'create', replicas: ['1'] },
    { event: 'election', isr: [1] },
    { event: 'election', leader: '1', isr: [1] },
    { event: 'election', leader: 1 },
    { event: 'isr' },
  ])('is damage where it lacks what it needs: %o', (line) => {
    const { damage, partitions } = read([{ ...controller, ...line }]);
    expect(damage).toEqual([`line 1 of the observations cannot be read: a broken ${line.event}`]);
    expect(partitions.get(partition)).toMatchObject({ replicas: null, elections: [], isrs: [] });
  });

  it('may be of a kind that nobody here knows, or of no partition', () => {
    expect(read([{ ...controller, event: 'moved' }]).damage).toEqual([]);
    const { damage, partitions } = read([{ ...controller, event: 'create', partition: undefined }]);
    expect([damage, partitions.size]).toEqual([[], 0]);
  });
});

describe('what is seen of a broker', () => {
  const replica = (line: Readonly<Record<string, unknown>>) => only({ node: 2, boot: 3, ...line }).byNode.get(2);

  it('is how far its log reaches', () => {
    const batches = [
      { base: 0, last: 4 },
      { base: 5, last: 6 },
    ];
    expect(replica({ event: 'append', batches })).toEqual({
      roles: [],
      ends: [{ time: 0, boot: 3, offset: 7 }],
      highWatermarks: [],
    });
  });

  it('is its high watermark', () => {
    const { ends, highWatermarks } = replica({ event: 'hw', to: 0 })!;
    expect([ends, highWatermarks]).toEqual([[], [{ time: 0, boot: 3, offset: 0 }]]);
  });

  it('is its role, at once where its log tells', () => {
    const role = { event: 'role', role: 'follower', leader: 1, leaderEpoch: 2 };
    const seen = { ...at(0, 2, 3), role: 'follower', leader: 1, epoch: 2, boot: 3, prompt: false };
    expect(replica(role)?.roles).toEqual([seen]);
    expect(replica({ ...role, source: 'log' })?.roles).toEqual([{ ...seen, prompt: true }]);
    expect(replica({ ...role, leader: null })?.roles).toEqual([{ ...seen, leader: null }]);
    expect(replica({ event: 'role', role: 'leader', leader: 'x' })?.roles).toEqual([
      { ...seen, role: 'leader', leader: undefined, epoch: null },
    ]);
  });

  it('is a truncation: both ends by its files, words by its log', () => {
    const seen = { ...at(0, 2, 3), node: 2, boot: 3 };
    const ofFiles = only({ node: 2, boot: 3, event: 'truncation', source: 'segments', from: 5, to: 3 });
    expect(ofFiles.truncations).toEqual([{ ...seen, from: 5, to: 3, words: null }]);
    expect(ofFiles.byNode.get(2)?.ends).toEqual([{ time: 0, boot: 3, offset: 3 }]);
    const words = '[2026-01-01 00:00:00,000] INFO Truncating log to 3';
    const ofLog = only({ node: 2, boot: 3, event: 'truncation', source: 'log', to: 3, words });
    expect(ofLog.truncations).toEqual([{ ...seen, from: null, to: 3, words: 'Truncating log to 3' }]);
    expect(ofLog.byNode.get(2)?.ends).toEqual([]);
    const halfSaid = only({ node: 2, boot: 3, event: 'truncation', source: 'log', from: 3 });
    expect(halfSaid.truncations).toEqual([{ ...seen, from: 3, to: null, words: null }]);
    expect(halfSaid.byNode.get(2)?.ends).toEqual([]);
  });

  it('is what it acknowledged, with the in-sync replicas as last seen', () => {
    const ack = { node: 2, boot: 3, event: 'ack', base: 1, last: 2, acks: -1, isr: [2], leaderEpoch: 0 };
    const seen = { ...at(0, 2, 3), node: 2, base: 1, last: 2, acks: -1, isr: [2], epoch: 0 };
    expect(only(ack).acks).toEqual([seen]);
    expect(only({ ...ack, isr: null, leaderEpoch: null }).acks).toEqual([{ ...seen, isr: [], epoch: null }]);
  });

  it.each([
    { event: 'append' },
    { event: 'append', batches: 7 },
    { event: 'append', batches: [] },
    { event: 'append', batches: [{ last: -1 }] },
    { event: 'hw' },
    { event: 'hw', to: -1 },
    { event: 'role' },
    { event: 'role', role: 'observer', leader: 1 },
    { event: 'truncation', from: 3 },
    { event: 'truncation', to: 3 },
    { event: 'ack', last: 1, acks: 1 },
    { event: 'ack', base: 1, acks: 1 },
    { event: 'ack', base: 1, last: 1 },
  ])('is damage where it lacks what it needs: %o', (line) => {
    const { damage, partitions } = read([line]);
    expect(damage).toEqual([`line 1 of the observations cannot be read: a broken ${line.event}`]);
    expect(partitions.get(partition)).toMatchObject({ truncations: [], acks: [] });
    expect(partitions.get(partition)?.byNode.get(1)).toEqual({ roles: [], ends: [], highWatermarks: [] });
  });

  it('may be of a kind that nobody here knows', () => {
    expect(read([{ event: 'rested' }]).damage).toEqual([]);
  });

  it('is that it ended itself, with what it said last', () => {
    const { ended, damage, partitions } = read([
      { event: 'ended', words: '[2026-01-01 00:00:00,000] FATAL Halting because of an offset out of range' },
      { node: 'controller', event: 'ended' },
    ]);
    expect(ended).toEqual([
      { ...at(0), node: 1, boot: 1, words: 'Halting because of an offset out of range' },
      { ...at(0, 'controller'), time: 1e6, node: 'controller', boot: 1, words: 'it did not say why' },
    ]);
    expect([damage, partitions.size]).toEqual([[], 0]);
  });

  it('is damage where its segments could not be seen any more', () => {
    const { blind, damage, partitions } = read([
      { time: 1_600_000, event: 'blind', words: 'no such file' },
      { node: 2, time: 2_400_000, event: 'blind' },
    ]);
    const [one, two] = ['broker 1', 'broker 2'].map((who) => `the segments of ${who} could not be seen from 2 ms on`);
    expect(blind).toEqual([one, two]);
    expect(damage).toEqual([`${one}: no such file`, two]);
    expect(partitions.size).toBe(0);
  });
});

describe('observations', () => {
  const line = (fields: Readonly<Record<string, unknown>> = {}): string =>
    JSON.stringify({ seq: 0, time: 1, node: 1, boot: 1, event: 'hw', partition, to: 1, ...fields });

  it('may break off in the last line, and hold empty ones', () => {
    expect(readObservations([line(), '', '\r', line({ seq: 1 }).slice(0, 20)])).toMatchObject({ lines: 4, damage: [] });
    expect(readObservations([]).lines).toBe(0);
  });

  it('are damaged by a line that breaks off before others', () => {
    const { lines, damage, partitions } = readObservations([line(), '{"seq":', '', '{', line({ seq: 1, to: 2 })]);
    expect(lines).toBe(5);
    expect(damage).toEqual([2, 4].map((at) => `line ${at} of the observations cannot be read: not JSON`));
    expect(partitions.get(partition)?.byNode.get(1)?.highWatermarks).toHaveLength(2);
  });

  it.each([
    ['7', 'not an object'],
    ['null', 'not an object'],
    [line({ seq: -1 }), 'it needs seq, time, node, boot and event'],
    [line({ time: '1' }), 'it needs seq, time, node, boot and event'],
    ['{"seq":0,"time":1e400,"node":1,"boot":1,"event":"hw"}', 'it needs seq, time, node, boot and event'],
    [line({ node: 'broker' }), 'it needs seq, time, node, boot and event'],
    [line({ node: -1 }), 'it needs seq, time, node, boot and event'],
    [line({ boot: null }), 'it needs seq, time, node, boot and event'],
    [line({ event: 4 }), 'it needs seq, time, node, boot and event'],
  ])('are damaged by a line like %s', (broken, why) => {
    expect(readObservations([line(), broken]).damage).toEqual([`line 2 of the observations cannot be read: ${why}`]);
  });

  it('are damaged by a hole within a boot, and by a beginning that is missing', () => {
    const seqs = [
      [1, 1, 0],
      [1, 1, 2],
      [1, 2, 1],
      [2, 1, 0],
    ];
    const lines = seqs.map(([node, boot, seq]) => line({ node, boot, seq }));
    expect(readObservations([...lines, line({ node: 'controller', seq: 3 })]).damage).toEqual([
      'the observations of broker 1, boot 1, go from seq 0 to 2',
      'the observations of broker 1, boot 2, go from seq -1 to 1',
      'the observations of the controller, boot 1, go from seq -1 to 3',
    ]);
  });

  it('name twenty flaws, and count the others', () => {
    const { damage } = readObservations(Array.from({ length: 23 }, () => '7'));
    expect(damage).toHaveLength(21);
    expect(damage.at(-1)).toBe('3 more flaws of the observations');
    expect(readObservations(Array.from({ length: 20 }, () => '7')).damage).toHaveLength(20);
  });

  it('stand in the order of time, whatever their lines', () => {
    const events = [
      { event: 'hw', to: 1 },
      { event: 'append', batches: [{ last: 1 }] },
      { event: 'role', role: 'leader' },
      { event: 'truncation', from: 2, to: 1 },
      { event: 'ack', base: 0, last: 0, acks: 1 },
      { node: 'controller', event: 'election', leader: 1, isr: [1] },
      { node: 'controller', event: 'isr', to: [1] },
    ];
    const times = [5, 3, 4];
    const { partitions, damage } = read(times.flatMap((time) => events.map((event) => ({ time, ...event }))));
    expect(damage).toEqual([]);
    const { elections, isrs, truncations, acks, byNode } = partitions.get(partition)!;
    const { roles, ends, highWatermarks } = byNode.get(1)!;
    for (const list of [elections, truncations, acks, roles, highWatermarks])
      expect(list.map(({ time }) => time)).toEqual([3, 4, 5]);
    for (const list of [isrs, ends]) expect(list.map(({ time }) => time)).toEqual([3, 3, 4, 4, 5, 5]);
  });
});

describe('what was seen last', () => {
  it('is the last of a list up to a moment, that moment included', () => {
    const list = [1, 3, 3, 5].map((time, place) => ({ time, place }));
    expect([0, 1, 2, 3, 9].map((time) => lastBy(list, time)?.place)).toEqual([undefined, 0, 0, 2, 3]);
    expect(lastBy(list, 0)).toBeNull();
  });
});

describe('the words of a broker', () => {
  it.each([
    ['[2026-11-30 02:47:46,123] WARN  Truncating', 'Truncating'],
    ['[2026-11-30T02:47:46.123Z]   Truncating', 'Truncating'],
    ['[2026-11-30 02:47:46,123]Truncating', 'Truncating'],
    ['[2026-11-30 02:47:46,123 +0100] ERROR a [2026-11-30] b', 'a [2026-11-30] b'],
    ['[2026-11-30 02:47:46,123] WARNING Truncating', 'WARNING Truncating'],
    ['[2026-11-30 02:47:46,123] ISR Truncating', 'ISR Truncating'],
    ['[Replica] Truncating', '[Replica] Truncating'],
    ['at last [2026-11-30 02:47:46,123] INFO x', 'at last [2026-11-30 02:47:46,123] INFO x'],
  ])('of %s are told without their time and level', (line, said) => {
    expect(saidIn(line)).toBe(said);
  });
});
