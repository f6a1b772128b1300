/** Which links each topology cuts, and whom each target means. */
import { describe, expect, it } from 'vitest';
import type { NodeId } from '../../nemesis/ports.ts';
import type { Target, Topology } from '../../nemesis/schedule.ts';
import { describeTarget, resolveTarget } from '../../nemesis/targets.ts';
import { cutsBetween, nameOfCut, resolveTopology, uniteCuts } from '../../nemesis/topologies.ts';
import { createView, foldLine } from '../../nemesis/view.ts';
import type { ClusterView } from '../../nemesis/view.ts';

function viewOf(replicas: readonly NodeId[], isr: readonly NodeId[], leader: NodeId | null): ClusterView {
  const view = createView(['tide-0']);
  const common = { time: 0, node: 'controller', boot: 1, partition: 'tide-0', leaderEpoch: 0 } as const;
  foldLine(view, { ...common, seq: 0, event: 'create', replicas });
  foldLine(view, { ...common, seq: 1, event: 'election', leader, isr });
  return view;
}

const three = viewOf([2, 3, 1], [2, 3, 1], 2);
const five = viewOf([4, 5, 1], [4, 1], 4);
const alone = { controller: false, clients: false };

function cuts(topology: Topology, view: ClusterView, brokers: readonly NodeId[]): string {
  const resolved = resolveTopology(topology, view, brokers);
  return resolved === null ? 'nobody' : cutsBetween(resolved.groups, resolved.links).map(nameOfCut).join(' ');
}

