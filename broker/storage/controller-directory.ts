/**
 * The controller's data directory: whose it is, how often it started, and `metadata.jsonl`.
 *
 * The controller keeps no logs; an effect that concerns one is a mistake of its core.
 */
import type { LogRange } from '../protocol/records.ts';
import { openIdentity } from './identity.ts';
import { MetadataLog } from './metadata-log.ts';
import type { Storage, StorageEffect } from './storage.ts';

export class ControllerDirectory implements Storage {
  readonly boot: number;
  readonly records: readonly unknown[];
  readonly #log: MetadataLog;

  constructor(path: string, clusterId: string) {
    this.boot = openIdentity(path, { node: 'controller', clusterId }).boot;
    this.#log = new MetadataLog(path);
    this.records = this.#log.records;
  }

  perform(effect: StorageEffect): void {
    if (effect.type !== 'persist') throw new Error(`a controller cannot ${effect.type}: it keeps no logs`);
    this.#log.append(effect.record);
  }

  read(range: LogRange): never {
    throw new Error(`a controller keeps no log ${range.log}`);
  }

  /** Every record is on the disk already. */
  closeCleanly(): void {
    this.#log.close();
  }
}
