/**
 * What a broker finds in its data directory when it starts, and what it cuts there (the order is Kafka's LogLoader).
 *
 * Every log is scanned from its first byte, since the core wants the header of each batch; the clean shutdown marker
 * is removed and trusted for nothing. What the scan says is the pure core's: here it is put into effect on the files.
 *
 * A power loss on a test machine is played. Whoever pulled the plug left the file `power-lost`; then each log first
 * loses all that the side file does not call flushed. Marker and cuts may be met twice, should this start be killed
 * too: the second time there is nothing left to cut.
 *
 * Invariant: what a {@link RecoveredLog} says is what the files hold when this returns.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { assignBatches, latestEpoch, truncateFromEnd, truncateFromStart } from '../core/epoch-cache.ts';
import { recoverLog } from '../core/recovery.ts';
import type { EpochEntry, RecoveredLog } from '../core/step.ts';
import type { BatchInfo } from '../protocol/index.ts';
import { readEpochs, readOffsets, writeEpochs, type NumbersByLog } from './checkpoints.ts';
import { flushDirectory, onDisk, StorageError } from './files.ts';
import { FlushedLengths, flushedLengthsFile } from './flushed.ts';
import { baseOffsetOf, Segment } from './segment.ts';

export const cleanShutdownFile = '.kafka_cleanshutdown';
/** Left by whoever pulls the plug; its content does not matter. */
const powerLostFile = 'power-lost';

export interface OpenLog {
  readonly directory: string;
  readonly segment: Segment;
}

export interface RecoveredDirectory {
  readonly logs: Map<string, OpenLog>;
  readonly recovered: readonly RecoveredLog[];
  readonly flushed: FlushedLengths;
}

export function recoverDirectory(path: string): RecoveredDirectory {
  const flushed = new FlushedLengths(join(path, flushedLengthsFile));
  const found: Found = {
    powerLost: fs.existsSync(join(path, powerLostFile)),
    flushed,
    highWatermarks: readOffsets(join(path, 'replication-offset-checkpoint'), 'replication-offset-checkpoint'),
    logStarts: readOffsets(join(path, 'log-start-offset-checkpoint'), 'log-start-offset-checkpoint'),
  };
  // Read only to find out that it is sound: every log is scanned whole.
  readOffsets(join(path, 'recovery-point-offset-checkpoint'), 'recovery-point-offset-checkpoint');

  const logs = new Map<string, OpenLog>();
  const recovered: RecoveredLog[] = [];
  for (const log of listLogs(path)) {
    const directory = join(path, log);
    const segment = openSegment(directory);
    const result = recoverSegment(log, directory, segment, found);
    recovered.push(result.recovered);
    logs.set(log, { directory, segment: result.segment });
  }
  removeMarkers(path);
  return { logs, recovered, flushed };
}

interface Found {
  readonly powerLost: boolean;
  readonly flushed: FlushedLengths;
  readonly highWatermarks: NumbersByLog;
  readonly logStarts: NumbersByLog;
}

/** The folders that are logs, in order; removes what a kill in the middle of a deletion left. */
function listLogs(path: string): string[] {
  const logs: string[] = [];
  for (const entry of onDisk('read', path, () => fs.readdirSync(path, { withFileTypes: true }))) {
    if (!entry.isDirectory()) continue;
    if (entry.name.endsWith('-delete')) {
      onDisk('delete', join(path, entry.name), () => fs.rmSync(join(path, entry.name), { recursive: true }));
    } else if (/^.+-\d+$/.test(entry.name)) {
      logs.push(entry.name);
    }
  }
  return logs.sort();
}

/** Opens the one segment of a log, after ending what a kill in the middle of a creation or a reset left half done. */
function openSegment(directory: string): Segment {
  const names = onDisk('read', directory, () => fs.readdirSync(directory));
  const segments = names.filter((name) => baseOffsetOf(name) !== undefined);
  const aside = names.filter((name) => name.endsWith('.log.deleted'));
  if (segments.length > 1) {
    throw new StorageError(
      `${directory} holds ${segments.length} segments, and this broker writes one: it was written by another broker; ` +
        'give this node a data directory of its own',
    );
  }
  const [only] = segments;
  const [old] = aside;
  if (only === undefined && old !== undefined) {
    const path = join(directory, old.slice(0, -'.deleted'.length));
    onDisk('restore', path, () => fs.renameSync(join(directory, old), path));
    return Segment.open(path);
  }
  for (const name of aside) onDisk('delete', join(directory, name), () => fs.unlinkSync(join(directory, name)));
  return only === undefined ? Segment.create(directory, 0) : Segment.open(join(directory, only));
}

