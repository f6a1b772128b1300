/** Batches and the effects that append them, for tests of storage. */
import { encodeBatch, parseRecordSet, type BatchInfo } from '../../../broker/protocol/index.ts';
import type { StorageEffect } from '../../../broker/storage/storage.ts';

export interface Batch {
  readonly info: BatchInfo;
  readonly bytes: Uint8Array;
}

/** One batch of one record for each value. */
export function batch(baseOffset: number, leaderEpoch: number, ...values: readonly string[]): Batch {
  const records = values.map((value) => ({ key: null, value: Buffer.from(value), timestampMs: 1_700_000_000_000 }));
  const bytes = encodeBatch({ baseOffset, leaderEpoch, records });
  const [info] = parseRecordSet(bytes).batches;
  if (info === undefined) throw new Error('the encoder made a batch that the parser refuses');
  return { info, bytes };
}

export function append(log: string, position: number, ...batches: readonly Batch[]): StorageEffect {
  return {
    type: 'append',
    log,
    position,
    batches: batches.map(({ info }) => info),
    bytes: Buffer.concat(batches.map(({ bytes }) => bytes)),
  };
}
