/** What brokers of the ZooKeeper era keep there, asked of a little ZooKeeper on a real socket. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seatController, whenForgotten } from '../../../harness/run/zookeeper-brokers.ts';
import { startLittleZooKeeper, type LittleZooKeeper } from './little-zookeeper.ts';

let keeper: LittleZooKeeper;
const patient = new AbortController().signal;

beforeEach(async () => {
  keeper = await startLittleZooKeeper();
});

afterEach(() => keeper.close());

it('the controller is unseated until the wanted broker has the seat', async () => {
  keeper.nodes.set('/controller', JSON.stringify({ version: 1, brokerid: 1 }));
  let elections = 0;
  keeper.onWrite = (path) => {
    elections += 1;
    keeper.nodes.set(path, JSON.stringify({ version: 1, brokerid: elections === 3 ? 4 : 2 }));
  };
  expect(await seatController(keeper.address, 4, 2_000)).toBe(true);
  expect(elections).toBe(3);
});

describe('a broker that is to be started', () => {
  const place = () => ({ ...keeper.address, controllerId: 4 });
  const start = (node: number | 'controller') => ({ port: 'process', verb: 'start', node }) as const;

  it('waits until the registration of its last session is gone', async () => {
    keeper.nodes.set('/brokers/ids/2', '{}');
    const asked = keeper.reads;
    const waiting = whenForgotten(place(), start(2), 10_000, patient).then((gone) => ({
      gone,
      there: keeper.nodes.size,
    }));
    await expect.poll(() => keeper.reads - asked).toBeGreaterThan(2);
    keeper.nodes.delete('/brokers/ids/2');
    expect(await waiting).toEqual({ gone: true, there: 0 });
    await expect.poll(() => keeper.connections()).toBe(0);
  });

  it('waits for nobody else’s registration', async () => {
    keeper.nodes.set('/brokers/ids/2', '{}');
    expect(await whenForgotten(place(), start(1), 10_000, patient)).toBe(true);
    expect(await whenForgotten(place(), start('controller'), 10_000, patient)).toBe(true);
  });

  it('is known by its own id where it is there to be the controller', async () => {
    keeper.nodes.set('/brokers/ids/4', '{}');
    expect(await whenForgotten(place(), start('controller'), 50, patient)).toBe(false);
  });

  it('waits no longer than it is told to', async () => {
    keeper.nodes.set('/brokers/ids/2', '{}');
    expect(await whenForgotten(place(), start(2), 50, patient)).toBe(false);
  });

  it('is not waited for when the run ends: ZooKeeper is left at once, whether it answers or not', async () => {
    keeper.nodes.set('/brokers/ids/2', '{}');
    for (const mood of ['answers', 'silent'] as const) {
      if (mood === 'silent') keeper.mood = mood;
      const ending = new AbortController();
      const waiting = whenForgotten(place(), start(2), 60_000, ending.signal);
      await expect.poll(() => keeper.connections()).toBe(1);
      ending.abort();
      expect(await waiting).toBe(false);
      await expect.poll(() => keeper.connections()).toBe(0);
      expect(await whenForgotten(place(), start(2), 60_000, ending.signal)).toBe(false);
    }
  });

  it('is started all the same where ZooKeeper does not answer', async () => {
    keeper.mood = 'silent';
    expect(await whenForgotten(place(), start(2), 50, patient)).toBe(false);
    keeper.mood = 'garbage';
    expect(await whenForgotten(place(), start(2), 1_000, patient)).toBe(false);
  });
});

it('what is no start waits for nothing', async () => {
  keeper.nodes.set('/brokers/ids/2', '{}');
  const place = { ...keeper.address, controllerId: 4 };
  expect(await whenForgotten(place, { port: 'process', verb: 'kill', node: 2 }, 10_000, patient)).toBe(true);
  expect(await whenForgotten(place, { port: 'links', cuts: [] }, 10_000, patient)).toBe(true);
  expect(keeper.connections()).toBe(0);
});
