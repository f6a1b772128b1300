/**
 * The one sentence about a run: what every report of it opens with, on a page as in a CI job.
 *
 * Invariant: it claims no more than the results do; a run that met no dangerous moment is said to prove nothing.
 */
import type { Anomaly, RunResults } from '../../checker/results.ts';
import { counted, listInWords } from './words.ts';

/** One sentence about the whole run, which a manager can read and an engineer cannot fault. */
export function headline(results: RunResults): string {
  const { build } = results.run;
  const subject = build === 'unknown' ? results.run.name : build;
  const violations = results.anomalies.filter((anomaly) => anomaly.class === 'violation');
  if (violations.length > 0) return `${subject} broke its word: it ${listInWords(damage(violations))}.`;
  if (results.valid !== true) {
    return `Unknown: what this run recorded does not suffice to say whether ${subject} kept its word.`;
  }
  const { exposures } = results;
  if (exposures === null && results.run.target !== undefined)
    return `${subject} kept every promise that could be checked; whether it met a moment at which the flaw could bite is not known.`;
  if (exposures === null) return `${subject} kept every promise that could be checked from this history.`;
  if (exposures.length === 0)
    return `${subject} kept its word, but never met a moment at which the flaw could bite: this run proves nothing about it.`;
  return `${subject} kept its word through ${counted(exposures.length, 'moment')} at which the flaw could have bitten.`;
}

/** What the violations did, each kind as the end of "it …". */
function damage(violations: readonly Anomaly[]): string[] {
  const byKind = Map.groupBy(violations, ({ kind }) => kind);
  const lost = violations.filter(({ kind }) => kind === 'lost-acked-write' || kind === 'lost-write');
  const values = lost.reduce((sum, { values: each }) => sum + Math.max(1, each.length), 0);
  const parts: string[] = [];
  if (lost.length > 0)
    parts.push(`lost ${counted(values, 'write that it had acknowledged', 'writes that it had acknowledged')}`);
  if (byKind.has('replica-divergence')) {
    const keys = new Set(byKind.get('replica-divergence')?.map(({ key }) => key));
    parts.push(`left replicas that hold different records${keys.size > 1 ? ` in ${keys.size} partitions` : ''}`);
  }
  if (byKind.has('broker-suicide')) parts.push('had brokers that ended themselves');
  if (byKind.has('failed-start')) parts.push('had brokers that could not start');
  if (byKind.has('no-convergence')) parts.push('did not come to rest after everything was healed');
  const told = new Set([
    'lost-acked-write',
    'lost-write',
    'replica-divergence',
    'broker-suicide',
    'failed-start',
    'no-convergence',
  ]);
  const rest = [...byKind]
    .filter(([kind]) => !told.has(kind))
    .map(([kind, list]) => `${kind}${list.length > 1 ? ` (${list.length})` : ''}`);
  if (rest.length > 0) parts.push(`showed ${listInWords(rest)}`);
  return parts;
}
