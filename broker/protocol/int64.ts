/**
 * Kafka's int64 as a number, in two halves: offsets, times and producer ids stay far below 2^53, and numbers are several
 * times faster than bigints. A value beyond ±(2^53-1) comes out as a number that is no safe integer; callers check.
 *
 * What fits into 32 bits, as nearly every offset does, is read as a whole number of the machine. From a sum of halves the
 * engine would make a fraction, which costs memory of its own wherever it is kept, and so would everything reckoned from it.
 */

const twoTo32 = 0x1_0000_0000;

export function getInt64(view: DataView, at: number): number {
  const high = view.getInt32(at);
  const low = view.getInt32(at + 4);
  return high === low >> 31 ? low : high * twoTo32 + (low >>> 0);
}

/** Writes a safe integer. */
export function setInt64(view: DataView, at: number, value: number): void {
  view.setInt32(at, Math.floor(value / twoTo32));
  view.setUint32(at + 4, value >>> 0);
}
