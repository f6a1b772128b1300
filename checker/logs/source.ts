/** What is handed in: the files of a replica as byte sources, and what its broker's checkpoint files say of it. */

/** One `.log` file. */
export interface SegmentSource {
  /** For people: the path below the broker's directory. */
  readonly file: string;
  /** From its name. */
  readonly baseOffset: number;
  readonly size: number;
  /** Fills `into` from `position` on as far as the file goes; answers with bytes read. Throws an {@link UnreadableError}. */
  readonly read: (position: number, into: Uint8Array) => number;
}

/** A source that refuses; its message is one line for people. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/** One line of a `leader-epoch-checkpoint`: the epoch's first record is at `start`, or will be. */
export interface EpochEntry {
  readonly epoch: number;
  readonly start: number;
}

/** What the files beside a log say; null where there is no file or no entry. */
export interface Checkpoints {
  readonly highWatermark: number | null;
  readonly recoveryPoint: number | null;
  readonly logStart: number | null;
  /** Of compacted topics only: everything below was cleaned. */
  readonly cleaner: number | null;
  /** An empty list for an empty file. */
  readonly leaderEpochs: readonly EpochEntry[] | null;
}

/** A file that could not be read or understood. */
export interface UnreadableFile {
  readonly file: string;
  readonly reason: string;
}

/** One replica of a partition. */
export interface ReplicaCopy {
  /** The broker's name: that of its directory. */
  readonly name: string;
  readonly segments: readonly SegmentSource[];
  readonly checkpoints: Checkpoints;
  readonly unreadable: readonly UnreadableFile[];
}
