/**
 * The fetcher: one per leader node, for all partitions that are followed from it.
 *
 * It carries what `follower.ts` decides to ask, in rounds, with one request in flight, as Kafka's fetcher thread does:
 * the epoch question for partitions that do not yet know where to end (OffsetForLeaderEpoch), the bounds of the leader's
 * log for those that found themselves out of range (ListOffsets), and a fetch for all the others, which waits at the
 * leader until there is something. A request without an answer by its deadline closes the connection.
 *
 * Invariant: an answer counts only for the assignment under which its question was asked. A partition that was taken up
 * again meanwhile, in a new epoch or from another leader, is another assignment, and the old answer is dropped for it
 * (KAFKA-7786, KAFKA-8012, KAFKA-13207).
 */
import { ErrorCode } from '../protocol/index.ts';
import type { RequestBody, ResponseBody } from '../protocol/index.ts';
import { latestEpoch } from './epoch-cache.ts';
import { takeEpochEnd, takeFetched, takeLeaderBounds } from './follower.ts';
import type { Stage } from './follower.ts';
import type { Partition } from './partition.ts';
import { nsPerMs, retryBackoffNs, send } from './state.ts';
import type { BrokerState, Turn } from './state.ts';
import type { NodeId } from './step.ts';

/** How long an answer may take beyond the time that the request itself waits. */
const answerTimeoutNs = 1_000 * nsPerMs;
const fetchMaxBytes = 10 * 1024 * 1024;
const partitionMaxBytes = 1024 * 1024;
const [latestTimestamp, earliestTimestamp] = [-1, -2];

/** One partition under one leadership: the object is the assignment. */
interface Assignment {
  readonly partition: Partition;
  /** `fenced`: the leader knows a newer epoch; wait for the controller's word. */
  stage: Stage | 'fenced';
  retryAtNs: number;
  /** Half of the answer to `asking-bounds`. */
  leaderEnd: number | null;
  /** Its part of the last fetch. */
  fetch: FetchPartition | null;
  /** The epoch or the offset that was asked last. */
  asked: number;
  /** The leader epoch in which it was asked. */
  askedInEpoch: number;
  /** False from when the partition was taken up again, or not followed any more. */
  isCurrent: boolean;
}

type FetchPartition = RequestBody<'Fetch'>['topics'][number]['partitions'][number];

export interface Fetcher {
  readonly leader: NodeId;
  readonly assignments: Assignment[];
  inFlight: InFlight | null;
  retryAtNs: number;
}

interface InFlight {
  readonly correlationId: number;
  readonly deadlineNs: number;
  readonly asked: readonly Assignment[];
  /** Where in `asked` the next answer is looked for first: answers come in the order of the questions. */
  next: number;
}

type FetcherApi = 'Fetch' | 'OffsetForLeaderEpoch' | 'ListOffsets';
/** A response to one of a fetcher's requests. */
export type FetcherResponse = {
  [A in FetcherApi]: { readonly api: A; readonly correlationId: number; readonly body: ResponseBody<A> };
}[FetcherApi];

/** Follows `leader` from now on, beginning with `stage`; null goes on as before, if it was followed already. */
export function follow(turn: Turn, partition: Partition, leader: NodeId, stage: Stage | null): void {
  let fetcher = fetcherOf(turn.state, leader);
  const known = fetcher?.assignments.find((assignment) => assignment.partition === partition);
  if (stage === null && known !== undefined) {
    if (known.stage === 'fenced') proceed(turn, known, 'fetching');
    return;
  }
  unfollow(turn.state, partition);
  if (fetcher === undefined) {
    fetcher = { leader, assignments: [], inFlight: null, retryAtNs: turn.nowNs };
    turn.state.fetchers.push(fetcher);
  }
  fetcher.assignments.push({
    partition,
    stage: stage ?? 'fetching',
    retryAtNs: turn.nowNs,
    leaderEnd: null,
    fetch: null,
    asked: -1,
    askedInEpoch: -1,
    isCurrent: true,
  });
}

