/**
 * Delta debugging: from a list that fails to a part of it that fails, of which no single item can be left out.
 *
 * Zeller's ddmin, by complements: leave out one chunk after the other; when none can be spared, cut the chunks in half. A
 * chunk that could not be spared is not tried again before something else was left out. Written as a generator: it
 * yields lists to try and is told whether they fail, so that it knows nothing of runs, time or budgets; whoever stops
 * asking keeps the best list so far.
 *
 * Invariant: every list that is yielded is a part of the last one that failed, in its order. When the generator ends,
 * each list with one item less has been tried and passed, unless it was to stay rough.
 */

/**
 * Yields candidates and is told whether they fail; returns the smallest list that did. With `mostChunks` it ends where
 * it would have to cut into more than that: a rough cut, after which single items may still be needless.
 */
export function* ddmin<T>(
  items: readonly T[],
  mostChunks = Number.POSITIVE_INFINITY,
): Generator<readonly T[], readonly T[], boolean> {
  let kept = items;
  let chunks = 1;
  /* So many chunks in a row could not be spared, ending before `next`. */
  let spared = 0;
  let next = 0;
  while (kept.length > 0 && spared < chunks) {
    const from = Math.floor((next * kept.length) / chunks);
    const to = Math.floor(((next + 1) * kept.length) / chunks);
    const candidate = [...kept.slice(0, from), ...kept.slice(to)];
    if (yield candidate) {
      kept = candidate;
      chunks = Math.max(1, Math.min(chunks - 1, kept.length));
      next = next >= chunks ? 0 : next;
      spared = 0;
    } else {
      spared += 1;
      next = (next + 1) % chunks;
      if (spared === chunks && chunks < kept.length && 2 * chunks <= mostChunks) {
        chunks = Math.min(2 * chunks, kept.length);
        spared = 0;
        next = 0;
      }
    }
  }
  return kept;
}
