/**
 * `run.json`: what is known of a run besides its history, its trace and its logs.
 *
 * It is written when the run begins, as far as it is known then, and again at the end; a run that was killed leaves the
 * first. What others take from it stands in `harness/run-file-schema.ts`.
 */
import type { ProcessEnd } from '../../checker/evidence.ts';
import type { NodeId } from '../../nemesis/ports.ts';
import type { RunConfig } from '../plan/config.ts';
import type { SubjectFacts } from './subject.ts';

export interface RunFile extends SubjectFacts {
  readonly schemaVersion: 1;
  readonly name: string;
  readonly command: string;
  readonly configuration: RunConfig;
  readonly startedAt: string;
  completed: boolean;
  /** Whether every link, but those of nodes that crashed, answered after healing; null when it did not come to that. */
  healed: boolean | null;
  healMs: number | null;
  settled: boolean | null;
  settleMs: number | null;
  residual: readonly string[];
  finalLeaders: Readonly<Record<string, NodeId>>;
  /** Whether the final read reached the end of every partition. */
  finalReadComplete: boolean | null;
  /** Whether all data directories were copied, while no replica changed. */
  logsCollected: boolean;
  /** Of the copied logs. */
  collectedBytes: number | null;
  /** How many lines were written: who checks a copy of the run can tell that its end is missing. */
  recordedLines: { history: number; trace: number; observations?: number } | null;
  /** Processes that ended by themselves, of a cluster that is observed. */
  ends?: readonly ProcessEnd[];
  /** Wall time of each phase. */
  phases: Record<string, number>;
  error?: string;
}

/** Of a run that begins now. */
export function newRunFile(name: string, command: string, configuration: RunConfig): RunFile {
  return {
    schemaVersion: 1,
    name,
    command,
    configuration,
    startedAt: new Date().toISOString(),
    completed: false,
    healed: null,
    healMs: null,
    settled: null,
    settleMs: null,
    residual: [],
    finalLeaders: {},
    finalReadComplete: null,
    logsCollected: false,
    collectedBytes: null,
    recordedLines: null,
    phases: {},
  };
}
