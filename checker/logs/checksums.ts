/**
 * The checksums of record batches (CRC-32C, Castagnoli) and of older messages (CRC-32, the one of zip): the checker's
 * own, so that it shares no mistake with a broker.
 *
 * They are computed by a small WebAssembly module ({@link checksumModule}), one instance for each polynomial, which is
 * handed the bytes piece by piece.
 */
import { checksumModule, memoryBytes, tableBytes } from './checksum-module.ts';

/** CRC-32C of `bytes` in [from, to): covers a v2 batch from its attributes to its end. */
export function crc32c(bytes: Uint8Array, from: number, to: number): number {
  return checksum(castagnoli, bytes, from, to);
}

/** CRC-32 of `bytes` in [from, to): covers a v0 or v1 message from its magic byte to its end. */
export function crc32(bytes: Uint8Array, from: number, to: number): number {
  return checksum(zip, bytes, from, to);
}

interface Engine {
  readonly run: (at: number, end: number, crc: number) => number;
  readonly memory: Uint8Array;
}

/** As far as it is used here: TypeScript knows it from browsers only. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => {
    readonly exports: { readonly run: Engine['run']; readonly memory: { readonly buffer: ArrayBuffer } };
  };
};

const module = new WebAssembly.Module(checksumModule());
const castagnoli = engineOf(0x82f63b78);
const zip = engineOf(0xedb88320);

/** `polynomial` with its bits reversed, as is usual for checksums that take the lowest bit first. */
function engineOf(polynomial: number): Engine {
  const { run, memory } = new WebAssembly.Instance(module).exports;
  const table = new Int32Array(memory.buffer, 0, tableBytes / 4);
  for (const at of table.keys()) {
    const before = table[at - 256] as number;
    table[at] = at < 256 ? remainder(at, polynomial) : (before >>> 8) ^ (table[before & 0xff] as number);
  }
  return { run, memory: new Uint8Array(memory.buffer) };
}

/** What a byte does to a checksum of zero. */
function remainder(byte: number, polynomial: number): number {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1;
  return value;
}

function checksum({ run, memory }: Engine, bytes: Uint8Array, from: number, to: number): number {
  let crc = -1;
  for (let at = from; at < to;) {
    const size = Math.min(to - at, memoryBytes - tableBytes);
    memory.set(bytes.subarray(at, at + size), tableBytes);
    crc = run(tableBytes, tableBytes + size, crc);
    at += size;
  }
  return ~crc >>> 0;
}
