/**
 * The final read: after the cluster has settled, what is there?
 *
 * Several fresh processes, independent of each other, assign themselves every key from its beginning and poll until
 * they have reached the end offset of each key, as it was read from the settled leaders. A reader whose poll ends with
 * `info` is replaced by a fresh one that starts over; one whose poll fails waits a little and goes on.
 *
 * Invariant: a key is complete only if one reader alone went from its beginning to its end. How long to try is the
 * driver's affair; whatever is not complete by then is told as it is.
 */
import type { Key } from '../../checker/history.ts';
import type { Position } from '../client/consumer.ts';
import type { ClientOperation, Completion } from '../client/operations.ts';
import type { Planned } from './send-poll.ts';

export interface KeyCompleteness {
  readonly complete: boolean;
  /** The next offset that the furthest reader would have read. */
  readonly reached: number;
  readonly end: number;
}

export interface FinalReadState {
  readonly ends: ReadonlyMap<Key, number>;
  readonly retryPauseNs: number;
  assigned: boolean;
  pauseUntilNs: number;
  readonly reached: Map<Key, number>;
}

/** One reader. A fresh process needs a fresh state. */
export function createFinalRead(ends: ReadonlyMap<Key, number>, retryPauseMs = 100): FinalReadState {
  return { ends, retryPauseNs: retryPauseMs * 1e6, assigned: false, pauseUntilNs: 0, reached: new Map() };
}

/** What the reader does next; null when it has read everything. */
export function nextFinalOperation(state: FinalReadState, nowNs: number): Planned | null {
  if (!state.assigned) {
    state.assigned = true;
    const operation: ClientOperation = { f: 'assign', keys: [...state.ends.keys()], seek: 'earliest' };
    return { operation, dueNs: nowNs };
  }
  if (isComplete(state)) return null;
  return { operation: { f: 'poll' }, dueNs: Math.max(nowNs, state.pauseUntilNs) };
}

/** Takes in how an operation ended, and where the consumer stands now. */
export function observeFinalRead(
  state: FinalReadState,
  completion: Completion,
  positions: ReadonlyMap<Key, Position>,
  nowNs: number,
): void {
  let progress = false;
  for (const [key, position] of positions) {
    if (typeof position !== 'number' || position <= (state.reached.get(key) ?? -1)) continue;
    state.reached.set(key, position);
    progress = true;
  }
  // A broker that has nothing for us answers at once at the end of a log; do not ask it in a tight loop.
  if (completion.f === 'poll' && (completion.type !== 'ok' || !progress))
    state.pauseUntilNs = nowNs + state.retryPauseNs;
}

function isComplete(state: FinalReadState): boolean {
  return [...state.ends].every(([key, end]) => reachedEnd(state, key, end));
}

/** What several readers achieved, key by key: the best of them counts. */
export function completeness(
  readers: readonly FinalReadState[],
  ends: ReadonlyMap<Key, number>,
): ReadonlyMap<Key, KeyCompleteness> {
  return new Map(
    [...ends].map(([key, end]) => {
      const reached = Math.max(0, ...readers.map((reader) => reader.reached.get(key) ?? 0));
      return [key, { complete: readers.some((reader) => reachedEnd(reader, key, end)), reached, end }];
    }),
  );
}

/** An empty log needs no answer: there is nothing to read in it. */
function reachedEnd(state: FinalReadState, key: Key, end: number): boolean {
  return (state.reached.get(key) ?? 0) >= end;
}
