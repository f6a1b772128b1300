/** Binary search: the one loop that is easy to get wrong, written once. */

/** The first index below `length` for which `isBefore` is false, or `length`; those for which it is true come first. */
export function firstNotBefore(length: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
