/**
 * What is said of a partition: each replica's log for itself, and where the replicas part.
 *
 * These are the types of the document that `verify-logs --json` prints, so they hold text and numbers only.
 */
import type { Finding } from './findings.ts';

/** One replica's log. Counts and first and last offset are of what the files hold, also below the log start. */
export interface CopyReport {
  readonly records: number;
  readonly batches: number;
  readonly bytes: number;
  /** Null for a log without records. */
  readonly first: number | null;
  readonly last: number | null;
  readonly leo: number;
  readonly logStart: number;
  /** From the checkpoint file; null where it has no entry. */
  readonly hw: number | null;
  readonly recoveryPoint: number | null;
  readonly formats: readonly string[];
  readonly codecs: readonly string[];
  /** Epoch, base offset of its first batch, last offset of its last. */
  readonly epochs: readonly (readonly [epoch: number, first: number, last: number])[];
  readonly control: readonly { readonly offset: number; readonly type: string; readonly producerId: number }[];
  readonly openTransactions: readonly { readonly producerId: number; readonly firstOffset: number }[];
  readonly leaderEpochCheckpoint: readonly (readonly [epoch: number, start: number])[] | null;
  readonly findings: readonly Finding[];
  /** All of them, also those beyond what is listed. */
  readonly findingsTotal: number;
}

/** A record, or what stands in for it, as people may see it. */
export interface ShownRecord {
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: readonly (readonly [key: string | null, value: string | null])[];
  readonly timestamp: number;
  readonly epoch: number | null;
  readonly file: string;
  /** Of its batch. */
  readonly position: number;
  /** The batch matches its checksum. */
  readonly sound: boolean;
}

/** Replicas that hold the same at a place. */
export interface Side {
  readonly copies: readonly string[];
  /** Null where they hold nothing at that offset, or nothing that can be read. */
  readonly record: ShownRecord | null;
}

/** From `offset` on the replicas part. */
export interface Difference {
  readonly offset: number;
  /** In what the first two sides differ: `missing`, `epoch`, `value`, … */
  readonly what: readonly string[];
  /** It lies below the high watermarks of replicas on two sides: committed records differ. */
  readonly committed: boolean;
  readonly sides: readonly Side[];
  /** From here on all hold the same again; null if they never do. */
  readonly agreeAgainAt: number | null;
}

/** Two replicas. */
export interface Pair {
  readonly copies: readonly [string, string];
  /** The offsets on which both can be compared begin here. */
  readonly from: number;
  /** They hold the same below this offset: the first difference, or the end of the shorter. */
  readonly agreeUntil: number;
}

export interface Comparison {
  /** `length`: one ends earlier, and all before is the same. `not-compared`: there is only one. */
  readonly verdict: 'agree' | 'diverge' | 'length' | 'not-compared';
  readonly first: {
    readonly offset: number;
    /** Null for a replica that holds no value there. */
    readonly values: Readonly<Record<string, string | null>>;
  } | null;
  readonly differences: readonly Difference[];
  readonly differencesTotal: number;
  readonly pairs: readonly Pair[];
  readonly notes: readonly string[];
  /** Findings taken in: 1, 2 or 0. */
  readonly exit: 0 | 1 | 2;
}

/** What came of comparing, whichever way that was done. */
export type Outcome = Pick<Comparison, 'differences' | 'differencesTotal' | 'pairs' | 'notes'>;

export interface PartitionReport {
  readonly partition: string;
  /** Compared by decoded records, since the cleaner of each broker rewrites its own files. */
  readonly compacted: boolean;
  readonly copies: Readonly<Record<string, CopyReport>>;
  readonly comparison: Comparison;
}
