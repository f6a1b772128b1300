/**
 * One run of a comparison in the simulator: the module that every thread of the pool loads.
 *
 * What comes back is what a comparison counts, and no more: hundreds of runs have to fit into memory.
 */
import type { RunResults } from '../../checker/results.ts';
import type { RunConfig } from '../plan/config.ts';
import { writeRunReport } from '../report/run.ts';
import { executeSimulatedRun, planOf } from '../run/simulated-run.ts';
import type { RunSummary } from './verdict.ts';

export interface ComparedRun {
  readonly config: RunConfig;
  readonly name: string;
  readonly command: string;
  /** Where its files go, if they are kept. */
  readonly directory: string;
  readonly keep: 'all' | 'not-valid' | 'unknown';
}

export interface ComparedOutcome {
  readonly results: RunSummary | null;
  readonly error: string | null;
  readonly kept: boolean;
}

const keeps: Readonly<Record<ComparedRun['keep'], (results: RunResults) => boolean>> = {
  all: () => true,
  'not-valid': ({ valid }) => valid !== true,
  unknown: ({ valid }) => valid === 'unknown',
};

export function runJob({ config, name, command, directory, keep }: ComparedRun): ComparedOutcome {
  const request = { config, schedule: planOf(config) };
  const { results, error, kept } = executeSimulatedRun({
    request,
    name,
    command,
    directory,
    keep: keeps[keep],
    report: writeRunReport,
  });
  return { results: results === null ? null : summaryOf(results), error: error?.message ?? null, kept };
}

function summaryOf({ valid, notes, anomalies, exposures }: RunSummary): RunSummary {
  return {
    valid,
    notes: notes.slice(0, 1),
    anomalies: anomalies.map((anomaly) => ({ kind: anomaly.kind, class: anomaly.class, key: anomaly.key })),
    exposures: exposures === null ? null : exposures.map(({ key }) => ({ key })),
  };
}
