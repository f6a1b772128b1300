/**
 * Replicas rebuilt from a trace, against a log that is replayed from the start for every question. The traces are drawn at
 * random, with batches of several records, and one broker's lines need make no sense beside another's.
 */
import { describe, expect, it } from 'vitest';
import { readTrace } from '../../checker/parse-trace.ts';
import {
  brokers,
  heldAt,
  leaderPlace,
  rebuildReplicas,
  roleBefore,
  type PartitionTrace,
} from '../../checker/replicas.ts';
import { Draws } from './twins/random.ts';

const partition = 'tide-0';

type Line = Record<string, unknown> & { readonly event: string; readonly boot: number };

interface Held {
  readonly epoch: number;
  readonly row: number;
}

/** Lines of broker 1, whose log need hold together only so far as offsets never go back but by a cut. */
function drawn(seed: number): Line[] {
  const draws = new Draws(seed);
  const lines: Line[] = [];
  let [boot, end, start] = [1, 0, 0];
  let epoch = 0;
  const add = (event: string, fields: Readonly<Record<string, unknown>>): void => {
    lines.push({ partition, leaderEpoch: epoch, ...fields, event, boot });
  };
  for (let count = 4 + draws.below(14); count > 0; count -= 1) {
    if (draws.chance(0.3)) epoch += 1;
    switch (draws.below(10)) {
      case 0: {
        const to = start + draws.below(end - start + 1);
        add('truncation', { from: end, to, rule: 'high-watermark', evidence: { highWatermark: to } });
        end = to;
        break;
      }
      case 1: {
        boot += 1;
        const to = start + draws.below(end - start + 1);
        const numbers = { logStart: start, flushed: to, from: end, to, hw: draws.below(to + 1) };
        add('recover', { ...numbers, cut: 'power-loss', epochs: [] });
        end = to;
        break;
      }
      case 2: {
        const to = start + draws.below(end - start + 2);
        add('log-start', { from: start, to, reason: 'retention' });
        [start, end] = [to, Math.max(end, to)];
        break;
      }
      case 3:
        add('hw', { from: 0, to: draws.below(end + 1), isr: [1] });
        break;
      case 4:
        add('role', {
          role: draws.pick(['leader', 'follower']),
          leader: 1,
          leo: end,
          hw: draws.below(end + 1),
          isr: [1],
        });
        break;
      case 5:
        if (end > start) {
          const base = start + draws.below(end - start);
          add('ack', { base, last: base, acks: -1, isr: [1] });
        }
        break;
      case 6: {
        // It fell behind its leader's log start, and begins anew there.
        const to = end + draws.below(3);
        add('truncation', { from: end, to, rule: 'truncate-and-start', evidence: { leader: 2 } });
        if (to > end) [start, end] = [to, to];
        break;
      }
      default: {
        const batches = Array.from({ length: 1 + draws.below(2) }, () => {
          const base = end;
          end += 1 + draws.below(4);
          return { base, last: end - 1, epoch: draws.below(3), hash: '0000000a' };
        });
        add('append', { batches });
      }
    }
  }
  return lines.map((line, at) => ({ ...line, seq: at, time: at, node: 1 }));
}

/** Offsets with their epochs, after the line at `place`: a batch is there or not as a whole. */
function logAt(lines: readonly Line[], place: number): { base: number; last: number; epoch: number; row: number }[] {
  let log: { base: number; last: number; epoch: number; row: number }[] = [];
  for (const [row, line] of lines.slice(0, place + 1).entries()) {
    const [from, to] = [line['from'] as number, line['to'] as number];
    if (line.event === 'append') {
      const batches = line['batches'] as { base: number; last: number; epoch: number }[];
      log.push(...batches.map(({ base, last, epoch }) => ({ base, last, epoch, row })));
    }
    if (line.event === 'truncation') log = to > from ? [] : log.filter(({ last }) => last < to);
    if (line.event === 'recover') log = log.filter(({ last }) => last < to);
    if (line.event === 'log-start') log = log.filter(({ last }) => last >= to);
  }
  return log;
}

function heldIn(lines: readonly Line[], place: number, offset: number): Held[] {
  return logAt(lines, place).filter(({ base, last }) => base <= offset && offset <= last);
}

const seeds = Array.from({ length: 60 }, (_, seed) => seed);

/** With sequence numbers that begin anew in each boot, as a broker writes them. */
function rebuilt(lines: readonly Line[]) {
  let [boot, first] = [1, 0];
  const numbered = lines.map((line, at) => {
    if (line.boot !== boot) [boot, first] = [line.boot, at];
    return JSON.stringify({ ...line, seq: at - first });
  });
  const cluster = rebuildReplicas(readTrace(numbered));
  return { cluster, found: cluster.partitions.get(partition) as PartitionTrace };
}

