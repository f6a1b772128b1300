/**
 * One client: one process of a history, which has one operation under way at a time.
 *
 * It is told to do something, says what to send and to whom, is told what came of it, and says how the operation ended
 * (the words are in `contract.ts`). `step` takes an event and the time and returns effects; a driver owns the sockets
 * and the clock, so that the same client runs on real connections and in the simulator.
 *
 * The rule that gives a history its worth is that **an operation is one attempt**: one Produce or one Fetch request,
 * which is never repeated. What a client must ask before it can make the attempt (Metadata, ListOffsets) is no attempt;
 * a broker that does not answer these is given up soon, and the next one asked. An operation whose request was never
 * written is a `fail`; once it may have left, only the broker's word makes it `ok` or `fail` (see `verdicts.ts`).
 *
 * What a send asks and is told stands in `producer.ts`, what a poll does in `consumer.ts`. Here is the way of an operation:
 * whom to ask, in which order, and when to give up.
 *
 * A client that has completed an operation with `info` must not be used again: its process is over (`nextProcess`).
 *
 * Left out: transactions, groups, fetching ahead, fetch sessions.
 */
import { ErrorCode, errorName, isMetadataStale, messageText } from '../../broker/protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Key } from '../../checker/history.ts';
import {
  addressOf,
  anyoneToAsk,
  createClusterView,
  isStale,
  learn,
  metadataRequest,
  nextToAsk,
} from './cluster-view.ts';
import type { FetchReading } from './consumer.ts';
import {
  assign,
  chooseBroker,
  createConsumer,
  fetchRequest,
  fetchable,
  listOffsetsRequest,
  noErrors,
  readFetch,
  resolvePositions,
} from './consumer.ts';
import type {
  ClientApi,
  ClientConfig,
  ClientEffect,
  ClientEvent,
  ClientResponse,
  ClientSend,
  ClientState,
  Current,
  Pending,
} from './contract.ts';
import type { ClientOperation, Completion } from './operations.ts';
import { invocation, sendCompletion } from './operations.ts';
import { produceRequest, readProduce } from './producer.ts';
import type { LocalError } from './verdicts.ts';
import { pollVerdict, sendVerdict } from './verdicts.ts';

export function clientId(process: number): string {
  return `client-${process}`;
}

/** The number of the process that takes the place of one that ended with `info`, as in Jepsen. */
export function nextProcess(process: number, concurrency: number): number {
  return process + concurrency;
}

export function createClient(config: ClientConfig): ClientState {
  return {
    config,
    view: createClusterView(config.bootstrap, config.process % config.bootstrap.length),
    consumer: createConsumer(),
    endpoints: new Map(),
    nextCorrelationId: 0,
    current: null,
  };
}

/** Time of the next `deadline` event; null while nothing is under way. */
export function nextDeadlineNs(state: ClientState): number | null {
  if (state.current === null) return null;
  return Math.min(state.current.deadlineNs, state.current.pending?.deadlineNs ?? Infinity);
}

/** One event in, effects out. */
export function step(state: ClientState, event: ClientEvent, nowNs: number): readonly ClientEffect[] {
  const turn: Turn = { state, nowNs, effects: [] };
  switch (event.type) {
    case 'invoke':
      invoke(turn, event.operation);
      break;
    case 'sent':
      markWritten(turn, event.node, event.correlationId);
      break;
    case 'response':
      takeResponse(turn, event);
      break;
    case 'malformed':
      loseConnection(turn, event.node, 'malformed');
      break;
    case 'closed':
      loseConnection(turn, event.node, 'disconnect');
      break;
    case 'connect-failed':
      loseConnection(turn, event.node, 'connection-refused');
      break;
    case 'deadline':
      checkDeadlines(turn);
      break;
  }
  return turn.effects;
}

/** What the functions of one step share. */
interface Turn {
  readonly state: ClientState;
  readonly nowNs: number;
  readonly effects: ClientEffect[];
}

const nsPerMs = 1_000_000;

function invoke(turn: Turn, operation: ClientOperation): void {
  const { state, nowNs } = turn;
  const { config } = state;
  if (state.current !== null) throw new Error(`${clientId(config.process)} has an operation under way already`);
  if (operation.f === 'assign') {
    assign(state.consumer, operation.keys, operation.seek, config);
    turn.effects.push({ type: 'complete', completion: { type: 'ok', f: 'assign', value: operation.keys } });
    return;
  }
  state.current = {
    operation,
    deadlineNs: nowNs + config.operationTimeoutMs * nsPerMs,
    asked: new Set(),
    refreshed: !isStale(state.view, keysOf(state, operation), nowNs, config.metadataMaxAgeMs * nsPerMs),
    metadataFailure: 'timeout',
    poll: null,
    errors: noErrors,
    pending: null,
  };
  proceed(turn, state.current);
}

