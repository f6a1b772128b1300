/**
 * Both looks at a frame that a test puts together byte by byte: `inspect` keeps nothing and finds what is there, `decode`
 * makes the records themselves. What is wrong they must tell in the same words.
 */
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { Contents, decode, inspect, type Decompressors } from '../../../checker/logs/contents.ts';
import { Frame, readFrame } from '../../../checker/logs/frame.ts';

/** Frames stand somewhere in a window. */
export const lead = 3;

export const gzip: Decompressors = { gzip: (bytes) => gunzipSync(bytes) };

/** Both looks at the frame: what is found without keeping anything, and the records themselves. */
export function look(bytes: Uint8Array, decompressors: Decompressors = gzip, contents = new Contents(), max?: number) {
  const frame = new Frame();
  expect(readFrame(bytes, lead, bytes.length, frame)).toBe('frame');
  inspect(bytes, lead, frame, decompressors, contents);
  const { records, problem } = decode(bytes, lead, frame, decompressors, max);
  const shown = (part: Uint8Array | null): string | null => (part === null ? null : new TextDecoder().decode(part));
  return {
    contents,
    frame,
    problem,
    records: records.map(({ offset, timestamp, key, value, headers }) => ({
      offset,
      timestamp,
      key: shown(key),
      value: shown(value),
      headers: headers.map(([name, of]) => [shown(name), shown(of)]),
    })),
  };
}

export const nothing = { records: 0, first: -1, last: -1, gapFrom: -1, gapTo: -1, markers: [] };

/** Both looks tell the same problem, and the first of them nothing else. */
export function expectProblem(bytes: Uint8Array, problem: string, decompressors: Decompressors = gzip): void {
  const { contents, ...decoded } = look(bytes, decompressors);
  expect(contents).toEqual({ ...nothing, problem });
  expect(decoded.problem).toBe(problem);
}

/** An LZ4 frame of one block that is not packed; `old` with the header checksum of message format v0. */
export function lz4Frame(content: readonly number[], old: boolean): number[] {
  // The two checksums are those of exactly these six bytes, from their fifth and from their first on.
  const head = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, old ? 0x1a : 0x82];
  return [...head, content.length, 0, 0, 0x80, ...content, 0, 0, 0, 0];
}
