/**
 * What stands on the disks of a cluster in the kernel: every broker's logs as their files would be.
 */
import type { NodeId } from '../../nemesis/ports.ts';
import type { Disk } from './disk.ts';
import type { SimulatedReplica } from './simulation.ts';

/** A broker's logs, each as one segment file, with what its checkpoints say of it. */
export function replicasOn(disk: Disk, node: NodeId): SimulatedReplica[] {
  return disk.logs.map(({ name, baseOffset, epochs }) => {
    const logStart = disk.checkpointed('log-start-offset-checkpoint', name);
    return {
      node,
      key: name,
      segments: [{ baseOffset, bytes: disk.file(name) }],
      logStart: logStart === 0 ? null : logStart,
      epochs: epochs.map(({ epoch, startOffset }) => [epoch, startOffset] as const),
      checkpointedHighWatermark: disk.checkpointed('replication-offset-checkpoint', name),
    };
  });
}