/** The next request that the operation needs, or its end when there is none to make. */
function proceed(turn: Turn, current: Current): void {
  if (!current.refreshed) askForMetadata(turn, current);
  else if (current.operation.f === 'send') produce(turn, current, current.operation);
  else poll(turn, current);
}

function askForMetadata(turn: Turn, current: Current): void {
  const { state, nowNs } = turn;
  const node = nextToAsk(state.view, current.asked);
  if (node === null) {
    refuse(turn, current, current.metadataFailure);
    return;
  }
  current.asked.add(node);
  const deadlineNs = Math.min(current.deadlineNs, nowNs + state.config.metadataTimeoutMs * nsPerMs);
  request(turn, current, node, 'Metadata', metadataRequest(keysOf(state, current.operation)), deadlineNs);
}

function produce(turn: Turn, current: Current, operation: ClientOperation & { readonly f: 'send' }): void {
  const { config, view } = turn.state;
  const leader = view.leaders.get(operation.key);
  if (leader === undefined) {
    view.stale = true;
    refuse(turn, current, view.leaderless.get(operation.key) ?? errorName(ErrorCode.LEADER_NOT_AVAILABLE));
    return;
  }
  const timestampMs = config.unixOriginMs + Math.floor(turn.nowNs / nsPerMs);
  const timeoutMs = Math.ceil((current.deadlineNs - turn.nowNs) / nsPerMs);
  const body = produceRequest(operation, config, timestampMs, timeoutMs);
  request(turn, current, leader, 'Produce', body, current.deadlineNs);
}

/** Asks one broker for all its keys; before that, where they begin or end, if that is not known yet. */
function poll(turn: Turn, current: Current): void {
  const { config, consumer, view } = turn.state;
  if (consumer.positions.size === 0) {
    complete(turn, current, { type: 'ok', f: 'poll', value: [['poll', {}]] });
    return;
  }
  current.poll ??= chooseBroker(consumer, view.leaders);
  if (current.poll === null) {
    view.stale = true;
    const [first] = consumer.positions.keys();
    refuse(turn, current, view.leaderless.get(first ?? '') ?? errorName(ErrorCode.LEADER_NOT_AVAILABLE));
    return;
  }
  const { node, assigned } = current.poll;
  const question = listOffsetsRequest(consumer, assigned, current.errors);
  if (question !== null) {
    request(turn, current, node, 'ListOffsets', question, current.deadlineNs);
    return;
  }
  const ready = fetchable(consumer, assigned);
  if (ready.length > 0)
    request(turn, current, node, 'Fetch', fetchRequest(consumer, ready, config), current.deadlineNs);
  else refuse(turn, current, firstOf(current.errors) ?? 'malformed', { node, errors: current.errors });
}

/** Emits a request, after the broker's endpoint if the driver does not know it yet. */
function request<A extends ClientApi>(
  turn: Turn,
  current: Current,
  node: number,
  api: A,
  body: RequestBody<A>,
  deadlineNs: number,
): void {
  const { state } = turn;
  const address = addressOf(state.view, node);
  if (address === null) throw new Error(`no address of broker ${node}`);
  const { host, port } = address;
  const told = state.endpoints.get(node);
  if (told?.host !== host || told.port !== port) {
    state.endpoints.set(node, address);
    turn.effects.push({ type: 'endpoint', node, host, port });
  }
  const correlationId = state.nextCorrelationId;
  state.nextCorrelationId += 1;
  current.pending = { node, correlationId, api, deadlineNs, written: false };
  const expectsResponse = api !== 'Produce' || state.config.acks !== 0;
  const send = { type: 'send', node, correlationId, api, version: state.config.versions[api], body, expectsResponse };
  turn.effects.push(send as ClientSend);
}

/** The bytes may have left: from now on only an answer tells what became of them. At acks=0 there is none to wait for. */
function markWritten(turn: Turn, node: number, correlationId: number): void {
  const { current, config } = turn.state;
  const pending = current?.pending;
  if (current === null || pending?.node !== node || pending.correlationId !== correlationId) return;
  pending.written = true;
  if (current.operation.f === 'send' && pending.api === 'Produce' && config.acks === 0) {
    complete(turn, current, sendCompletion(current.operation, 'ok', config.acks, null));
  }
}

function takeResponse(turn: Turn, event: ClientResponse): void {
  const { state } = turn;
  const { current } = state;
  const pending = current?.pending;
  if (current === null || pending?.node !== event.node || pending.correlationId !== event.correlationId) return;
  pending.written = true;
  switch (event.api) {
    case 'Metadata':
      current.pending = null;
      takeMetadata(turn, current, event.body);
      break;
    case 'ListOffsets': {
      current.pending = null;
      const { errors, staleMetadata } = resolvePositions(state.consumer, current.poll?.assigned ?? [], event.body);
      current.errors = { ...current.errors, ...errors };
      state.view.stale ||= staleMetadata;
      proceed(turn, current);
      break;
    }
    case 'Produce':
      if (current.operation.f === 'send') {
        const { completion, staleMetadata } = readProduce(current.operation, event.body, state.config);
        state.view.stale ||= staleMetadata;
        complete(turn, current, completion);
      }
      break;
    case 'Fetch':
      takeFetched(turn, current, event.body);
      break;
  }
}

