/** The pool: results in order, from every thread; failures in one line; nothing left running. */
import { describe, expect, it } from 'vitest';
import { defaultThreads, nextBlock, runJobs, usefulThreads, type PoolOptions } from '../../../harness/explore/pool.ts';
import type { PoolJob, runJob } from './pool-module.ts';

type Result = ReturnType<typeof runJob>;

function optionsFor(threads: number, more: Partial<PoolOptions<PoolJob, Result>> = {}): PoolOptions<PoolJob, Result> {
  return {
    module: new URL('./pool-module.ts', import.meta.url),
    load: () => import('./pool-module.ts'),
    threads,
    signal: new AbortController().signal,
    ...more,
  };
}

function* numbers(count: number, job: (number: number) => Omit<PoolJob, 'number'> = () => ({})): Generator<PoolJob> {
  for (let number = 0; number < count; number += 1) yield { number, ...job(number) };
}

async function all(jobs: Iterable<PoolJob>, options: PoolOptions<PoolJob, Result>): Promise<Result[]> {
  const results: Result[] = [];
  for await (const result of runJobs(jobs, options)) results.push(result);
  return results;
}

/** So many jobs were taken, at most, before the result of the first of them was handed on. */
async function mostUnderWay(jobs: number, rounds: number, more: Partial<PoolOptions<PoolJob, Result>> = {}) {
  let taken = 0;
  let heard = 0;
  let most = 0;
  function* counted(): Generator<PoolJob> {
    for (const job of numbers(jobs, () => ({ rounds }))) {
      taken += 1;
      most = Math.max(most, taken - heard);
      yield job;
    }
  }
  for await (const _ of runJobs(counted(), optionsFor(2, more))) heard += 1;
  expect(heard).toBe(jobs);
  return most;
}

describe('the number of threads', () => {
  it('is what was asked for, as far as there are jobs and cores for them', () => {
    expect(usefulThreads(1, Infinity)).toBe(1);
    expect(usefulThreads(2, Infinity)).toBe(2);
    expect(usefulThreads(2, 1)).toBe(1);
    expect(usefulThreads(256, Infinity)).toBe(Math.min(256, 4 * defaultThreads()));
  });
});

describe('the pool', () => {
  it.each([1, 2, 3])('gives every result, in the order of the jobs, on %i threads', async (threads) => {
    /* Every seventh is slow, so that later ones are done before it. */
    const jobs = numbers(300, (number) => ({ rounds: number % 7 === 0 ? 3_000_000 : 10_000 }));
    const results = await all(jobs, optionsFor(threads));
    expect(results.map(({ doubled }) => doubled)).toEqual(Array.from({ length: 300 }, (_, number) => 2 * number));
    expect(results.some(({ main }) => main)).toBe(true);
    expect(results.some(({ main }) => !main)).toBe(threads > 1);
  });

  it('takes no more jobs ahead of the first missing result than it may', async () => {
    expect(await mostUnderWay(400, 100_000, { ahead: 20 })).toBeLessThanOrEqual(21);
  });

  it('gives a worker more and more jobs at a time, and fewer where they take long', () => {
    const grown = [1, 1, 1, 1, 1, 1].reduce((block, tookMs) => nextBlock(block, tookMs, 16), 1);
    expect(grown).toBe(16);
    expect([16, 8, 4, 2, 1].map((block) => nextBlock(block, 1_000, 16))).toEqual([8, 4, 2, 1, 1]);
  });

  it('says in one line that a thread died, and which code it ended with', async () => {
    const jobs = numbers(1_000, () => ({ rounds: 1_000_000, inWorker: 'die' }));
    await expect(all(jobs, optionsFor(2))).rejects.toMatchObject({
      name: 'EnvironmentError',
      message: 'a worker thread ended with code 7',
    });
  });

  it('throws what a job threw in a thread, with its stack', async () => {
    const jobs = numbers(1_000, () => ({ rounds: 1_000_000, inWorker: 'refuse' }));
    await expect(all(jobs, optionsFor(2))).rejects.toMatchObject({
      name: 'Error',
      message: expect.stringMatching(/^number \d+ is refused$/) as string,
      stack: expect.stringContaining('pool-module.ts') as string,
    });
  });

  it('ends with an interrupt, and has handed on what came before', async () => {
    const controller = new AbortController();
    const results: Result[] = [];
    const listen = async (): Promise<void> => {
      for await (const result of runJobs(
        numbers(100_000, () => ({ rounds: 100_000 })),
        optionsFor(2, { signal: controller.signal }),
      )) {
        results.push(result);
        if (results.length === 10) controller.abort();
      }
    };
    await expect(listen()).rejects.toMatchObject({ name: 'InterruptedError' });
    expect(results).toHaveLength(10);
  });

  it('stops when nobody listens any more', async () => {
    for await (const { doubled } of runJobs(numbers(1_000_000), optionsFor(2))) if (doubled === 40) break;
  });

  it('is through at once where there is nothing to do', async () => {
    expect(await all([], optionsFor(1))).toEqual([]);
    expect(await all([], optionsFor(2))).toEqual([]);
  });
});
