/**
 * A night as JUnit XML: a suite for each cell. The cells' own comparisons have theirs, seed by seed, in their folders.
 */
import type { NightCell, NightResults } from '../../checker/results.ts';
import { classOf, controlCase, short, withCommand, type Outcome, type Suite } from './junit-suite.ts';
import { counted, kindsInWords, span } from './words.ts';

/** One for each cell. */
export function nightSuites(night: NightResults): Suite[] {
  return night.cells.map((cell) => cellSuite(cell, night));
}

function cellSuite(cell: NightCell, night: NightResults): Suite {
  const { name, control, candidate, command, done, declared, sameBuilds } = cell;
  const className = classOf(night.runtime, name);
  const { from, count } = night.seeds;
  return {
    name: `${name}: ${control.build} against ${candidate.build}`,
    properties: {
      seed: span(from, from + count - 1),
      build: candidate.build,
      control: control.build,
      runtime: night.runtime,
      command,
    },
    cases: [
      { name: 'every declared pair was run', className, outcome: notRun(done, declared, night.ended) },
      // Whether the control showed anything is not for one shard to say.
      ...(sameBuilds || done === 0 || night.shard !== undefined ? [] : [controlCase(control, className)]),
      {
        name: sameBuilds ? 'both sides keep their word' : 'the candidate keeps its word',
        className,
        outcome: outcomeOfCell(cell, night.shard !== undefined),
      },
    ],
  };
}

/** What did not fit into the budget was not to be run; what was interrupted was. */
function notRun(done: number, declared: number, ended: NightResults['ended']): Outcome {
  if (done >= declared) return null;
  const message = `${done} of ${counted(declared, 'pair')} were run`;
  return ended === 'budget'
    ? { is: 'skipped', message: `${message}: the others did not fit into the budget` }
    : { is: 'error', type: ended === 'shard-missing' ? ended : 'unfinished', message };
}

function outcomeOfCell(cell: NightCell, ofShard: boolean): Outcome {
  const { valid, verdict, control, candidate, sameBuilds, command, failed } = cell;
  const judged = sameBuilds ? [control, candidate] : [candidate];
  const kinds = judged.flatMap((build) => Object.keys(build.kinds));
  const details = withCommand(judged.map((build) => `${build.build}: ${kindsInWords(build)}`).join('\n'), command);
  const message = short(verdict);
  switch (valid) {
    case true:
      // Of a control alone: the night ends with 255 for it, too.
      return failed === undefined ? null : { is: 'error', type: 'failed', message: short(failed), details };
    case false:
      return { is: 'failure', type: kinds[0] ?? 'violation', message, details };
    case 'unknown':
      // Of a shard too few runs may be too few for itself only; unknown runs are unknown in every sum.
      return ofShard && failed === undefined && judged.every(({ unknown }) => unknown === 0)
        ? null
        : { is: 'error', type: 'unknown', message, details };
  }
}
