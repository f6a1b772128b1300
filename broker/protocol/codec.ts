/**
 * From a table to the encoder and decoder of one version.
 *
 * A shape is compiled once per version into a tree of codecs, in which nothing depends on versions any more: absent
 * fields, null, compact lengths and tagged sections (KIP-482) are decided here. Encoder and decoder stand side by side,
 * so that they cannot disagree.
 *
 * Invariant: a decoder consumes at least `minBytes` per value or throws a ProtocolError; so an array's announced count
 * is bounded by the bytes that are left.
 */
import { parseRecordSet } from './records.ts';
import type { RecordSet } from './records.ts';
import type { Reader } from './reader.ts';
import type { FieldShape, ScalarKind, Shape } from './schema.ts';
import { Writer } from './writer.ts';

/** Writes and reads the values of one shape in one version. */
export interface Codec {
  /** The fewest bytes that any value takes. */
  readonly minBytes: number;
  write(writer: Writer, value: unknown): void;
  read(reader: Reader): unknown;
}

/** How a version writes lengths, and whether it has tagged sections. */
interface Dialect {
  readonly version: number;
  readonly flexible: boolean;
}

/** Compiles `shape` for `version`. */
export function compile(shape: Shape, version: number, flexible: boolean): Codec {
  return compileShape(shape, false, { version, flexible });
}

function compileShape(shape: Shape, nullable: boolean, dialect: Dialect): Codec {
  const { flexible } = dialect;
  if (shape.kind === 'array') return arrayCodec(compileShape(shape.element, false, dialect), nullable, flexible);
  if (shape.kind === 'struct') return structCodec(shape.fields, dialect);
  if (shape.kind === 'string') return stringCodec(nullable, flexible);
  if (shape.kind === 'records') return recordsCodec(nullable, flexible);
  return fixedCodec(shape.kind);
}

const fixedBytes = { bool: 1, int8: 1, int16: 2, uint16: 2, int32: 4, int64: 8, uuid: 16 } as const;

function fixedCodec(kind: Exclude<ScalarKind, 'string' | 'records'>): Codec {
  return {
    minBytes: fixedBytes[kind],
    // The tables' types hold the values to the kinds; the writer checks them once more.
    write: (writer, value) => writer[kind](value as never),
    read: (reader) => reader[kind](),
  };
}

/** Lengths: int16 for strings and int32 for the rest, -1 for null; flexible versions a varint of length + 1, 0 for null. */
type LengthKind = 'int16' | 'int32' | 'compact';

const lengthBytes = { int16: 2, int32: 4, compact: 1 } as const;

function putLength(writer: Writer, kind: LengthKind, length: number): void {
  if (kind === 'compact') writer.uvarint(length + 1);
  else writer[kind](length);
}

/** The length, or -1 for null where that is allowed. */
function takeLength(reader: Reader, kind: LengthKind, nullable: boolean): number {
  const length = kind === 'compact' ? reader.uvarint() - 1 : reader[kind]();
  if (length >= (nullable ? -1 : 0)) return length;
  return reader.fail(length === -1 ? 'null where a value is needed' : `a length of ${length}`);
}

function putNull(writer: Writer, kind: LengthKind, nullable: boolean): void {
  if (!nullable) throw new TypeError(`field ${writer.field}: null where a value is needed`);
  putLength(writer, kind, -1);
}

/** Kafka holds strings to what an int16 can count, in compact form as well. */
export const maxStringBytes = 0x7fff;

function stringCodec(nullable: boolean, flexible: boolean): Codec {
  const kind = flexible ? 'compact' : 'int16';
  return {
    minBytes: lengthBytes[kind],
    write(writer, value) {
      if (value === null) putNull(writer, kind, nullable);
      else writer.text(value as string, maxStringBytes, (length) => putLength(writer, kind, length));
    },
    read(reader) {
      const length = takeLength(reader, kind, nullable);
      if (length > maxStringBytes) reader.fail(`a string of ${length} bytes, ${maxStringBytes} at most`);
      return length === -1 ? null : reader.utf8(length);
    },
  };
}

function recordsCodec(nullable: boolean, flexible: boolean): Codec {
  const kind = flexible ? 'compact' : 'int32';
  return {
    minBytes: lengthBytes[kind],
    write(writer, value) {
      if (value === null) {
        putNull(writer, kind, nullable);
        return;
      }
      const { bytes } = value as RecordSet;
      if (!(bytes instanceof Uint8Array)) {
        throw new TypeError(`field ${writer.field}: a range of ${bytes.log} that the driver has not resolved to bytes`);
      }
      putLength(writer, kind, bytes.length);
      writer.raw(bytes);
    },
    read(reader) {
      const length = takeLength(reader, kind, nullable);
      return length === -1 ? null : parseRecordSet(reader.slice(length));
    },
  };
}

