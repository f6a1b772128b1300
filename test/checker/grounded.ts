/**
 * A random history with the final log that the leader of each key might have left: what was acknowledged stands where it
 * was, but here and there a record is gone, has moved, stands twice, lies below the log's start or behind a flaw.
 */
import { encodeBatch } from '../../broker/protocol/index.ts';
import type { CheckInput } from '../../checker/check.ts';
import type { ReplicaFiles } from '../../checker/final-logs.ts';
import type { Operation } from '../../checker/history.ts';
import { historyInput } from './story.ts';
import type { Family } from './twins/family.ts';
import { actsOf, sentBy } from './twins/operations.ts';
import type { Draws } from './twins/random.ts';

export function grounded(draws: Draws, family: Family): CheckInput {
  const history = family.generate(draws);
  const places = new Map<string, Map<number, string>>();
  for (const { key, offset, value } of actsOf(history).flatMap(sentBy)) {
    const log = places.get(key) ?? new Map<number, string>();
    places.set(key, log);
    const where = offset ?? log.size;
    if (draws.chance(0.12)) continue;
    log.set(draws.chance(0.05) ? where + 1 : where, String(value));
    if (draws.chance(0.05)) log.set(where + 2, String(value));
  }
  const files = [...places].map(([key, log]) => fileOf(draws, key, log));
  const { run } = historyInput([]);
  const storageFault = draws.chance(0.2) ? powerLoss(history) : [];
  return historyInput([], {
    source: draws.pick(['run', 'run', 'history']),
    run: {
      ...run,
      settled: true,
      completed: true,
      healed: true,
      finalReadComplete: draws.pick([null, true, true]),
      finalLeaders: Object.fromEntries([...places.keys()].map((key) => [key, 1])),
    },
    promises: { acks: 'all', minInsyncReplicas: 2, uncleanElection: draws.chance(0.3) },
    history: [...history, ...storageFault],
    trace: draws.chance(0.15) ? traceOf([...places.keys()][0] ?? 'a-0', draws.chance(0.5)) : null,
    logs: { nodes: [1], files: files.filter(() => !draws.chance(0.08)) },
  });
}

function powerLoss(history: readonly Operation[]): Operation[] {
  const value = { fault: 'f1', phase: 'start' as const, roles: {}, nodes: {} };
  const last = history.at(-1);
  const time = (last?.time ?? 0) + 1;
  return [{ index: (last?.index ?? -1) + 1, time, process: 'nemesis', type: 'info', f: 'power-loss', value } as never];
}

/** A controller that elected broker 1, and may have deleted the topic. */
function traceOf(partition: string, deleted: boolean): object[] {
  const election = { leaderEpoch: 0, leader: 1, previousLeader: null, isr: [1], clean: true, reason: 'x' };
  return [
    { event: 'create', replicas: [1] },
    { event: 'election', ...election },
    ...(deleted ? [{ event: 'delete' }] : []),
  ].map((line, seq) => ({ seq, time: seq, node: 'controller', boot: 1, partition, ...line }));
}

function fileOf(draws: Draws, key: string, log: ReadonlyMap<number, string>): ReplicaFiles {
  const parts = [...log]
    .sort(([x], [y]) => x - y)
    .map(([offset, value]) => encodeBatch({ baseOffset: offset, leaderEpoch: 0, records: [{ key: null, value }] }));
  let bytes = Uint8Array.from(Buffer.concat(parts));
  if (draws.chance(0.1)) bytes = bytes.slice(0, Math.max(0, bytes.length - 1 - draws.below(150)));
  const logStart = draws.chance(0.15) ? draws.below(45) : null;
  return { node: 1, key, segments: [{ baseOffset: 0, bytes }], logStart };
}