export function unfollow(state: BrokerState, partition: Partition): void {
  for (const { assignments } of state.fetchers) {
    const at = assignments.findIndex((assignment) => assignment.partition === partition);
    if (at < 0) continue;
    assignments[at]!.isCurrent = false;
    assignments.splice(at, 1);
  }
}

function fetcherOf({ fetchers }: BrokerState, leader: NodeId): Fetcher | undefined {
  return fetchers.find((fetcher) => fetcher.leader === leader);
}

/** Sends the next request of every fetcher that is free. To be called at the end of a turn. */
export function pumpFetchers(turn: Turn): void {
  for (const fetcher of turn.state.fetchers) {
    if (fetcher.inFlight !== null || fetcher.retryAtNs > turn.nowNs) continue;
    sendNext(turn, fetcher);
  }
}

export function takeResponse(turn: Turn, peer: NodeId, response: FetcherResponse): void {
  const fetcher = fetcherOf(turn.state, peer);
  const inFlight = fetcher?.inFlight;
  if (!fetcher || !inFlight || inFlight.correlationId !== response.correlationId) return;
  fetcher.inFlight = null;
  const takesAll = response.api === 'OffsetForLeaderEpoch' && turn.state.defects.has('truncate-unowned');
  const askedFor = (topic: string, index: number) => {
    const assignment = find(inFlight, topic, index);
    return assignment === undefined || assignment.isCurrent || takesAll ? assignment : undefined;
  };
  // Asked and not answered counts as refused, lest it be asked again at once and for ever.
  for (const assignment of inFlight.asked) assignment.retryAtNs = turn.nowNs + retryBackoffNs;
  switch (response.api) {
    case 'OffsetForLeaderEpoch':
      for (const { topic, partitions } of response.body.topics) {
        for (const answer of partitions) {
          const assignment = askedFor(topic, answer.partition);
          if (assignment === undefined || refused(assignment, answer.errorCode)) continue;
          const end = { epoch: answer.leaderEpoch, endOffset: answer.endOffset };
          proceed(turn, assignment, takeEpochEnd(turn, assignment.partition, peer, assignment.asked, end));
        }
      }
      return;
    case 'ListOffsets':
      for (const { name, partitions } of response.body.topics) {
        for (const answer of partitions) {
          const assignment = askedFor(name, answer.partitionIndex);
          if (assignment === undefined || refused(assignment, answer.errorCode)) continue;
          takeBound(turn, peer, assignment, answer.offset);
        }
      }
      return;
    case 'Fetch':
      for (const { topic, partitions } of response.body.responses) {
        for (const answer of partitions) {
          const assignment = askedFor(topic, answer.partitionIndex);
          if (assignment !== undefined) takeFetchAnswer(turn, assignment, answer);
        }
      }
  }
}

function find(inFlight: InFlight, topic: string, index: number): Assignment | undefined {
  const { asked, next } = inFlight;
  for (let step = 0; step < asked.length; step += 1) {
    const at = (next + step) % asked.length;
    const { partition } = asked[at]!;
    if (partition.index !== index || partition.topic !== topic) continue;
    inFlight.next = at + 1;
    return asked[at];
  }
  return undefined;
}

/** The connection to a leader is gone, and with it the request in flight. */
export function connectionClosed(turn: Turn, peer: NodeId): void {
  const fetcher = fetcherOf(turn.state, peer);
  if (fetcher === undefined || fetcher.inFlight === null) return;
  fetcher.inFlight = null;
  fetcher.retryAtNs = turn.nowNs + retryBackoffNs;
}

/** Gives up the requests that had no answer in time, with their connections. */
export function expireRequests(turn: Turn): void {
  for (const fetcher of turn.state.fetchers) {
    if (fetcher.inFlight === null || fetcher.inFlight.deadlineNs > turn.nowNs) continue;
    turn.effects.push({ type: 'close', peer: fetcher.leader });
    connectionClosed(turn, fetcher.leader);
  }
}

export function nextFetcherDeadlineNs(state: BrokerState): number {
  let next = Infinity;
  for (const { inFlight, assignments, retryAtNs } of state.fetchers) {
    if (inFlight !== null) next = Math.min(next, inFlight.deadlineNs);
    else {
      for (const assignment of assignments) {
        if (assignment.stage !== 'fenced') next = Math.min(next, Math.max(retryAtNs, assignment.retryAtNs));
      }
    }
  }
  return next;
}

