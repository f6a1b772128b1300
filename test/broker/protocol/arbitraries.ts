/**
 * Values for property tests, generated from the tables themselves: whatever a table says, some value tries.
 */
import * as fc from 'fast-check';
import {
  apis,
  encodeBatch,
  ErrorCode,
  encodeRequest,
  encodeResponse,
  parseRecordSet,
} from '../../../broker/protocol/index.ts';
import type { ApiName, RequestBody, ResponseBody } from '../../../broker/protocol/index.ts';
import type { FieldShape, Shape } from '../../../broker/protocol/schema.ts';

const directions = ['request', 'response'] as const;
type Direction = (typeof directions)[number];

/** One message kind: an API, a version, a direction. */
export interface Kind {
  readonly api: ApiName;
  readonly version: number;
  readonly direction: Direction;
}

/** Every message that the codec knows. */
export const allKinds: readonly Kind[] = (Object.keys(apis) as ApiName[]).flatMap((api) => {
  const { minVersion, maxVersion } = apis[api];
  const versions = Array.from({ length: maxVersion - minVersion + 1 }, (_, index) => minVersion + index);
  return versions.flatMap((version) => directions.map((direction) => ({ api, version, direction })));
});

export function titleOf({ api, version, direction }: Kind): string {
  return `${api} v${version} ${direction}`;
}

/** Bodies as a decoder yields them: what the version lacks has its default. */
export function bodies({ api, version, direction }: Kind): fc.Arbitrary<unknown> {
  const drawn = values(apis[api][direction].shape, version);
  // Error 35 says that the answer is in version 0, whatever was asked (KIP-511): messages.test.ts looks at it.
  if (api === 'ApiVersions' && direction === 'response') {
    return drawn.filter((body) => (body as ResponseBody<'ApiVersions'>).errorCode !== ErrorCode.UNSUPPORTED_VERSION);
  }
  return drawn;
}

/** Encodes a body that {@link bodies} drew. */
export function encode({ api, version, direction }: Kind, body: unknown, correlationId = 7): Uint8Array {
  return direction === 'request'
    ? encodeRequest(api, version, { correlationId, clientId: 'client-0' }, body as RequestBody<ApiName>)
    : encodeResponse(api, version, correlationId, body as ResponseBody<ApiName>);
}

const safeIntegers = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(-1, 0, 2 ** 31, 2 ** 32, -(2 ** 32), Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
);

const recordSets = fc
  .array(
    fc.array(fc.record({ key: fc.option(fc.string()), value: fc.option(fc.uint8Array()) }), {
      minLength: 1,
      maxLength: 3,
    }),
    {
      maxLength: 2,
    },
  )
  .map((batches) => parseRecordSet(new Uint8Array(Buffer.concat(batches.map((records) => encodeBatch({ records }))))));

const scalars = {
  bool: fc.boolean(),
  int8: fc.integer({ min: -0x80, max: 0x7f }),
  int16: fc.integer({ min: -0x8000, max: 0x7fff }),
  uint16: fc.integer({ min: 0, max: 0xffff }),
  int32: fc.integer(),
  int64: safeIntegers,
  uuid: fc.uuid(),
  string: fc.string({ unit: 'grapheme', maxLength: 200 }),
  records: recordSets,
} as const;

function values(shape: Shape, version: number): fc.Arbitrary<unknown> {
  if (shape.kind === 'array') return fc.array(values(shape.element, version), { maxLength: 3 });
  if (shape.kind === 'struct') {
    return fc.record(Object.fromEntries(shape.fields.map((field) => [field.name, fieldValues(field, version)])), {
      noNullPrototype: true,
    });
  }
  return scalars[shape.kind];
}

function fieldValues(field: FieldShape, version: number): fc.Arbitrary<unknown> {
  if (version < field.since || version > field.until) return fc.constant(field.defaultValue);
  const present = values(field.shape, version);
  return version < field.nullableSince ? present : fc.option(present);
}