/** An answer that names no leader for what is wanted is as good as none while there is another broker to ask. */
function takeMetadata(turn: Turn, current: Current, body: ResponseBody<'Metadata'>): void {
  const { view } = turn.state;
  const keys = keysOf(turn.state, current.operation);
  learn(view, keys, body, turn.nowNs);
  const known = keys.length === 0 || keys.some((key) => view.leaders.has(key));
  current.refreshed = known || !anyoneToAsk(view, current.asked);
  proceed(turn, current);
}

function takeFetched(turn: Turn, current: Current, body: ResponseBody<'Fetch'>): void {
  const { config, consumer, view } = turn.state;
  const whole = body.errorCode;
  const reading = readFetch(consumer, body, config);
  view.stale ||= reading.staleMetadata || isMetadataStale(whole);
  const errors = reading.errors === noErrors ? current.errors : { ...current.errors, ...reading.errors };
  const [type, error] = fetchVerdict(whole, reading, errors);
  const completion: Ending = { type, f: 'poll', value: [['poll', reading.polled]] };
  if (error !== undefined) completion.error = error;
  if (Object.keys(errors).length > 0) completion.errors = errors;
  complete(turn, current, completion);
}

/** A poll that was served for any key is `ok`; records of a damaged answer are shown, but the operation is unknown. */
function fetchVerdict(
  whole: number,
  reading: FetchReading,
  errors: Readonly<Record<Key, string>>,
): readonly [Completion['type'], string?] {
  if (reading.flaw !== null) return ['info', reading.flaw];
  if (whole !== ErrorCode.NONE) return [pollVerdict(whole, true), errorName(whole)];
  if (reading.served) return ['ok'];
  const error = firstOf(errors);
  return error === undefined ? ['info', 'malformed'] : ['fail', error];
}

/** The connection is gone, and with it the answer to what was under way on it. */
function loseConnection(turn: Turn, node: number, error: LocalError): void {
  const { current, view } = turn.state;
  view.stale = true;
  if (current?.pending?.node === node) giveUp(turn, current, current.pending, error);
}

function checkDeadlines(turn: Turn): void {
  const { current } = turn.state;
  if (current === null || current.pending === null) return;
  if (turn.nowNs < Math.min(current.deadlineNs, current.pending.deadlineNs)) return;
  turn.state.view.stale = true;
  turn.effects.push({ type: 'close', node: current.pending.node });
  giveUp(turn, current, current.pending, 'timeout');
}

/** No answer will come any more: the attempt gets its verdict, a question is put to the next broker if time is left. */
function giveUp(turn: Turn, current: Current, pending: Pending, error: LocalError): void {
  const { config } = turn.state;
  if (pending.api === 'Metadata') {
    current.pending = null;
    current.metadataFailure = error;
    if (turn.nowNs < current.deadlineNs) proceed(turn, current);
    else refuse(turn, current, 'timeout');
    return;
  }
  const attempted = pending.written && pending.api !== 'ListOffsets';
  const { operation } = current;
  const type = operation.f === 'send' ? sendVerdict(error, config.acks, attempted) : pollVerdict(error, attempted);
  complete(turn, current, { type, ...invocation(operation, config.acks), error });
}

/** The operation ends before its attempt was made: certainly nothing happened. */
function refuse(turn: Turn, current: Current, error: string, also: Partial<Completion> = {}): void {
  current.pending = null;
  complete(turn, current, { type: 'fail', ...invocation(current.operation, turn.state.config.acks), error, ...also });
}

/** Ends the operation; the attempt that was under way, if any, gives its broker and message to the completion. */
function complete(turn: Turn, current: Current, completion: Ending): void {
  const { state } = turn;
  const { pending } = current;
  if (pending !== null && pending.api !== 'Metadata') {
    completion.node = pending.node;
    if (pending.api !== 'ListOffsets')
      completion.msg = messageText(clientId(state.config.process), pending.correlationId);
  }
  state.current = null;
  turn.effects.push({ type: 'complete', completion });
}

/** A completion that is being made. */
type Ending = { -readonly [K in keyof Completion]: Completion[K] };

/** The keys that an operation needs leaders for. */
function keysOf(state: ClientState, operation: Current['operation']): readonly Key[] {
  return operation.f === 'send' ? [operation.key] : state.consumer.keys;
}

function firstOf(errors: Readonly<Record<Key, string>>): string | undefined {
  return Object.values(errors)[0];
}
