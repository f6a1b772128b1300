/**
 * Why two replicas hold different records at one offset: what each camp holds, and why it kept it.
 *
 * Told are who wrote each record and who acknowledged it, who was elected between them, why a broker with an older record
 * did not truncate it when it followed a newer leader, and how a broker with the newest came to give up an older one.
 *
 * Invariant: nothing is concluded here; which replicas differ, and since where, `anomalies/divergence.ts` has found. Left
 * out is whatever did not change who holds what at this offset.
 */
import type { Evidence } from './evidence.ts';
import type { Key, Value } from './history.ts';
import { leaderPlace, roleBefore, type TruncationAt } from './replicas.ts';
import type { WhyStep } from './results.ts';
import { chainOf, following, phase, ruleInWords, truncatedInWords, type Chain } from './why.ts';

/** Replicas that hold the same at an offset. */
interface Camp {
  readonly nodes: readonly number[];
  readonly value: Value | null;
  readonly epoch: number | null;
}

/** The chain of a divergence at one offset; empty where no trace tells it. */
export function whyDiverged(evidence: Evidence, key: Key, offset: number, camps: readonly Camp[]): WhyStep[] {
  const chain = chainOf(evidence, key);
  if (chain === null) return [];
  const epochs = camps.flatMap(({ epoch }) => (epoch === null ? [] : [epoch]));
  const oldest = Math.min(...epochs);
  const newest = Math.max(...epochs);
  for (const { value, epoch } of camps) if (epoch !== null) chain.recordWritten(offset, epoch, value);
  for (const epoch of new Set(epochs)) acknowledged(chain, offset, epoch);
  electionsBetween(chain, oldest, newest);
  for (const { nodes, epoch } of camps) {
    if (epoch === null || epoch === newest) continue;
    for (const node of nodes) kept(chain, node, offset, epoch);
  }
  for (const node of camps.filter(({ epoch }) => epoch === newest).flatMap(({ nodes }) => nodes)) {
    gaveUp(chain, node, offset, newest);
  }
  return chain.told();
}

/** Who acknowledged the record of that epoch, if anybody did. */
function acknowledged(chain: Chain, offset: number, epoch: number): void {
  const ack = chain.partition.acks.find(
    (each) => each.base <= offset && offset <= each.last && each.batchEpoch === epoch && each.acks !== 0,
  );
  if (ack === undefined) return;
  const acks = ack.acks === -1 ? 'all' : ack.acks;
  const text = `Broker ${ack.node} acknowledged the record of epoch ${epoch} (acks=${acks}) with the in-sync replicas ${ack.isr.join(', ')}.`;
  chain.tell(ack.epoch, phase.promise, text, [ack.row]);
}

/** The elections after the oldest of the records, up to that of the newest. */
function electionsBetween(chain: Chain, oldest: number, newest: number): void {
  const between = chain.partition.elections.filter(({ epoch }) => epoch > oldest && epoch <= newest);
  chain.tellElections(between, (election, leader) => {
    const { role } = leaderPlace(chain.cluster, chain.partition, leader, election.epoch);
    return role === null ? '' : `; its log ended at ${role.line.leo}`;
  });
}

/** Why `node` still has its record: each time it followed a newer leader and did not truncate below it. */
function kept(chain: Chain, node: number, offset: number, epoch: number): void {
  const roles = (chain.partition.roles.get(node) ?? []).filter(
    (role) => role.epoch > epoch && role.line.role === 'follower' && role.line.leo > offset,
  );
  for (const role of roles.slice(-2)) {
    const truncation = chain.partition.truncations.find((each) => each.node === node && each.epoch === role.epoch);
    const how =
      truncation === undefined
        ? 'truncated nothing'
        : `kept offset ${offset}: it ${cutInWords(truncation.line)}, ${ruleInWords(truncation)}`;
    const text = `Broker ${node}${following(role, node)} ${how}; its log ended at ${role.line.leo}, its high watermark was ${role.line.hw}.`;
    chain.tell(role.epoch, phase.truncation, text, truncation === undefined ? [role.row] : [role.row, truncation.row]);
  }
}

/** How `node` came to lose an older record from the offset that the newest one took. */
function gaveUp(chain: Chain, node: number, offset: number, newest: number): void {
  const { stays } = chain.partition;
  const { store } = chain.cluster;
  const older = stays
    .at(offset)
    .filter((stay) => stays.node.get(stay) === node && stays.epoch.get(stay) < newest && stays.removed.get(stay) !== -1)
    .at(-1);
  if (older === undefined) return;
  const row = stays.removed.get(older);
  const truncation = chain.partition.truncations.find((each) => each.row === row);
  const recovery = store.recoveries.get(row);
  if (truncation !== undefined) {
    const role = roleBefore(chain.cluster, chain.partition, node, row);
    chain.tell(truncation.epoch, phase.truncation, `${truncatedInWords(role, truncation)}.`, [row]);
  } else if (recovery !== undefined) {
    const text = `Broker ${node} started again with a log that ended at ${recovery.to} (${recovery.cut.replace('-', ' ')}).`;
    chain.tell(chain.epochAfter(node, row), phase.loss, text, [row]);
  }
}

/** A truncation that looked and removed nothing is told as such. */
function cutInWords({ from, to }: TruncationAt['line']): string {
  return from === to ? 'cut nothing off' : `truncated from ${from} to ${to}`;
}
