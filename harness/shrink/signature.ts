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

/** The lines that the causal chain names, in its order. */
function linesNamed(anomaly: Anomaly, trace: Iterable<TraceLine>): TraceLine[] {
  const places = new Map<string, number>();
  const references = anomaly.why.length === 0 ? anomaly.evidence : anomaly.why.flatMap((step) => step.references);
  for (const reference of references) {
    if (reference.source === 'trace' && !places.has(nameOf(reference))) places.set(nameOf(reference), places.size);
  }
  if (places.size === 0) return [];
  const found: TraceLine[] = [];
  for (const line of trace) {
    const place = places.get(nameOf(line));
    if (place !== undefined) found[place] = line;
  }
  return found.filter((line) => line !== undefined);
}

function nameOf({ node, boot, seq }: Pick<Reference & { readonly source: 'trace' }, 'node' | 'boot' | 'seq'>): string {
  return `${node}.${boot}.${seq}`;
}

function causeOf(lines: readonly TraceLine[]): string[] {
  const elections = lines.filter(({ event }) => event === 'election');
  const removals = lines.filter(({ event }) => event === 'truncation' || event === 'recover');
  /* The one who led afterwards: what others removed then only followed from that. */
  const decisive =
    removals.find(({ node, leaderEpoch = -1 }) =>
      elections.some((election) => election['leader'] === node && (election.leaderEpoch ?? -1) > leaderEpoch),
    ) ?? removals[0];
  const parts: string[] = [];
  if (decisive !== undefined) parts.push(removalInWords(decisive, lines));
  const last = elections.at(-1);
  if (last !== undefined) parts.push(last['clean'] === true ? 'clean election' : 'unclean election');
  return parts;
}

function removalInWords(line: TraceLine, lines: readonly TraceLine[]): string {
  if (line.event === 'recover') return `a replica recovered (${String(line['cut'])})`;
  const role = lines.find(
    ({ event, node, boot, leaderEpoch }) =>
      event === 'role' && node === line.node && boot === line.boot && leaderEpoch === line.leaderEpoch,
  );
  return `a ${role === undefined ? 'replica' : String(role['role'])} truncated by ${String(line['rule'])}`;
}
