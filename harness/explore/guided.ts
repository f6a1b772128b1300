/**
 * The guided search: plans that reach abstract states which no run has been in are kept, and changed a little.
 *
 * As in fuzzers of programs (AFL), with schedules for inputs and states of replicas for branches. A third of the runs are
 * drawn afresh, as a plain search draws them; the others are children of kept plans, chosen by how much new they showed
 * and how seldom they were chosen before. How much there is still to find is estimated as for species (STADS): the part
 * of all sightings that were of states seen in one run only (Good and Turing).
 *
 * Runs go in generations, and a child's parents are older than the generation before its own; so the search is the same on any number
 * of threads.
 *
 * Invariant: the same seed and pins give the same runs in the same order. Guided runs never enter a rate.
 */
import type { FaultKind, Schedule } from '../../nemesis/schedule.ts';
import { keyOf } from '../client/operations.ts';
import type { RunConfig } from '../plan/config.ts';
import { createRandom } from '../plan/random.ts';
import { planOf } from '../run/plan.ts';
import { drawConfig, type Pins } from './draws.ts';
import { mutate } from './mutate.ts';
import type { SearchJob, SearchResult } from './one-run.ts';

/** Also how far a pool may run ahead of its results. */
export const GENERATION = 64;
const FRESH = 0.3;
const MOST_KEPT = 1_000;
/** Beyond that the estimate no longer changes for new ones. */
const MOST_STATES = 2_000_000;
const CURVE_RUNS = 1_000;

export interface GuidedOptions {
  readonly build: string;
  readonly seed: number;
  readonly pins: Pins;
  readonly kinds: readonly FaultKind[];
}

export interface GuidedReport {
  readonly states: number;
  /** New states in each thousand of runs; the last entry may stand for fewer. */
  readonly newPerThousand: readonly number[];
  /** Probability that the state which is met next is a new one. */
  readonly goodTuring: number;
  /** Plans that were kept. */
  readonly kept: number;
}

interface Kept {
  readonly run: number;
  readonly config: RunConfig;
  readonly schedule: Schedule;
  readonly fresh: number;
  chosen: number;
}

export class GuidedSearch {
  readonly #options: GuidedOptions;
  #kept: Kept[] = [];
  /** In how many runs each state was seen. */
  readonly #seen = new Map<number, number>();
  #sightings = 0;
  #heard = 0;
  readonly #curve: number[] = [];

  constructor(options: GuidedOptions) {
    this.#options = options;
  }

  /** Every run, for ever. */
  *jobs(): Generator<SearchJob, never, undefined> {
    for (let run = 0; ; run += 1) yield this.#job(run);
  }

  /** Takes the result of the next run, in order. */
  hear(result: SearchResult, job: SearchJob): void {
    let fresh = 0;
    for (const state of result.states) {
      const times = this.#seen.get(state) ?? 0;
      if (times === 0) fresh += 1;
      if (times > 0 || this.#seen.size < MOST_STATES) this.#seen.set(state, times + 1);
    }
    this.#sightings += result.states.length;
    const slot = Math.floor(this.#heard / CURVE_RUNS);
    this.#curve[slot] = (this.#curve[slot] ?? 0) + fresh;
    if (fresh > 0 && 'schedule' in job) this.#keep({ ...job, run: this.#heard, fresh, chosen: 0 });
    this.#heard += 1;
  }

  report(): GuidedReport {
    let once = 0;
    for (const times of this.#seen.values()) if (times === 1) once += 1;
    return {
      states: this.#seen.size,
      newPerThousand: this.#curve,
      goodTuring: this.#sightings === 0 ? 1 : once / this.#sightings,
      kept: this.#kept.length,
    };
  }

  #keep(plan: Kept): void {
    this.#kept.push(plan);
    if (this.#kept.length <= MOST_KEPT) return;
    const weakest = this.#kept.reduce((one, other) => (energyOf(other) < energyOf(one) ? other : one));
    this.#kept = this.#kept.filter((other) => other !== weakest);
  }

  #job(run: number): SearchJob {
    const { build, seed, pins, kinds } = this.#options;
    const random = createRandom(seed).stream(`guided:${run}`);
    const parents = this.#kept.filter((plan) => plan.run < (Math.floor(run / GENERATION) - 1) * GENERATION);
    const parent = random.chance(FRESH) ? undefined : choose(parents, random.fraction());
    if (parent === undefined) {
      const config = drawConfig(build, seed + run, pins, kinds);
      return { config, schedule: planOf(config) };
    }
    parent.chosen += 1;
    const { config } = parent;
    const partitions = Array.from({ length: config.partitions }, (_, partition) => keyOf(config.topic, partition));
    const schedule = mutate(parent.schedule, random.pick(parents).schedule, partitions, random);
    /* Now and then the same plan on another network and another load. */
    return { config: random.chance(0.2) ? { ...config, seed: seed + run } : config, schedule };
  }
}

/** The more a plan showed that was new, and the less its children have been tried, the likelier it is chosen. */
function energyOf({ fresh, chosen }: Kept): number {
  return Math.min(fresh, 20) / (1 + chosen);
}

function choose(plans: readonly Kept[], fraction: number): Kept | undefined {
  let left = fraction * plans.reduce((sum, plan) => sum + energyOf(plan), 0);
  return plans.find((plan) => (left -= energyOf(plan)) < 0) ?? plans.at(-1);
}
