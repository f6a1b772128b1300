/**
 * One run of a search, from a job to what is kept of it: the module that every thread of the pool loads.
 *
 * A job names a seed, from which everything is drawn, or brings a configuration and a plan of its own, as a guided search
 * does. What comes back is small, whatever the run was: a verdict, the violations by signature, the marks, the states.
 */
import type { AnomalyKind, RunResults, Verdict } from '../../checker/results.ts';
import type { FaultKind, Schedule } from '../../nemesis/schedule.ts';
import type { RunConfig } from '../plan/config.ts';
import { planOf } from '../run/plan.ts';
import { checkSimulation } from '../run/simulated-run.ts';
import { signatureOf } from '../shrink/signature.ts';
import { simulate } from '../sim/simulate.ts';
import type { Simulation } from '../sim/simulation.ts';
import { drawConfig, type Pins } from './draws.ts';
import { marksOf, type Mark } from './marks.ts';
import { statesOf } from './states.ts';

export type SearchJob = SeedJob | PlanJob;

interface SeedJob {
  readonly build: string;
  readonly seed: number;
  readonly pins: Pins;
  readonly kinds: readonly FaultKind[];
}

interface PlanJob {
  readonly config: RunConfig;
  readonly schedule: Schedule;
}

export interface SearchResult {
  readonly valid: Verdict;
  /** One for each signature. */
  readonly violations: readonly Violation[];
  readonly marks: readonly Mark[];
  /** Of a guided search. */
  readonly states: readonly number[];
  readonly events: number;
  readonly virtualNs: number;
}

export interface Violation {
  readonly kind: AnomalyKind;
  readonly signature: string;
  readonly summary: string;
}

export function runJob(job: SearchJob): SearchResult {
  const { config, schedule } = planOfJob(job);
  const request = { config, schedule };
  try {
    const simulation = simulate(request);
    const results = checkSimulation(simulation, request);
    return {
      valid: results.valid,
      violations: violationsOf(results, simulation.trace),
      marks: [...marksOf(simulation.trace, simulation.history, results)],
      states: 'schedule' in job ? statesOf(simulation.trace) : [],
      events: simulation.events,
      virtualNs: simulation.virtualNs,
    };
  } catch (error) {
    if (error instanceof Error) error.message = `the run of seed ${config.seed} broke: ${error.message}`;
    throw error;
  }
}

/** What a job runs. */
export function planOfJob(job: SearchJob): PlanJob {
  if ('schedule' in job) return job;
  const config = drawConfig(job.build, job.seed, job.pins, job.kinds);
  return { config, schedule: planOf(config) };
}

function violationsOf(results: RunResults, trace: Simulation['trace']): Violation[] {
  const bySignature = new Map<string, Violation>();
  const found = results.anomalies.filter((anomaly) => anomaly.class === 'violation');
  /* Each signature reads the trace. */
  const lines = found.length === 0 ? [] : [...trace];
  for (const anomaly of found) {
    const signature = signatureOf(anomaly, lines);
    if (!bySignature.has(signature))
      bySignature.set(signature, { kind: anomaly.kind, signature, summary: anomaly.summary });
  }
  return [...bySignature.values()];
}
