/**
 * The lines of a file as a synchronous sequence, in bounded memory.
 *
 * A last line without its end is handed out like any other: whether it broke off is for the reader to judge. Of a line
 * that is longer than any that we write only the beginning is handed out: it is then no JSON, and told as such.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** What is read at once lives as long as its lines are looked at: larger chunks cost memory and save no time. */
const chunkBytes = 1 << 16;
const lineMax = 1 << 26;

export function readLines(path: string): Generator<string, void, undefined> {
  return linesOfChunks(fileChunks(path));
}

/** The lines of bytes that are all there. */
export function linesOfBytes(bytes: Uint8Array): Generator<string, void, undefined> {
  return linesOfChunks(parts(bytes));
}

function* linesOfChunks(chunks: Iterable<Buffer>): Generator<string, void, undefined> {
  const decoder = new StringDecoder('utf8');
  // The beginning of a line whose end has not come yet, in pieces: joining them for each chunk would be quadratic.
  let pieces: string[] = [];
  let length = 0;
  const take = function* (text: string): Generator<string, void, undefined> {
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = pieces.length === 0 ? lines[0]! : pieces.join('') + lines[0]!;
      pieces = [];
      length = 0;
      yield* lines;
    }
    if (rest !== '' && length < lineMax) pieces.push(rest);
    length += rest.length;
  };
  for (const chunk of chunks) yield* take(decoder.write(chunk));
  yield* take(decoder.end());
  if (pieces.length > 0) yield pieces.join('');
}

function* fileChunks(path: string): Generator<Buffer, void, undefined> {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const size = readSync(file, buffer, 0, chunkBytes, null);
      if (size === 0) return;
      yield buffer.subarray(0, size);
    }
  } finally {
    closeSync(file);
  }
}

function* parts(bytes: Uint8Array): Generator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    yield Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(chunkBytes, bytes.length - at));
  }
}
