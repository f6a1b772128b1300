/**
 * Joins the nights of shards into the one that was declared, cell by cell.
 *
 * Each cell is joined as any comparison is, and then its figures are computed anew from all its pairs. But a pair that a
 * shard's budget had no time for, or whose shard is missing, is no run here as it is none in any night: the cell is
 * smaller, and the sentence says so.
 */
import type { ComparisonResults, NightCell, NightResults } from '../../checker/results.ts';
import { mergeComparisons, wholeCommand } from '../compare/merge.ts';
import { comparePairs } from '../compare/verdict.ts';
import { UsageError } from '../errors.ts';
import { concludeNight } from './conclude.ts';

/** One shard's night: its results, and the comparison of each of its cells by the cell's name. */
export interface NightPart {
  readonly results: NightResults;
  readonly comparisons: ReadonlyMap<string, ComparisonResults>;
}

/** The joined night, of which the comparisons of the cells are to lie in the folders of the cells. */
export function mergeNights(
  parts: readonly NightPart[],
  command: string,
  names: readonly string[] = parts.map(({ results: { shard } }) => `shard ${shard?.index}/${shard?.count}`),
): NightPart {
  const [first] = parts;
  if (first === undefined) throw new UsageError('there is nothing to merge: name the folders of the shards');
  for (const [at, part] of parts.entries()) demandSameNight(first, part, names[at] ?? '', names[0] ?? '');
  const concluded = first.results.cells.map((cell) => {
    const comparison = mergeCell(cell, parts, names);
    return { cell, comparison };
  });
  const { runtime, seeds } = first.results;
  const ended = areAll(parts) ? endOf(parts.map(({ results }) => results.ended)) : 'shard-missing';
  // Shards run at the same time, each with the whole budget.
  const budgetMs = Math.max(...parts.map(({ results }) => results.budgetMs));
  const usedMs = Math.max(...parts.map(({ results }) => results.usedMs));
  const results = concludeNight({ runtime, seeds, command, budgetMs, usedMs, ended }, concluded);
  return { results, comparisons: new Map(concluded.map(({ cell, comparison }) => [cell.name, comparison])) };
}

function demandSameNight(first: NightPart, part: NightPart, name: string, firstName: string): void {
  const { results } = part;
  if (results.shard === undefined)
    throw new UsageError(
      `${name} is not a shard, but a whole night: name the folders that nightly --shard i/n has left`,
    );
  const differs = (['runtime', 'seeds', 'budgetMs'] as const).find(
    (field) => JSON.stringify(results[field]) !== JSON.stringify(first.results[field]),
  );
  const other = differs ?? (cellNames(results) === cellNames(first.results) ? null : 'cells');
  if (other !== null)
    throw new UsageError(
      `${name} and ${firstName} are of different nights (${other} differ): merge shards of one config`,
    );
}

function cellNames({ cells }: NightResults): string {
  return cells.map(({ name }) => name).join(' ');
}

function mergeCell({ name }: NightCell, parts: readonly NightPart[], names: readonly string[]): ComparisonResults {
  const shards = parts.map(({ comparisons }, at) => {
    const comparison = comparisons.get(name);
    if (comparison === undefined) throw new UsageError(`${names[at]} has no cell ${name}: leave it out`);
    return comparison;
  });
  const told = names.map((shard) => `${name} of ${shard}`);
  const { pairs, notRun = [], ...merged } = mergeComparisons(shards, wholeCommand(shards[0]?.command ?? ''), told);
  const { runtime, seeds, configuration, command } = merged;
  const builds = { control: merged.control.build, candidate: merged.candidate.build };
  const run = pairs.filter(({ seed }) => !notRun.includes(seed));
  return comparePairs({ ...builds, runtime, seeds, configuration, command }, run);
}

/** Whether no shard is missing. */
function areAll(parts: readonly NightPart[]): boolean {
  const present = new Set(parts.map(({ results }) => results.shard?.index));
  return present.size === parts[0]?.results.shard?.count;
}

function endOf(ends: readonly NightResults['ended'][]): NightResults['ended'] {
  if (ends.includes('unfinished')) return 'unfinished';
  return ends.includes('budget') ? 'budget' : 'all-run';
}
