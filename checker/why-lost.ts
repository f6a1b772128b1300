/**
 * Why a record was lost: who wrote, copied and acknowledged it, who threw it away on whose word, and what took its place.
 *
 * The chain begins with the promise, an acknowledgement or a high watermark that let consumers read the record. Then come
 * the brokers that dropped it, whether anything called for that, and how one without the record came to lead. It ends with
 * what the last leader holds.
 *
 * Invariant: nothing is concluded here; `excuse.ts` has judged each removal. A record that was promised nothing has no
 * chain, and where there is no trace, `why-observed.ts` tells what was seen.
 */
import type { Evidence } from './evidence.ts';
import type { Fate, Promised, Removal } from './excuse.ts';
import type { FinalLog } from './final-logs.ts';
import type { Key } from './history.ts';
import { brokers, heldAt, leaderPlace, roleBefore, type ElectionAt, type TruncationAt } from './replicas.ts';
import type { Reference, WhyStep } from './results.ts';
import { chainOf, phase, truncatedInWords, type Chain } from './why.ts';

/** The chain of a loss; empty where no trace tells it. `row` is −1 for a record whose value nobody knows. */
export function whyLost(evidence: Evidence, key: Key, row: number, fate: Fate, final: FinalLog | null): WhyStep[] {
  const chain = chainOf(evidence, key);
  const { promised, lacking, removals } = fate;
  if (chain === null || promised === null) return [];
  chain.recordWritten(promised.offset, promised.epoch, row === -1 ? null : evidence.history.valueOf(row));
  promiseMade(chain, promised, row === -1 ? -1 : evidence.history.values.completed.get(row));
  for (const removal of removals) removed(chain, promised, removal);
  joined(chain, promised, lacking);
  elected(chain, promised, lacking);
  placeTaken(chain, promised, lacking);
  if (final !== null) standsAtEnd(chain, promised, final);
  return chain.told();
}

/** The word that was given of the record, and with whom in sync. */
function promiseMade(chain: Chain, promised: Promised, completed: number): void {
  const { store } = chain.cluster;
  const node = store.nodeOf(promised.row);
  const ack = chain.partition.acks.find(({ row }) => row === promised.row);
  const isr = `with the in-sync replicas ${promised.isr.join(', ')}`;
  const text =
    ack === undefined
      ? `The high watermark of broker ${node} passed it, ${isr}: consumers may read it.`
      : `Broker ${node} acknowledged it (acks=all) ${isr}.`;
  const seen: Reference[] = ack === undefined || completed === -1 ? [] : [{ source: 'history', index: completed }];
  chain.tell(promised.madeInEpoch, phase.promise, text, [promised.row], seen);
}

/** How a broker dropped the record: at a start, by a truncation, or with more than the record. */
function removed(chain: Chain, promised: Promised, removal: Removal): void {
  const { store } = chain.cluster;
  const { node, row } = removal;
  const recovery = store.recoveries.get(row);
  if (recovery !== undefined) {
    const how = recovery.cut === 'none' ? 'found' : `cut by ${recovery.cut.replace('-', ' ')}`;
    const text = `Broker ${node} started again and had lost it: its log, ${how}, ended at ${recovery.to} (flushed up to ${recovery.flushed}).`;
    tellRemoval(chain, promised, chain.epochAfter(node, row), phase.loss, text, [row]);
    return;
  }
  const truncation = chain.partition.truncations.find((each) => each.row === row);
  if (truncation === undefined) {
    const how = removal.by === 'log-start' ? 'the start of its log moved beyond it' : 'its replica was deleted';
    tellRemoval(chain, promised, store.epoch.get(row), phase.truncation, `Broker ${node} dropped it: ${how}.`, [row]);
    return;
  }
  const role = roleBefore(chain.cluster, chain.partition, node, row);
  const verdict = justification(chain, promised, removal, truncation);
  const text = `${truncatedInWords(role, truncation)}${verdict}`;
  const rows = role === null ? [row] : [role.row, row];
  tellRemoval(chain, promised, truncation.epoch, phase.truncation, text, rows);
}

/** In the epoch in which the record was written it can only have gone after that. */
function tellRemoval(
  chain: Chain,
  promised: Promised,
  epoch: number,
  usual: number,
  text: string,
  rows: readonly number[],
): void {
  chain.tell(epoch, epoch === promised.epoch ? phase.removal : usual, text, rows);
}

