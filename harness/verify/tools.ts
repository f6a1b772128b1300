/** What the checker is handed to look at bytes with: Node's decompressors, and a comparison at the speed of memory. */
import type { ByteTools } from '../../checker/logs/lane.ts';
import { decompressors } from '../check/decompressors.ts';

export const tools: ByteTools = {
  decompressors,
  sameBytes: (one, at, other, otherAt, length) =>
    Buffer.prototype.compare.call(one, other, otherAt, otherAt + length, at, at + length) === 0,
};
