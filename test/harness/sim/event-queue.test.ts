import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventQueue } from '../../../harness/sim/event-queue.ts';

const drain = (queue: EventQueue) => {
  const times: number[] = [];
  while (queue.size > 0) {
    times.push(queue.nextTimeNs);
    queue.pop()?.due();
  }
  return times;
};

test('an empty queue has no next time and nothing to give', () => {
  const queue = new EventQueue();
  expect(queue.nextTimeNs).toBe(Infinity);
  expect(queue.pop()).toBe(undefined);
});

test('events come by time, and at one time in the order in which they were scheduled', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (times) => {
      const queue = new EventQueue();
      const due: [number, number][] = [];
      for (const [index, time] of times.entries()) queue.push(time, { due: () => due.push([time, index]) });
      drain(queue);
      const expected = times.map((time, index) => [time, index] as const);
      expect(due).toEqual(expected.toSorted(([a, i], [b, j]) => a - b || i - j));
    }),
  );
});

test('what is scheduled while the queue is drained still comes in order', () => {
  const queue = new EventQueue();
  const due: string[] = [];
  queue.push(5, { due: () => due.push('late') });
  queue.push(1, {
    due: () => {
      due.push('early');
      queue.push(5, { due: () => due.push('latest') });
      queue.push(1, { due: () => due.push('at once') });
    },
  });
  expect(drain(queue)).toEqual([1, 1, 5, 5]);
  expect(due).toEqual(['early', 'at once', 'late', 'latest']);
});