describe('a replica', () => {
  it('held what its log holds when it is replayed up to that line', () => {
    for (const seed of seeds) {
      const lines = drawn(seed);
      const { cluster, found } = rebuilt(lines);
      for (let place = 0; place < lines.length; place += 1) {
        for (let offset = 0; offset < 12; offset += 1) {
          const held = heldIn(lines, place, offset);
          for (const epoch of [0, 1, 2]) {
            const expected = held.some((each) => each.epoch === epoch);
            expect(heldAt(cluster, found, 1, offset, epoch, place), `seed ${seed}: ${offset} ${epoch} ${place}`).toBe(
              expected,
            );
          }
        }
      }
    }
  });

  it('ends where its last line leaves it, with the high watermark that it told last', () => {
    for (const seed of seeds) {
      const lines = drawn(seed);
      const { found } = rebuilt(lines);
      let [end, highWatermark] = [0, -1];
      for (const line of lines) {
        const to = line['to'] as number;
        if (line.event === 'append') end = ((line['batches'] as { last: number }[]).at(-1)?.last ?? 0) + 1;
        if (line.event === 'truncation' || line.event === 'recover') end = to;
        if (line.event === 'log-start') end = Math.max(end, to);
        if (line.event === 'hw') highWatermark = to;
        if (line.event === 'role' || line.event === 'recover') highWatermark = line['hw'] as number;
      }
      expect(found.end.get(1)).toBe(end);
      expect(found.highWatermark.get(1) ?? -1).toBe(highWatermark);
    }
  });

  it('acknowledged the record that its log held then, or none', () => {
    for (const seed of seeds) {
      const lines = drawn(seed);
      for (const { row, base, batchEpoch } of rebuilt(lines).found.acks) {
        expect(batchEpoch, `seed ${seed}`).toBe(heldIn(lines, row, base)[0]?.epoch ?? -1);
      }
    }
  });

  it('counted as committed what its high watermark passed while it led', () => {
    for (const seed of seeds) {
      const lines = drawn(seed);
      const { stays } = rebuilt(lines).found;
      const known = new Map<string, number>();
      for (const [place, line] of lines.entries()) {
        const passed =
          line.event === 'hw' ? (line['to'] as number) : line['role'] === 'leader' ? (line['hw'] as number) : -1;
        for (const { base, last, row } of logAt(lines, place)) {
          if (last < passed && !known.has(`${row} ${base}`)) known.set(`${row} ${base}`, place);
        }
      }
      for (let stay = 0; stay < stays.count; stay += 1) {
        const name = `${stays.appended.get(stay)} ${stays.base.get(stay)}`;
        expect(stays.committed.get(stay), `seed ${seed}, ${name}`).toBe(known.get(name) ?? -1);
      }
    }
  });

  it('drops in epoch where a batch follows one of a later epoch that is still there', () => {
    for (const seed of seeds) {
      const lines = drawn(seed);
      const { stays, epochDrops } = rebuilt(lines).found;
      const drops: string[] = [];
      for (const [place, line] of lines.entries()) {
        if (line.event !== 'append') continue;
        let before = logAt(lines, place - 1).at(-1)?.epoch ?? -1;
        for (const { base, epoch } of line['batches'] as { base: number; epoch: number }[]) {
          if (before > epoch) drops.push(`${place} ${base}`);
          before = epoch;
        }
      }
      expect(epochDrops.map((stay) => `${stays.appended.get(stay)} ${stays.base.get(stay)}`)).toEqual(drops);
    }
  });

  it('has the role that it took last in this boot, and leads from the line on by which it took the lead', () => {
    for (const seed of seeds) {
      const lines = drawn(seed);
      const { cluster, found } = rebuilt(lines);
      for (let place = 0; place < lines.length; place += 1) {
        const role = lines.findLastIndex(
          (line, at) => at <= place && line.event === 'role' && line.boot === lines[place]?.boot,
        );
        expect(roleBefore(cluster, found, 1, place)?.row ?? -1).toBe(role);
      }
      for (let epoch = 0; epoch < 8; epoch += 1) {
        const isRole = (line: Line): boolean => line.event === 'role';
        const taken = lines.findIndex(
          (line) => isRole(line) && line['role'] === 'leader' && line['leaderEpoch'] === epoch,
        );
        const later = lines.findIndex((line) => isRole(line) && (line['leaderEpoch'] as number) > epoch);
        const expected = taken !== -1 ? taken : later !== -1 ? later - 1 : lines.length - 1;
        const { place, role } = leaderPlace(cluster, found, 1, epoch);
        expect([place, role?.row ?? -1], `seed ${seed}, epoch ${epoch}`).toEqual([expected, taken]);
      }
    }
  });
});

