/** What the trace tells the nemesis. */
import { describe, expect, it } from 'vitest';
import type { NodeName } from '../../nemesis/ports.ts';
import { createView, foldLine, follows, isFullySynced, leads } from '../../nemesis/view.ts';
import type { PartitionView } from '../../nemesis/view.ts';

function scene() {
  const view = createView(['tide-0']);
  const tell = (node: NodeName, event: string, fields: Record<string, unknown> = {}) => {
    foldLine(view, { seq: 0, time: 0, node, boot: 1, event, partition: 'tide-0', leaderEpoch: 0, ...fields });
  };
  const role = (node: number, leader: number, leaderEpoch: number) =>
    tell(node, 'role', { role: node === leader ? 'leader' : 'follower', leader, leaderEpoch, leo: 5, hw: 4 });
  tell('controller', 'create', { replicas: [1, 2, 3] });
  tell('controller', 'election', { leader: 1, isr: [1, 2, 3] });
  return { view, tell, role, partition: view.partitions.get('tide-0') as PartitionView };
}

describe('the view', () => {
  it('takes a leader for one only when it was elected and has said that it leads', () => {
    const { role, tell, partition } = scene();
    expect(leads(partition, 1)).toBe(false);
    role(1, 1, 0);
    expect(leads(partition, 1)).toBe(true);
    tell('controller', 'election', { leader: 2, isr: [2, 3], leaderEpoch: 1 });
    expect([leads(partition, 1), leads(partition, 2)]).toEqual([false, false]);
  });

  it('takes a follower for one only when it follows the leader of the newest epoch', () => {
    const { role, tell, partition } = scene();
    role(3, 1, 0);
    expect(follows(partition, 3, 1)).toBe(true);
    tell('controller', 'election', { leader: 2, isr: [2, 3], leaderEpoch: 1 });
    expect([follows(partition, 3, 1), follows(partition, 3, 2)]).toEqual([false, false]);
    role(3, 2, 1);
    expect(follows(partition, 3, 2)).toBe(true);
  });

  it('is fully synced only with every replica in the ISR and in its role', () => {
    const { view, role, tell } = scene();
    role(1, 1, 0);
    role(2, 1, 0);
    expect(isFullySynced(view)).toBe(false);
    role(3, 1, 0);
    expect(isFullySynced(view)).toBe(true);
    tell('controller', 'isr', { to: [1, 2] });
    expect(isFullySynced(view)).toBe(false);
  });

  it('follows the leader into the new epoch that a shrink by the controller brings', () => {
    const { tell, role, partition } = scene();
    role(1, 1, 0);
    tell('controller', 'isr', { to: [1, 3], leaderEpoch: 1 });
    expect([partition.isr, partition.leaderEpoch, leads(partition, 1)]).toEqual([[1, 3], 1, false]);
    role(1, 1, 1);
    expect(leads(partition, 1)).toBe(true);
    tell('controller', 'isr', { to: [1, 2, 3], leaderEpoch: 0 });
    expect(partition.isr).toEqual([1, 3]);
  });

  it('forgets the role of a node that starts again', () => {
    const { view, role, tell } = scene();
    for (const node of [1, 2, 3]) role(node, 1, 0);
    tell(2, 'start', { partition: undefined });
    expect(isFullySynced(view)).toBe(false);
  });

  it('ignores an election older than the newest, and lines about partitions that it does not know', () => {
    const { tell, partition } = scene();
    tell('controller', 'election', { leader: 3, isr: [3], leaderEpoch: 2 });
    tell('controller', 'election', { leader: 2, isr: [2], leaderEpoch: 1 });
    tell(1, 'hw', { partition: 'other-0', from: 0, to: 9 });
    expect([partition.leader, partition.leaderEpoch]).toEqual([3, 2]);
  });

  it('follows ends and high watermarks through appends, truncations and restarts', () => {
    const { tell, partition } = scene();
    tell(2, 'append', {
      batches: [
        { base: 0, last: 2 },
        { base: 3, last: 6 },
      ],
    });
    tell(2, 'hw', { from: 0, to: 5 });
    expect(partition.replica.get(2)).toMatchObject({ leo: 7, hw: 5 });
    tell(2, 'truncation', { from: 7, to: 5 });
    expect(partition.replica.get(2)).toMatchObject({ leo: 5, hw: 5 });
    expect(partition.truncations).toBe(1);
    tell(2, 'recover', { from: 5, to: 4, hw: 3 });
    expect(partition.replica.get(2)).toMatchObject({ leo: 4, hw: 3 });
  });
});
