/**
 * Tries cases: does this one still fail in the same way?
 *
 * A case that was made smaller meets other delays of messages than the one before it, since every message draws from the
 * stream of its link. So a case counts as failing if it fails under any of a few seeds, the more the shorter it is, and
 * is kept with the seed that showed it: a failure that needs one lucky delivery is not lost for a bad draw. Whatever was
 * tried before is remembered.
 *
 * Invariant: the answer depends on the case and the signature alone, never on time; only whether there is an answer at
 * all depends on the budget.
 */
import { hash } from 'node:crypto';
import type { Anomaly, RunResults } from '../../checker/results.ts';
import { checkSimulation } from '../run/simulated-run.ts';
import { simulate } from '../sim/simulate.ts';
import type { Simulation, SimulationRequest } from '../sim/simulation.ts';
import type { Case } from './case.ts';
import { signatureOf } from './signature.ts';

/** A case, what it did, and the violations by signature. */
export interface Judged {
  readonly simulation: Simulation;
  readonly results: RunResults;
  readonly violations: ReadonlyMap<string, Anomaly>;
}

export interface Budget {
  readonly runs: number;
  readonly ms: number;
}

/** Short cases are tried under so many seeds, long ones under one. */
const MOST_SEEDS = 8;
const SEEDS_PER_MS = 24_000;

export function judge(request: SimulationRequest): Judged {
  const simulation = simulate(request);
  const results = checkSimulation(simulation, request);
  const violations = new Map<string, Anomaly>();
  const found = results.anomalies.filter((anomaly) => anomaly.class === 'violation');
  /* Each signature reads the trace. */
  const trace = found.length === 0 ? [] : [...simulation.trace];
  for (const anomaly of found) {
    const signature = signatureOf(anomaly, trace);
    if (!violations.has(signature)) violations.set(signature, anomaly);
  }
  return { simulation, results, violations };
}

export class Trial {
  /** What a case has to show. */
  signature = '';
  readonly #budget: Budget;
  readonly #startedMs = performance.now();
  #baseSeed: number;
  /** By a hash of the signature and the case: thousands of operations are long names. */
  readonly #known = new Map<string, Case | null>();
  #stopped = false;
  runs = 0;

  constructor(baseSeed: number, budget: Budget) {
    this.#baseSeed = baseSeed;
    this.#budget = budget;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  /** Nothing more is tried. */
  stop(): void {
    this.#stopped = true;
  }

  /** Whether runs and time are used up, or it was stopped. */
  get spent(): boolean {
    return this.#stopped || this.runs >= this.#budget.runs || this.elapsedMs >= this.#budget.ms;
  }

  /** The case with a seed under which it fails, or null. Whatever is worth it is tried under `least` seeds, however long. */
  fails(candidate: Case, least = 1): Case | null {
    const { signature } = this;
    const name = hash('sha256', JSON.stringify({ signature, ...candidate, config: { ...candidate.config, seed: 0 } }));
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    let failing: Case | null = null;
    for (const seed of this.seedsFor(candidate, least)) {
      if (this.spent) return null;
      const seeded = { ...candidate, config: { ...candidate.config, seed } };
      this.runs += 1;
      if (judge(seeded).violations.has(signature)) {
        failing = seeded;
        break;
      }
    }
    this.#known.set(name, failing);
    return failing;
  }

  /** Whether exactly this case fails, with its seed; false when the budget is used up. */
  failsAsItIs(candidate: Case): boolean {
    if (this.spent) return false;
    this.runs += 1;
    return judge(candidate).violations.has(this.signature);
  }

  /** From now on cases are tried under other seeds: what was stuck may move. */
  takeFreshSeeds(): void {
    this.#baseSeed += MOST_SEEDS;
    this.#known.clear();
  }

  /** The seeds under which a case is tried: its own first, then its neighbours. */
  seedsFor({ config, schedule }: Case, least = 1): number[] {
    const count = Math.min(MOST_SEEDS, Math.max(least, Math.floor(SEEDS_PER_MS / schedule.durationMs)));
    const others = Array.from({ length: MOST_SEEDS }, (_, index) => this.#baseSeed + index);
    return [config.seed, ...others.filter((seed) => seed !== config.seed)].slice(0, count);
  }
}
