/**
 * Why, as far as it can be told of a single record: who sent it, what was said of it, who saw it where, who wrote it.
 *
 * The chains of losses and divergences stand in `why-lost.ts` and `why-diverged.ts`. Every other anomaly is about one or
 * two records, or about operations alone; of these the deciding lines of the history are told in their order, and with a
 * trace the line by which a broker wrote the record. Nothing here concludes: it says what the history proves.
 */
import type { Finding } from './anomalies/finding.ts';
import { partitionOf, type Evidence } from './evidence.ts';
import { acksAll, outcome } from './index-history.ts';
import { traceReference } from './replicas.ts';
import type { Reference, WhyStep } from './results.ts';

/** So many records of one anomaly are told of. */
const maxRecords = 3;

/** The steps of a finding that has none of its own. */
export function whyFromHistory(evidence: Evidence, finding: Finding): WhyStep[] {
  const steps: Told[] = [];
  for (const row of finding.rows.slice(0, maxRecords)) steps.push(...tellRecord(evidence, row));
  for (const reference of finding.evidence) {
    if (reference.source !== 'history' || steps.some(({ index }) => index === reference.index)) continue;
    steps.push({ index: reference.index, text: operationText(finding), references: [reference] });
  }
  steps.sort((x, y) => x.index - y.index);
  return steps.filter(({ text }) => text !== '').map(({ text, references }) => ({ text, references }));
}

interface Told extends WhyStep {
  /** Its operation, which is its place in the order. */
  readonly index: number;
}

function tellRecord(evidence: Evidence, row: number): Told[] {
  const { history } = evidence;
  const { values } = history;
  const key = history.keyName(values.key.get(row));
  const value = String(history.valueOf(row));
  const steps: Told[] = [];
  const tell = (index: number, text: string, more: readonly Reference[] = []): void => {
    if (index !== -1) steps.push({ index, text, references: [{ source: 'history', index }, ...more] });
  };
  tell(values.invoked.get(row), `Process ${values.process.get(row)} began to send ${value} to ${key}.`);
  const [became, offset] = [values.outcome.get(row), values.offset.get(row)];
  tell(values.completed.get(row), outcomeText(became, values.acks.get(row), value, offset), written(evidence, row));
  const read = values.readOffset.get(row);
  tell(values.readBy.get(row), `${value} was read, at offset ${read}.`);
  for (const extra of (history.extraOffsets.get(row) ?? []).slice(0, maxRecords)) {
    tell(extra.index, `${value} was seen at offset ${extra.offset} as well.`);
  }
  return steps;
}

function outcomeText(became: number, acks: number, value: string, offset: number): string {
  const where = offset === -1 ? 'at an offset that was not told' : `at offset ${offset}`;
  const asked = acks === acksAll ? 'all' : acks;
  switch (became) {
    case outcome.ok:
      return `${value} was acknowledged (acks=${asked}) ${where}.`;
    case outcome.fail:
      return `The send of ${value} failed: it certainly did not happen.`;
    default:
      return `Nobody knows what became of the send of ${value}.`;
  }
}

/** The line by which the leader appended what this send brought, if the trace ties the two. */
function written(evidence: Evidence, row: number): Reference[] {
  const { history, cluster } = evidence;
  const { values } = history;
  const partition = partitionOf(evidence, history.keyName(values.key.get(row)));
  const offset = values.offset.get(row);
  if (cluster === null || partition === null || offset === -1 || values.correlation.get(row) === -1) return [];
  const { store } = cluster;
  return partition.stays
    .at(offset)
    .map((stay) => partition.stays.appended.get(stay))
    .filter(
      (line) =>
        store.client.get(line) === values.process.get(row) &&
        store.correlation.get(line) === values.correlation.get(row),
    )
    .slice(0, 1)
    .map((line) => traceReference(store, line));
}

/** What an operation of the evidence has to do with it, where no record of it is told. */
function operationText({ kind, summary }: Finding): string {
  if (kind === 'lost-write') return 'A reader passed over its offset, or read another value there.';
  if (kind === 'consumer-saw-uncommitted') return 'A reader that began after that passed over it.';
  const isReading = kind.endsWith('poll-skip') || kind.endsWith('nonmonotonic-poll');
  return isReading ? `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.` : '';
}