/** Questions first: a partition that does not know where to end must not fetch. */
function sendNext(turn: Turn, fetcher: Fetcher): void {
  const { assignments } = fetcher;
  let first: number = NOTHING;
  for (const assignment of assignments) {
    if (assignment.retryAtNs <= turn.nowNs) first = Math.min(first, questionFor(assignment));
  }
  if (first === NOTHING) return;
  const isAsked = (assignment: Assignment): boolean =>
    assignment.retryAtNs <= turn.nowNs && questionFor(assignment) === first;
  // Most often all of them fetch, and a copy costs less than a list that grows.
  const ready = assignments.every(isAsked) ? assignments.slice() : assignments.filter(isAsked);
  if (first === EPOCH) askEpochs(turn, fetcher, ready);
  else if (first === END) askBound(turn, fetcher, ready, latestTimestamp);
  else if (first === START) askBound(turn, fetcher, ready, earliestTimestamp);
  else fetch(turn, fetcher, ready);
}

/** What is asked for one partition, the most urgent first. */
const [EPOCH, END, START, RECORDS, NOTHING] = [0, 1, 2, 3, 4] as const;

function questionFor({ stage, leaderEnd }: Assignment): number {
  switch (stage) {
    case 'fetching':
      return RECORDS;
    case 'asking-epoch':
      return EPOCH;
    case 'asking-bounds':
      return leaderEnd === null ? END : START;
    case 'fenced':
      return NOTHING;
  }
}

function askEpochs(turn: Turn, fetcher: Fetcher, assignments: readonly Assignment[]): void {
  const topics = byTopic(assignments, ({ partition }) => ({
    partition: partition.index,
    currentLeaderEpoch: currentEpoch(turn, partition),
    leaderEpoch: questionOf(turn, partition),
  }));
  const body = { replicaId: turn.state.config.node, topics };
  const version = turn.state.build.offsetForLeaderEpochVersion;
  const correlationId = send(turn, { api: 'OffsetForLeaderEpoch', version, body }, fetcher.leader);
  wait(turn, fetcher, correlationId, 0, assignments, ({ partition }) => questionOf(turn, partition));
}

/** The epoch whose end decides: that of the last record. */
function questionOf({ state }: Turn, { epochs, leaderEpoch }: Partition): number {
  return state.defects.has('ask-current-epoch') ? leaderEpoch : latestEpoch(epochs);
}

/** Two rounds: first the leader's end, then its start. */
function askBound(turn: Turn, fetcher: Fetcher, assignments: readonly Assignment[], timestamp: number): void {
  const topics = byTopic(assignments, ({ partition }) => ({
    partitionIndex: partition.index,
    currentLeaderEpoch: currentEpoch(turn, partition),
    timestamp,
  })).map(({ topic, partitions }) => ({ name: topic, partitions }));
  const body = { replicaId: turn.state.config.node, isolationLevel: 0, topics };
  const version = turn.state.build.listOffsetsVersion;
  const correlationId = send(turn, { api: 'ListOffsets', version, body }, fetcher.leader);
  wait(turn, fetcher, correlationId, 0, assignments, () => timestamp);
}

function fetch(turn: Turn, fetcher: Fetcher, assignments: readonly Assignment[]): void {
  const { config, build } = turn.state;
  const topics = byTopic(assignments, (assignment) => fetchOf(turn, assignment));
  const body = {
    replicaId: config.node,
    maxWaitMs: config.fetchMaxWaitMs,
    minBytes: 1,
    maxBytes: fetchMaxBytes,
    isolationLevel: 0,
    // No fetch sessions: each fetch is a full one.
    sessionId: 0,
    sessionEpoch: -1,
    topics,
    forgottenTopicsData: [],
    rackId: '',
  };
  const correlationId = send(turn, { api: 'Fetch', version: build.fetchVersion, body }, fetcher.leader);
  wait(turn, fetcher, correlationId, config.fetchMaxWaitMs, assignments, ({ partition }) => partition.log.endOffset);
}

