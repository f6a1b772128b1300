/** Node's decompressors for the checker, which has none of its own for gzip and zstd. */
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { unpackedMax, type Decompressors } from '../../checker/logs/contents.ts';

export const decompressors: Decompressors = {
  gzip: (bytes) => gunzipSync(bytes, { maxOutputLength: unpackedMax }),
  zstd: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: unpackedMax }),
};
