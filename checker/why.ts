/**
 * Why a record was lost, or why two replicas differ: the causal chain in plain words, from the trace.
 *
 * Only lines that changed the fate of the offset are told: who wrote the record and who copied it, who acknowledged it
 * with which ISR, who was elected, who threw it away by which rule and on whose word, and what took its place. Steps are
 * ordered by leader epoch and, within one, by what must come before what; never by the time of two nodes' lines. The
 * faults of the nemesis are put in by time, as surroundings.
 */
import type { Evidence } from './evidence.ts';
import { partitionOf } from './evidence.ts';
import type { Fate, Promised, Removal } from './excuse.ts';
import type { FinalLog } from './final-logs.ts';
import type { Key, Value } from './history.ts';
import type { HistoryIndex } from './index-history.ts';
import { heldAt, leaderPlace, brokers, roleBefore, traceReference } from './replicas.ts';
import type { ClusterTrace, ElectionAt, PartitionTrace, RoleAt, TruncationAt } from './replicas.ts';
import type { Reference, WhyStep } from './results.ts';

/**
 * Within one epoch: an election, then truncations, then appends, copies and acknowledgements; and what threw a record of
 * this very epoch away.
 */
const phase = { loss: 0, election: 1, truncation: 2, append: 3, copy: 4, promise: 5, removal: 6, end: 7 } as const;

export interface Step extends WhyStep {
  readonly epoch: number;
  readonly phase: number;
}

/** So many elections are told one by one, the last among them; the ones between are counted. */
const maxElections = 8;

/** The chain of a loss; empty where no trace tells it. `row` is −1 for a record whose value nobody knows. */
export function whyLost(evidence: Evidence, key: Key, row: number, fate: Fate, final: FinalLog | null): WhyStep[] {
  const { cluster } = evidence;
  const partition = partitionOf(evidence, key);
  if (cluster === null || partition === null || fate.promised === null) return [];
  const teller = new Teller(evidence, cluster, partition);
  const { promised } = fate;
  teller.recordWritten(promised.offset, promised.epoch, row === -1 ? null : evidence.history.valueOf(row));
  teller.promiseMade(promised, row === -1 ? -1 : evidence.history.values.completed.get(row));
  for (const removal of fate.removals) teller.removed(promised, removal);
  teller.joined(promised, fate.lacking);
  teller.elections(promised, fate.lacking);
  teller.placeTaken(promised, fate.lacking);
  if (final !== null) teller.standsAtEnd(promised, final);
  return teller.told();
}

/** The chain of a divergence at one offset: what each camp holds, and why it kept it. */
export function whyDiverged(
  evidence: Evidence,
  key: Key,
  offset: number,
  camps: readonly { readonly nodes: readonly number[]; readonly value: Value | null; readonly epoch: number | null }[],
): WhyStep[] {
  const { cluster } = evidence;
  const partition = partitionOf(evidence, key);
  if (cluster === null || partition === null) return [];
  const teller = new Teller(evidence, cluster, partition);
  const epochs = camps.flatMap(({ epoch }) => (epoch === null ? [] : [epoch]));
  const oldest = Math.min(...epochs);
  const newest = Math.max(...epochs);
  for (const { value, epoch } of camps) if (epoch !== null) teller.recordWritten(offset, epoch, value);
  for (const epoch of new Set(epochs)) teller.acknowledged(offset, epoch);
  teller.electionsBetween(oldest, newest);
  for (const { nodes, epoch } of camps) {
    if (epoch === null || epoch === newest) continue;
    for (const node of nodes) teller.kept(node, offset, epoch);
  }
  for (const node of camps.filter(({ epoch }) => epoch === newest).flatMap(({ nodes }) => nodes)) {
    teller.gaveUp(node, offset, newest);
  }
  return teller.told();
}

class Teller {
  readonly #evidence: Evidence;
  readonly #cluster: ClusterTrace;
  readonly #partition: PartitionTrace;
  readonly #steps: Step[] = [];

