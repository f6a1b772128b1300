import { afterEach, beforeEach, expect, it } from 'vitest';
import { openZooKeeper } from '../../../harness/run/zookeeper.ts';
import { closedPort } from './little-broker.ts';
import { startLittleZooKeeper, type LittleZooKeeper } from './little-zookeeper.ts';

let keeper: LittleZooKeeper;

beforeEach(async () => {
  keeper = await startLittleZooKeeper();
});
afterEach(() => keeper.close());

it('nodes are created, read, written and removed, and absence is told', async () => {
  const zookeeper = await openZooKeeper(keeper.address, 2_000);
  expect(await zookeeper.get('/a')).toBeNull();
  expect(await zookeeper.set('/a', '1')).toBe(false);
  expect(await zookeeper.create('/a', '{"é":1}')).toBe(true);
  expect(await zookeeper.create('/a', '2')).toBe(false);
  expect(await zookeeper.get('/a')).toBe('{"é":1}');
  expect(await zookeeper.set('/a', '3')).toBe(true);
  expect(keeper.nodes.get('/a')).toBe('3');
  expect(await zookeeper.remove('/a')).toBe(true);
  expect(await zookeeper.remove('/a')).toBe(false);
  zookeeper.close();
  await expect(zookeeper.get('/a')).rejects.toThrow('this ZooKeeper session is closed');
});

it('a refusal is told with its number', async () => {
  const zookeeper = await openZooKeeper(keeper.address, 2_000);
  keeper.mood = 'refuse';
  await expect(zookeeper.create('/a', '1')).rejects.toThrow('ZooKeeper refuses create /a: error -102');
  zookeeper.close();
});

it('an answer that is none ends the errand', async () => {
  const zookeeper = await openZooKeeper(keeper.address, 2_000);
  keeper.mood = 'garbage';
  await expect(zookeeper.get('/a')).rejects.toThrow('ZooKeeper answers get /a with something else');
  zookeeper.close();
});

it('silence is waited for as long as was said, and no longer', async () => {
  keeper.mood = 'silent';
  const { host, port } = keeper.address;
  await expect(openZooKeeper(keeper.address, 50)).rejects.toThrow(
    `ZooKeeper at ${host}:${port}: no answer within 50 ms`,
  );
});

it('a port where nobody listens is one clear line', async () => {
  const port = await closedPort();
  await expect(openZooKeeper({ host: '127.0.0.1', port }, 2_000)).rejects.toThrow(
    new RegExp(`^ZooKeeper at 127\\.0\\.0\\.1:${port}: connect ECONNREFUSED`, 'u'),
  );
});
