/**
 * One node's disk with the page cache before it.
 *
 * Logs are lists of batches, with their real bytes in one file each. A write is in the page cache at once, so a killed
 * process loses nothing; a power loss keeps what was flushed, and of the rest what a script says or a stream draws.
 * Checkpoints, the metadata log and the creation and deletion of logs are flushed as they are written, as the contract
 * of the core says.
 *
 * Invariant: the bytes on this disk are never changed in place, so whoever reads shares them.
 */
import { assignBatches, latestEpoch, truncateFromEnd, truncateFromStart } from '../../broker/core/epoch-cache.ts';
import type { EpochEntry, OffsetCheckpoint, RecoveredLog } from '../../broker/core/step.ts';
import { stampBatch } from '../../broker/protocol/index.ts';
import type { BatchInfo } from '../../broker/protocol/index.ts';
import type { RandomStream } from '../plan/random.ts';

/** One log: batches back to back from `baseOffset` on. */
export interface DiskLog {
  readonly name: string;
  baseOffset: number;
  readonly batches: BatchInfo[];
  /** Its bytes, and room for more behind `sizeBytes`. What was written is never written over, since readers share it. */
  file: Uint8Array;
  view: DataView;
  /** Where each batch begins. */
  readonly positions: number[];
  sizeBytes: number;
  /** So many batches, from the first on, would survive a power loss. */
  flushedBatches: number;
  epochs: readonly EpochEntry[];
  /** Where the log ended before a power loss, until the next start. */
  endBeforePowerLoss: number | null;
  /** The part of a batch that a power loss left at the end of the file, until the next start. */
  tornTail: Uint8Array | null;
}

/** Share of power losses that tear a batch in two, where there is one to tear. */
const TORN = 0.5;
const FIRST_ROOM_BYTES = 4096;
const NOTHING = new Uint8Array(0);

export class Disk {
  readonly #logs = new Map<string, DiskLog>();
  readonly #offsets = new Map<OffsetCheckpoint, Readonly<Record<string, number>>>();
  /** The controller's metadata log. */
  readonly records: unknown[] = [];
  /** Counts the starts of the process. */
  boots = 0;

  /** The logs, in the order of their names. */
  get logs(): readonly DiskLog[] {
    return [...this.#logs.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): DiskLog | undefined {
    return this.#logs.get(name);
  }

  create(name: string): void {
    if (this.#logs.has(name)) throw new Error(`the log ${name} exists`);
    this.#logs.set(name, {
      name,
      baseOffset: 0,
      batches: [],
      ...roomFor(FIRST_ROOM_BYTES, NOTHING),
      positions: [],
      sizeBytes: 0,
      flushedBatches: 0,
      epochs: [],
      endBeforePowerLoss: null,
      tornTail: null,
    });
  }

  delete(name: string): void {
    this.#log(name);
    this.#logs.delete(name);
  }

  /** Appends batches whose bytes lie back to back, with their final offsets and epochs stamped in. */
  append(name: string, position: number, batches: readonly BatchInfo[], bytes: Uint8Array): void {
    const log = this.#log(name);
    if (position !== log.sizeBytes) throw new Error(`append to ${name} at ${position}, it ends at ${log.sizeBytes}`);
    const endBytes = log.sizeBytes + bytes.length;
    if (endBytes > log.file.length) Object.assign(log, roomFor(2 * endBytes, log.file));
    log.file.set(bytes, log.sizeBytes);
    for (const batch of batches) {
      stampBatch(log.view, log.sizeBytes, batch);
      log.batches.push(batch);
      log.positions.push(log.sizeBytes);
      log.sizeBytes += batch.sizeBytes;
    }
    if (log.sizeBytes !== endBytes) throw new Error(`${name}: ${bytes.length} bytes are not those of their batches`);
  }

  truncate(name: string, position: number): void {
    const log = this.#log(name);
    const kept = indexAt(log, position);
    if ((log.positions[kept] ?? log.sizeBytes) !== position) {
      throw new Error(`truncation of ${name} to ${position} would cut a batch in two`);
    }
    keepBatches(log, kept);
    log.flushedBatches = Math.min(log.flushedBatches, kept);
  }

  reset(name: string, offset: number): void {
    this.truncate(name, 0);
    this.#log(name).baseOffset = offset;
  }

  /** Bytes of a log between two positions; they stay as they are, whatever becomes of the log. */
  read(name: string, startPosition: number, endPosition: number): Uint8Array {
    const { buffer, byteOffset } = this.#log(name).file;
    return new Uint8Array(buffer, byteOffset + startPosition, endPosition - startPosition);
  }

  flush(name: string): void {
    const log = this.#log(name);
    log.flushedBatches = log.batches.length;
  }

  writeEpochs(name: string, entries: readonly EpochEntry[]): void {
    this.#log(name).epochs = entries;
  }

