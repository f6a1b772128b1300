/** The twin of what the copied logs say, over random replicas of one partition and what was acknowledged to clients. */
import { encodeBatch } from '../../../broker/protocol/index.ts';
import type { CheckInput } from '../../../checker/check.ts';
import type { Operation } from '../../../checker/history.ts';
import { historyInput } from '../story.ts';
import type { Found, RunFamily } from './family.ts';
import { actsOf, readBy, sentBy } from './operations.ts';
import type { Draws } from './random.ts';

const key = 'a-0';

export const finalLogs: RunFamily = {
  name: 'final logs',
  kinds: [
    'lost-acked-write',
    'offset-moved',
    'lost-on-replica',
    'replica-divergence',
    'epoch-regression',
    'log-start-moved',
    'consumer-saw-uncommitted',
  ],
  generate: (draws) => inputOf(draws),
  judge,
};

interface Stored {
  readonly offset: number;
  readonly value: number;
  readonly epoch: number;
}

interface Replica {
  readonly start: number;
  readonly log: readonly Stored[];
}

/** What the twin is told besides the input, since it must not decode bytes with the checker's decoder. */
interface Plan {
  readonly replicas: readonly Replica[];
  readonly highWatermark: number;
}

const plans = new WeakMap<CheckInput, Plan>();

function inputOf(draws: Draws): CheckInput {
  const length = 2 + draws.below(4);
  let epoch = 0;
  const original = Array.from({ length }, (_, offset) => {
    if (draws.chance(0.3)) epoch += 1;
    return { offset, value: offset + 1, epoch };
  });
  const odd = draws.below(3);
  const replicas = [0, 1, 2].map((node) => replicaOf(draws, original, node === odd && draws.chance(0.9)));
  const leaderEnd = (replicas[0]?.log.at(-1)?.offset ?? -1) + 1;
  const highWatermark = draws.chance(0.85) ? leaderEnd : draws.below(leaderEnd + 1);
  const history = historyOf(draws, original);
  const { run } = historyInput([]);
  const lines = [
    { event: 'create', node: 'controller', partition: key, replicas: [1, 2, 3] },
    {
      event: 'election',
      node: 'controller',
      partition: key,
      leaderEpoch: 9,
      leader: 1,
      previousLeader: null,
      isr: [1, 2, 3],
      clean: true,
      reason: 'x',
    },
    { event: 'hw', node: 1, partition: key, leaderEpoch: 9, from: 0, to: highWatermark, isr: [1, 2, 3] },
    { event: 'start', node: 2, port: 1, build: 'x', defects: [] },
    { event: 'start', node: 3, port: 1, build: 'x', defects: [] },
  ].map((line, at) => ({ seq: line.node === 'controller' ? at : 0, time: at, boot: 1, ...line }));
  const input = historyInput([], {
    source: 'run',
    run: { ...run, settled: true, healed: true, completed: true, logsCollected: true },
    history,
    trace: lines,
    logs: {
      nodes: [1, 2, 3],
      files: replicas.map(({ start, log }, at) => ({
        node: at + 1,
        key,
        segments: [{ baseOffset: 0, bytes: Buffer.concat(log.map(bytesOf)) }],
        logStart: start,
      })),
    },
  });
  plans.set(input, { replicas, highWatermark });
  return input;
}

function bytesOf({ offset, epoch, value }: Stored): Uint8Array {
  return encodeBatch({ baseOffset: offset, leaderEpoch: epoch, records: [{ key: null, value: String(value) }] });
}

function replicaOf(draws: Draws, original: readonly Stored[], odd: boolean): Replica {
  let log = [...original];
  if (odd) {
    const at = draws.below(log.length);
    const record = log[at] as Stored;
    switch (draws.pick([0, 0, 0, 1, 2, 2, 2, 3, 3, 4, 4])) {
      case 0:
        log = log.slice(0, at);
        break;
      case 1:
        log[at] = { ...record, value: record.value + 20 };
        break;
      case 2:
        log[at] = { ...record, epoch: Math.max(0, record.epoch + draws.pick([-1, 1])) };
        break;
      case 3:
        log = [...log.slice(0, at), ...log.slice(at + 1)];
        break;
      default:
        log.push({ offset: log.length + draws.below(2), value: draws.pick([1, 9]), epoch: draws.pick([0, 3]) });
    }
  }
  const end = (log.at(-1)?.offset ?? -1) + 1;
  return { log, start: draws.chance(0.3) ? draws.below(end + 1) : 0 };
}

