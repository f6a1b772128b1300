/**
 * What cannot be known of brokers that tell no trace, by guarantee: so that what a verdict does not speak of is named.
 *
 * Losses, moved and doubled records, divergence, order and what readers saw are judged in full there, from the history
 * and the final logs. Only what no client sees and no log keeps is left out.
 */
import { beyondTarget, type Evidence } from './evidence.ts';
import type { Guarantee } from './results.ts';
import { isChecked } from './verdict.ts';

/** By guarantee, what of it cannot be checked without a trace. */
export const uncheckedWithoutTrace: Readonly<Partial<Record<Guarantee, string>>> = {
  durability:
    'acknowledgements by too few in-sync replicas (ack-below-min-isr), and why a log starts later (log-start-moved)',
  agreement: 'two leaders in one epoch (two-leaders-one-epoch), and replicas that differed only while the run went on',
  offsets: 'committed records that were overwritten and that no client had seen (committed-overwritten)',
  visibility: 'high watermarks that went back (hw-regression)',
  convergence: 'the high watermarks in the end',
};

/** One line for each guarantee of which a part is not checked, or all of it. */
export function uncheckedParts(evidence: Evidence): string[] {
  if (evidence.run.traced !== false) return [];
  const whole = guaranteesBeyond(evidence).map(([guarantee, why]) => `${guarantee} is not checked: ${why}`);
  const parts = Object.entries(uncheckedWithoutTrace)
    .filter(([guarantee]) => isChecked(evidence, guarantee as Guarantee))
    .map(([guarantee, what]) => `not checked of ${guarantee}, for want of a trace: ${what}`);
  return [...whole, ...parts];
}

/** True where the replicas' logs cannot be had: what is judged by them alone is not checked, everything else by the history. */
export function logsBeyondTarget(evidence: Pick<Evidence, 'run'>): boolean {
  return beyondTarget(evidence, 'agreement') !== null;
}

function guaranteesBeyond({ run }: Evidence): [string, string][] {
  const guarantees = run.target?.capabilities?.guarantees ?? {};
  return Object.entries(guarantees).flatMap(([name, able]) => (able === true ? [] : [[name, able.not]]));
}
