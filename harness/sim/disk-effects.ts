/**
 * What a core wants of its node's disk: the effects that write, and the ranges of a log that an answer or an append names.
 *
 * Invariant: when an effect has been performed, what it wrote can be read, and what it had to flush is flushed.
 */
import type { Effect } from '../../broker/core/step.ts';
import type { LogRange, RecordSet, ResponseBody } from '../../broker/protocol/index.ts';
import type { Disk } from './disk.ts';

/** The effects that change what stands on the disk. */
type DiskEffect = Exclude<
  Effect,
  { type: 'trace' | 'respond' | 'release' | 'send' | 'close' | 'disconnect' | 'endpoint' | 'exit' }
>;

export function performOnDisk(disk: Disk, effect: DiskEffect): void {
  switch (effect.type) {
    case 'append':
      disk.append(effect.log, effect.position, effect.batches, resolve(disk, effect.bytes));
      return;
    case 'truncate':
      disk.truncate(effect.log, effect.position);
      return;
    case 'reset-log':
      disk.reset(effect.log, effect.offset);
      return;
    case 'flush':
      disk.flush(effect.log);
      return;
    case 'epoch-checkpoint':
      disk.writeEpochs(effect.log, effect.entries);
      return;
    case 'offset-checkpoint':
      disk.writeOffsets(effect.file, effect.offsets);
      return;
    case 'create-log':
      disk.create(effect.log);
      return;
    case 'delete-log':
      disk.delete(effect.log);
      return;
    case 'persist':
      disk.records.push(effect.record);
  }
}

/** Puts the bytes of its ranges into a Fetch answer, as they are in the log now. */
export function readRecords(disk: Disk, { responses }: ResponseBody<'Fetch'>): void {
  for (const { partitions } of responses) {
    for (const { records } of partitions) {
      if (records === null || records.bytes instanceof Uint8Array) continue;
      (records as { bytes: RecordSet['bytes'] }).bytes = resolve(disk, records.bytes);
    }
  }
}

function resolve(disk: Disk, bytes: Uint8Array | LogRange): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  return disk.read(bytes.log, bytes.startPosition, bytes.endPosition);
}
