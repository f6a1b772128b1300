/**
 * From the comparisons of the cells to the results of the night: its verdict, and the one sentence.
 *
 * The cells are a family of tests, so the p-value of each is corrected by Holm over all of them; within a cell the
 * comparison stands as it is. A night is false where one candidate broke one promise in one cell. Where both sides of a
 * cell are the same, a violation on either counts: such pairs ask whether the test itself raises alarms.
 *
 * Invariant: a pair that was not run is no run. It is neither clean nor unknown; the sentence says how many there are.
 * Of a night that is not finished no significance is told: whoever looks before the end may be the one who ends it.
 */
import type { ComparisonResults, NightCell, NightResults, Verdict } from '../../checker/results.ts';
import { SIGNIFICANCE, holm } from '../compare/statistics.ts';
import { failureIn, unexercised, worstOf } from '../compare/verdict.ts';
import { exitCodeOfVerdict, exitCodes } from '../errors.ts';
import { capital, counted, listInWords } from '../report/words.ts';
import type { CellName } from './cells.ts';

export interface ConcludedCell {
  readonly cell: CellName;
  readonly comparison: ComparisonResults;
}

export type NightFacts = Pick<
  NightResults,
  'runtime' | 'seeds' | 'shard' | 'command' | 'budgetMs' | 'usedMs' | 'ended'
>;

/** Cells that a sentence names. */
const NAMED_MAX = 3;

/** Everything that a night's `results.json` says. */
export function concludeNight(facts: NightFacts, concluded: readonly ConcludedCell[]): NightResults {
  const adjusted = holm(concluded.map(({ comparison }) => comparison.tests[0]?.p ?? 1));
  const cells = concluded.map(({ cell, comparison }, index) => cellOf(cell, comparison, adjusted[index] ?? 1));
  const results = {
    schemaVersion: 1,
    type: 'night',
    // Evidence that should be there is missing with a shard.
    valid: worstOf([...cells.map(({ valid }) => valid), facts.ended === 'shard-missing' ? 'unknown' : true]),
    verdict: '',
    ...facts,
    cells,
  } as const;
  return { ...results, verdict: sentenceOf(results) };
}

function cellOf(cell: CellName, comparison: ComparisonResults, adjustedP: number): NightCell {
  const { name, builds, workload, faults, folder, sameBuilds } = cell;
  const { verdict, void: isVoid, configuration, command, control, candidate, tests, seeds, pairs } = comparison;
  const failed = failureIn(comparison);
  const ofControl: Verdict = control.anomalous > 0 ? false : control.unknown > 0 ? 'unknown' : true;
  return {
    name,
    builds,
    workload,
    faults,
    folder,
    sameBuilds,
    valid: sameBuilds ? worstOf([comparison.valid, ofControl]) : comparison.valid,
    verdict,
    void: isVoid,
    declared: seeds.length,
    done: pairs.length,
    configuration,
    command,
    control,
    candidate,
    tests,
    adjustedP,
    ...(failed === null ? {} : { failed }),
  };
}

/** Whether the control of the cell was to break, and did not. */
export function isSilent({ sameBuilds, control, done }: NightCell): boolean {
  return !sameBuilds && done > 0 && control.anomalous === 0;
}

/** What became of a cell, in a word. Whether a control showed anything is not for one shard to say. */
export function wordOfCell(cell: NightCell, ofShard: boolean): string {
  if (cell.done === 0) return 'not run';
  if (cell.valid !== true) return cell.valid === false ? 'broken' : 'unknown';
  if (isSilent(cell) && !ofShard) return 'control silent';
  return isIdle(cell) ? 'not exercised' : 'kept';
}

/** Whether no run of its candidate met the dangerous moment, as far as that is known. */
function isIdle({ candidate, done }: NightCell): boolean {
  return done > 0 && unexercised(candidate).idle === candidate.runs;
}

/**
 * The exit code of a night. Of one shard it says only what no other shard can change: that a promise was broken, or that
 * some of its runs are unknown.
 */
export function exitCodeOfNight({ valid, shard, cells }: NightResults): number {
  if (shard !== undefined && valid === 'unknown') {
    const unknown = cells.some(
      ({ control, candidate, sameBuilds }) => candidate.unknown + (sameBuilds ? control.unknown : 0) > 0,
    );
    return unknown ? exitCodes.unknown : exitCodes.valid;
  }
  if (shard === undefined && valid === true && cells.some(isSilent)) return exitCodes.controlSilent;
  return exitCodeOfVerdict(valid);
}

