import { expect, test } from 'vitest';
import { createRandom } from '../../../harness/plan/random.ts';
import { randomRun } from './random-run.ts';

const ms = 1e6;
const random = (seed: number) => ({ random: createRandom(seed) });

test('whatever is done to it at random, a cluster on a random network comes back, with all replicas in sync and alike', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const { cluster } = randomRun(seed, ['epoch'], 200, random(seed));
    for (const partition of cluster.controller.topics.get('tide')!.partitions) {
      expect([seed, partition.isr.toSorted((one, other) => one - other)]).toEqual([seed, [1, 2, 3]]);
    }
    const files = cluster.brokers.map((node) => {
      const { disk } = cluster.kernel.node(node);
      return disk.logs.map(({ name }) => `${name} ${Buffer.from(disk.file(name)).toString('hex')}`);
    });
    expect([seed, files[1]]).toEqual([seed, files[0]]);
    expect([seed, files[2]]).toEqual([seed, files[0]]);
  }
});

test('the same seed gives the same run on a random network, and the draws of another seed part it', () => {
  const hashes = [1, 1, 2].map((seed) => randomRun(1, ['hw'], 100, random(seed)).cluster.kernel.hash);
  expect(hashes[1]).toBe(hashes[0]);
  expect(hashes[2]).not.toBe(hashes[0]);
});

test('messages as objects and messages on the wire give the identical run on a random network, too', () => {
  for (let seed = 1; seed <= 5; seed += 1) {
    const objects = randomRun(seed, ['hw', 'epoch', 'hw-elect'], 100, random(seed));
    const wire = randomRun(seed, ['hw', 'epoch', 'hw-elect'], 100, { ...random(seed), codec: true });
    expect([...objects.trace]).toEqual([...wire.trace]);
    expect(objects.cluster.kernel.hash).toBe(wire.cluster.kernel.hash);
  }
});

test('what one core hands to another, or says in its trace, is never changed afterwards, by neither of them', () => {
  for (const [index, build] of ['hw', 'kip101', 'epoch'].entries()) {
    const freezing = {
      onMessage: (_: unknown, { body }: { readonly body: unknown }) => freeze(body),
      onTrace: (line: unknown) => freeze(line),
    };
    const run = () => randomRun(index, [build], 150, { ...random(index), ...freezing });
    /* A core that changed one of them would throw, and end the kernel. */
    expect(run().cluster.kernel.hash).toBe(randomRun(index, [build], 150, random(index)).cluster.kernel.hash);
  }
});

/** Freezes it with all that hangs on it, but for bytes, which cannot be frozen. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return;
  for (const each of Object.values(Object.freeze(value))) freeze(each);
}

test('connections that ended and wake-ups that were passed are forgotten, however long it runs', () => {
  const { cluster } = randomRun(4, ['epoch'], 2_000, random(4));
  const { kernel } = cluster;
  const sizes: number[] = [];
  for (let minute = 0; minute < 10; minute += 1) {
    kernel.runFor(60_000 * ms);
    const connections = (['controller', 1, 2, 3] as const).map((node) => kernel.node(node).connections);
    expect(Math.max(...connections)).toBeLessThanOrEqual(10);
    sizes.push(kernel.queue.size);
  }
  expect(Math.max(...sizes)).toBeLessThan(40);
});
