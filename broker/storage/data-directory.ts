/**
 * A broker's data directory: one folder for each log, Kafka's checkpoint files beside them.
 *
 * ```
 * meta.properties  boot-count  flushed-lengths  .kafka_cleanshutdown
 * replication-offset-checkpoint  recovery-point-offset-checkpoint  log-start-offset-checkpoint
 * tide-0/00000000000000000000.log  tide-0/leader-epoch-checkpoint
 * ```
 *
 * Here stands what happens while the broker runs; what is found at a start is the business of `recovery.ts` beside it.
 * Each effect is arranged so that a kill in its middle leaves the state before it or the state after it.
 *
 * Left out: indexes and more than one segment for a log (runs are short), and a lock (a node's port serves as one: it
 * is bound before the directory is touched).
 */
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Effect, OffsetCheckpoint, RecoveredLog } from '../core/step.ts';
import { stampBatches, type LogRange } from '../protocol/index.ts';
import { readOffsets, writeEpochs, writeOffsets } from './checkpoints.ts';
import { flushDirectory, onDisk, replaceFile } from './files.ts';
import type { FlushedLengths } from './flushed.ts';
import { openIdentity, type Identity } from './identity.ts';
import { cleanShutdownFile, recoverDirectory, type OpenLog } from './recovery.ts';
import { Segment } from './segment.ts';
import type { Storage, StorageEffect } from './storage.ts';

type EffectOf<Type extends Effect['type']> = Extract<Effect, { readonly type: Type }>;

const offsetCheckpoints: readonly OffsetCheckpoint[] = [
  'replication-offset-checkpoint',
  'recovery-point-offset-checkpoint',
  'log-start-offset-checkpoint',
];

/** Longest name that a file system takes for a folder. */
const longestName = 255;

export class DataDirectory implements Storage {
  readonly boot: number;
  readonly recovered: readonly RecoveredLog[];
  readonly #path: string;
  readonly #logs: Map<string, OpenLog>;
  readonly #flushed: FlushedLengths;

  /** Opens, checks and recovers the directory. Throws a `StorageError` that names what is wrong and the remedy. */
  constructor(path: string, identity: Identity) {
    this.#path = path;
    this.boot = openIdentity(path, identity).boot;
    const { logs, recovered, flushed } = recoverDirectory(path);
    this.#logs = logs;
    this.#flushed = flushed;
    this.recovered = recovered;
  }

  perform(effect: StorageEffect): void {
    switch (effect.type) {
      case 'append':
        return this.#append(effect);
      case 'create-log':
        return this.#createLog(effect.log);
      case 'delete-log':
        return this.#deleteLog(effect.log);
      case 'truncate':
        this.#flushed.lower(effect.log, effect.position);
        return this.#open(effect.log).segment.truncate(effect.position);
      case 'reset-log':
        return this.#resetLog(effect);
      case 'flush':
        return this.#flush(effect.log);
      case 'epoch-checkpoint':
        return writeEpochs(join(this.#open(effect.log).directory, 'leader-epoch-checkpoint'), effect.entries);
      case 'offset-checkpoint':
        return writeOffsets(join(this.#path, effect.file), effect.offsets);
      case 'persist':
        throw new Error('a broker has no metadata log to persist to');
    }
  }

  read({ log, startPosition, endPosition }: LogRange): Uint8Array {
    return this.#open(log).segment.read(startPosition, endPosition);
  }

  closeCleanly(): void {
    for (const [log, { segment }] of this.#logs) {
      this.#flush(log);
      segment.close();
    }
    this.#logs.clear();
    replaceFile(join(this.#path, cleanShutdownFile), '');
  }

  #append({ log, position, batches, bytes }: EffectOf<'append'>): void {
    const content = bytes instanceof Uint8Array ? bytes : this.read(bytes);
    stampBatches(content, batches);
    this.#open(log).segment.append(position, content);
  }

  #createLog(log: string): void {
    const directory = join(this.#path, log);
    onDisk('create', directory, () => fs.mkdirSync(directory));
    flushDirectory(this.#path);
    this.#logs.set(log, { directory, segment: Segment.create(directory, 0) });
  }

  /** Renamed away, as Kafka does, before it is removed: a half deleted log never looks like a log. */
  #deleteLog(log: string): void {
    const { directory, segment } = this.#open(log);
    segment.close();
    this.#logs.delete(log);
    this.#flushed.forget(log);
    this.#forget(log, offsetCheckpoints);
    const doomed = join(this.#path, doomedName(log));
    onDisk('delete', directory, () => fs.renameSync(directory, doomed));
    flushDirectory(this.#path);
    onDisk('delete', doomed, () => fs.rmSync(doomed, { recursive: true }));
  }

  /**
   * The old file is put aside, the new one made, the old one removed. A start that finds one put aside undoes the
   * first step, or does the last one.
   */
  #resetLog({ log, offset }: EffectOf<'reset-log'>): void {
    const { directory, segment } = this.#open(log);
    this.#flushed.lower(log, 0);
    this.#forget(log, ['log-start-offset-checkpoint']);
    segment.close();
    const aside = `${segment.path}.deleted`;
    onDisk('reset', segment.path, () => fs.renameSync(segment.path, aside));
    this.#logs.set(log, { directory, segment: Segment.create(directory, offset) });
    onDisk('delete', aside, () => fs.unlinkSync(aside));
  }

  /** What the checkpoints say of a log that goes must not be believed of a later one. */
  #forget(log: string, files: readonly OffsetCheckpoint[]): void {
    for (const file of files) {
      const path = join(this.#path, file);
      const offsets = readOffsets(path, file);
      if (offsets.delete(log)) writeOffsets(path, Object.fromEntries(offsets));
    }
  }

  #flush(log: string): void {
    const { segment } = this.#open(log);
    segment.flush();
    this.#flushed.raise(log, segment.sizeBytes);
  }

  #open(log: string): OpenLog {
    const open = this.#logs.get(log);
    if (open === undefined) throw new Error(`there is no log ${log} in ${this.#path}`);
    return open;
  }
}

/** The name under which a log awaits its removal; that of a long topic is cut to fit (KAFKA-4893). */
function doomedName(log: string): string {
  const suffix = `.${randomUUID().replaceAll('-', '')}-delete`;
  return `${log.slice(0, longestName - suffix.length)}${suffix}`;
}
