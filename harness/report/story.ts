/**
 * Which partitions a report tells of, and around which offsets: where a promise was broken, else where it could have
 * been.
 */
import type { Anomaly, AnomalyKind, Exposure, RunResults } from '../../checker/results.ts';

export interface Story {
  readonly key: string;
  /** Anomalies of this partition, the gravest first. */
  readonly anomalies: readonly Anomaly[];
  readonly exposures: readonly Exposure[];
  /** Offsets at which it happens, the most important first; all of one incident. */
  readonly focus: readonly number[];
}

const INCIDENT = 12;
/** So many partitions are told of in one report. */
const KEYS_MAX = 3;

const gravity: Partial<Record<AnomalyKind, number>> = {
  'lost-acked-write': 0,
  'lost-write': 1,
  'replica-divergence': 2,
  'offset-moved': 3,
  'broker-suicide': 3,
  'failed-start': 3,
};

/** Partitions with anomalies, else with exposures; empty when there are neither. */
export function storyKeys(results: RunResults): string[] {
  const anomalous = byGravity(results.anomalies).flatMap(({ key }) => (key === null ? [] : [key]));
  const exposed = results.exposures?.map(({ key }) => key) ?? [];
  const keys = new Set(anomalous.length > 0 ? anomalous : exposed);
  return [...keys].slice(0, anomalous.length > 0 ? KEYS_MAX : 1);
}

export function storyOf(results: RunResults, key: string): Story {
  const anomalies = byGravity(results.anomalies.filter((anomaly) => anomaly.key === key));
  const exposures = results.exposures?.filter((exposure) => exposure.key === key) ?? [];
  const broken = anomalies.flatMap(({ offset }) => (offset === null ? [] : [offset]));
  const atRisk = exposures.flatMap(({ acknowledged: [first, last] }) => [first, last]);
  const all = [...new Set(broken.length > 0 ? broken : atRisk)];
  return { key, anomalies, exposures, focus: all.filter((offset) => isNear(offset, all[0] ?? offset)) };
}

/** One film tells of one incident: offsets far from its first belong to another. */
export function isNear(offset: number, first: number): boolean {
  return Math.abs(offset - first) <= INCIDENT;
}

/** Violations before what the configuration allows, then by kind. */
export function byGravity(anomalies: readonly Anomaly[]): Anomaly[] {
  const rank = (anomaly: Anomaly): number => (anomaly.class === 'violation' ? 0 : 10) + (gravity[anomaly.kind] ?? 4);
  return [...anomalies].sort((a, b) => rank(a) - rank(b));
}
