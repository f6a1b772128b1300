/**
 * The judge of what was played in virtual time: hands a play to the checker, which is the one that judges real runs too.
 */
import { checkRun } from '../../checker/check.ts';
import type { RunResults } from '../../checker/results.ts';
import type { PlayEvidence } from '../sim/judgement.ts';
import { decompressors } from './decompressors.ts';

/** What the checker says of a play. Without a state of rest at the end there are no final logs to judge by. */
export function judgePlay(evidence: PlayEvidence): RunResults {
  const { name, build, defects, brokers, settings, history, trace, replicas, settled, finalLeaders } = evidence;
  const configuration = { build, runtime: 'sim', seed: 0, brokers, defects, acks: 'all', ...settings };
  return checkRun({
    source: 'run',
    run: {
      name,
      command: `tidemark scenario ${name} --build ${build}`,
      configuration,
      settled,
      healed: null,
      settleMs: null,
      residual: [],
      finalLeaders,
      finalReadComplete: null,
      logsCollected: true,
      completed: true,
      error: null,
      recordedLines: null,
    },
    promises: {
      acks: 'all',
      minInsyncReplicas: settings.minInsyncReplicas,
      uncleanElection: settings.uncleanElection,
    },
    history,
    trace,
    logs: { nodes: Array.from({ length: brokers }, (_, index) => index + 1), files: replicas },
    decompressors,
  });
}
