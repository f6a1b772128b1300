/** Properties of every table, version and direction at once. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apis, decodeRequest, decodeResponse, ProtocolError } from '../../../broker/protocol/index.ts';
import type { ApiName } from '../../../broker/protocol/index.ts';
import { allKinds, bodies, encode } from './arbitraries.ts';
import type { Kind } from './arbitraries.ts';
import { fromHex } from './hex.ts';

function decode(kind: Kind, frame: Uint8Array): unknown {
  return kind.direction === 'request' ? decodeRequest(frame).body : decodeResponse(kind.api, kind.version, frame).body;
}

/** What a decoder made of bytes: a value, or a refusal. Anything else that is thrown fails the test. */
function outcome(kind: Kind, frame: Uint8Array): 'decoded' | 'refused' {
  try {
    decode(kind, frame);
    return 'decoded';
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError);
    return 'refused';
  }
}

/** Where the body begins: bytes before it may be changed into another valid header. */
function headerBytes(kind: Kind): number {
  if (kind.direction === 'response') return 4;
  return 2 + 2 + 4 + 2 + 'client-0'.length;
}

describe.each(Object.keys(apis) as ApiName[])('%s, in every version and direction,', (api) => {
  const kinds = allKinds.filter((kind) => kind.api === api);
  const messages = fc.constantFrom(...kinds).chain((kind) => bodies(kind).map((body) => ({ kind, body })));
  const runs = { numRuns: 25 * kinds.length };

  it('decodes to the body that was encoded, and to the same bytes again', () => {
    fc.assert(
      fc.property(messages, ({ kind, body }) => {
        const frame = encode(kind, body);
        const decoded = decode(kind, frame);
        expect(decoded).toEqual(body);
        expect(Buffer.compare(encode(kind, decoded), frame)).toBe(0);
      }),
      runs,
    );
  });

  it('is refused when it is cut short', () => {
    fc.assert(
      fc.property(messages, fc.nat(), ({ kind, body }, draw) => {
        const frame = encode(kind, body);
        expect(outcome(kind, frame.subarray(0, draw % frame.length))).toBe('refused');
      }),
      runs,
    );
  });

  it('is refused when bytes follow its end', () => {
    fc.assert(
      fc.property(messages, fc.uint8Array({ minLength: 1, maxLength: 8 }), ({ kind, body }, rest) => {
        expect(outcome(kind, Buffer.concat([encode(kind, body), rest]))).toBe('refused');
      }),
      runs,
    );
  });

  it('is decoded or refused whatever bits are flipped', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), ({ kind, body }, flips) => {
        const frame = encode(kind, body);
        for (const flip of flips) frame[Math.floor(flip / 8) % frame.length]! ^= 1 << (flip % 8);
        outcome(kind, frame);
      }),
      runs,
    );
  });

  it('is decoded or refused whatever bytes follow its header', () => {
    fc.assert(
      fc.property(messages, fc.uint8Array({ maxLength: 64 }), ({ kind, body }, noise) => {
        outcome(kind, Buffer.concat([encode(kind, body).subarray(0, headerBytes(kind)), noise]));
      }),
      runs,
    );
  });
});

describe('any frame', () => {
  it('of random bytes is decoded or refused as a request', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (frame) => {
        try {
          decodeRequest(frame);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('with the header of an API that is spoken is decoded or refused whatever follows', () => {
    const heads = fc.constantFrom(...allKinds.map(({ api, version }) => [apis[api].key, version] as const));
    fc.assert(
      fc.property(heads, fc.uint8Array({ maxLength: 300 }), ([key, version], noise) => {
        const header = Buffer.from([key >> 8, key & 0xff, 0, version, 0, 0, 0, 1, 0xff, 0xff]);
        try {
          decodeRequest(Buffer.concat([header, noise]));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
      { numRuns: 5000 },
    );
  });

  it('that announces more elements than it has bytes is refused before anything is built', () => {
    // Metadata v1 request: 2^31-1 topics announced, none there.
    const frame = fromHex('0003 0001 00000001 ffff 7fffffff');
    expect(() => decodeRequest(frame)).toThrow(
      'Metadata v1 request: byte 14, field topics: an array of 2147483647 elements announced, 0 bytes left',
    );
  });

  it('that announces elements which cannot fit is refused even if it has as many bytes', () => {
    // Five names need at least ten bytes.
    const frame = fromHex('0003 0001 00000001 ffff 00000005 000000000000000000');
    expect(() => decodeRequest(frame)).toThrow('an array of 5 elements announced, 9 bytes left');
  });

  it('that announces a longer string than it has bytes is refused', () => {
    const frame = fromHex('0003 0001 00000001 ffff 00000001 7fff 61');
    expect(() => decodeRequest(frame)).toThrow('32767 bytes announced, 1 left');
  });
});