function arrayCodec(element: Codec, nullable: boolean, flexible: boolean): Codec {
  const kind = flexible ? 'compact' : 'int32';
  return {
    minBytes: lengthBytes[kind],
    write(writer, value) {
      if (value === null) {
        putNull(writer, kind, nullable);
        return;
      }
      if (!Array.isArray(value)) throw new TypeError(`field ${writer.field}: ${typeof value} where an array is needed`);
      const elements: readonly unknown[] = value;
      putLength(writer, kind, elements.length);
      for (const each of elements) element.write(writer, each);
    },
    read(reader) {
      const count = takeLength(reader, kind, nullable);
      if (count === -1) return null;
      if (count * element.minBytes > reader.remaining) {
        reader.fail(`an array of ${count} elements announced, ${reader.remaining} bytes left`);
      }
      reader.takeElements(count);
      const elements: unknown[] = [];
      for (let index = 0; index < count; index++) elements.push(element.read(reader));
      return elements;
    },
  };
}

interface CompiledField {
  readonly name: string;
  readonly codec: Codec;
}

interface TaggedField extends CompiledField {
  readonly tag: number;
  /** The default as it would be written: a value that yields the same bytes is left out. */
  readonly defaultBytes: Uint8Array;
}

function structCodec(shapes: readonly FieldShape[], dialect: Dialect): Codec {
  const present = shapes.filter((each) => each.since <= dialect.version && dialect.version <= each.until);
  const fields = present.filter((each) => each.tag === undefined).map((each) => compileField(each, dialect));
  const tagged = present.filter((each) => each.tag !== undefined).map((each) => compileTagged(each, dialect));
  tagged.sort((left, right) => left.tag - right.tag);
  // Every body starts as a copy of the defaults: all fields there, in the order of the table.
  const defaults = Object.fromEntries(shapes.map((each) => [each.name, each.defaultValue]));
  const fieldBytes = fields.reduce((sum, each) => sum + each.codec.minBytes, 0);
  return {
    minBytes: fieldBytes + (dialect.flexible ? 1 : 0),
    write(writer, value) {
      const struct = value as Readonly<Record<string, unknown>>;
      for (const each of fields) {
        writer.field = each.name;
        each.codec.write(writer, struct[each.name]);
      }
      if (dialect.flexible) writeTagged(writer, tagged, struct);
    },
    read(reader) {
      const struct: Record<string, unknown> = { ...defaults };
      for (const each of fields) {
        reader.field = each.name;
        struct[each.name] = each.codec.read(reader);
      }
      if (dialect.flexible) readTagged(reader, tagged, struct);
      return struct;
    },
  };
}

function compileField(field: FieldShape, dialect: Dialect): CompiledField {
  return { name: field.name, codec: compileShape(field.shape, field.nullableSince <= dialect.version, dialect) };
}

function compileTagged(field: FieldShape, dialect: Dialect): TaggedField {
  const { name, codec } = compileField(field, dialect);
  return { name, codec, tag: field.tag!, defaultBytes: encodeAlone(name, codec, field.defaultValue) };
}

function encodeAlone(name: string, codec: Codec, value: unknown): Uint8Array {
  const writer = new Writer(64);
  writer.field = name;
  codec.write(writer, value);
  return writer.finish();
}

/** Count, then per field tag, size and value, by ascending tag (KIP-482). */
function writeTagged(writer: Writer, fields: readonly TaggedField[], struct: Readonly<Record<string, unknown>>): void {
  const set = fields
    .map((each) => ({ tag: each.tag, each, bytes: encodeAlone(each.name, each.codec, struct[each.name]) }))
    .filter(({ each, bytes }) => Buffer.compare(bytes, each.defaultBytes) !== 0);
  writer.uvarint(set.length);
  for (const { tag, bytes } of set) {
    writer.uvarint(tag);
    writer.uvarint(bytes.length);
    writer.raw(bytes);
  }
}

/** Skips the tags that the table does not know, as a newer peer may send them. */
function readTagged(reader: Reader, fields: readonly TaggedField[], struct: Record<string, unknown>): void {
  reader.field = 'tagged fields';
  const count = reader.uvarint();
  let last = -1;
  for (let index = 0; index < count; index++) {
    const tag = reader.uvarint();
    if (tag <= last) reader.fail(`tag ${tag} after tag ${last}`);
    last = tag;
    const size = reader.uvarint();
    const start = reader.take(size);
    const known = fields.find((each) => each.tag === tag);
    if (known !== undefined) struct[known.name] = readWithin(reader, start, known);
  }
}

/** Reads one value that must fill exactly the bytes from `start` to the reader's position. */
function readWithin(reader: Reader, start: number, field: TaggedField): unknown {
  const { position, end } = reader;
  reader.position = start;
  reader.end = position;
  reader.field = field.name;
  const value = field.codec.read(reader);
  if (reader.remaining > 0) reader.fail(`${reader.remaining} bytes too many for tag ${field.tag}`);
  reader.end = end;
  return value;
}

/** Skips a tagged section of which no tag is known: the one of a header. */
export function skipTagged(reader: Reader): void {
  readTagged(reader, [], {});
}