describe('a partition', () => {
  it('is deleted by its controller, and its elections are in the order of their epochs', () => {
    const election = { event: 'election', leader: 1, previousLeader: null, isr: [1], clean: true, reason: 'x' };
    const lines = [
      { ...election, leaderEpoch: 4 },
      { ...election, leaderEpoch: 2 },
      { event: 'isr', leaderEpoch: 4, to: [1, 2] },
    ].map((line, seq) => ({ seq, time: seq, node: 'controller', boot: 1, partition, ...line }));
    const read = (more: readonly object[]): PartitionTrace =>
      rebuildReplicas(readTrace([...lines, ...more])).partitions.get(partition) as PartitionTrace;
    expect(read([]).elections.map(({ epoch }) => epoch)).toEqual([2, 4]);
    expect(read([]).elections.map(({ isrBefore }) => isrBefore)).toEqual([[1], []]);
    expect(read([]).isrChanges).toEqual([{ row: 2, epoch: 4, from: [1], to: [1, 2] }]);
    expect(read([])).toMatchObject({ deleted: false, isr: [1, 2], replicas: null });
    const end = { seq: 3, time: 9, node: 'controller', boot: 1, partition, event: 'delete' };
    expect(read([end]).deleted).toBe(true);
  });

  it('is none that a line does not name, so a broken one is passed over', () => {
    const lines = ['controller', 1].map((node) => ({ seq: 0, time: 0, node, boot: 1, event: 'delete' }));
    const { partitions, damage } = rebuildReplicas(readTrace(lines));
    expect([partitions.size, damage.length]).toEqual([0, 2]);
  });

  it('is acknowledged without in-sync replicas where the line has none, and in no epoch below what the log holds', () => {
    const lines = [
      { event: 'append', batches: [{ base: 5, last: 6, epoch: 3, hash: '0a' }] },
      { event: 'ack', base: 4, last: 4, acks: -1 },
      { event: 'ack', base: 5, last: 5, acks: -1 },
    ].map((line, seq) => ({ seq, time: seq, node: 1, boot: 1, partition, leaderEpoch: 3, ...line }));
    const { acks } = rebuildReplicas(readTrace(lines)).partitions.get(partition) as PartitionTrace;
    expect(acks.map(({ base, batchEpoch, isr }) => [base, batchEpoch, isr])).toEqual([
      [4, -1, []],
      [5, 3, []],
    ]);
  });

  it('has nothing more on a broker that deleted its replica', () => {
    const lines = [
      { event: 'append', batches: [{ base: 0, last: 4, epoch: 0, hash: '0a' }] },
      { event: 'hw', from: 0, to: 3, isr: [1] },
      { event: 'delete' },
    ].map((line, seq) => ({ seq, time: seq, node: 1, boot: 1, partition, leaderEpoch: 0, ...line }));
    const { partitions } = rebuildReplicas(readTrace(lines));
    const found = partitions.get(partition) as PartitionTrace;
    expect([found.end.get(1), found.highWatermark.get(1), found.stays.removed.get(0)]).toEqual([0, 0, 2]);
  });

  it('that recovers more than it ever appended has lines missing, and twenty such are told at most', () => {
    const recover = { event: 'recover', logStart: 0, flushed: 9, from: 9, to: 9, cut: 'none', hw: 0, epochs: [] };
    const told = (count: number): readonly string[] => {
      const lines = Array.from({ length: count }, (_, at) => ({
        seq: 0,
        time: at,
        node: at + 1,
        boot: 1,
        partition,
        leaderEpoch: -1,
        ...recover,
      }));
      return rebuildReplicas(readTrace(lines)).damage;
    };
    expect(told(1)).toEqual(['broker 1 recovered tide-0 up to offset 9, but its trace shows appends only up to 0']);
    expect(told(19)).toHaveLength(19);
    expect(told(30)).toHaveLength(20);
  });
});

describe('names of brokers', () => {
  it.each([
    [[], 'no broker'],
    [[2], 'broker 2'],
    [[2, 2], 'broker 2'],
    [[10, 9], 'brokers 9 and 10'],
    [[3, 1, 2], 'brokers 1, 2 and 3'],
  ])('%j are %s', (nodes, words) => {
    expect(brokers(nodes)).toBe(words);
  });
});
