/** Replicas made of bytes, for tests: batches that our broker's encoder writes, cut into segments, and damaged on purpose. */
import { encodeBatch } from '../../../broker/protocol/index.ts';
import { crc32c } from '../../../checker/logs/checksums.ts';
import type { PartitionReport } from '../../../checker/logs/report.ts';
import type { Checkpoints, ReplicaCopy } from '../../../checker/logs/source.ts';
import { verifyPartition } from '../../../checker/logs/verify-partition.ts';
import { tools } from '../../../harness/verify/tools.ts';

const nothing: Checkpoints = {
  highWatermark: null,
  recoveryPoint: null,
  logStart: null,
  cleaner: null,
  leaderEpochs: null,
};

/** A replica of `tide-0`: its segments by base offset, and what its checkpoint files say. */
export function replica(
  name: string,
  segments: Readonly<Record<number, Uint8Array>>,
  checkpoints: Partial<Checkpoints> = {},
): ReplicaCopy {
  return {
    name,
    checkpoints: { ...nothing, ...checkpoints },
    unreadable: [],
    segments: Object.entries(segments).map(([base, bytes]) => ({
      file: `tide-0/${base.padStart(20, '0')}.log`,
      baseOffset: Number(base),
      size: bytes.length,
      read: (position, into) => {
        const part = bytes.subarray(position, position + into.length);
        into.set(part);
        return part.length;
      },
    })),
  };
}

export function verify(copies: readonly ReplicaCopy[], compacted = false): PartitionReport {
  return verifyPartition('tide-0', copies, compacted, tools);
}

/** A batch of values (or of `[key, value]`), the first at `base`. */
export function batch(
  base: number,
  values: readonly (string | null | readonly [key: string, value: string | null])[],
  epoch = 0,
): Uint8Array {
  const records = values.map((value) =>
    typeof value === 'string' || value === null ? { key: null, value } : { key: value[0], value: value[1] },
  );
  return encodeBatch({ baseOffset: base, leaderEpoch: epoch, records });
}

/** Ten batches of three records each, offsets 0 to 29, in epochs that rise every fourth batch. */
export const batches: readonly Uint8Array[] = Array.from({ length: 10 }, (_, at) =>
  batch(
    at * 3,
    [0, 1, 2].map((record) => `value ${at * 3 + record}`),
    Math.floor(at / 4),
  ),
);

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.concat(parts));
}

/** A copy with `change` made to it. */
export function changed(bytes: Uint8Array, change: (copy: Uint8Array) => void): Uint8Array {
  const copy = Uint8Array.from(bytes);
  change(copy);
  return copy;
}

/** A batch whose header was changed, with a checksum that is right for it. */
export function sealed(bytes: Uint8Array, change: (view: DataView) => void): Uint8Array {
  return changed(bytes, (copy) => {
    const view = new DataView(copy.buffer);
    change(view);
    view.setUint32(17, crc32c(copy, 21, copy.length));
  });
}
