/**
 * What every causal chain is made of: steps in plain words, each with its place, and the tellers of what all chains tell.
 *
 * `why-lost.ts` and `why-diverged.ts` tell from the trace how a record was lost, or how two replicas came to differ. Both
 * begin with who wrote a record and who copied it, and go on with who was elected; that stands here. Only lines that
 * changed the fate of an offset are told.
 *
 * Invariant: steps are ordered by leader epoch and, within one, by what must come before what; never by the time of two
 * nodes' lines. The faults of the nemesis are put in by time, as surroundings.
 */
import { partitionOf, type Evidence } from './evidence.ts';
import type { Key, Value } from './history.ts';
import type { HistoryIndex } from './index-history.ts';
import { brokers, leaderPlace, traceReference } from './replicas.ts';
import type { ClusterTrace, ElectionAt, PartitionTrace, RoleAt, TruncationAt } from './replicas.ts';
import type { Reference, WhyStep } from './results.ts';

/**
 * Within one epoch: an election, then truncations, then appends, copies and acknowledgements; and what threw a record of
 * this very epoch away.
 */
export const phase = {
  loss: 0,
  election: 1,
  truncation: 2,
  append: 3,
  copy: 4,
  promise: 5,
  removal: 6,
  end: 7,
} as const;

/** So many elections are told one by one, the last among them; the ones between are counted. */
const maxElections = 8;

/** A step, and where it stands among the others. */
interface Placed {
  readonly epoch: number;
  readonly phase: number;
  readonly step: WhyStep;
}

/** A chain for a partition; null where no trace tells of it. */
export function chainOf(evidence: Evidence, key: Key): Chain | null {
  const { cluster } = evidence;
  const partition = partitionOf(evidence, key);
  return cluster === null || partition === null ? null : new Chain(evidence, cluster, partition);
}

/** The steps that were told so far, of one partition. */
export class Chain {
  readonly cluster: ClusterTrace;
  readonly partition: PartitionTrace;
  readonly #evidence: Evidence;
  readonly #steps: Placed[] = [];

  constructor(evidence: Evidence, cluster: ClusterTrace, partition: PartitionTrace) {
    this.#evidence = evidence;
    this.cluster = cluster;
    this.partition = partition;
  }

  /** The steps in order, with the faults that were going on. */
  told(): WhyStep[] {
    this.#steps.sort((x, y) => x.epoch - y.epoch || x.phase - y.phase || (x.step.time ?? 0) - (y.step.time ?? 0));
    return withFaults(
      this.#evidence,
      this.#steps.map(({ step }) => step),
    );
  }

