/**
 * How records are packed, in batches and in message sets alike.
 *
 * Node brings gzip and zstd along. Snappy and LZ4 are for whoever has them: they are handed in as {@link Unpackers}, and
 * without them refused. Nothing is ever packed with those two.
 *
 * Invariant: unpacking yields at most the bytes that it is given leave for, or throws a ProtocolError.
 */
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { ProtocolError } from './protocol-error.ts';

/** By the number that stands in the lowest three bits of the attributes. */
export const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
const codecBits = 0x07;

type Codec = (typeof codecs)[number] | 'unknown';

/** What records can be packed with here. */
export type Compression = 'none' | 'gzip' | 'zstd';

/** What Node does not bring along. Each throws at bytes that it cannot unpack, or not into `maxBytes`. */
export interface Unpackers {
  /** Raw blocks, and the frames of snappy-java. */
  readonly snappy?: (bytes: Uint8Array, maxBytes: number) => Uint8Array;
  /** `oldHeader`: a frame of message format v0, whose header Kafka used to sum up in its own way (KIP-57). */
  readonly lz4?: (bytes: Uint8Array, maxBytes: number, oldHeader: boolean) => Uint8Array;
}

/** The codec that these attributes name. */
export function codecOf(attributes: number): Codec {
  return codecs[attributes & codecBits] ?? 'unknown';
}

export function pack(compression: Compression, bytes: Uint8Array): Uint8Array {
  if (compression === 'gzip') return gzipSync(bytes);
  if (compression === 'zstd') return zstdCompressSync(bytes);
  return bytes;
}

export function unpack(
  codec: Codec,
  bytes: Uint8Array,
  maxBytes: number,
  { snappy, lz4 }: Unpackers,
  oldHeader = false,
): Uint8Array {
  if (codec === 'gzip') return bounded(() => gunzipSync(bytes, { maxOutputLength: maxBytes }), maxBytes);
  if (codec === 'zstd') return bounded(() => zstdDecompressSync(bytes, { maxOutputLength: maxBytes }), maxBytes);
  if (codec === 'snappy' && snappy !== undefined) return bounded(() => snappy(bytes, maxBytes), maxBytes);
  if (codec === 'lz4' && lz4 !== undefined) return bounded(() => lz4(bytes, maxBytes, oldHeader), maxBytes);
  throw new ProtocolError('unsupported-compression', `records are packed with ${codec}, which nothing here unpacks`);
}

/** An unpacker's errors are about the bytes, so they are the peer's. */
function bounded(run: () => Uint8Array, maxBytes: number): Uint8Array {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError)
      throw new ProtocolError('oversize', `records unpack to more than ${maxBytes} bytes`);
    throw new ProtocolError('malformed', `records do not unpack: ${(error as Error).message}`);
  }
}
