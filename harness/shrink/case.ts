/**
 * A case: one failing run as data, and the edits that make it smaller.
 *
 * A case holds everything that a simulated run is made from: configuration, faults, and the load written out operation by
 * operation, so that leaving out a fault never changes what clients do. Edits return a new case and never look at what
 * it does: whether it still fails is for whoever runs it.
 *
 * Invariant: every edit leaves a case that can be run: times in order, no fault or operation after the end.
 */
import type { Key, Operation } from '../../checker/history.ts';
import type { Fault, Schedule, Start } from '../../nemesis/schedule.ts';
import type { ClientOperation } from '../client/operations.ts';
import type { LoadPlan, PlannedOperation, Simulation, SimulationRequest } from '../sim/simulation.ts';

export type Case = SimulationRequest & { readonly load: LoadPlan };

/** Nothing is broken or sent before this, when time is cut away at the beginning. */
export const LEAD_IN_MS = 300;

/** What clients did in a simulation, as a plan. What was read back after settling is no part of it. */
export function loadOf({ history, loadStartNs }: Simulation, threads: number): LoadPlan {
  const readers = new Set(history.filter(({ final }) => final === true).map(({ process }) => process));
  const operations = history.flatMap((line): PlannedOperation[] => {
    const { process, type, time } = line;
    if (typeof process !== 'number' || type !== 'invoke' || readers.has(process)) return [];
    return [{ atMs: (time - (loadStartNs ?? 0)) / 1e6, thread: process % threads, operation: clientOperationOf(line) }];
  });
  return { schemaVersion: 1, operations };
}

export function withFaults(from: Case, faults: readonly Fault[]): Case {
  return { ...from, schedule: { ...from.schedule, faults } };
}

export function withOperations(from: Case, operations: readonly PlannedOperation[]): Case {
  return { ...from, load: { ...from.load, operations } };
}

export function withFault(from: Case, index: number, fault: Fault): Case {
  return withFaults(from, from.schedule.faults.with(index, fault));
}

/** Ends load and faults at that time. */
export function cutAfter(from: Case, endMs: number): Case {
  return moveTimes(from, (ms) => (ms < endMs ? ms : null), Math.min(endMs, from.schedule.durationMs));
}

/** Begins at that time. Threads keep the keys that they had been assigned before. */
export function cutBefore(from: Case, startMs: number): Case {
  const assigned = new Map<number, PlannedOperation>();
  for (const operation of from.load.operations) {
    if (operation.atMs < startMs && operation.operation.f === 'assign') assigned.set(operation.thread, operation);
  }
  const { schedule } = from;
  const cut = moveTimes(
    from,
    (ms) => (ms < startMs ? null : ms - startMs + LEAD_IN_MS),
    schedule.durationMs - startMs + LEAD_IN_MS,
  );
  return withOperations(cut, [
    ...[...assigned.values()].map((operation) => ({ ...operation, atMs: 0 })),
    ...cut.load.operations,
  ]);
}

/** Takes the time between two moments out, with what was sent in it. Faults that begin in it begin at its start. */
export function closeGap(from: Case, startMs: number, endMs: number): Case {
  const closed = (ms: number): number => (ms <= startMs ? ms : Math.max(startMs, ms - (endMs - startMs)));
  const operations = from.load.operations.filter(({ atMs }) => atMs <= startMs || atMs >= endMs);
  return moveTimes(withOperations(from, operations), closed, closed(from.schedule.durationMs));
}

/** Only that partition, as the first and only one of the topic. */
export function onlyKey(from: Case, key: Key): Case {
  const { config } = from;
  const only = `${config.topic}-0`;
  const operations = from.load.operations.flatMap((planned) => {
    const operation = renamed(planned.operation, key, only);
    return operation === null ? [] : [{ ...planned, operation }];
  });
  const schedule = JSON.parse(JSON.stringify(from.schedule), (name, value: unknown) =>
    name === 'partition' ? only : value,
  ) as Schedule;
  return { ...from, config: { ...config, partitions: 1 }, schedule, load: { schemaVersion: 1, operations } };
}

