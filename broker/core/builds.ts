/**
 * The builds: one table of every switch in which they differ.
 *
 * A build stands for an age of Apache Kafka, and is a column here and nothing else: the rest of the broker reads switches
 * and never a build's name. A new build is a new column; a new switch is a row in {@link Build} with a value for each.
 *
 * Rows keep the order in which the flaws were found, so that reading a column from top to bottom tells its age.
 */
import type { EpochConflict, EpochLookup } from './epoch-cache.ts';
import type { Truncation } from './truncation.ts';

export interface Build {
  /** What it stands for, in a few words. */
  readonly standsFor: string;

  /* ---- Becoming follower ---- */

  /** When a follower looks at its log again: when the leader is another broker, or at every new epoch (KIP-320). */
  readonly followerTrigger: 'leader-id-change' | 'epoch-increase';
  /** Where its log has to end then (`truncation.ts`). */
  readonly truncation: Truncation;
  /** Truncation lowers the high watermark with the end of the log (Kafka 2.3). */
  readonly lowersHighWatermarkOnTruncation: boolean;

  /* ---- Becoming leader ---- */

  /** A newly elected leader truncates to its own high watermark: the way the flaw is often told, and no real Kafka. */
  readonly truncatesOnElection: boolean;
  /** Ends of followers known from the epoch before: kept whenever the leader stays, or only if no epoch was missed. */
  readonly keepsFollowerEnds: 'same-leader' | 'next-epoch';

  /* ---- Leader epochs ---- */

  /** The leader epoch cache and its checkpoint exist (KIP-101). */
  readonly keepsEpochCache: boolean;
  /** A new leader notes where its epoch starts before it has a record of it (KAFKA-7415). */
  readonly startsEpochOnElection: boolean;
  /** What becomes of cached epochs that a new entry contradicts (`epoch-cache.ts`). */
  readonly epochConflict: EpochConflict;
  /** How the epoch question is answered (`epoch-cache.ts`). */
  readonly epochLookup: EpochLookup;
  /** Requests carry the epoch that their sender knows, and are refused where the leader's is another (KIP-320). */
  readonly fencesByEpoch: boolean;
  /** "Latest" is refused while a new leader's high watermark is below the start of its epoch (KIP-207). */
  readonly latestWaitsForEpochStart: boolean;

  /* ---- ISR and high watermark ---- */

  /** A follower joins the ISR only at or above the start of the leader's epoch (KAFKA-7128). */
  readonly expansionWaitsForEpochStart: boolean;
  /** A silent follower whose log ends where the leader's does stays in the ISR. */
  readonly shrinkSparesEqualEnd: boolean;
  /** Whose ends bound the high watermark: the maximal ISR, and with it followers that are about to join it. */
  readonly highWatermarkCounts: 'isr' | 'isr-and-caught-up';

  /* ---- Versions that it speaks to other brokers ---- */

  readonly fetchVersion: number;
  readonly listOffsetsVersion: number;
  readonly offsetForLeaderEpochVersion: number;
}

const hw: Build = {
  standsFor: 'Kafka up to 0.10.2: followers truncate to their high watermark',
  followerTrigger: 'leader-id-change',
  truncation: 'high-watermark',
  lowersHighWatermarkOnTruncation: true,
  truncatesOnElection: false,
  keepsFollowerEnds: 'same-leader',
  keepsEpochCache: false,
  startsEpochOnElection: false,
  epochConflict: 'new-entry-ignored',
  epochLookup: 'end-only',
  fencesByEpoch: false,
  latestWaitsForEpochStart: false,
  expansionWaitsForEpochStart: false,
  shrinkSparesEqualEnd: false,
  highWatermarkCounts: 'isr',
  fetchVersion: 4,
  listOffsetsVersion: 1,
  offsetForLeaderEpochVersion: 0,
};

const kip101: Build = {
  standsFor: 'Kafka 0.11 to 1.1: followers ask the leader where their last epoch ended, once (KIP-101)',
  followerTrigger: 'leader-id-change',
  truncation: 'epoch-once',
  lowersHighWatermarkOnTruncation: false,
  truncatesOnElection: false,
  keepsFollowerEnds: 'same-leader',
  keepsEpochCache: true,
  startsEpochOnElection: false,
  epochConflict: 'new-entry-ignored',
  epochLookup: 'end-only',
  fencesByEpoch: false,
  latestWaitsForEpochStart: false,
  expansionWaitsForEpochStart: false,
  shrinkSparesEqualEnd: false,
  highWatermarkCounts: 'isr-and-caught-up',
  fetchVersion: 5,
  listOffsetsVersion: 1,
  offsetForLeaderEpochVersion: 0,
};

const builds = {
  hw,
  'hw-elect': {
    ...hw,
    standsFor: 'the flaw as it is often told: a newly elected leader truncates to its high watermark too',
    truncatesOnElection: true,
  },
  kip101,
  kip279: {
    ...kip101,
    standsFor: 'Kafka 2.0: the answer names its epoch, and followers ask until both logs meet (KIP-279)',
    truncation: 'epoch-until-met',
    epochLookup: 'undefined-below-first',
    fetchVersion: 8,
    listOffsetsVersion: 3,
    offsetForLeaderEpochVersion: 1,
  },
  epoch: {
    standsFor: 'Kafka 2.1 to 2.6: leader epochs decide (KIP-101, 279, 320 with KAFKA-7128, 7164, 7415)',
    followerTrigger: 'epoch-increase',
    truncation: 'epoch-until-met',
    lowersHighWatermarkOnTruncation: true,
    truncatesOnElection: false,
    keepsFollowerEnds: 'next-epoch',
    keepsEpochCache: true,
    startsEpochOnElection: true,
    epochConflict: 'old-entries-dropped',
    epochLookup: 'start-below-first',
    fencesByEpoch: true,
    latestWaitsForEpochStart: true,
    expansionWaitsForEpochStart: true,
    shrinkSparesEqualEnd: true,
    highWatermarkCounts: 'isr-and-caught-up',
    fetchVersion: 11,
    listOffsetsVersion: 5,
    offsetForLeaderEpochVersion: 3,
  },
} as const satisfies Readonly<Record<string, Build>>;

/** All builds, in the order of the flaws that they still have. */
export const buildNames: readonly string[] = Object.keys(builds);

/** The column of that name, or undefined. */
export function buildNamed(name: string): Build | undefined {
  return Object.hasOwn(builds, name) ? builds[name as keyof typeof builds] : undefined;
}