/** Whether anything called for a truncation: the leader that was followed lacked the record, or held it. */
function justification(chain: Chain, promised: Promised, removal: Removal, truncation: TruncationAt): string {
  if (removal.leader === removal.node) return '; a leader that truncates itself throws away what only it may keep.';
  if (removal.leader === null) return '; it had no leader to follow.';
  if (removal.justified === true) return `; broker ${removal.leader} did not have the record.`;
  const { role } = leaderPlace(chain.cluster, chain.partition, removal.leader, truncation.epoch);
  const when =
    role === null ? 'had not even begun to lead, and held the record' : 'held the record when it took the lead';
  const inSync = promised.isr.includes(removal.node) ? '' : ' (it was not in sync at the acknowledgement)';
  return `; broker ${removal.leader} ${when}, so nothing called for that${inSync}.`;
}

/** How a broker without the record came to be in sync, and so could be elected. */
function joined(chain: Chain, promised: Promised, lacking: ElectionAt | null): void {
  const leader = lacking?.line.leader ?? null;
  if (lacking === null || leader === null || promised.isr.includes(leader)) return;
  const change = chain.partition.isrChanges.findLast(
    ({ epoch, from, to }) =>
      epoch >= promised.madeInEpoch && epoch < lacking.epoch && !from.includes(leader) && to.includes(leader),
  );
  if (change === undefined) return;
  const text = `Broker ${leader} was taken into the in-sync replicas of ${chain.partition.key} in epoch ${change.epoch}, now ${change.to.join(', ')}, without the record.`;
  chain.tell(change.epoch, phase.end, text, [change.row]);
}

/** The elections from the promise to the leader that lacked the record. */
function elected(chain: Chain, promised: Promised, lacking: ElectionAt | null): void {
  const last = lacking?.epoch ?? Number.POSITIVE_INFINITY;
  const between = chain.partition.elections.filter(({ epoch }) => epoch > promised.madeInEpoch && epoch <= last);
  chain.tellElections(between, (election, leader) => {
    const { place, role } = leaderPlace(chain.cluster, chain.partition, leader, election.epoch);
    const held = heldAt(chain.cluster, chain.partition, leader, promised.offset, promised.epoch, place);
    if (role === null) {
      const then = held ? 'though it held the record' : 'and did not have the record when it came back';
      return `; it never took the role, ${then}`;
    }
    const end = `its log ended at ${role.line.leo} and its high watermark was ${role.line.hw}`;
    return `; ${held ? 'it held the record' : 'it did not have the record'}, ${end}`;
  });
}

/** What stands at the offset instead: in the log of the leader that lacked the record, or later anywhere. */
function placeTaken(chain: Chain, { offset, epoch, madeInEpoch }: Promised, lacking: ElectionAt | null): void {
  const { stays } = chain.partition;
  const others = stays.at(offset).filter((stay) => stays.epoch.get(stay) !== epoch);
  const since = lacking?.epoch ?? madeInEpoch;
  const taken =
    others.find((stay) => stays.node.get(stay) === lacking?.line.leader) ??
    others.find((stay) => stays.epoch.get(stay) >= since);
  if (taken === undefined) return;
  const value = chain.valueOf(taken);
  const what = value === null ? 'another record' : String(value);
  const text = `Broker ${stays.node.get(taken)} put ${what} at offset ${offset} in epoch ${stays.epoch.get(taken)}.`;
  chain.tell(stays.epoch.get(taken), phase.append, text, [stays.appended.get(taken)]);
}

/** What the leader in the end says of it, and who still holds it. */
function standsAtEnd(chain: Chain, promised: Promised, final: FinalLog): void {
  const { stays, key } = chain.partition;
  const holders = stays
    .at(promised.offset)
    .filter((stay) => stays.epoch.get(stay) === promised.epoch && stays.removed.get(stay) === -1)
    .map((stay) => stays.node.get(stay));
  const others =
    holders.length === 0
      ? 'no replica holds the record'
      : `${brokers(holders)} still ${holders.length === 1 ? 'holds' : 'hold'} it, which saves nothing`;
  const text = `In the end broker ${final.node} leads ${key}, its log ends at ${final.log.end}; ${others}.`;
  chain.tellEnd(text, { source: 'log', node: final.node, offset: promised.offset, epoch: null });
}