  /** One step, which the lines `rows` of the trace prove; the same words are told once. */
  tell(epoch: number, at: number, text: string, rows: readonly number[], seen: readonly Reference[] = []): void {
    const { store } = this.cluster;
    if (this.#steps.some(({ step }) => step.text === text)) return;
    const references = [...rows.map((row) => traceReference(store, row)), ...seen];
    const time = store.time.get(rows.at(-1) as number);
    this.#steps.push({ epoch, phase: at, step: { text, time, references } });
  }

  /** The last step, which a log proves and no line. */
  tellEnd(text: string, reference: Reference): void {
    this.#steps.push({ epoch: Number.POSITIVE_INFINITY, phase: phase.end, step: { text, references: [reference] } });
  }

  /** Who wrote the record first, and who copied it. */
  recordWritten(offset: number, epoch: number, value: Value | null): void {
    const { stays, key } = this.partition;
    const { store } = this.cluster;
    const all = stays.at(offset).filter((stay) => stays.epoch.get(stay) === epoch);
    const leader = this.partition.elections.find((election) => election.epoch === epoch)?.line.leader;
    const written =
      all.find((stay) => store.client.get(stays.appended.get(stay)) !== -1) ??
      all.find((stay) => stays.node.get(stay) === leader) ??
      all[0];
    if (written === undefined) return;
    const writer = stays.node.get(written);
    const name = value ?? this.valueOf(written);
    const what = name === null ? 'a record' : String(name);
    const row = stays.appended.get(written);
    this.tell(
      epoch,
      phase.append,
      `Broker ${writer}, leader in epoch ${epoch}, appended ${what} at offset ${offset} of ${key}.`,
      [row],
    );
    const elsewhere = all.filter((stay) => stays.node.get(stay) !== writer);
    for (const other of elsewhere.filter((stay) => !stays.isSameBatch(stay, written))) {
      const text = `Broker ${stays.node.get(other)} put other bytes at offset ${offset} in the same epoch.`;
      this.tell(epoch, phase.copy, text, [stays.appended.get(other)]);
    }
    const copies = elsewhere.filter((stay) => stays.isSameBatch(stay, written));
    if (copies.length === 0) return;
    const rows = [...new Map(copies.map((stay) => [stays.node.get(stay), stays.appended.get(stay)])).values()];
    const nodes = copies.map((stay) => stays.node.get(stay));
    this.tell(epoch, phase.copy, `${sentence(brokers(nodes))} copied ${what}.`, rows);
  }

  /** Who was elected, with what there is to say of each; of many only the first and the last. */
  tellElections(elections: readonly ElectionAt[], detail: (election: ElectionAt, leader: number) => string): void {
    const more = elections.slice(maxElections - 1, -1);
    const isMany = more.length > 1;
    const shown = isMany ? elections.filter((election) => !more.includes(election)) : elections;
    if (isMany) {
      const [first, last] = [more[0] as ElectionAt, more.at(-1) as ElectionAt];
      const text = `${more.length} more elections followed, up to epoch ${last.epoch}.`;
      this.tell(first.epoch, phase.election, text, [first.row, last.row]);
    }
    for (const election of shown) {
      const { leader, isr, clean, reason } = election.line;
      const manner = `epoch ${election.epoch}, ${clean ? 'clean' : 'unclean'}, in-sync replicas ${isr.join(', ')}, ${reason}`;
      const text =
        leader === null
          ? `Nobody could lead ${this.partition.key} (${manner}).`
          : `Broker ${leader} was elected (${manner})${detail(election, leader)}.`;
      const { role } =
        leader === null ? { role: null } : leaderPlace(this.cluster, this.partition, leader, election.epoch);
      this.tell(election.epoch, phase.election, text, role === null ? [election.row] : [election.row, role.row]);
    }
  }

  /** A recovery belongs to no epoch: it is told before the next one in which its node had a role. */
  epochAfter(node: number, row: number): number {
    const place = this.cluster.position[row] as number;
    const next = this.partition.roles.get(node)?.find((role) => (this.cluster.position[role.row] as number) > place);
    return next?.epoch ?? Number.MAX_SAFE_INTEGER;
  }

  /** The value that a client's message put there. */
  valueOf(stay: number): Value | null {
    const { stays } = this.partition;
    const { store } = this.cluster;
    const twins = stays.at(stays.base.get(stay)).filter((other) => stays.epoch.get(other) === stays.epoch.get(stay));
    for (const twin of twins) {
      const row = stays.appended.get(twin);
      if (store.client.get(row) === -1) continue;
      const found = rowOfMessage(this.#evidence.history, store.client.get(row), store.correlation.get(row));
      if (found !== undefined) return this.#evidence.history.valueOf(found);
    }
    return null;
  }
}

/** Puts the start of each fault that was going on before the first later step. */
export function withFaults(evidence: Pick<Evidence, 'history'>, steps: readonly WhyStep[]): WhyStep[] {
  const told = [...steps];
  const times = steps.flatMap(({ time }) => (time === undefined ? [] : [time]));
  const from = Math.min(...times);
  const to = Math.max(...times);
  const ends = new Map<string, number>();
  for (const { time, record } of evidence.history.faults) if (record.phase === 'end') ends.set(record.fault, time);
  for (const { time, kind, record } of evidence.history.faults) {
    if (record.phase !== 'start' || time > to || (ends.get(record.fault) ?? time) < from) continue;
    const nodes = Object.entries(record.nodes ?? {}).map(([role, node]) =>
      role === node ? role : `${role} ${String(node)}`,
    );
    const text = `Fault ${record.fault}: ${kind}${nodes.length === 0 ? '' : ` (${nodes.join('; ')})`}.`;
    const at = told.findIndex((step) => step.time !== undefined && step.time > time);
    told.splice(at === -1 ? told.length : at, 0, { text, time, references: [] });
  }
  return told;
}

/** What a broker threw away, by which rule; the sentence goes on. */
export function truncatedInWords(role: RoleAt | null, truncation: TruncationAt): string {
  const { node, line } = truncation;
  return `Broker ${node}${following(role, node)} truncated its log from ${line.from} to ${line.to}, ${ruleInWords(truncation)}`;
}

/** By which rule a log was cut, and on whose word. */
export function ruleInWords({ line }: TruncationAt): string {
  const { evidence } = line;
  const answer = evidence['answer'] as { epoch?: unknown; endOffset?: unknown } | undefined;
  const question = evidence['question'] as { epoch?: unknown } | undefined;
  switch (line.rule) {
    case 'high-watermark':
      return `by its own high watermark ${String(evidence['highWatermark'])}`;
    case 'high-watermark-on-election':
      return `by its own high watermark ${String(evidence['highWatermark'])}, on being elected`;
    case 'leader-epoch':
      return `since broker ${String(evidence['leader'])}, asked for the end of epoch ${String(question?.epoch)}, answered epoch ${String(answer?.epoch)}, end ${String(answer?.endOffset)}`;
    case 'offset-out-of-range':
      return `since its end was out of the range of broker ${String(evidence['leader'])}, ${String(evidence['leaderStart'])} to ${String(evidence['leaderEnd'])}`;
    default:
      return `by the rule ${line.rule}`;
  }
}

/** The role in which a broker acted, put behind its name. */
export function following(role: RoleAt | null, node: number): string {
  if (role === null) return '';
  if (role.line.role === 'leader') return `, leader in epoch ${role.epoch},`;
  if (role.line.leader === null || role.line.leader === node) return `, without a leader in epoch ${role.epoch},`;
  return `, now a follower of broker ${role.line.leader} in epoch ${role.epoch},`;
}

const messages = new WeakMap<HistoryIndex, Map<string, number>>();

/** The value row that a produce request of a client carried. */
function rowOfMessage(history: HistoryIndex, process: number, correlation: number): number | undefined {
  let byMessage = messages.get(history);
  if (byMessage === undefined) {
    byMessage = new Map();
    for (let row = 0; row < history.rowCount; row += 1) {
      byMessage.set(`${history.values.process.get(row)}#${history.values.correlation.get(row)}`, row);
    }
    messages.set(history, byMessage);
  }
  return byMessage.get(`${process}#${correlation}`);
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