describe('a topology', () => {
  it('of halves cuts a minority from the rest, both ways', () => {
    expect(cuts({ shape: 'halves', draw: 1, ...alone }, three, [1, 2, 3])).toBe('1→2 2→1 2→3 3→2');
    expect(cuts({ shape: 'halves', draw: 4, ...alone }, five, [1, 2, 3, 4, 5])).toBe(
      '1→2 1→3 1→4 2→1 2→5 3→1 3→5 4→1 4→5 5→2 5→3 5→4',
    );
  });

  it('of an isolated node can cut it from the controller and the clients too', () => {
    const side: Target = { role: 'leader', partition: 'tide-0' };
    expect(cuts({ shape: 'isolated-node', side, controller: true, clients: true }, three, [1, 2, 3])).toBe(
      '1→2 2→1 2→3 2→clients 2→controller 3→2 clients→2 controller→2',
    );
  });

  it('that goes one way cuts what the target sends, or what it is sent', () => {
    const side: Target = { role: 'nodes', nodes: [3] };
    const reach = { controller: true, clients: false };
    expect(cuts({ shape: 'one-way', side, direction: 'outward', ...reach }, three, [1, 2, 3])).toBe(
      '3→1 3→2 3→controller',
    );
    expect(cuts({ shape: 'one-way', side, direction: 'inward', ...reach }, three, [1, 2, 3])).toBe(
      '1→3 2→3 controller→3',
    );
  });

  it('puts the leader with the minority', () => {
    const topology: Topology = { shape: 'leader-with-minority', partition: 'tide-0', draw: 0, ...alone };
    expect(cuts(topology, three, [1, 2, 3])).toBe('1→2 2→1 2→3 3→2');
    expect(cuts(topology, five, [1, 2, 3, 4, 5])).toBe('1→2 1→3 1→5 2→1 2→4 3→1 3→4 4→2 4→3 4→5 5→1 5→4');
  });

  it('of a bridge leaves one node between two halves', () => {
    const middle: Target = { role: 'nodes', nodes: [2] };
    expect(cuts({ shape: 'bridge', middle }, three, [1, 2, 3])).toBe('1→3 3→1');
    expect(cuts({ shape: 'bridge', middle }, three, [1, 2])).toBe('nobody');
  });

  it('of a majorities ring lets each node hear a majority, and no two the same', () => {
    expect(cuts({ shape: 'majorities-ring', draw: 0 }, three, [1, 2, 3])).toBe('1→3 2→1 3→2');
    const five = [1, 2, 3, 4, 5];
    const deaf = cuts({ shape: 'majorities-ring', draw: 2 }, three, five).split(' ');
    const heardBy = five.map((to) => five.filter((from) => !deaf.includes(`${from}→${to}`)).join());
    expect(heardBy).toEqual(['1,2,5', '1,2,3', '2,3,4', '3,4,5', '1,4,5']);
    expect(cuts({ shape: 'majorities-ring', draw: 0 }, three, [1, 2])).toBe('nobody');
  });

  it('that is chained lets each node see only its neighbours in the row', () => {
    expect(cuts({ shape: 'chained', draw: 1 }, three, [1, 2, 3])).toBe('1→2 2→1');
    expect(cuts({ shape: 'chained', draw: 0 }, three, [1, 2, 3, 4])).toBe('1→3 1→4 2→4 3→1 4→1 4→2');
  });

  it('of a quorum loss leaves each node of a majority alone', () => {
    expect(cuts({ shape: 'quorum-loss', draw: 1, controller: true, clients: false }, three, [1, 2, 3])).toBe(
      '1→2 1→3 2→1 2→3 2→controller 3→1 3→2 3→controller controller→2 controller→3',
    );
  });

  it('of a constrained election leaves one candidate that the controller and the others can reach', () => {
    const leader: Target = { role: 'leader', partition: 'tide-0' };
    const candidate: Target = { role: 'isr-follower', partition: 'tide-0', draw: 0 };
    expect(cuts({ shape: 'constrained-election', leader, candidate }, three, [1, 2, 3])).toBe(
      '1→2 1→controller 2→1 2→3 2→controller 3→2 controller→1 controller→2',
    );
  });

  it('of the control plane cuts a node from the controller alone', () => {
    const side: Target = { role: 'leader', partition: 'tide-0' };
    expect(cuts({ shape: 'control-plane', side, direction: 'inward' }, three, [1, 2, 3])).toBe('controller→2');
    expect(cuts({ shape: 'control-plane', side, direction: 'outward' }, three, [1, 2, 3])).toBe('2→controller');
    const controller: Target = { role: 'controller' };
    expect(cuts({ shape: 'control-plane', side: controller, direction: 'both' }, three, [1, 2, 3])).toBe('nobody');
  });

  it('has nobody to cut while there is no leader', () => {
    const view = viewOf([2, 3, 1], [2], null);
    expect(cuts({ shape: 'leader-with-minority', partition: 'tide-0', draw: 0, ...alone }, view, [1, 2, 3])).toBe(
      'nobody',
    );
  });

  it('never cuts a node from itself, nor the same link twice', () => {
    const self = { from: 1, to: 1 } as const;
    const link = { from: 1, to: 2 } as const;
    expect(uniteCuts([[self, link], [link]])).toEqual([link]);
  });
});

describe('a target', () => {
  it.each([
    [{ role: 'one', draw: 4 }, [2]],
    [{ role: 'minority', draw: 2 }, [3]],
    [{ role: 'majority', draw: 2 }, [3, 1]],
    [{ role: 'all' }, [1, 2, 3]],
    [{ role: 'controller' }, ['controller']],
    [{ role: 'leader', partition: 'tide-0' }, [2]],
    [{ role: 'isr-follower', partition: 'tide-0', draw: 1 }, [1]],
    [{ role: 'last-in-isr', partition: 'tide-0' }, [1]],
    [{ role: 'nodes', nodes: [3, 9] }, [3]],
    [{ role: 'leader', partition: 'elsewhere-0' }, null],
  ] as const)('%j is %j', (target, nodes) => {
    expect(resolveTarget(target, three, [1, 2, 3])).toEqual(nodes);
  });

  it('is described by its role and its partition', () => {
    expect(describeTarget({ role: 'isr-follower', partition: 'tide-0', draw: 7 })).toBe('isr-follower of tide-0');
  });

  it('of two of five is a minority, and three are a majority', () => {
    expect(resolveTarget({ role: 'minority', draw: 4 }, five, [1, 2, 3, 4, 5])).toEqual([5, 1]);
    expect(resolveTarget({ role: 'majority', draw: 0 }, five, [1, 2, 3, 4, 5])).toEqual([1, 2, 3]);
  });
});
