/**
 * What can be done to brokers in pods and known of them, and what a target has to take away from that.
 *
 * Names are those of the fault catalogue, the guarantees of the checker and the conditions of plans; a test holds them
 * together, since this folder may not import them.
 */
import type { Able, Capabilities } from './target.ts';

type Reasons = Readonly<Record<string, string | undefined>>;

/** By name, why not. */
export interface Lacks {
  readonly faults: Reasons;
  readonly guarantees: Reasons;
  readonly triggers: Reasons;
  readonly exposures: string | null;
}

export const faultNames = [
  'partition',
  'slow-links',
  'pause',
  'crash',
  'power-loss',
  'rolling-restart',
  'leader-move',
  'leader-burst',
  'handover-crash',
  'rejoin-crash',
];
export const guaranteeNames = [
  'durability',
  'agreement',
  'offsets',
  'visibility',
  'order',
  'transactions',
  'convergence',
];
export const triggerNames = [
  'full-isr',
  'in-sync',
  'out-of-sync',
  'leader-change',
  'isr-size',
  'hw',
  'truncation',
  'ack',
  'leads',
  'follows',
  'steps-done',
];

/** Of all foreign brokers. */
const alwaysLacking: Readonly<Record<string, string>> = {
  'slow-links': 'containers have no slow links',
  'rejoin-crash': 'containers have no slow links',
  'power-loss': 'what a disk would have kept beyond what was surely flushed is not known: in scripts only',
};

export function capabilitiesWithout(lacks: Lacks): Capabilities {
  return {
    faults: ableBut(faultNames, { ...alwaysLacking, ...lacks.faults }),
    guarantees: ableBut(guaranteeNames, lacks.guarantees),
    triggers: ableBut(triggerNames, lacks.triggers),
    exposures: lacks.exposures === null ? true : { not: lacks.exposures },
  };
}

function ableBut(names: readonly string[], lacking: Reasons): Record<string, Able> {
  return Object.fromEntries(
    names.map((name) => {
      const not = lacking[name];
      return [name, not === undefined ? true : { not }];
    }),
  );
}
