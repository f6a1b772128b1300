/**
 * A WebAssembly module of one function, put together here opcode by opcode: a table-driven checksum, three times as fast as
 * the same loop in JavaScript, where every byte is a bounds-checked load of its own.
 *
 *     run(at, end, crc) → crc     over the bytes [at, end) of the module's memory
 *
 * Sixteen bytes at a time ("slicing by 16"): row `n` of the table, at 1024 × n, says what a byte does to the checksum when
 * `n` more bytes follow it, so sixteen look-ups that do not wait for each other stand for sixteen rounds that would. What is
 * left at the end goes byte by byte.
 *
 * Opcodes and sections: WebAssembly core specification 1.0, chapter 5. Nothing but loads, shifts, and, exclusive or.
 */

/** Where the table ends and the bytes under checksum may begin. */
export const tableBytes = 16 * 1024;
/** One page: table and bytes stay in the fastest cache together. */
export const memoryBytes = 1 << 16;

type Code = readonly number[];

// Parameters, then locals.
const [at, end, crc, stop, word0, word1, word2, word3] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

const i32 = 0x7f;
const withoutResult = 0x40;

const constant = (value: number): Code => [0x41, ...signed(value)];
const get = (local: number): Code => [0x20, local];
const set = (local: number, value: Code): Code => [...value, 0x21, local];
const add = (one: Code, other: Code): Code => [...one, ...other, 0x6a];
const subtract = (one: Code, other: Code): Code => [...one, ...other, 0x6b];
const and = (one: Code, other: Code): Code => [...one, ...other, 0x71];
const xor = (one: Code, other: Code): Code => [...one, ...other, 0x73];
const shiftLeft = (value: Code, by: number): Code => [...value, ...constant(by), 0x74];
const shiftRight = (value: Code, by: number): Code => [...value, ...constant(by), 0x76];
const notBelow = (one: Code, other: Code): Code => [...one, ...other, 0x4e];
/** Little-endian, at any address. */
const load = (address: Code, offset = 0): Code => [...address, 0x28, 0, ...unsigned(offset)];
const loadByte = (address: Code): Code => [...address, 0x2d, 0, 0];
/** Does `again` again and again until `done`: a block around a loop, which is left or begun anew. */
const until = (done: Code, again: Code): Code => [
  0x02,
  withoutResult,
  0x03,
  withoutResult,
  ...done,
  0x0d,
  1,
  ...again,
  0x0c,
  0,
  0x0b,
  0x0b,
];

/** Row `row` of the table for byte `index` of a word: entries are of four bytes. */
function lookUp(row: number, word: number, index: number): Code {
  const entry = index === 0 ? shiftLeft(get(word), 2) : shiftRight(get(word), 8 * index - 2);
  return load(and(entry, constant(0x3fc)), 1024 * row);
}

const sixteenBytes: Code = [
  ...set(word0, xor(get(crc), load(get(at)))),
  ...set(word1, load(get(at), 4)),
  ...set(word2, load(get(at), 8)),
  ...set(word3, load(get(at), 12)),
  ...set(
    crc,
    // The word that waits for the last round comes last: what the others give is there by then.
    [word3, word2, word1, word0]
      .flatMap((word, place) => [0, 1, 2, 3].map((index) => lookUp(3 + 4 * place - index, word, index)))
      .reduce(xor),
  ),
  ...set(at, add(get(at), constant(16))),
];

const oneByte: Code = [
  ...set(crc, xor(load(shiftLeft(and(xor(get(crc), loadByte(get(at))), constant(0xff)), 2)), shiftRight(get(crc), 8))),
  ...set(at, add(get(at), constant(1))),
];

const body: Code = [
  1,
  5,
  i32,
  ...set(stop, subtract(get(end), constant(15))),
  ...until(notBelow(get(at), get(stop)), sixteenBytes),
  ...until(notBelow(get(at), get(end)), oneByte),
  ...get(crc),
  0x0b,
];

const section = (id: number, content: Code): Code => [id, ...sized(content)];
const sized = (content: Code): Code => [...unsigned(content.length), ...content];
const name = (text: string): Code => sized(Array.from(text, (letter) => letter.charCodeAt(0)));

/** The module's bytes. It exports `run` and `memory`. */
export function checksumModule(): Uint8Array<ArrayBuffer> {
  const parts = [
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    // Types: one function of three numbers to one.
    section(1, [1, 0x60, 3, i32, i32, i32, 1, i32]),
    // Functions: one, of that type.
    section(3, [1, 0]),
    // Memories: one, of one page at least and at most.
    section(5, [1, 1, 1, 1]),
    // Exports.
    section(7, [2, ...name('run'), 0, 0, ...name('memory'), 2, 0]),
    // Code.
    section(10, [1, ...sized(body)]),
  ];
  return Uint8Array.from(parts.flat());
}

/** LEB128, of numbers that are not negative. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