  constructor(evidence: Evidence, cluster: ClusterTrace, partition: PartitionTrace) {
    this.#evidence = evidence;
    this.#cluster = cluster;
    this.#partition = partition;
  }

  /** Who wrote the record first, and who copied it. */
  recordWritten(offset: number, epoch: number, value: Value | null): void {
    const { stays, key } = this.#partition;
    const { store } = this.#cluster;
    const all = stays.at(offset).filter((stay) => stays.epoch.get(stay) === epoch);
    const leader = this.#partition.elections.find((election) => election.epoch === epoch)?.line.leader;
    const written =
      all.find((stay) => store.client.get(stays.appended.get(stay)) !== -1) ??
      all.find((stay) => stays.node.get(stay) === leader) ??
      all[0];
    if (written === undefined) return;
    const writer = stays.node.get(written);
    const name = value ?? this.#valueOf(written);
    const what = name === null ? 'a record' : String(name);
    const row = stays.appended.get(written);
    this.#tell(
      epoch,
      phase.append,
      `Broker ${writer}, leader in epoch ${epoch}, appended ${what} at offset ${offset} of ${key}.`,
      [row],
    );
    const elsewhere = all.filter((stay) => stays.node.get(stay) !== writer);
    for (const other of elsewhere.filter((stay) => !stays.isSameBatch(stay, written))) {
      const text = `Broker ${stays.node.get(other)} put other bytes at offset ${offset} in the same epoch.`;
      this.#tell(epoch, phase.copy, text, [stays.appended.get(other)]);
    }
    const copies = elsewhere.filter((stay) => stays.isSameBatch(stay, written));
    if (copies.length === 0) return;
    const rows = [...new Map(copies.map((stay) => [stays.node.get(stay), stays.appended.get(stay)])).values()];
    const nodes = copies.map((stay) => stays.node.get(stay));
    this.#tell(epoch, phase.copy, `${sentence(brokers(nodes))} copied ${what}.`, rows);
  }

  promiseMade(promised: Promised, completed: number): void {
    const { store } = this.#cluster;
    const node = store.nodeOf(promised.row);
    const ack = this.#partition.acks.find(({ row }) => row === promised.row);
    const isr = `with the in-sync replicas ${promised.isr.join(', ')}`;
    const text =
      ack === undefined
        ? `The high watermark of broker ${node} passed it, ${isr}: consumers may read it.`
        : `Broker ${node} acknowledged it (acks=all) ${isr}.`;
    const seen: Reference[] = ack === undefined || completed === -1 ? [] : [{ source: 'history', index: completed }];
    this.#tell(promised.madeInEpoch, phase.promise, text, [promised.row], seen);
  }

  acknowledged(offset: number, epoch: number): void {
    const ack = this.#partition.acks.find(
      (each) => each.base <= offset && offset <= each.last && each.batchEpoch === epoch && each.acks !== 0,
    );
    if (ack === undefined) return;
    const acks = ack.acks === -1 ? 'all' : ack.acks;
    const text = `Broker ${ack.node} acknowledged the record of epoch ${epoch} (acks=${acks}) with the in-sync replicas ${ack.isr.join(', ')}.`;
    this.#tell(ack.epoch, phase.promise, text, [ack.row]);
  }

  removed(promised: Promised, removal: Removal): void {
    const { store } = this.#cluster;
    const { node, row } = removal;
    const recovery = store.recoveries.get(row);
    if (recovery !== undefined) {
      const how = recovery.cut === 'none' ? 'found' : `cut by ${recovery.cut.replace('-', ' ')}`;
      const text = `Broker ${node} started again and had lost it: its log, ${how}, ended at ${recovery.to} (flushed up to ${recovery.flushed}).`;
      this.#tellRemoval(promised, this.#epochAfter(node, row), phase.loss, text, [row]);
      return;
    }
    const truncation = this.#partition.truncations.find((each) => each.row === row);
    if (truncation === undefined) {
      const how = removal.by === 'log-start' ? 'the start of its log moved beyond it' : 'its replica was deleted';
      this.#tellRemoval(promised, store.epoch.get(row), phase.truncation, `Broker ${node} dropped it: ${how}.`, [row]);
      return;
    }
    const role = roleBefore(this.#cluster, this.#partition, node, row);
    const verdict = this.#justification(promised, removal, truncation);
    const { from, to } = truncation.line;
    const text = `Broker ${node}${following(role, node)} truncated its log from ${from} to ${to}, ${ruleInWords(truncation)}${verdict}`;
    const rows = role === null ? [row] : [role.row, row];
    this.#tellRemoval(promised, truncation.epoch, phase.truncation, text, rows);
  }

  /** In the epoch in which the record was written it can only have gone after that. */
  #tellRemoval(promised: Promised, epoch: number, usual: number, text: string, rows: readonly number[]): void {
    this.#tell(epoch, epoch === promised.epoch ? phase.removal : usual, text, rows);
  }

  #justification(promised: Promised, removal: Removal, truncation: TruncationAt): string {
    if (removal.leader === removal.node) return '; a leader that truncates itself throws away what only it may keep.';
    if (removal.leader === null) return '; it had no leader to follow.';
    if (removal.justified === true) return `; broker ${removal.leader} did not have the record.`;
    const { role } = leaderPlace(this.#cluster, this.#partition, removal.leader, truncation.epoch);
    const when =
      role === null ? 'had not even begun to lead, and held the record' : 'held the record when it took the lead';
    const inSync = promised.isr.includes(removal.node) ? '' : ' (it was not in sync at the acknowledgement)';
    return `; broker ${removal.leader} ${when}, so nothing called for that${inSync}.`;
  }

  /** The elections from the promise to the leader that lacked the record. */
  elections(promised: Promised, lacking: ElectionAt | null): void {
    const last = lacking?.epoch ?? Number.POSITIVE_INFINITY;
    const between = this.#partition.elections.filter(({ epoch }) => epoch > promised.madeInEpoch && epoch <= last);
    this.#tellElections(between, (election, leader) => {
      const { place, role } = leaderPlace(this.#cluster, this.#partition, leader, election.epoch);
      const held = heldAt(this.#cluster, this.#partition, leader, promised.offset, promised.epoch, place);
      if (role === null) {
        const then = held ? 'though it held the record' : 'and did not have the record when it came back';
        return `; it never took the role, ${then}`;
      }
      const end = `its log ended at ${role.line.leo} and its high watermark was ${role.line.hw}`;
      return `; ${held ? 'it held the record' : 'it did not have the record'}, ${end}`;
    });
  }

  /** How a broker without the record came to be in sync, and so could be elected. */
  joined(promised: Promised, lacking: ElectionAt | null): void {
    const leader = lacking?.line.leader ?? null;
    if (lacking === null || leader === null || promised.isr.includes(leader)) return;
    const change = this.#partition.isrChanges.findLast(
      ({ epoch, from, to }) =>
        epoch >= promised.madeInEpoch && epoch < lacking.epoch && !from.includes(leader) && to.includes(leader),
    );
    if (change === undefined) return;
    const text = `Broker ${leader} was taken into the in-sync replicas of ${this.#partition.key} in epoch ${change.epoch}, now ${change.to.join(', ')}, without the record.`;
    this.#tell(change.epoch, phase.end, text, [change.row]);
  }

  electionsBetween(oldest: number, newest: number): void {
    const between = this.#partition.elections.filter(({ epoch }) => epoch > oldest && epoch <= newest);
    this.#tellElections(between, (election, leader) => {
      const { role } = leaderPlace(this.#cluster, this.#partition, leader, election.epoch);
      return role === null ? '' : `; its log ended at ${role.line.leo}`;
    });
  }

  #tellElections(elections: readonly ElectionAt[], detail: (election: ElectionAt, leader: number) => string): void {
    const more = elections.slice(maxElections - 1, -1);
    const isMany = more.length > 1;
    const shown = isMany ? elections.filter((election) => !more.includes(election)) : elections;
    if (isMany) {
      const [first, last] = [more[0] as ElectionAt, more.at(-1) as ElectionAt];
      const text = `${more.length} more elections followed, up to epoch ${last.epoch}.`;
      this.#tell(first.epoch, phase.election, text, [first.row, last.row]);
    }
    for (const election of shown) {
      const { leader, isr, clean, reason } = election.line;
      const manner = `epoch ${election.epoch}, ${clean ? 'clean' : 'unclean'}, in-sync replicas ${isr.join(', ')}, ${reason}`;
      const text =
        leader === null
          ? `Nobody could lead ${this.#partition.key} (${manner}).`
          : `Broker ${leader} was elected (${manner})${detail(election, leader)}.`;
      const { role } =
        leader === null ? { role: null } : leaderPlace(this.#cluster, this.#partition, leader, election.epoch);
      this.#tell(election.epoch, phase.election, text, role === null ? [election.row] : [election.row, role.row]);
    }
  }

  /** What stands at the offset instead: in the log of the leader that lacked the record, or later anywhere. */
  placeTaken({ offset, epoch, madeInEpoch }: Promised, lacking: ElectionAt | null): void {
    const { stays } = this.#partition;
    const others = stays.at(offset).filter((stay) => stays.epoch.get(stay) !== epoch);
    const since = lacking?.epoch ?? madeInEpoch;
    const taken =
      others.find((stay) => stays.node.get(stay) === lacking?.line.leader) ??
      others.find((stay) => stays.epoch.get(stay) >= since);
    if (taken === undefined) return;
    const value = this.#valueOf(taken);
    const what = value === null ? 'another record' : String(value);
    const text = `Broker ${stays.node.get(taken)} put ${what} at offset ${offset} in epoch ${stays.epoch.get(taken)}.`;
    this.#tell(stays.epoch.get(taken), phase.append, text, [stays.appended.get(taken)]);
  }

  standsAtEnd(promised: Promised, final: FinalLog): void {
    const { stays, key } = this.#partition;
    const holders = stays
      .at(promised.offset)
      .filter((stay) => stays.epoch.get(stay) === promised.epoch && stays.removed.get(stay) === -1)
      .map((stay) => stays.node.get(stay));
    const others =
      holders.length === 0
        ? 'no replica holds the record'
        : `${brokers(holders)} still ${holders.length === 1 ? 'holds' : 'hold'} it, which saves nothing`;
    const text = `In the end broker ${final.node} leads ${key}, its log ends at ${final.log.end}; ${others}.`;
    const reference: Reference = { source: 'log', node: final.node, offset: promised.offset, epoch: null };
    this.#steps.push({ epoch: Number.POSITIVE_INFINITY, phase: phase.end, text, references: [reference] });
  }

  /** Why `node` still has its record: each time it followed a newer leader and did not truncate below it. */
  kept(node: number, offset: number, epoch: number): void {
    const roles = (this.#partition.roles.get(node) ?? []).filter(
      (role) => role.epoch > epoch && role.line.role === 'follower' && role.line.leo > offset,
    );
    for (const role of roles.slice(-2)) {
      const truncation = this.#partition.truncations.find((each) => each.node === node && each.epoch === role.epoch);
      const how =
        truncation === undefined
          ? 'truncated nothing'
          : `kept offset ${offset}: it ${cutInWords(truncation.line)}, ${ruleInWords(truncation)}`;
      const text = `Broker ${node}${following(role, node)} ${how}; its log ended at ${role.line.leo}, its high watermark was ${role.line.hw}.`;
      this.#tell(
        role.epoch,
        phase.truncation,
        text,
        truncation === undefined ? [role.row] : [role.row, truncation.row],
      );
    }
  }

  /** How `node` came to lose an older record from the offset that the newest one took. */
  gaveUp(node: number, offset: number, newest: number): void {
    const { stays } = this.#partition;
    const { store } = this.#cluster;
    const older = stays
      .at(offset)
      .filter(
        (stay) => stays.node.get(stay) === node && stays.epoch.get(stay) < newest && stays.removed.get(stay) !== -1,
      )
      .at(-1);
    if (older === undefined) return;
    const row = stays.removed.get(older);
    const truncation = this.#partition.truncations.find((each) => each.row === row);
    const recovery = store.recoveries.get(row);
    if (truncation !== undefined) {
      const role = roleBefore(this.#cluster, this.#partition, node, row);
      const { from, to } = truncation.line;
      const text = `Broker ${node}${following(role, node)} truncated its log from ${from} to ${to}, ${ruleInWords(truncation)}.`;
      this.#tell(truncation.epoch, phase.truncation, text, [row]);
    } else if (recovery !== undefined) {
      const text = `Broker ${node} started again with a log that ended at ${recovery.to} (${recovery.cut.replace('-', ' ')}).`;
      this.#tell(this.#epochAfter(node, row), phase.loss, text, [row]);
    }
  }

  /** The steps in order, with the faults that were going on. */
  told(): WhyStep[] {
    this.#steps.sort((x, y) => x.epoch - y.epoch || x.phase - y.phase || (x.time ?? 0) - (y.time ?? 0));
    return withFaults(this.#evidence, this.#steps).map(({ text, time, references }) =>
      time === undefined ? { text, references } : { text, time, references },
    );
  }

  #tell(epoch: number, at: number, text: string, rows: readonly number[], seen: readonly Reference[] = []): void {
    const { store } = this.#cluster;
    const references = [...rows.map((row) => traceReference(store, row)), ...seen];
    const time = store.time.get(rows.at(-1) as number);
    if (!this.#steps.some((step) => step.text === text)) this.#steps.push({ epoch, phase: at, text, time, references });
  }

  /** A recovery belongs to no epoch: it is told before the next one in which its node had a role. */
  #epochAfter(node: number, row: number): number {
    const place = this.#cluster.position[row] as number;
    const next = this.#partition.roles.get(node)?.find((role) => (this.#cluster.position[role.row] as number) > place);
    return next?.epoch ?? Number.MAX_SAFE_INTEGER;
  }

  /** The value that a client's message put there. */
  #valueOf(stay: number): Value | null {
    const { stays } = this.#partition;
    const { store } = this.#cluster;
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

