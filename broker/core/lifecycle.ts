/** The checkpoint of the high watermarks, and how a broker ends: the two times when it writes about all its logs. */
import { trace } from './state.ts';
import type { BrokerState, Turn } from './state.ts';
import { nsPerMs } from './state.ts';
import type { Partition } from './partition.ts';

/** Writes `replication-offset-checkpoint`, if any high watermark has moved since it was written last. */
export function checkpointHighWatermarks(turn: Turn): void {
  const { state, nowNs, effects } = turn;
  state.nextCheckpointNs = nowNs + state.config.highWatermarkCheckpointIntervalMs * nsPerMs;
  const tooFar = state.defects.has('checkpoint-end-offset');
  const offsets = offsetsOf(state, ({ highWatermark, log }) => (tooFar ? log.endOffset : highWatermark));
  if (sameOffsets(offsets, state.checkpointed)) return;
  state.checkpointed = offsets;
  effects.push({ type: 'offset-checkpoint', file: 'replication-offset-checkpoint', offsets });
}

/** The end of a controlled shutdown, in Kafka's order: high watermarks, logs, recovery points, log starts, the mark. */
export function finish(turn: Turn): void {
  const { state, effects } = turn;
  state.lifecycle = 'stopped';
  checkpointHighWatermarks(turn);
  for (const log of state.partitions.keys()) effects.push({ type: 'flush', log });
  const ends = offsetsOf(state, ({ log }) => log.endOffset);
  effects.push({ type: 'offset-checkpoint', file: 'recovery-point-offset-checkpoint', offsets: ends });
  const starts = offsetsOf(state, ({ log }) => log.startOffset);
  effects.push({ type: 'offset-checkpoint', file: 'log-start-offset-checkpoint', offsets: starts });
  trace(turn, { event: 'stop' });
  effects.push({ type: 'exit' });
}

function offsetsOf(state: BrokerState, of: (partition: Partition) => number): Readonly<Record<string, number>> {
  return Object.fromEntries([...state.partitions.values()].map((partition) => [partition.key, of(partition)]));
}

function sameOffsets(left: Readonly<Record<string, number>>, right: Readonly<Record<string, number>>): boolean {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}
