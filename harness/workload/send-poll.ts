/**
 * The send-and-poll workload: what each process does next, and when.
 *
 * A process first assigns itself some of the keys, then sends unique values to any key, polls what it was assigned, and
 * sometimes changes its assignment. Everything is drawn from the stream that is handed in (`workload:<process>`), in the
 * same number of draws for each operation, so that what a process does never depends on how its operations end. Only
 * the values do: they count up per key over all processes, in the order in which sends are made.
 *
 * Operations have times: each process is due every `concurrency / rate` seconds on average, drawn evenly between none
 * and twice that, as Jepsen's `stagger`. What was missed while an operation took long is not made up for.
 *
 * Left out: transactions, groups, fresh topics during a run.
 */
import type { Key } from '../../checker/history.ts';
import type { ClientOperation } from '../client/operations.ts';
import type { RandomStream } from '../plan/random.ts';

export interface SendPollConfig {
  readonly keys: readonly Key[];
  /** Operations per second, over all processes. */
  readonly rate: number;
  readonly concurrency: number;
  /** How many of the operations are sends; the others are polls, but for the few that assign. */
  readonly sendShare: number;
  readonly assignShare: number;
}

export const defaultSendPoll = { sendShare: 0.6, assignShare: 1 / 64 } as const;

/** The last value of each key; shared by the processes of a run. */
export type ValueCounters = Map<Key, number>;

export interface SendPollState {
  readonly config: SendPollConfig;
  readonly values: ValueCounters;
  readonly random: RandomStream;
  /** When the last operation was due. */
  dueNs: number;
  assigned: boolean;
}

export interface Planned {
  readonly operation: ClientOperation;
  /** Not before. */
  readonly dueNs: number;
  /** Tells when it may begin, once, perhaps at once; answers with what ends the wait. Without it the time alone decides. */
  readonly await?: (ready: () => void) => () => void;
}

/** The workload of one process, whose first operation is due some time after `startNs`. */
export function createSendPoll(
  config: SendPollConfig,
  values: ValueCounters,
  random: RandomStream,
  startNs: number,
): SendPollState {
  if (config.keys.length === 0) throw new Error('a workload needs at least one key');
  return { config, values, random, dueNs: startNs, assigned: false };
}

/** The next operation of the process, which is free since `nowNs`. */
export function nextOperation(state: SendPollState, nowNs: number): Planned {
  const { config, random } = state;
  const meanNs = (config.concurrency / config.rate) * 1e9;
  state.dueNs = Math.max(nowNs, state.dueNs + Math.floor(random.fraction() * 2 * meanNs));
  const draws = {
    assigns: random.chance(config.assignShare),
    sends: random.chance(config.sendShare),
    key: random.pick(config.keys),
    fromEarliest: random.chance(0.5),
    members: config.keys.filter(() => random.chance(0.5)),
  };
  return { operation: operationFrom(state, draws), dueNs: state.dueNs };
}

interface Draws {
  readonly assigns: boolean;
  readonly sends: boolean;
  readonly key: Key;
  readonly fromEarliest: boolean;
  readonly members: readonly Key[];
}

function operationFrom(state: SendPollState, draws: Draws): ClientOperation {
  const keys = draws.members.length > 0 ? draws.members : [draws.key];
  if (!state.assigned) {
    state.assigned = true;
    // The first assignment says where to start: some processes read everything, some only what is new.
    return { f: 'assign', keys, seek: draws.fromEarliest ? 'earliest' : 'latest' };
  }
  if (draws.assigns) return { f: 'assign', keys };
  return draws.sends ? send(state, draws.key) : { f: 'poll' };
}

function send(state: SendPollState, key: Key): ClientOperation {
  const value = (state.values.get(key) ?? 0) + 1;
  state.values.set(key, value);
  return { f: 'send', key, value };
}
