/**
 * The lines of a file as a synchronous sequence, in bounded memory.
 *
 * A last line without its end is handed out like any other: whether it broke off is for the reader to judge.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** What is read at once lives as long as its lines are looked at: larger chunks cost memory and save no time. */
const chunkBytes = 1 << 16;

export function* readLines(path: string): Generator<string, void, undefined> {
  const file = openSync(path, 'r');
  try {
    const decoder = new StringDecoder('utf8');
    const buffer = Buffer.allocUnsafe(chunkBytes);
    let rest = '';
    for (;;) {
      const size = readSync(file, buffer, 0, chunkBytes, null);
      const lines = (rest + (size === 0 ? decoder.end() : decoder.write(buffer.subarray(0, size)))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      if (size === 0) break;
    }
    if (rest !== '') yield rest;
  } finally {
    closeSync(file);
  }
}
