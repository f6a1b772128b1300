import { describe, expect, it } from 'vitest';
import { cutName, cutOf, dropsOf } from '../../docker/cuts.ts';
import type { Cut } from '../../nemesis/ports.ts';

const pods = ['controller', 1, 2] as const;
const address = (place: unknown): string => `address of ${String(place)}`;

describe('the drops of each pod', () => {
  it('are made where the packets arrive, and for clients where they leave', () => {
    const cuts: Cut[] = [
      { from: 1, to: 2 },
      { from: 'clients', to: 2 },
      { from: 2, to: 'clients' },
      { from: 'controller', to: 1 },
    ];
    expect(Object.fromEntries(dropsOf(cuts, pods, address))).toEqual({
      controller: [],
      1: [{ name: 'from_controller', from: 'address of controller' }],
      2: [
        { name: 'from_1', from: 'address of 1' },
        { name: 'from_clients', from: 'address of clients' },
        { name: 'to_clients', to: 'address of clients' },
      ],
    });
  });

  it('are the same for the same cuts, whatever their order and however often they are named', () => {
    const cuts: Cut[] = [
      { from: 1, to: 2 },
      { from: 'controller', to: 2 },
    ];
    expect(dropsOf([...cuts, ...cuts].toReversed(), pods, address)).toEqual(dropsOf(cuts, pods, address));
  });

  it('name the cut that they make', () => {
    const cuts: Cut[] = [
      { from: 1, to: 2 },
      { from: 'clients', to: 1 },
      { from: 1, to: 'clients' },
      { from: 'controller', to: 1 },
      { from: 2, to: 'controller' },
    ];
    const named = [...dropsOf(cuts, pods, address)].flatMap(([pod, drops]) =>
      drops.map((drop) => cutOf(pod, drop.name)),
    );
    expect(named.map(cutName).toSorted()).toEqual(cuts.map(cutName).toSorted());
  });

  it('refuse a node that is not there', () => {
    expect(() => dropsOf([{ from: 1, to: 9 }], pods, address)).toThrow('a cut names a node that is not deployed: 1→9');
  });
});
