/**
 * How a play ends: everything healed, the cluster at rest, and what is left for the checker to judge.
 */
import type { NodeId } from '../../broker/core/step.ts';
import type { TraceLine } from '../../broker/core/trace.ts';
import { endOffsetOf } from './disk.ts';
import type { PlayEvidence } from './judgement.ts';
import type { PartitionName, Play } from './play.ts';
import { replicasOn } from './replicas.ts';

const NS_PER_MS = 1e6;
const PATIENCE_MS = 30_000;

/** Ends whatever was done to the cluster, and gives it time to come to rest; it may not. */
export function healAndSettle(play: Play, withinMs = PATIENCE_MS): void {
  const { kernel, brokers } = play.cluster;
  for (const hold of play.holds.values()) kernel.network.release(hold);
  play.holds.clear();
  const places = ['clients', 'controller', ...brokers] as const;
  for (const from of places) for (const to of places) kernel.heal(from, to);
  for (const id of ['controller', ...brokers] as const) {
    const node = play.node(id);
    if (node.paused) node.resume();
    if (!node.running) node.start();
  }
  play.settledInTime = comesToRest(play, kernel.nowNs + withinMs * NS_PER_MS);
  play.narrate('', play.settledInTime ? 'all is at rest' : 'the cluster does not come to rest');
}

/** At rest, and still so when every fetch that waits has been answered. */
function comesToRest(play: Play, deadlineNs: number): boolean {
  const { kernel, brokers } = play.cluster;
  const ends = (): string => JSON.stringify(brokers.map((id) => play.node(id).disk.logs.map(endOffsetOf)));
  /* Who was stopping is started when it has stopped; who ends again is left alone. */
  const stopping = new Set<NodeId>(brokers);
  const stopped = (): NodeId | undefined => brokers.find((id) => stopping.has(id) && !play.node(id).running);
  while (kernel.runUntil(() => isSettled(play) || stopped() !== undefined, deadlineNs - kernel.nowNs)) {
    const id = stopped();
    if (id !== undefined) {
      stopping.delete(id);
      play.node(id).start();
      continue;
    }
    const before = ends();
    play.runFor(2 * play.settings.fetchMaxWaitMs);
    if (isSettled(play) && ends() === before) return true;
  }
  return false;
}

/** Whether every replica of every partition is up, in the ISR, and holds and knows the same. */
function isSettled(play: Play): boolean {
  return play.partitions.every((partition) => isPartitionSettled(play, partition));
}

export function isPartitionSettled(play: Play, partition: PartitionName): boolean {
  const { replicas, isr, leader } = play.state(partition);
  if (leader < 0 || isr.length < replicas.length) return false;
  const known = replicas.map((id) => play.replica(id, partition));
  const [first] = known;
  return known.every(
    (replica) =>
      replica !== null &&
      replica.highWatermark === replica.log.endOffset &&
      replica.log.endOffset === first?.log.endOffset &&
      replica.leaderEpoch === first.leaderEpoch,
  );
}

/** What the checker is to judge: everything that was seen up to now, and the logs as they stand. */
export function evidenceOf(play: Play, name: string): PlayEvidence {
  const { kernel, brokers } = play.cluster;
  for (const { call } of play.produced.values()) if (call.closed) play.history.isDisconnected(call.msg, kernel.nowNs);
  const leaders = play.partitions.map((partition) => [partition.key, play.state(partition).leader] as const);
  return {
    name,
    build: play.build,
    defects: play.defects,
    brokers: brokers.length,
    settings: play.settings,
    history: play.history.operations,
    trace: play.trace.map((line) => byProcess(play, line)),
    replicas: brokers.flatMap((id) => replicasOn(play.node(id).disk, id)),
    settled: isSettled(play) ? true : play.settledInTime ? null : false,
    finalLeaders: Object.fromEntries(leaders.filter(([, leader]) => leader >= 0)),
  };
}

function byProcess(play: Play, line: TraceLine): TraceLine {
  return 'msg' in line && typeof line.msg === 'string' ? { ...line, msg: play.history.byProcess(line.msg) } : line;
}
