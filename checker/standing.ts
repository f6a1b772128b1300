/**
 * Whether a record that was acknowledged or read is still where it was, and if not, whether it may be gone.
 *
 * Order can only be judged among records that stand: what an election took away, it took with its place. So a finding
 * about the order of records is a violation if all of them stand, and otherwise what the loss of the missing one is.
 */
import { leaderLog, partitionOf, storageFaultSeen, uncleanElectionPossible, type Evidence } from './evidence.ts';
import { judgeLoss } from './excuse.ts';
import type { FinalLog } from './final-logs.ts';

/** `unknown`: no log tells, and something may excuse that it is gone. */
export type Standing = 'violation' | 'expected' | 'unknown';

/** A record where it was acknowledged or read. */
export interface Place {
  readonly row: number;
  readonly offset: number;
}

/**
 * The class of a finding that rests on several records: a violation if all of them stand, or were lost against the rule.
 * Where one was lost as the configuration allows, the two histories of the log that it belonged to never met.
 */
export function classByRecords(evidence: Evidence, places: readonly Place[]): Standing {
  const classes = places.map((place) => classByRecord(evidence, place));
  if (classes.includes('unknown')) return 'unknown';
  return classes.includes('expected') ? 'expected' : 'violation';
}

function classByRecord(evidence: Evidence, { row, offset }: Place): Standing {
  const key = evidence.history.keyName(evidence.history.values.key.get(row));
  const stands = standsAt(evidence, row, offset);
  if (stands === true) return 'violation';
  if (stands === false) return judgeLoss(evidence, key, row, offset).class;
  return uncleanElectionPossible(evidence, key) || storageFaultSeen(evidence, key) ? 'unknown' : 'violation';
}

/** Null where no log tells. */
export function standsAt(evidence: Evidence, row: number, offset: number): boolean | null {
  const { history } = evidence;
  const key = history.keyName(history.values.key.get(row));
  const final = leaderLog(evidence, key);
  if (final === null || evidence.unreadable.has(key)) return null;
  if (offset < final.log.start || isInLog(evidence, row, offset)) return true;
  return isCut(final, offset) ? null : false;
}

/** The value was found at this offset of the final leader's log. */
export function isInLog({ history }: Evidence, row: number, offset: number): boolean {
  if (history.values.finalOffset.get(row) === offset) return true;
  return (history.extraOffsets.get(row) ?? []).some((extra) => extra.offset === offset && extra.index === -1);
}

function isCut({ log }: FinalLog, offset: number): boolean {
  return log.flaw !== null && offset >= log.end;
}

/** A topic that was deleted may come back under its name, with offsets that begin anew. */
export function isDeleted(evidence: Evidence, keyId: number): boolean {
  return partitionOf(evidence, evidence.history.keyName(keyId))?.deleted === true;
}
