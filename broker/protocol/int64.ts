/**
 * Kafka's int64 as a number, in two halves: offsets, times and producer ids stay far below 2^53, and numbers are several
 * times faster than bigints. A value beyond ±(2^53-1) comes out as a number that is no safe integer; callers check.
 */

const twoTo32 = 0x1_0000_0000;

export function getInt64(view: DataView, at: number): number {
  return view.getInt32(at) * twoTo32 + view.getUint32(at + 4);
}

/** Writes a safe integer. */
export function setInt64(view: DataView, at: number, value: number): void {
  view.setInt32(at, Math.floor(value / twoTo32));
  view.setUint32(at + 4, value >>> 0);
}
