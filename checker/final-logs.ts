/**
 * The replicas' logs as they were copied after settling, and what the final leader's log says of each value.
 *
 * All logs are read down to their batch headers; records are unpacked for the leaders only, since a value's fate is
 * decided there, and for single batches where a comparison needs them.
 */
import type { Key } from './history.ts';
import type { HistoryIndex } from './index-history.ts';
import type { Decompressors } from './logs/contents.ts';
import { decodeLog, decodeRecords, type DecodedLog, type SegmentFile } from './segments.ts';

/** What was copied of one replica. */
export interface ReplicaFiles {
  readonly node: number;
  readonly key: Key;
  readonly segments: readonly SegmentFile[];
  /** From `log-start-offset-checkpoint`, if it has an entry. */
  readonly logStart: number | null;
  /** Entries of its `leader-epoch-checkpoint`, if it was copied. */
  readonly epochs?: readonly (readonly [epoch: number, start: number])[] | null | undefined;
}

export interface FinalLog {
  readonly node: number;
  readonly log: DecodedLog;
  readonly epochs?: ReplicaFiles['epochs'];
}

export interface FinalLogs {
  readonly byKey: ReadonlyMap<Key, ReadonlyMap<number, FinalLog>>;
  /** Nodes whose data directory was copied: one of these without a log of a partition has an empty one. */
  readonly nodes: ReadonlySet<number>;
  readonly decompressors: Decompressors;
}

/** Decodes every copied log down to its batches. */
export function readFinalLogs(
  files: Iterable<ReplicaFiles>,
  nodes: readonly number[],
  decompressors: Decompressors,
): FinalLogs {
  const byKey = new Map<Key, Map<number, FinalLog>>();
  for (const { node, key, segments, logStart, epochs } of files) {
    let logs = byKey.get(key);
    if (logs === undefined) {
      logs = new Map();
      byKey.set(key, logs);
    }
    logs.set(node, { node, log: decodeLog(segments, logStart, decompressors), epochs: epochs ?? null });
  }
  return { byKey, nodes: new Set(nodes), decompressors };
}

/** Notes for each value where it stands in the leader's log. Answers with batches whose records could not be read. */
export function readLeaderValues(
  history: HistoryIndex,
  key: Key,
  log: DecodedLog,
  decompressors: Decompressors,
): number {
  const keyId = history.keyId(key);
  let unreadable = 0;
  for (const batch of log.batches) {
    if (batch.isControl) continue;
    const records = decodeRecords(log, batch, decompressors);
    if (records === null) {
      unreadable += 1;
      continue;
    }
    for (const record of records) {
      if (record.value === null) continue;
      const row = history.findRow(keyId, text(record.value));
      if (row !== -1) history.sawInFinalLog(row, record.offset);
    }
  }
  return unreadable;
}

/** Bytes as text; values are short and nearly always digits. */
export function text(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) {
    if (byte >= 0x80) return new TextDecoder().decode(bytes);
    out += String.fromCharCode(byte);
  }
  return out;
}
