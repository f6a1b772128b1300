/**
 * A history file of any kind that is understood: our lines of JSON, such lines as others export them, Jepsen's EDN, each
 * plain or packed by zstd. What it is shows in its bytes, not in its name.
 *
 * A packed file is unpacked whole, up to a bound; one that breaks off is read as far as it goes.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { constants, zstdDecompressSync } from 'node:zlib';
import { EdnHistory } from '../../checker/edn-history.ts';
import type { HistorySource } from '../../checker/parse-history.ts';
import { EnvironmentError, errorCode } from '../errors.ts';
import { demandFile } from '../regular-file.ts';
import { byteLines, fileChunks, textLines } from './read-lines.ts';

/** What a packed file may unpack to. */
const unpackedMax = 1 << 30;

/** Opens a history; `notes` takes what a reader should know of the file. */
export function openHistory(path: string, notes: string[], max = unpackedMax): HistorySource {
  const packed = isZstd(head(path)) ? unpack(path, notes, max) : null;
  const chunks = withoutMark(packed === null ? guardedChunks(path) : [packed]);
  return isEdn(packed ?? head(path)) ? new EdnHistory(textLines(chunks)) : byteLines(chunks);
}

/** The lines of a plain or packed file. */
export function openPackable(path: string, notes: string[], max = unpackedMax): Iterable<string> {
  return textLines(withoutMark(isZstd(head(path)) ? [unpack(path, notes, max)] : guardedChunks(path)));
}

/** Some editors and exports put a byte order mark before the first line. */
function* withoutMark(chunks: Iterable<Uint8Array>): Generator<Uint8Array, void, undefined> {
  let isFirst = true;
  for (const chunk of chunks) {
    const isMarked = isFirst && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
    isFirst = false;
    yield isMarked ? chunk.subarray(3) : chunk;
  }
}

function isZstd(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32LE(0) === 0xfd2fb528;
}

/** A map of keywords, perhaps tagged, perhaps in a vector; comments and commas may stand before it. */
function isEdn(bytes: Buffer): boolean {
  const text = bytes.toString('utf8', 0, 4096).replace(/^(?:[\s,\uFEFF]|;[^\n]*(?:\n|$))+/, '');
  return /^[[(]?\s*(?:#[\w.]+\s*)?\{\s*:/.test(text) || /^[[(]\s*[\])]/.test(text);
}

function head(path: string): Buffer {
  return trying(path, () => {
    demandFile(path, Infinity);
    const file = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(4096);
      return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
    } finally {
      closeSync(file);
    }
  });
}

/** All frames, one after the other: a file may have been appended to. */
function unpack(path: string, notes: string[], max: number): Buffer {
  let rest: Buffer = trying(path, () => readFileSync(path));
  const frames: Buffer[] = [];
  let size = 0;
  while (rest.length > 0) {
    const { bytes, used, torn } = unpackFrame(path, rest, max - size);
    frames.push(bytes);
    size += bytes.length;
    if (torn) notes.push(`${path} breaks off: it is read as far as it unpacks`);
    if (torn || used === 0) break;
    rest = rest.subarray(used);
  }
  return Buffer.concat(frames);
}

function unpackFrame(path: string, packed: Buffer, max: number): { bytes: Buffer; used: number; torn: boolean } {
  const attempt = (finishFlush?: number): { bytes: Buffer; used: number } => {
    const options = {
      maxOutputLength: Math.max(max, 1),
      info: true,
      ...(finishFlush === undefined ? {} : { finishFlush }),
    };
    // With `info` the result is a pair, which the types do not say.
    const result = zstdDecompressSync(packed, options) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    return { bytes: result.buffer, used: result.engine.bytesWritten };
  };
  try {
    return { ...attempt(), torn: false };
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(path, max);
    try {
      return { ...attempt(constants.ZSTD_e_flush), torn: true };
    } catch (again) {
      if (errorCode(again) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(path, max);
      throw new EnvironmentError(`${path} cannot be unpacked: ${errorCode(error) ?? String(error)}`, { cause: error });
    }
  }
}

function tooLarge(path: string, max: number): EnvironmentError {
  return new EnvironmentError(
    `${path} unpacks to more than ${max} bytes; unpack it yourself (zstd -d) and check the plain file`,
  );
}

/** Errors of the system while reading become one clear line, wherever in the stream they come. */
function* guardedChunks(path: string): Generator<Uint8Array, void, undefined> {
  try {
    yield* fileChunks(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
}

function trying<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw cannotRead(path, error);
  }
}

export function cannotRead(path: string, error: unknown): EnvironmentError {
  if (error instanceof EnvironmentError) return error;
  return new EnvironmentError(`${path} cannot be read: ${errorCode(error) ?? String(error)}`, { cause: error });
}
