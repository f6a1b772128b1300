import { expect, test } from 'vitest';
import type { KernelEvent } from '../../../harness/sim/journal.ts';
import { randomRun } from './random-run.ts';

const steps = 150;

test('the same calls give the same hash over every event, others another', () => {
  const first = randomRun(1, ['epoch'], steps).cluster.kernel;
  const again = randomRun(1, ['epoch'], steps).cluster.kernel;
  const other = randomRun(2, ['epoch'], steps).cluster.kernel;
  expect(first.hash).toMatch(/^[0-9a-f]{16}$/);
  expect([again.hash, again.events]).toEqual([first.hash, first.events]);
  expect(other.hash).not.toBe(first.hash);
});

test.for([['epoch'], ['hw'], ['hw', 'epoch', 'epoch'], ['hw-elect', 'epoch', 'hw']])(
  'messages that pass as objects and messages on the wire give the identical run: %s',
  (builds) => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const objects = randomRun(seed, builds, steps);
      const wire = randomRun(seed, builds, steps, { codec: true });
      expect([...objects.trace]).toEqual([...wire.trace]);
      expect(objects.answers).toEqual(wire.answers);
      expect(objects.cluster.kernel.hash).toBe(wire.cluster.kernel.hash);
    }
  },
);

test('whoever listens is told every event in order, and can have it described', () => {
  const events: KernelEvent[] = [];
  const { cluster } = randomRun(3, ['epoch'], 20, { onEvent: (event) => events.push(event) });
  expect(events).toHaveLength(cluster.kernel.events);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ hash }) => hash)).size).toBe(events.length);
  const told = events.map(({ describe }) => describe());
  expect(told[0]).toMatch(/^event 1 at 1\.500 ms: controller writes \{.*\}; 1 writes /);
  expect(told[0]).toMatch(/ BrokerRegistration request broker-1\.1#0 from 1 to controller arrives$/);
  expect(told.some((line) => line.includes('is woken'))).toBe(true);
  expect(told.some((line) => line.includes('writes {"event":"append","partition":"tide-'))).toBe(true);
});

test('two runs part at the event that differs', () => {
  const hashes: number[] = [];
  randomRun(3, ['epoch'], 20, { onEvent: ({ hash }) => hashes.push(hash) });
  let parted: string | null = null;
  let at = 0;
  const onEvent = ({ hash, describe }: KernelEvent) => {
    if (hash !== hashes[at++]) parted ??= describe();
  };
  randomRun(3, ['hw'], 20, { onEvent });
  expect(parted).toContain('1 writes {"event":"start","port":9092,"build":"hw"');
});