/** One sentence that a manager can read and an engineer cannot fault. */
function sentenceOf(results: NightResults): string {
  const { cells, shard } = results;
  const ofShard = shard === undefined ? '' : `Shard ${shard.index} of ${shard.count}: `;
  const done = cells.reduce((sum, cell) => sum + cell.done, 0);
  const head = done === 0 ? 'no pair was run, so nothing was compared' : headOf(results, done);
  return capital(`${ofShard}${head}${unrunIn(results, done)}${idleIn(cells)}.`);
}

function headOf({ valid, cells, shard, ended, runtime }: NightResults, done: number): string {
  const where = `in ${counted(cells.length, 'cell')} and ${counted(done, 'pair')}`;
  const broken = cells.filter((cell) => cell.valid === false);
  if (valid === false) return `a promise was broken ${share(broken, cells)}: ${named(broken, howBrokenIn(runtime))}`;
  const clean = `no candidate broke a promise ${where}`;
  if (shard !== undefined) return `${clean}, and all shards together give the verdict`;
  if (ended === 'shard-missing') return `${clean}, but the verdict is unknown without the shard that is missing`;
  const unknown = cells.filter((cell) => cell.valid === 'unknown');
  if (valid === 'unknown')
    return `${clean}, but the verdict is unknown ${share(unknown, cells)} (${named(unknown, nameOf)})`;
  const silent = cells.filter(isSilent);
  if (silent.length > 0) {
    return `the control showed nothing ${share(silent, cells)} (${named(silent, nameOf)}), so nothing is proved there; ${clean}`;
  }
  const compared = cells.filter(({ sameBuilds }) => !sameBuilds);
  if (compared.length === 0) return clean;
  return `${clean}, and every control did${ended === 'unfinished' ? '' : significance(compared, cells.length)}`;
}

/** In how many of the cells the builds differ significantly, after Holm's correction. */
function significance(compared: readonly NightCell[], family: number): string {
  if (compared.every((cell) => !canBeSignificant(cell, family))) return ', not significant at this n';
  const significant = compared.filter(({ adjustedP }) => adjustedP <= SIGNIFICANCE);
  return `, significantly in ${significant.length} of ${counted(compared.length, 'cell')}`;
}

/** Whether so few pairs can show anything, in a family of so many cells. */
export function canBeSignificant(
  { tests, adjustedP }: Pick<NightCell, 'tests' | 'adjustedP'>,
  family: number,
): boolean {
  return adjustedP <= SIGNIFICANCE || (tests[0]?.smallestP ?? 1) * family <= SIGNIFICANCE;
}

function share(some: readonly NightCell[], all: readonly NightCell[]): string {
  return `in ${some.length} of ${counted(all.length, 'cell')}`;
}

function howBrokenIn(runtime: string): (cell: NightCell) => string {
  return ({ control, candidate, sameBuilds, name }) => {
    // In the simulator the two runs of an equal pair are one run, made twice.
    const judged = sameBuilds && runtime !== 'sim' ? [control, candidate] : [candidate];
    const sum = (of: 'anomalous' | 'runs'): number => judged.reduce((all, build) => all + build[of], 0);
    return `${candidate.build} in ${sum('anomalous')} of ${counted(sum('runs'), 'run')} (${name})`;
  };
}

function nameOf({ name }: NightCell): string {
  return name;
}

function named(cells: readonly NightCell[], say: (cell: NightCell) => string): string {
  const left = cells.length - NAMED_MAX;
  return listInWords([
    ...cells.slice(0, NAMED_MAX).map(say),
    ...(left > 0 ? [counted(left, 'more cell', 'more cells')] : []),
  ]);
}

function unrunIn({ cells, ended, budgetMs }: NightResults, done: number): string {
  const declared = cells.reduce((sum, cell) => sum + cell.declared, 0);
  // The last pair may be half a one.
  if (done === declared) return ended === 'unfinished' ? '; the night is not finished' : '';
  const many = `; only ${done} of ${counted(declared, 'pair')} ${done === 1 ? 'was' : 'were'} run`;
  if (ended === 'budget') return `${many}, since the budget of ${budgetInWords(budgetMs)} ended`;
  return ended === 'unfinished' ? `${many} so far` : many;
}

function idleIn(cells: readonly NightCell[]): string {
  const idle = cells.filter(isIdle);
  if (idle.length === 0) return '';
  return `; ${named(idle, nameOf)} never met the dangerous moment`;
}

/** `3 h`, `90 min`, `45 s`. */
export function budgetInWords(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`;
}
