/**
 * A run in the simulator, from its configuration to its verdict and, if they are wanted, its files.
 *
 * The files are those of every other runtime, so that check, report and compare need not know where a run was made.
 *
 * Invariant: wall times, paths and the host stand in `run.json` alone; everything else depends on the request only.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { checkRun } from '../../checker/check.ts';
import type { RunResults } from '../../checker/results.ts';
import { collectedBytes } from '../check/collected-bytes.ts';
import { decompressors } from '../check/decompressors.ts';
import { EnvironmentError, environmentErrorFrom, isSystemError } from '../errors.ts';
import { simulate } from '../sim/simulate.ts';
import type { Onlooker } from '../sim/simulate.ts';
import type { Simulation, SimulationRequest } from '../sim/simulation.ts';
import { writeJson } from '../store.ts';
import type { RunFile } from './run-file.ts';
import type { RunReport } from './run.ts';
import { simulateHeeding } from './heeding.ts';
import { writeSimulationFiles } from './simulated-files.ts';

export { planOf } from './plan.ts';

/** How a simulated run is called in its results. */
export interface SimulatedRunName {
  readonly name: string;
  /** The command that shows it again. */
  readonly command: string;
}

export interface SimulatedRunRequest extends SimulatedRunName {
  readonly request: SimulationRequest;
  /** Where its files go: a folder that is made if it is not there; null: nowhere. */
  readonly directory: string | null;
  /** Whether a run with these results leaves files. */
  readonly keep: (results: RunResults) => boolean;
  /** Renders the report from the files that were kept. */
  readonly report?: (directory: string) => unknown;
  readonly onlooker?: Onlooker;
}

export interface SimulatedRunReport extends RunReport {
  /** Whether its files were written, all of them. */
  readonly kept: boolean;
  readonly simulation: Simulation;
}

/** Simulates, judges, and writes the run's folder if it is to be kept. Throws for programmer errors only. */
export function executeSimulatedRun(wanted: SimulatedRunRequest): SimulatedRunReport {
  const start = now();
  return conclude(wanted, simulate(wanted.request, wanted.onlooker), start);
}

/** The same in a process that hears signals; null if one came before the simulation was over: then nothing is written. */
export async function executeInterruptibly(
  wanted: SimulatedRunRequest,
  signal: AbortSignal,
): Promise<SimulatedRunReport | null> {
  const start = now();
  const simulation = await simulateHeeding(wanted.request, signal, wanted.onlooker);
  if (simulation === null) return null;
  const report = conclude(wanted, simulation, start);
  // A signal that came while it was judged and written down has been heard when this resolves.
  await setImmediate();
  return report;
}

interface Moment {
  readonly at: string;
  readonly ms: number;
}

function now(): Moment {
  return { at: new Date().toISOString(), ms: performance.now() };
}

function conclude(wanted: SimulatedRunRequest, simulation: Simulation, start: Moment): SimulatedRunReport {
  const { request, directory, keep } = wanted;
  const simulatedMs = performance.now();
  const results = checkSimulation(simulation, request, wanted);
  const checkedMs = performance.now();
  const { error } = simulation.facts;
  const failure = error === undefined ? null : new EnvironmentError(error);
  if (directory === null || !keep(results)) {
    return { results, error: failure, kept: false, simulation };
  }
  const phases = { simulating: Math.round(simulatedMs - start.ms), checking: Math.round(checkedMs - simulatedMs) };
  try {
    mkdirSync(directory, { recursive: true });
    writeSimulationFiles(directory, simulation, request.schedule, request.load);
    writeJson(join(directory, 'run.json'), runFile(wanted, simulation, directory, start.at, phases));
    writeJson(join(directory, 'results.json'), results);
    wanted.report?.(directory);
  } catch (cause) {
    if (!(cause instanceof EnvironmentError || isSystemError(cause))) throw cause;
    // What was found stays found, even if it cannot be written down.
    return { results, error: environmentErrorFrom(cause, 'cannot write the run'), kept: false, simulation };
  }
  return { results, error: failure, kept: true, simulation };
}

function runFile(
  { name, command, request: { config } }: SimulatedRunRequest,
  { history, trace, facts }: Simulation,
  directory: string,
  startedAt: string,
  phases: Record<string, number>,
): RunFile {
  const { error, ...known } = facts;
  const ready = error === undefined;
  return {
    schemaVersion: 1,
    name,
    command,
    configuration: config,
    startedAt,
    completed: ready,
    ...(ready ? known : { ...known, ...neverKnown }),
    logsCollected: ready,
    collectedBytes: ready ? collectedBytes(join(directory, 'data')) : null,
    recordedLines: { history: history.length, trace: trace.length },
    phases,
    ...(ready ? {} : { error }),
  };
}

/** Of a run that never came to its load. */
const neverKnown = { healed: null, healMs: null, settled: null, settleMs: null, finalReadComplete: null } as const;

/** Judges a simulation, as `tidemark check` would judge its files. */
export function checkSimulation(
  { history, trace, replicas, facts }: Simulation,
  { config }: SimulationRequest,
  { name, command }: SimulatedRunName = { name: `${config.build}-${config.seed}`, command: '' },
): RunResults {
  const { error, ...known } = facts;
  const ready = error === undefined;
  return checkRun({
    source: 'run',
    run: {
      name,
      command,
      configuration: { ...config },
      ...known,
      ...(ready ? {} : neverKnown),
      logsCollected: ready,
      completed: ready,
      error: error ?? null,
      recordedLines: { history: history.length, trace: trace.length },
    },
    promises: {
      acks: config.acks,
      minInsyncReplicas: config.minInsyncReplicas,
      uncleanElection: config.uncleanElection,
    },
    history,
    trace,
    logs: ready ? { nodes: Array.from({ length: config.brokers }, (_, index) => index + 1), files: replicas } : null,
    decompressors,
  });
}