function historyOf(draws: Draws, original: readonly Stored[]): Operation[] {
  const history: Operation[] = [];
  const add = (fields: object): void => {
    history.push({ index: history.length, time: history.length, ...fields } as unknown as Operation);
  };
  const sent = [...original.map(({ offset, value }) => [offset, value] as const), [draws.below(4), 7] as const];
  for (const [offset, value] of sent) {
    if (value === 7 && draws.chance(0.8)) continue;
    const told = draws.chance(0.1) ? null : draws.chance(0.8) ? offset : draws.below(6);
    const acks = draws.pick(['all', 'all', 'all', 1] as const);
    const type = draws.pick(['ok', 'ok', 'ok', 'info'] as const);
    add({ process: value, type: 'invoke', f: 'send', value: [['send', key, value]], acks });
    add({ process: value, type, f: 'send', value: [['send', key, type === 'ok' ? [told, value] : value]] });
    if (!draws.chance(0.4)) continue;
    const read = [draws.chance(0.8) ? offset : draws.below(6), value];
    add({ process: 50 + value, type: 'invoke', f: 'poll', value: [['poll']] });
    add({ process: 50 + value, type: 'ok', f: 'poll', value: [['poll', { [key]: [read] }]] });
  }
  return history;
}

function judge(input: CheckInput): Found {
  const { replicas, highWatermark } = plans.get(input) as Plan;
  const found: Found = { present: [], near: [] };
  const [leader] = replicas as [Replica, Replica, Replica];
  const kept: number[] = [];
  for (const sent of actsOf(input.history as Operation[]).flatMap(sentBy)) {
    const { value, offset } = sent;
    const acknowledged = sent.act.type === 'ok';
    const places = leader.log.filter((record) => record.value === value).map((record) => record.offset);
    if (offset !== null && offset < leader.start) {
      if (acknowledged && sent.all) found.present.push(`log-start-moved ${value}`);
      else found.near.push('log-start-moved');
      continue;
    }
    if (offset === leader.start && acknowledged) found.near.push('log-start-moved');
    const stands = offset === null ? places.length > 0 : places.includes(offset);
    const place = offset ?? places[0] ?? -1;
    const lost = stands ? place >= highWatermark : places.length === 0;
    if (!acknowledged || !sent.all) {
      // The same of a record that nobody promised to keep.
      if (lost) found.near.push('lost-acked-write');
      if (!stands && places.length > 0) found.near.push('offset-moved');
      if (acknowledged) found.near.push('offset-moved');
      continue;
    }
    if (lost) found.present.push(`lost-acked-write ${value}`);
    else if (!stands) found.present.push(`offset-moved ${value}`);
    if (stands && offset !== null) kept.push(offset);
  }
  for (const { value, offset } of actsOf(input.history as Operation[]).flatMap(readBy)) {
    const gone = !leader.log.some((record) => record.value === value);
    if (gone && offset >= leader.start) found.present.push(`consumer-saw-uncommitted ${value}`);
    // It is elsewhere, or was below the log start.
    else if (gone || !leader.log.some((record) => record.offset === offset && record.value === value))
      found.near.push('consumer-saw-uncommitted');
  }
  judgeReplicas(replicas, kept, found);
  return found;
}

function judgeReplicas(replicas: readonly Replica[], kept: readonly number[], found: Found): void {
  for (const [at, { log, start }] of replicas.entries()) {
    if (log.some(({ epoch }, place) => (log[place - 1]?.epoch ?? -1) > epoch))
      found.present.push(`epoch-regression ${at}`);
    if (log.some(({ epoch }, place) => log[place - 1]?.epoch === epoch)) found.near.push('epoch-regression');
    if (at === 0) continue;
    const missing = kept.filter((offset) => offset >= start && !log.some((record) => record.offset === offset));
    if (missing.length > 0) found.present.push(`lost-on-replica ${at}`);
    else if (
      kept.some((offset) => !log.some((record) => record.offset === offset)) ||
      log.length < replicas[0]!.log.length
    )
      found.near.push('lost-on-replica');
  }
  for (const [at, one] of replicas.entries()) {
    for (const other of replicas.slice(at + 1)) {
      const from = Math.max(one.start, other.start);
      const to = Math.min(endOf(one), endOf(other));
      const differing = one.log.filter((record) => {
        const twin = other.log.find(({ offset }) => offset === record.offset);
        return twin !== undefined && (twin.value !== record.value || twin.epoch !== record.epoch);
      });
      if (differing.some(({ offset }) => offset >= from && offset < to)) found.present.push('replica-divergence once');
      else if (differing.length > 0 || endOf(one) !== endOf(other)) found.near.push('replica-divergence');
    }
  }
}

function endOf({ log }: Replica): number {
  return (log.at(-1)?.offset ?? -1) + 1;
}
