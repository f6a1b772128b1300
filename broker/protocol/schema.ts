/**
 * The language in which the tables of `apis/` are written.
 *
 * A message is a struct of fields; a field has a type and the versions in which it is on the wire. One table yields the
 * encoder and the decoder of every version (`codec.ts`), the TypeScript type of the body, the values of property tests
 * and the pages of `docs/protocol.md`. The order of the fields in the table is their order on the wire.
 *
 * A body has every field whatever its version: a decoder fills the absent ones with their defaults, an encoder leaves
 * out what its version does not know. The words are those of Kafka's own message definitions (KIP-482 for flexible
 * versions and tagged fields).
 */
import type { RecordSet } from './records.ts';

export type ScalarKind = 'bool' | 'int8' | 'int16' | 'uint16' | 'int32' | 'int64' | 'uuid' | 'string' | 'records';

export type Shape =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'array'; readonly element: Shape }
  | { readonly kind: 'struct'; readonly fields: readonly FieldShape[] };

/** A field without its TypeScript type, as the codec sees it. */
export interface FieldShape {
  readonly name: string;
  readonly shape: Shape;
  /** First and last version that have the field. */
  readonly since: number;
  readonly until: number;
  /** First version in which the field may be null; Infinity when none. */
  readonly nullableSince: number;
  /** The value where the field is absent. */
  readonly defaultValue: unknown;
  /** A field of the tagged section (flexible versions only), written only when it differs from its default. */
  readonly tag: number | undefined;
}

declare const value: unique symbol;

/** A wire type whose values are `T`s in TypeScript. */
export interface Type<T> {
  readonly shape: Shape;
  readonly [value]?: T;
}

/** A type with the versions in which a field of it exists. */
export interface Field<T> {
  readonly type: Type<unknown>;
  readonly options: FieldOptions;
  readonly [value]?: T;
}

export interface FieldOptions {
  readonly since?: number;
  readonly until?: number;
  readonly nullableSince?: number;
  readonly default?: unknown;
  readonly tag?: number;
}

/** The TypeScript type of a wire type or field. */
export type ValueOf<D> = D extends { readonly [value]?: infer T } ? T : never;

export const bool: Type<boolean> = { shape: { kind: 'bool' } };
export const int8: Type<number> = { shape: { kind: 'int8' } };
export const int16: Type<number> = { shape: { kind: 'int16' } };
export const uint16: Type<number> = { shape: { kind: 'uint16' } };
export const int32: Type<number> = { shape: { kind: 'int32' } };
/** A number, not a bigint: offsets and epochs beyond 2^53-1 are refused in both directions. */
export const int64: Type<number> = { shape: { kind: 'int64' } };
/** Sixteen bytes, as lower-case hexadecimal text with hyphens. */
export const uuid: Type<string> = { shape: { kind: 'uuid' } };
export const string: Type<string> = { shape: { kind: 'string' } };
export const records: Type<RecordSet> = { shape: { kind: 'records' } };

export function array<T>(element: Type<T>): Type<readonly T[]> {
  return { shape: { kind: 'array', element: element.shape } };
}

type Definition = Type<unknown> | Field<unknown>;

/** A struct; a bare type stands for a field of every version. */
export function struct<F extends Readonly<Record<string, Definition>>>(
  fields: F,
): Type<{ readonly [K in keyof F]: ValueOf<F[K]> }> {
  const shapes = Object.entries(fields).map(([name, definition]) =>
    'options' in definition
      ? fieldShape(name, definition.type.shape, definition.options)
      : fieldShape(name, definition.shape, {}),
  );
  return { shape: { kind: 'struct', fields: shapes } };
}

/** A field that does not exist, or may not be null, in every version. */
export function field<T>(
  type: Type<T>,
  options: FieldOptions & { readonly nullableSince: number; readonly default?: T | null },
): Field<T | null>;
export function field<T>(type: Type<T>, options: FieldOptions & { readonly default?: T }): Field<T>;
export function field(type: Type<unknown>, options: FieldOptions): Field<unknown> {
  return { type, options };
}

function fieldShape(name: string, shape: Shape, options: FieldOptions): FieldShape {
  return {
    name,
    shape,
    since: options.since ?? 0,
    until: options.until ?? Infinity,
    nullableSince: options.nullableSince ?? Infinity,
    defaultValue: 'default' in options ? options.default : zeroOf(shape),
    tag: options.tag,
  };
}

const zeros: Readonly<Record<ScalarKind, unknown>> = {
  bool: false,
  int8: 0,
  int16: 0,
  uint16: 0,
  int32: 0,
  int64: 0,
  uuid: '00000000-0000-0000-0000-000000000000',
  string: '',
  records: { batches: [], bytes: new Uint8Array(0) } satisfies RecordSet,
};

/** Kafka's implicit defaults: zero, false, empty; a struct of those. */
function zeroOf(shape: Shape): unknown {
  // Shared by all bodies that lack the field.
  if (shape.kind === 'array') return Object.freeze([]);
  if (shape.kind === 'struct') return Object.fromEntries(shape.fields.map((each) => [each.name, each.defaultValue]));
  return zeros[shape.kind];
}

/** An inclusive range of versions. */
export interface VersionRange {
  readonly minVersion: number;
  readonly maxVersion: number;
}

/** One API: what the codec can do, and what a broker tells its clients. */
export interface Api<Request, Response> extends VersionRange {
  readonly key: number;
  /** From this version on strings and arrays are compact and structs end with tagged fields; Infinity when never. */
  readonly flexibleSince: number;
  /** What our own broker answers, where that is less than the table has: the rest is for our clients, of other brokers. */
  readonly served?: VersionRange;
  /** What a broker's ApiVersions answer says; null for what only brokers and the controller speak. */
  readonly advertised: VersionRange | null;
  readonly request: Type<Request>;
  readonly response: Type<Response>;
}

/** Checks nothing: it only lets TypeScript infer the bodies of a table. */
export function api<Request, Response>(definition: Api<Request, Response>): Api<Request, Response> {
  return definition;
}
