/**
 * The signature of an anomaly: what makes two failures the same bug.
 *
 * Its kind, the rule by which the record left the replica that mattered (or that nothing removed it), the role of that
 * replica then, and how the leader that ended without it was elected. Never names, offsets, times or the text of a
 * message: a failure that was made smaller has other ones, and one text may stand for two bugs.
 *
 * Invariant: it depends on nothing but the anomaly and the lines of the trace that the anomaly names.
 */
import type { Anomaly, Reference } from '../../checker/results.ts';
import type { TraceLine } from '../../nemesis/ports.ts';

/** Labels that say where among the survivors a loss lies, or where it was seen: no property of the cause. */
const placeLabels: ReadonlySet<string> = new Set(['lost-prefix', 'lost-middle', 'lost-tail', 'final-logs', 'live']);

/** One line, such as `lost-acked-write: a follower truncated by high-watermark; clean election`. */
export function signatureOf(anomaly: Anomaly, trace: Iterable<TraceLine>): string {
  const lines = linesNamed(anomaly, trace);
  const labels = anomaly.labels.filter((label) => !placeLabels.has(label)).toSorted();
  const head = anomaly.class === 'expected' ? `${anomaly.kind} (expected)` : anomaly.kind;
  const parts = [...labels, ...causeOf(lines)];
  return parts.length === 0 ? head : `${head}: ${parts.join('; ')}`;
}

/** A line that the anomaly names, and the role that its replica had then. */
interface Named {
  readonly line: TraceLine;
  readonly role: string;
}

/** The lines that the causal chain names, in its order. */
function linesNamed(anomaly: Anomaly, trace: Iterable<TraceLine>): Named[] {
  const places = new Map<string, number>();
  const references = anomaly.why.length === 0 ? anomaly.evidence : anomaly.why.flatMap((step) => step.references);
  for (const reference of references) {
    if (reference.source === 'trace' && !places.has(nameOf(reference))) places.set(nameOf(reference), places.size);
  }
  if (places.size === 0) return [];
  const found: Named[] = [];
  const roles = new Map<string, string>();
  for (const line of trace) {
    if (line.partition !== anomaly.key && line.partition !== undefined) continue;
    if (line.event === 'role') roles.set(`${line.node}.${line.boot}`, String(line['role']));
    const place = places.get(nameOf(line));
    if (place !== undefined) found[place] = { line, role: roles.get(`${line.node}.${line.boot}`) ?? 'replica' };
  }
  return found.filter((named) => named !== undefined);
}

function nameOf({ node, boot, seq }: Pick<Reference & { readonly source: 'trace' }, 'node' | 'boot' | 'seq'>): string {
  return `${node}.${boot}.${seq}`;
}

function causeOf(named: readonly Named[]): string[] {
  const elections = named.filter(({ line }) => line.event === 'election').map(({ line }) => line);
  const removals = named.filter(({ line }) => line.event === 'truncation' || line.event === 'recover');
  /* The one who led afterwards: what others removed then only followed from that. */
  const ledAfterwards = ({ line: { node, leaderEpoch = -1 } }: Named): boolean =>
    elections.some((election) => election['leader'] === node && (election.leaderEpoch ?? -1) > leaderEpoch);
  const decisive = removals.find(ledAfterwards) ?? removals[0];
  const last = elections.at(-1);
  const joined = decisive === undefined && named.some(({ line }) => line.event === 'isr');
  return [
    ...(decisive === undefined ? [] : [removalInWords(decisive)]),
    ...(joined ? ['a replica without it joined the ISR'] : []),
    ...(last === undefined ? [] : [last['clean'] === true ? 'clean election' : 'unclean election']),
  ];
}

function removalInWords({ line, role }: Named): string {
  return line.event === 'recover'
    ? `a replica recovered (${String(line['cut'])})`
    : `a ${role} truncated by ${String(line['rule'])}`;
}