/** The epoch that a request carries; the versions of older builds have no place for it. */
function currentEpoch({ state }: Turn, { leaderEpoch }: Partition): number {
  return state.build.fencesByEpoch ? leaderEpoch : -1;
}

/** The same object for as long as nothing changes: most partitions of a round have nothing new. */
function fetchOf(turn: Turn, assignment: Assignment): FetchPartition {
  const { partition, fetch: last } = assignment;
  const { endOffset, startOffset } = partition.log;
  const epoch = currentEpoch(turn, partition);
  const isSame =
    last?.fetchOffset === endOffset && last.logStartOffset === startOffset && last.currentLeaderEpoch === epoch;
  if (isSame) return last;
  assignment.fetch = {
    partition: partition.index,
    currentLeaderEpoch: epoch,
    fetchOffset: endOffset,
    logStartOffset: startOffset,
    partitionMaxBytes,
  };
  return assignment.fetch;
}

function wait(
  turn: Turn,
  fetcher: Fetcher,
  correlationId: number,
  maxWaitMs: number,
  assignments: readonly Assignment[],
  valueOf: (assignment: Assignment) => number,
): void {
  for (const assignment of assignments) {
    assignment.asked = valueOf(assignment);
    assignment.askedInEpoch = assignment.partition.leaderEpoch;
  }
  fetcher.inFlight = {
    correlationId,
    deadlineNs: turn.nowNs + maxWaitMs * nsPerMs + answerTimeoutNs,
    asked: assignments,
    next: 0,
  };
}

function takeBound(turn: Turn, leader: NodeId, assignment: Assignment, offset: number): void {
  if (assignment.asked === latestTimestamp) {
    assignment.leaderEnd = offset;
    proceed(turn, assignment, 'asking-bounds');
    return;
  }
  takeLeaderBounds(turn, assignment.partition, leader, offset, assignment.leaderEnd ?? offset);
  assignment.leaderEnd = null;
  proceed(turn, assignment, 'fetching');
}

type FetchAnswer = ResponseBody<'Fetch'>['responses'][number]['partitions'][number];

function takeFetchAnswer(turn: Turn, assignment: Assignment, answer: FetchAnswer): void {
  const { partition } = assignment;
  if (answer.errorCode === ErrorCode.OFFSET_OUT_OF_RANGE) {
    proceed(turn, assignment, 'asking-bounds');
    return;
  }
  if (refused(assignment, answer.errorCode) || assignment.asked !== partition.log.endOffset) return;
  if (takeFetched(turn, partition, answer.records, answer.highWatermark)) proceed(turn, assignment, 'fetching');
}

function proceed(turn: Turn, assignment: Assignment, stage: Stage): void {
  assignment.stage = stage;
  assignment.retryAtNs = turn.nowNs;
}

/**
 * An error is tried again after a while, but a fenced follower waits for the controller's word, unless it has come
 * meanwhile (KIP-320).
 */
function refused(assignment: Assignment, errorCode: number): boolean {
  const isNews = assignment.askedInEpoch === assignment.partition.leaderEpoch;
  if (errorCode === ErrorCode.FENCED_LEADER_EPOCH && isNews) assignment.stage = 'fenced';
  return errorCode !== ErrorCode.NONE;
}

function byTopic<T>(
  assignments: readonly Assignment[],
  describe: (assignment: Assignment) => T,
): { readonly topic: string; readonly partitions: readonly T[] }[] {
  const only = assignments[0]?.partition.topic;
  if (only !== undefined && assignments.every(({ partition }) => partition.topic === only)) {
    return [{ topic: only, partitions: assignments.map(describe) }];
  }
  const topics: { readonly topic: string; readonly partitions: T[] }[] = [];
  for (const assignment of assignments) {
    const { topic } = assignment.partition;
    let inTopic = topics.at(-1);
    if (inTopic?.topic !== topic) inTopic = topics.find((each) => each.topic === topic);
    if (inTopic === undefined) {
      inTopic = { topic, partitions: [] };
      topics.push(inTopic);
    }
    inTopic.partitions.push(describe(assignment));
  }
  return topics;
}