function recoverSegment(
  log: string,
  directory: string,
  segment: Segment,
  found: Found,
): { readonly recovered: RecoveredLog; readonly segment: Segment } {
  const foundBytes = segment.sizeBytes;
  const scan = recoverLog(segment.read(0, foundBytes), segment.baseOffset);
  const survivingBytes = found.powerLost ? Math.min(foundBytes, found.flushed.of(log)) : foundBytes;
  const kept = batchesWithin(scan.batches, survivingBytes);
  const cut = survivingBytes < foundBytes ? 'power-loss' : kept.bytes < foundBytes ? 'torn-tail' : 'none';
  if (kept.bytes < foundBytes) {
    found.flushed.lower(log, kept.bytes);
    segment.truncate(kept.bytes);
  }

  const endOffset = endOf(kept.batches, segment.baseOffset);
  const logStartOffset = Math.max(segment.baseOffset, found.logStarts.get(log) ?? 0);
  const common = {
    log,
    logStartOffset,
    checkpointedHighWatermark: found.highWatermarks.get(log) ?? 0,
    foundEndOffset: scan.endOffset,
    cut,
  } as const;
  if (endOffset < logStartOffset) {
    // Everything that was left lies below the log start (LogLoader begins such a log anew, too).
    const fresh = startAnew(directory, segment, logStartOffset, () => found.flushed.lower(log, 0));
    const epochs = recoverEpochs(directory, [], logStartOffset, logStartOffset);
    return { segment: fresh, recovered: { ...common, batches: [], epochs, flushedOffset: logStartOffset } };
  }
  const flushedBatches = batchesWithin(kept.batches, found.flushed.of(log)).batches;
  return {
    segment,
    recovered: {
      ...common,
      batches: kept.batches,
      epochs: recoverEpochs(directory, kept.batches, logStartOffset, endOffset),
      flushedOffset: Math.max(logStartOffset, endOf(flushedBatches, segment.baseOffset)),
    },
  };
}

/** The first batches that lie whole within `limit` bytes. */
function batchesWithin(batches: readonly BatchInfo[], limit: number): { batches: readonly BatchInfo[]; bytes: number } {
  let bytes = 0;
  let count = 0;
  for (const batch of batches) {
    if (bytes + batch.sizeBytes > limit) break;
    bytes += batch.sizeBytes;
    count += 1;
  }
  return { batches: batches.slice(0, count), bytes };
}

function endOf(batches: readonly BatchInfo[], baseOffset: number): number {
  const last = batches.at(-1);
  return last === undefined ? baseOffset : last.lastOffset + 1;
}

function startAnew(directory: string, segment: Segment, offset: number, beforeCut: () => void): Segment {
  beforeCut();
  segment.truncate(0);
  if (segment.baseOffset === offset) return segment;
  segment.close();
  onDisk('delete', segment.path, () => fs.unlinkSync(segment.path));
  return Segment.create(directory, offset);
}

/**
 * The epochs of the log as it stands now: the file's entries that still have records, and those of batches newer than
 * the file (a kill can come between the append and the checkpoint). A file that says otherwise is put right, one that
 * is missing is not made: a build without an epoch cache has none.
 */
function recoverEpochs(
  directory: string,
  batches: readonly BatchInfo[],
  logStartOffset: number,
  endOffset: number,
): readonly EpochEntry[] {
  const path = join(directory, 'leader-epoch-checkpoint');
  const checkpointed = readEpochs(path);
  const kept = batches.length === 0 ? [] : truncateFromEnd(checkpointed ?? [], endOffset);
  const newer = batches.filter((batch) => batch.leaderEpoch > latestEpoch(kept));
  const epochs = truncateFromStart(assignBatches(kept, newer), logStartOffset);
  if (checkpointed !== undefined && epochs !== checkpointed) writeEpochs(path, epochs);
  return epochs;
}

function removeMarkers(path: string): void {
  for (const name of [powerLostFile, cleanShutdownFile]) {
    onDisk('delete', join(path, name), () => fs.rmSync(join(path, name), { force: true }));
  }
  flushDirectory(path);
}
