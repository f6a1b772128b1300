import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameSplitter, LineSplitter } from '../../docker/attach.ts';

function frame(output: 1 | 2, bytes: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header[0] = output;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

/** Cuts bytes into pieces of these sizes, over and over. */
function pieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    cut.push(bytes.subarray(at, at + size));
    at += size;
  }
  return cut;
}

describe('the output of a container', () => {
  it('comes out whole and in order, however frames and lines were cut', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
    const text = fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', '')));
    fc.assert(
      fc.property(text, sizes, sizes, (lines, frameSizes, chunkSizes) => {
        const written = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const sent = Buffer.concat(pieces(written, frameSizes).flatMap((part) => [frame(2, part), frame(1, part)]));
        const heard: string[] = [];
        const errors: Buffer[] = [];
        const splitter = new LineSplitter((line) => heard.push(line));
        const frames = new FrameSplitter((output, bytes) => {
          if (output === 'stdout') splitter.push(bytes);
          else errors.push(bytes);
        });
        for (const chunk of pieces(sent, chunkSizes)) frames.push(chunk);
        expect(heard).toEqual(lines);
        expect(splitter.end()).toBeNull();
        expect(Buffer.concat(errors).equals(written)).toBe(true);
      }),
    );
  });

  it('gives a line that a kill has torn apart from the others', () => {
    const heard: string[] = [];
    const splitter = new LineSplitter((line) => heard.push(line));
    splitter.push(Buffer.from('whole\nto'));
    splitter.push(Buffer.from('rn'));
    expect(heard).toEqual(['whole']);
    expect(splitter.end()).toBe('torn');
  });

  it('is not believed once it is out of step', () => {
    const frames = new FrameSplitter(() => {});
    expect(() => frames.push(Buffer.from('{"event":"start"}'))).toThrow("the engine's stream is out of step");
  });

  it('is cut into lines where it never ends one', () => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line), 10);
    for (let piece = 0; piece < 5; piece += 1) splitter.push(Buffer.from('aaaaaa'));
    splitter.push(Buffer.from('b\n'));
    expect(lines).toEqual(['a'.repeat(12), 'a'.repeat(12), 'aaaaaab']);
  });
});
