/**
 * What a driver needs of a disk: perform the effects that concern it, and read ranges of logs back.
 *
 * A broker keeps logs and checkpoints, the controller a list of records; the driver that serves both cores knows only
 * this. An effect has reached the page cache when `perform` returns, and the disk if it says so (`flush`, `persist`,
 * the checkpoints).
 */
import type { Effect } from '../core/step.ts';
import type { LogRange } from '../protocol/records.ts';

export type StorageEffect = Extract<
  Effect,
  {
    readonly type:
      | 'create-log'
      | 'delete-log'
      | 'append'
      | 'truncate'
      | 'reset-log'
      | 'flush'
      | 'epoch-checkpoint'
      | 'offset-checkpoint'
      | 'persist';
  }
>;

export interface Storage {
  perform(effect: StorageEffect): void;
  /** The bytes of a range. They are the caller's. */
  read(range: LogRange): Uint8Array;
  /** Everything to the disk, and a mark that it was so; nothing may follow. */
  closeCleanly(): void;
}