/** Turns every draw that chooses among brokers, as if they were counted from another one on. */
export function turnDraws(from: Case, by: number): Case {
  const schedule = JSON.parse(JSON.stringify(from.schedule), (name, value: unknown) =>
    name === 'draw' && typeof value === 'number' ? value + by : value,
  ) as Schedule;
  return { ...from, schedule };
}

/** Fewer brokers; replicas and the minimum in sync follow. */
export function withBrokers(from: Case, brokers: number): Case {
  const { config } = from;
  const replicationFactor = Math.min(config.replicationFactor, brokers);
  const minInsyncReplicas = Math.min(config.minInsyncReplicas, replicationFactor);
  return { ...from, config: { ...config, brokers, replicationFactor, minInsyncReplicas } };
}

/** Fewer threads: those beyond share the first ones. */
export function withThreads(from: Case, threads: number): Case {
  const operations = from.load.operations.map((operation) => ({ ...operation, thread: operation.thread % threads }));
  return { ...withOperations(from, operations), config: { ...from.config, concurrency: threads } };
}

/** Threads that have nothing to do are left out, and the others counted from 0. */
export function withoutIdleThreads(from: Case): Case {
  const used = [...new Set(from.load.operations.map(({ thread }) => thread))].toSorted((a, b) => a - b);
  const operations = from.load.operations.map((operation) => ({
    ...operation,
    thread: used.indexOf(operation.thread),
  }));
  return { ...withOperations(from, operations), config: { ...from.config, concurrency: Math.max(1, used.length) } };
}

/** When a fault may begin first, since the start of the load. */
export function startMsOf({ at }: Pick<Fault, 'at'>): number {
  return 'ms' in at ? at.ms : at.fromMs;
}

/** When a fault is over at the latest. */
export function endMsOf({ at, until }: Pick<Fault, 'at' | 'until'>): number {
  return ('ms' in at ? at.ms : at.deadlineMs) + ('ms' in until ? until.ms : until.deadlineMs);
}

/** Gives every time a new one; what has none is left out. It ends at a whole millisecond. */
function moveTimes(from: Case, moved: (ms: number) => number | null, endMs: number): Case {
  const { config, schedule, load } = from;
  const durationMs = Math.ceil(endMs);
  const faults = schedule.faults.flatMap((fault) => {
    const start = moved(startMsOf(fault));
    return start === null ? [] : [{ ...fault, at: movedStart(fault.at, start, moved) }];
  });
  const operations = load.operations.flatMap((operation) => {
    const atMs = moved(operation.atMs);
    return atMs === null ? [] : [{ ...operation, atMs }];
  });
  return {
    ...from,
    config: { ...config, timeLimitMs: durationMs },
    schedule: { ...schedule, durationMs, faults },
    load: { ...load, operations },
  };
}

function movedStart(at: Start, startMs: number, moved: (ms: number) => number | null): Start {
  if ('ms' in at) return { ms: startMs };
  return { ...at, fromMs: startMs, deadlineMs: moved(at.deadlineMs) ?? startMs + at.deadlineMs - at.fromMs };
}

function clientOperationOf(line: Operation): ClientOperation {
  const { f, value, seek } = line;
  switch (f) {
    case 'send': {
      const [send] = value as readonly (readonly [string, Key, string | number])[];
      if (send === undefined) throw new Error(`line ${line.index} sends nothing`);
      return { f, key: send[1], value: send[2] };
    }
    case 'assign':
      return { f, keys: value as readonly Key[], ...(seek === undefined ? {} : { seek }) };
    case 'poll':
      return { f };
    default:
      throw new Error(`line ${line.index}: a load cannot hold ${f}`);
  }
}

/** The operation on that key alone, under its new name; null when it has nothing to do with it. */
function renamed(operation: ClientOperation, key: Key, name: Key): ClientOperation | null {
  switch (operation.f) {
    case 'poll':
      return operation;
    case 'send':
      return operation.key === key ? { ...operation, key: name } : null;
    case 'assign': {
      if (!operation.keys.includes(key)) return null;
      const { seek } = operation;
      if (typeof seek !== 'object') return { ...operation, keys: [name] };
      const position = seek[key];
      return { f: 'assign', keys: [name], ...(position === undefined ? {} : { seek: { [name]: position } }) };
    }
  }
}