  writeOffsets(file: OffsetCheckpoint, offsets: Readonly<Record<string, number>>): void {
    this.#offsets.set(file, offsets);
  }

  checkpointed(file: OffsetCheckpoint, name: string): number {
    return this.#offsets.get(file)?.[name] ?? 0;
  }

  /** The page cache is gone: each log keeps its flushed batches and so many more bytes, which may tear a batch in two. */
  losePower(keepBytes = 0): void {
    for (const log of this.#logs.values()) {
      let left = keepBytes;
      let kept = log.flushedBatches;
      while (kept < log.batches.length && log.batches[kept]!.sizeBytes <= left) left -= log.batches[kept++]!.sizeBytes;
      cutTo(log, kept, left);
    }
  }

  /**
   * The page cache is gone, and how far the system had got with writing it back is drawn, log by log: to no batch, to
   * some, to all, or into the middle of one.
   */
  losePowerAtRandom(random: RandomStream): void {
    for (const log of this.logs) {
      const kept = random.int(log.flushedBatches, log.batches.length);
      const next = log.batches[kept];
      const torn = next !== undefined && random.chance(TORN) ? random.int(1, next.sizeBytes - 1) : 0;
      cutTo(log, kept, torn);
    }
  }

  /** What the file of a log holds, with a batch that a power loss tore in two, if it did. */
  file(name: string): Uint8Array {
    const { sizeBytes, tornTail } = this.#log(name);
    const whole = this.read(name, 0, sizeBytes);
    if (tornTail === null) return whole;
    const bytes = new Uint8Array(whole.length + tornTail.length);
    bytes.set(whole);
    bytes.set(tornTail, whole.length);
    return bytes;
  }

  /** What a process finds here when it starts; a tail that a power loss tore is cut off. */
  recover(): RecoveredLog[] {
    return this.logs.map((log) => {
      const endOffset = endOffsetOf(log);
      const found = log.endBeforePowerLoss ?? endOffset;
      log.endBeforePowerLoss = null;
      log.tornTail = null;
      const logStartOffset = Math.max(log.baseOffset, this.checkpointed('log-start-offset-checkpoint', log.name));
      if (log.epochs.length > 0) log.epochs = recoverEpochs(log, logStartOffset, endOffset);
      return {
        log: log.name,
        logStartOffset,
        batches: log.batches.slice(),
        epochs: log.epochs,
        checkpointedHighWatermark: this.checkpointed('replication-offset-checkpoint', log.name),
        flushedOffset: (log.batches[log.flushedBatches - 1]?.lastOffset ?? logStartOffset - 1) + 1,
        foundEndOffset: found,
        cut: found > endOffset ? 'power-loss' : 'none',
      };
    });
  }

  #log(name: string): DiskLog {
    const log = this.#logs.get(name);
    if (log === undefined) throw new Error(`there is no log ${name}`);
    return log;
  }
}

/** What a power loss leaves: so many batches, which are on the disk now, and the first bytes of the next one. */
function cutTo(log: DiskLog, kept: number, tornBytes: number): void {
  log.endBeforePowerLoss ??= endOffsetOf(log);
  const end = log.positions[kept] ?? log.sizeBytes;
  log.tornTail = tornBytes > 0 && end < log.sizeBytes ? log.file.slice(end, end + tornBytes) : null;
  keepBatches(log, kept);
  log.flushedBatches = kept;
}

function keepBatches(log: DiskLog, count: number): void {
  const sizeBytes = log.positions[count];
  if (sizeBytes === undefined) return;
  /* Whoever has read what is cut keeps the old bytes. */
  Object.assign(log, roomFor(FIRST_ROOM_BYTES + sizeBytes, log.file.subarray(0, sizeBytes)));
  log.sizeBytes = sizeBytes;
  log.batches.length = count;
  log.positions.length = count;
}

/** A file that begins with these bytes. */
function roomFor(sizeBytes: number, bytes: Uint8Array): Pick<DiskLog, 'file' | 'view'> {
  const file = new Uint8Array(sizeBytes);
  file.set(bytes);
  return { file, view: new DataView(file.buffer) };
}

/** The first batch that begins at a position or after it. */
function indexAt({ positions, sizeBytes }: DiskLog, position: number): number {
  if (position >= sizeBytes) return positions.length;
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (positions[middle]! < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** LEO of a log as it stands on the disk. */
export function endOffsetOf(log: DiskLog): number {
  return (log.batches.at(-1)?.lastOffset ?? log.baseOffset - 1) + 1;
}

/** The checkpointed epochs that still have records, and those of batches newer than the checkpoint. */
function recoverEpochs(log: DiskLog, logStartOffset: number, endOffset: number): readonly EpochEntry[] {
  const kept = log.batches.length === 0 ? [] : truncateFromEnd(log.epochs, endOffset);
  const newer = log.batches.filter((batch) => batch.leaderEpoch > latestEpoch(kept));
  return truncateFromStart(assignBatches(kept, newer), logStartOffset);
}
