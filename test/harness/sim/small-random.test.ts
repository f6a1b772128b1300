import { expect, test } from 'vitest';
import { createRandom } from '../../../harness/plan/random.ts';
import { SmallRandom } from '../../../harness/sim/small-random.ts';

const draws = (name: string, count: number) => {
  const random = new SmallRandom(createRandom(7).stream(name));
  return Array.from({ length: count }, () => random.int(0, 999));
};

test('a stream of the same name draws the same, on every machine', () => {
  expect(draws('net:1→2', 5)).toEqual([937, 211, 351, 965, 853]);
  expect(draws('net:1→2', 100)).toEqual(draws('net:1→2', 100));
  expect(draws('net:2→1', 100)).not.toEqual(draws('net:1→2', 100));
});

test('draws are spread evenly, from the first to the last of the range', () => {
  const counts = Array.from({ length: 10 }, () => 0);
  for (const draw of draws('net:1→2', 100_000)) counts[Math.floor(draw / 100)]! += 1;
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
});
