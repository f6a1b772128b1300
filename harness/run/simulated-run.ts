/**
 * A run in the simulator, from its configuration to its verdict and, if they are wanted, its files.
 *
 * The files are those of every other runtime, so that check, report and compare need not know where a run was made.
 *
 * Invariant: wall times, paths and the host stand in `run.json` alone; everything else depends on the request only.
 */
import { checkRun } from '../../checker/check.ts';
import type { RunResults } from '../../checker/results.ts';
import { decompressors } from '../check/load-run.ts';
import type { Simulation, SimulationRequest } from '../sim/simulation.ts';

export { planOf } from './plan.ts';

/** How a simulated run is called in its results. */
export interface SimulatedRunName {
  readonly name: string;
  /** The command that shows it again. */
  readonly command: string;
}

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
      ...(ready ? {} : { healed: null, healMs: null, settled: null, settleMs: null, finalReadComplete: null }),
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
