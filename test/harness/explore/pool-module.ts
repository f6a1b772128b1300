/** A job for the tests of the pool: doubles a number; some numbers take long, are refused, or end their thread. */
import { isMainThread } from 'node:worker_threads';

export interface PoolJob {
  readonly number: number;
  readonly rounds?: number;
  readonly inWorker?: 'refuse' | 'die';
}

interface PoolResult {
  readonly doubled: number;
  readonly main: boolean;
  readonly waste: number;
}

export function runJob({ number, rounds = 0, inWorker }: PoolJob): PoolResult {
  if (!isMainThread && inWorker === 'refuse') throw new Error(`number ${number} is refused`);
  if (!isMainThread && inWorker === 'die') process.exit(7);
  let waste = number;
  for (let round = 0; round < rounds; round += 1) waste = Math.imul(waste, 31) + round;
  return { doubled: 2 * number, main: isMainThread, waste };
}
