/**
 * The purgatory: requests that wait for something to happen to a partition, or for their time to run out.
 *
 * Two kinds wait. A produce with acks=all waits until the high watermark has passed its records; a fetch, of a consumer
 * or of a follower, waits until there is something to read. What completes them is decided where they were handled; here
 * they are only kept as data, found again by the partitions they wait for, and given up.
 *
 * Invariant: a waiting request is in the `waiting` list of each of its partitions, and nowhere once it is taken out.
 * Connections deliver one request at a time, so their number bounds the purgatory; `capacity` is the second lock.
 */
import type { RequestBody } from '../protocol/index.ts';
import type { Partition } from './partition.ts';
import { TurnList } from './state.ts';
import type { Turn } from './state.ts';
import type { Origin } from './step.ts';

/** More than any broker of ours has connections. */
const capacity = 10_000;

interface WaitingRequest {
  readonly origin: Origin;
  readonly version: number;
  readonly deadlineNs: number;
  /** Found by a partition that was touched; so that it is looked at once, whatever else was. */
  isCandidate: boolean;
}

/** A produce with acks=all, appended here and not yet everywhere. */
export interface WaitingProduce extends WaitingRequest {
  readonly kind: 'produce';
  readonly outcomes: readonly ProduceOutcome[];
}

/** What became of one partition of a produce request. */
export interface ProduceOutcome {
  readonly topic: string;
  readonly index: number;
  /** Null while it waits for the ISR. */
  errorCode: number | null;
  /** Where it was appended, if it was. */
  readonly appended: { readonly partition: Partition; readonly base: number; readonly last: number } | null;
}

export interface WaitingFetch extends WaitingRequest {
  readonly kind: 'fetch';
  readonly body: RequestBody<'Fetch'>;
  readonly asked: readonly AskedPartition[];
}

/** One partition of a fetch, with the replica of it that this broker held when it was asked. */
export interface AskedPartition {
  readonly topic: string;
  readonly of: RequestBody<'Fetch'>['topics'][number]['partitions'][number];
  readonly partition: Partition | undefined;
}

export type Waiting = WaitingProduce | WaitingFetch;

/** Answers a request if it can be answered now; when it `expired`, it must be. Returns whether it was. */
export type TryComplete = (turn: Turn, request: Waiting, expired: boolean) => boolean;

export interface Purgatory {
  /** In the order in which they came. */
  readonly waiting: Waiting[];
  /** Those that the turn under way may have completed. */
  readonly candidates: TurnList<Waiting>;
}

export function createPurgatory(): Purgatory {
  return { waiting: [], candidates: new TurnList() };
}

export function isFull(purgatory: Purgatory): boolean {
  return purgatory.waiting.length >= capacity;
}

export function park(purgatory: Purgatory, request: Waiting): void {
  purgatory.waiting.push(request);
  forEachPartition(request, ({ waiting }) => {
    if (waiting.at(-1) !== request) waiting.push(request);
  });
}

/** The partitions that a request waits for. */
function forEachPartition(request: Waiting, act: (partition: Partition) => void): void {
  if (request.kind === 'fetch') {
    for (const { partition } of request.asked) if (partition !== undefined) act(partition);
  } else {
    for (const { appended } of request.outcomes) if (appended !== null) act(appended.partition);
  }
}

/** Looks again at what waits for the partitions that this turn touched. To be called when the event is dealt with. */
export function completeTouched(turn: Turn, tryComplete: TryComplete): void {
  const { touched, state } = turn;
  const { waiting, candidates } = state.purgatory;
  if (touched.size === 0 || waiting.length === 0) return;
  candidates.clear();
  for (let index = 0; index < touched.size; index += 1) {
    for (const request of touched.at(index).waiting) {
      if (request.isCandidate) continue;
      request.isCandidate = true;
      candidates.push(request);
    }
  }
  for (let index = 0; index < candidates.size; index += 1) {
    const request = candidates.at(index);
    request.isCandidate = false;
    if (tryComplete(turn, request, false)) remove(state.purgatory, request);
  }
}

/** Answers what has waited long enough. */
export function expireWaiting(turn: Turn, tryComplete: TryComplete): void {
  const { purgatory } = turn.state;
  for (const request of purgatory.waiting.filter(({ deadlineNs }) => deadlineNs <= turn.nowNs)) {
    remove(purgatory, request);
    tryComplete(turn, request, true);
  }
}

/** Forgets what a connection waited for: nobody is left to be answered. */
export function dropConnection(purgatory: Purgatory, connection: number): void {
  for (const request of purgatory.waiting.filter(({ origin }) => origin.connection === connection)) {
    remove(purgatory, request);
  }
}

export function nextWaitingDeadlineNs(purgatory: Purgatory): number {
  let next = Infinity;
  for (const { deadlineNs } of purgatory.waiting) if (deadlineNs < next) next = deadlineNs;
  return next;
}

function remove(purgatory: Purgatory, request: Waiting): void {
  takeOut(purgatory.waiting, request);
  forEachPartition(request, ({ waiting }) => takeOut(waiting, request));
}

function takeOut(list: Waiting[], request: Waiting): void {
  let to = list.indexOf(request);
  if (to < 0) return;
  for (; to < list.length - 1; to += 1) list[to] = list[to + 1]!;
  list.pop();
}
