/**
 * Logs of any size for measuring: segments of record batches with random text, the same in every copy of a replica.
 *
 * One batch is made once and written again and again at rising offsets, which stand outside of its checksum.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { encodeBatch } from '../../broker/protocol/index.ts';

export interface LogShape {
  readonly recordBytes: number;
  readonly recordsPerBatch: number;
}

const segmentBytes = 64 << 20;

/** Writes the same log into each of these directories. Returns the names of its segments. */
export function writeLog(copies: readonly string[], shape: LogShape, segments: number): string[] {
  const template = batchOf(shape);
  const perWrite = Math.max(1, Math.floor((1 << 20) / template.length));
  const block = Buffer.alloc(perWrite * template.length);
  for (let at = 0; at < perWrite; at += 1) block.set(template, at * template.length);
  for (const copy of copies) mkdirSync(copy, { recursive: true });
  const names: string[] = [];
  let offset = 0;
  for (let segment = 0; segment < segments; segment += 1) {
    const name = `${String(offset).padStart(20, '0')}.log`;
    const files = copies.map((copy) => openSync(join(copy, name), 'w'));
    for (let written = 0; written < segmentBytes; written += block.length) {
      for (let at = 0; at < block.length; at += template.length) {
        block.writeBigInt64BE(BigInt(offset), at);
        offset += shape.recordsPerBatch;
      }
      for (const file of files) writeSync(file, block);
    }
    files.forEach(closeSync);
    names.push(name);
  }
  return names;
}

function batchOf({ recordBytes, recordsPerBatch }: LogShape): Uint8Array {
  let state = 1;
  const letter = (): string => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return String.fromCharCode(97 + ((state >>> 16) % 26));
  };
  const records = Array.from({ length: recordsPerBatch }, () => ({
    key: null,
    value: Array.from({ length: recordBytes }, letter).join(''),
  }));
  return encodeBatch({ baseOffset: 0, leaderEpoch: 0, records });
}
