/** When a cluster of brokers that tell no trace is at rest: what is not known is not demanded. */
import { describe, expect, it } from 'vitest';
import type { NodeName } from '../../nemesis/ports.ts';
import { unrest } from '../../nemesis/rest.ts';
import { createView, foldLine } from '../../nemesis/view.ts';

function scene() {
  const view = createView(['tide-0']);
  const tell = (node: NodeName, event: string, fields: Record<string, unknown> = {}): void => {
    const line = { seq: 0, time: 0, node, boot: 1, event, source: 'metadata', partition: 'tide-0', leaderEpoch: 0 };
    foldLine(view, { ...line, ...fields });
  };
  const role = (node: number, leader: number, leaderEpoch = 0): void =>
    tell(node, 'role', { role: node === leader ? 'leader' : 'follower', leader, leaderEpoch });
  tell('controller', 'create', { replicas: [1, 2, 3] });
  tell('controller', 'election', { leader: 1, isr: [1, 2, 3] });
  for (const node of [1, 2, 3]) role(node, 1);
  for (const node of [1, 2, 3]) tell(node, 'append', { batches: [{ base: 0, last: 4, epoch: -1 }] });
  return { view, tell, role };
}

describe('a cluster that is observed', () => {
  it('is at rest without any high watermark', () => {
    expect(unrest(scene().view)).toEqual([]);
  });

  it('is not at rest while a follower that tells its high watermark is behind', () => {
    const { view, tell } = scene();
    tell(2, 'hw', { to: 4 });
    expect(unrest(view)).toEqual(['tide-0: the high watermark of broker 2 is 4, the log ends at 5']);
    tell(2, 'hw', { to: 5 });
    expect(unrest(view)).toEqual([]);
  });

  it('is not asked for what a leader, or a follower in another role, told before', () => {
    const { view, tell, role } = scene();
    tell(1, 'hw', { to: 0 });
    tell(2, 'hw', { to: 3 });
    tell('controller', 'election', { leader: 1, isr: [1, 2, 3], leaderEpoch: 1 });
    for (const node of [1, 2, 3]) role(node, 1, 1);
    expect(unrest(view)).toEqual([]);
  });

  it('keeps the end of a log that its own log line says it truncates, until the segments show it', () => {
    const { view, tell } = scene();
    tell(3, 'truncation', { to: 2, source: 'log' });
    expect(unrest(view)).toEqual([]);
    tell(3, 'truncation', { from: 5, to: 2, source: 'segments' });
    expect(unrest(view)).toEqual(["tide-0: the log of broker 3 ends at 2, the leader's at 5"]);
  });
});

describe('brokers that will not come back', () => {
  const lost = (...nodes: number[]): ReturnType<typeof scene> => {
    const stage = scene();
    for (const node of nodes) stage.tell(node, 'ended', { words: 'exiting' });
    return stage;
  };

  it('are not waited for', () => {
    const { view, tell } = lost(3);
    expect(unrest(view)).not.toEqual([]);
    tell('controller', 'fence', { broker: 3 });
    tell('controller', 'isr', { from: [1, 2, 3], to: [1, 2] });
    expect(unrest(view, new Set([3]))).toEqual([]);
  });

  it('are waited for as long as somebody else may lead in their place', () => {
    const { view, tell } = lost(1);
    const gone = new Set([1]);
    expect(unrest(view, gone)).toEqual(['tide-0: its leader is gone']);
    tell('controller', 'isr', { from: [1, 2, 3], to: [1] });
    expect(unrest(view, gone)).toEqual([]);
  });
});
