import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frame, FrameSplitter, sizePrefix } from '../../../broker/protocol/index.ts';
import type { ProtocolError } from '../../../broker/protocol/index.ts';

describe('frames', () => {
  it('carry their size in front', () => {
    expect([...frame(new Uint8Array([7, 8]))]).toEqual([0, 0, 0, 2, 7, 8]);
    expect([...sizePrefix(new Uint8Array(258))]).toEqual([0, 0, 1, 2]);
  });

  it('come out as they went in, however the stream is cut', () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 });
    fc.assert(
      fc.property(payloads, fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 12 }), (sent, cuts) => {
        // The cuts repeat until the stream is used up; a cut of nothing must not matter, but must not be all there is.
        const sizes = [...cuts, 3];
        const stream = new Uint8Array(Buffer.concat(sent.map(frame)));
        const splitter = new FrameSplitter();
        const received: Uint8Array[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          received.push(...splitter.push(stream.subarray(at, at + size)));
          at += size;
        }
        expect(received.map((each) => [...each])).toEqual(sent.map((each) => [...each]));
      }),
    );
  });

  it('are views of the chunk that holds them whole', () => {
    const chunk = frame(new Uint8Array([1, 2, 3]));
    expect(new FrameSplitter().push(chunk)[0]!.buffer).toBe(chunk.buffer);
  });

  it('may be empty', () => {
    expect(new FrameSplitter().push(new Uint8Array(8)).map((each) => each.length)).toEqual([0, 0]);
    const splitter = new FrameSplitter();
    expect(splitter.push(new Uint8Array([0, 0]))).toEqual([]);
    expect(splitter.push(new Uint8Array([0, 0])).map((each) => each.length)).toEqual([0]);
  });
});

describe('a frame beyond the limit', () => {
  it('is refused from its size alone, and so is all that follows', () => {
    const splitter = new FrameSplitter(10);
    expect(splitter.push(frame(new Uint8Array(10)))).toHaveLength(1);
    const refusal = 'a frame of 11 bytes, at most 10 are accepted';
    expect(() => splitter.push(new Uint8Array([0, 0, 0, 11]))).toThrow(refusal);
    expect(() => splitter.push(frame(new Uint8Array(1)))).toThrow(refusal);
  });

  it('and one of negative size are told apart', () => {
    const reasons = [
      [0x7f, 0xff, 0xff, 0xff],
      [0xff, 0xff, 0xff, 0xff],
    ].map((size) => {
      try {
        new FrameSplitter().push(new Uint8Array(size));
        return 'accepted';
      } catch (error) {
        return (error as ProtocolError).reason;
      }
    });
    expect(reasons).toEqual(['oversize', 'malformed']);
  });
});
