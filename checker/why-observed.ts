/**
 * How a loss or a divergence came about on brokers that tell no trace, as far as it was seen from outside.
 *
 * Told are the acknowledgement of the offset, who was seen to lead afterwards, whose log was seen to be cut below the
 * offset (with what that broker's own log said of it), and what each replica holds in the end. The steps stand in the
 * order in which they were seen, which may be up to a poll after they happened. Nothing here concludes.
 */
import type { Finding } from './anomalies/finding.ts';
import type { Evidence } from './evidence.ts';
import { text } from './final-logs.ts';
import type { Key } from './history.ts';
import type { SeenAck, SeenElection, SeenPartition, SeenTruncation } from './observations.ts';
import { brokers } from './replicas.ts';
import type { AnomalyKind, Reference, WhyStep } from './results.ts';
import { batchAt, decodeRecords } from './segments.ts';
import { withFaults } from './why.ts';

const told: ReadonlySet<AnomalyKind> = new Set(['lost-acked-write', 'replica-divergence', 'lost-on-replica']);

/** So many elections, and so many truncations, are told. */
const maxOfEach = 8;

/** A broker's log tells of a truncation within so long of the moment at which its file became shorter. */
const togetherNs = 1e9;

/** The steps of a finding on a partition that was observed; none for what observations say nothing of. */
export function whyObserved(evidence: Evidence, { kind, key, offset }: Finding): WhyStep[] {
  const partition = key === null ? undefined : evidence.observed?.partitions.get(key);
  if (partition === undefined || key === null || offset === null || !told.has(kind)) return [];
  const acks = partition.acks.filter(({ base, last, acks: asked }) => asked !== 0 && base <= offset && offset <= last);
  const since = acks[0]?.time ?? -Infinity;
  const cuts = partition.truncations.filter(
    ({ from, to, time }) => from !== null && to !== null && to <= offset && time >= since,
  );
  const steps = [
    ...acks.slice(0, maxOfEach).map((ack) => acknowledged(offset, ack)),
    ...partition.elections
      .filter(({ time }) => time > since)
      .slice(0, maxOfEach)
      .map((election) => elected(key, election)),
    ...cuts.slice(0, maxOfEach).map((cut) => truncated(partition, cut)),
  ].sort((x, y) => (x.time ?? 0) - (y.time ?? 0));
  return [...withFaults(evidence, steps), ...heldInTheEnd(evidence, key, offset)];
}

function acknowledged(offset: number, { node, acks, isr, time, reference }: SeenAck): WhyStep {
  const known = isr.length === 0 ? '' : `; in sync were, as last seen, ${brokers(isr)}`;
  const asked = acks === -1 ? 'all' : acks;
  return step(`Broker ${node} acknowledged offset ${offset} (acks=${asked})${known}.`, time, reference);
}

function elected(key: Key, { leader, isr, epoch, time, reference }: SeenElection): WhyStep {
  const who = leader === null ? `Nobody was seen to lead ${key}` : `Broker ${leader} was seen to lead ${key}`;
  const details = [...(epoch === null ? [] : [`epoch ${epoch}`]), `in-sync replicas ${isr.join(', ')}`];
  return step(`${who} (${details.join(', ')}).`, time, reference);
}

function truncated(
  { truncations }: SeenPartition,
  { node, from, to, time, words, reference }: SeenTruncation,
): WhyStep {
  const said =
    words ??
    truncations.find(
      (other) =>
        other.node === node &&
        (other.to ?? to) === to &&
        other.words !== null &&
        Math.abs(other.time - time) < togetherNs,
    )?.words;
  const rule = said === undefined ? 'by which rule, nothing tells' : `as its log said: ${said}`;
  return step(`The log of broker ${node} was seen to be cut from ${from} to ${to}; ${rule}.`, time, reference);
}

/** Replicas by what they hold at the offset in their final logs. */
function heldInTheEnd({ logs }: Evidence, key: Key, offset: number): WhyStep[] {
  const byContent = new Map<string, number[]>();
  const references: Reference[] = [];
  for (const [node, { log }] of logs?.byKey.get(key) ?? []) {
    const batch = batchAt(log, offset);
    const records = batch === null ? null : decodeRecords(log, batch, logs?.decompressors ?? {});
    const value = records?.find((record) => record.offset === offset)?.value ?? null;
    const content = value === null ? (batch === null ? 'nothing' : 'another record') : text(value);
    byContent.set(content, [...(byContent.get(content) ?? []), node]);
    references.push({ source: 'log', node, offset, epoch: batch === null || batch.epoch === -1 ? null : batch.epoch });
  }
  if (byContent.size === 0) return [];
  const camps = [...byContent].map(
    ([content, nodes]) => `${brokers(nodes)} ${nodes.length === 1 ? 'holds' : 'hold'} ${content}`,
  );
  return [{ text: `In the end, at offset ${offset}: ${camps.join('; ')}.`, references }];
}

function step(said: string, time: number, reference: Reference): WhyStep {
  return { text: said, time, references: [reference] };
}
