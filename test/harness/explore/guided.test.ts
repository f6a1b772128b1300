/** The guided search keeps what is new, and its runs depend on nothing but their results in order. */
import { describe, expect, it } from 'vitest';
import { GENERATION, GuidedSearch } from '../../../harness/explore/guided.ts';
import type { SearchJob, SearchResult } from '../../../harness/explore/one-run.ts';
import { faultKindsOf } from '../../../harness/plan/config.ts';

const options = { build: 'hw', seed: 5, pins: {}, kinds: faultKindsOf.sim };

function resultWith(...states: readonly number[]): SearchResult {
  return { valid: true, violations: [], marks: [], states, events: 1, virtualNs: 1 };
}

/** Runs that many, hearing results as late as a pool may bring them. */
function play(runs: number, late: number, statesOf: (run: number) => readonly number[]): [SearchJob[], GuidedSearch] {
  const guided = new GuidedSearch(options);
  const jobs: SearchJob[] = [];
  const source = guided.jobs();
  let heard = 0;
  while (jobs.length < runs) {
    jobs.push(source.next().value);
    while (heard < jobs.length - late) {
      guided.hear(resultWith(...statesOf(heard)), jobs[heard] as SearchJob);
      heard += 1;
    }
  }
  return [jobs, guided];
}

describe('a guided search', () => {
  it('does the same runs whether results come at once or as late as they may', () => {
    const states = (run: number): number[] => [run % 7, run];
    const [soon] = play(4 * GENERATION, 0, states);
    const [late] = play(4 * GENERATION, GENERATION, states);
    expect(JSON.stringify(late)).toBe(JSON.stringify(soon));
  });

  it('makes children of plans that reached something new, and only of those', () => {
    const [jobs, guided] = play(4 * GENERATION, 0, (run) => (run === 3 ? [1, 2, 3] : []));
    expect(guided.report().kept).toBe(1);
    const parent = jobs[3];
    if (parent === undefined || !('schedule' in parent)) throw new Error('a guided job has a plan');
    const children = jobs
      .slice(2 * GENERATION)
      .filter(
        (job) =>
          'schedule' in job &&
          job.config.brokers === parent.config.brokers &&
          job.config.rate === parent.config.rate &&
          job.config.timeLimitMs === parent.config.timeLimitMs,
      );
    expect(children.length).toBeGreaterThan(GENERATION);
  });

  it('draws afresh while it has kept nothing', () => {
    const [jobs] = play(20, 0, () => []);
    const seeds = jobs.map((job) => ('schedule' in job ? job.config.seed : -1));
    expect(seeds).toEqual(Array.from({ length: 20 }, (_, run) => 5 + run));
  });

  it('estimates what is still to be found from what was seen once', () => {
    const [, guided] = play(11, 1, (run) => (run < 5 ? [run] : [100]));
    expect(guided.report()).toMatchObject({ states: 6, goodTuring: 0.5, newPerThousand: [6] });
    expect(new GuidedSearch(options).report().goodTuring).toBe(1);
  });
});