const messages = new WeakMap<HistoryIndex, Map<string, number>>();

/** The value row that a produce request of a client carried. */
function rowOfMessage(history: HistoryIndex, process: number, correlation: number): number | undefined {
  let byMessage = messages.get(history);
  if (byMessage === undefined) {
    byMessage = new Map();
    for (let row = 0; row < history.rowCount; row += 1) {
      if (history.values.correlation.get(row) === -1) continue;
      byMessage.set(`${history.values.process.get(row)}#${history.values.correlation.get(row)}`, row);
    }
    messages.set(history, byMessage);
  }
  return byMessage.get(`${process}#${correlation}`);
}

/** A truncation that looked and removed nothing is told as such. */
function cutInWords({ from, to }: TruncationAt['line']): string {
  return from === to ? 'cut nothing off' : `truncated from ${from} to ${to}`;
}

function ruleInWords({ line }: TruncationAt): string {
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

function following(role: RoleAt | null, node: number): string {
  if (role === null) return '';
  if (role.line.role === 'leader') return `, leader in epoch ${role.epoch},`;
  if (role.line.leader === null || role.line.leader === node) return `, without a leader in epoch ${role.epoch},`;
  return `, now a follower of broker ${role.line.leader} in epoch ${role.epoch},`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Puts the start of each fault that was going on before the first later step. */
export function withFaults(evidence: Pick<Evidence, 'history'>, steps: readonly Step[]): Step[] {
  const told = [...steps];
  const times = steps.flatMap(({ time }) => (time === undefined ? [] : [time]));
  if (times.length === 0) return told;
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
    told.splice(at === -1 ? told.length : at, 0, { epoch: 0, phase: 0, text, time, references: [] });
  }
  return told;
}
