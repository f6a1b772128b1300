/**
 * Joins the comparisons of shards into the one that was declared.
 *
 * The figures are computed anew, from all pairs, by the same code as anywhere else: what comes out is what one machine
 * would have found. Pairs stand in the order of the declared seeds, whichever shard they came from.
 *
 * Invariant: nothing is excluded after the fact. A declared seed that nobody ran, since its shard is missing or ended
 * early, is a pair of runs without a verdict, and the sentence says so. A seed that was run twice counts once if both
 * say the same; if they do not, no choice is made here. Two parts are joined part by part, never across.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ComparisonResults, PairResults, PairedRun } from '../../checker/results.ts';
import { UsageError } from '../errors.ts';
import { seedsOfShard, shardOf } from '../plan/shard.ts';
import { orderOf, runFolder, type Side } from './pairs.ts';
import { REALISM_FOLDER, tellAsOne } from './two-parts.ts';
import { comparePairs } from './verdict.ts';

/**
 * The comparison of which these are shards; their folders are taken to lie in one, where none is in the way of another.
 * Throws a UsageError of one line where they do not belong together. `names`: what that line calls each of them.
 */
export function mergeComparisons(
  parts: readonly ComparisonResults[],
  command: string,
  names: readonly string[] = parts.map(({ shard }) => `shard ${shard?.index}/${shard?.count}`),
): ComparisonResults {
  const named = parts.map((results, at) => ({ name: names[at] ?? '', results }));
  const primary = mergeOne(named.map(shardFrom), command, '');
  const second = named.flatMap(({ name, results: { realism } }) =>
    realism === undefined ? [] : [shardFrom({ name: `the second part of ${name}`, results: realism })],
  );
  const [first] = second;
  if (first === undefined) return primary;
  return tellAsOne(primary, mergeOne(second, wholeCommand(first.results.command), `${REALISM_FOLDER}/`), command);
}

/** The command that repeats all shards on one machine. */
export function wholeCommand(command: string): string {
  return command.replace(/ --shard \d+\/\d+/g, '');
}

interface NamedPart {
  readonly name: string;
  readonly results: ComparisonResults;
}

interface ShardPart extends NamedPart {
  readonly shard: NonNullable<ComparisonResults['shard']>;
}

function shardFrom({ name, results }: NamedPart): ShardPart {
  const { shard, seeds, pairs } = results;
  if (shard === undefined) {
    throw new UsageError(
      `${name} is not a shard, but a whole comparison: name the folders that compare --shard i/n has left`,
    );
  }
  const ran = pairs.map(({ seed }) => seed);
  const own = seedsOfShard(shard.seeds, shard);
  const ownSeeds = new Set(own);
  const isSound =
    shard.seeds.length > 0 &&
    isDeepStrictEqual(seeds, own) &&
    new Set(ran).size === ran.length &&
    ran.every((seed) => ownSeeds.has(seed)) &&
    pairs.every(({ control, candidate }) => [control, candidate].every(addsUp));
  if (!isSound) {
    throw new UsageError(
      `${name} does not hold together: its seeds, its pairs and shard ${shard.index}/${shard.count} do not fit; make it again, or leave it out`,
    );
  }
  return { name, results, shard };
}

/** A run is anomalous if it has violations, and they have kinds. */
function addsUp({ valid, violations, kinds = [] }: PairedRun): boolean {
  return (valid === false) === violations > 0 && kinds.length > 0 === violations > 0;
}

function mergeOne(parts: readonly ShardPart[], command: string, folder: string): ComparisonResults {
  const [first, ...others] = parts;
  if (first === undefined) throw new UsageError('there is nothing to merge: name the folders of the shards');
  for (const other of others) demandSameDeclaration(first, other);
  const { results, shard } = first;
  const found = pairsBySeed(parts);
  const notRun = shard.seeds.filter((seed) => !found.has(seed));
  const present = new Set(parts.map((part) => part.shard.index));
  const pairs = shard.seeds.map((seed) => found.get(seed)?.pair ?? pairOfNobody(seed, shard.count, present, folder));
  const { runtime, configuration } = results;
  const builds = { control: results.control.build, candidate: results.candidate.build };
  return comparePairs({ ...builds, runtime, seeds: shard.seeds, configuration, command }, pairs, notRun);
}

/** The same builds under the same declared seeds, in the same runtime and configuration, divided in the same way. */
function demandSameDeclaration(first: ShardPart, other: ShardPart): void {
  const differing = differences(declarationOf(first), declarationOf(other));
  if (differing.length === 0) return;
  throw new UsageError(
    `${other.name} and ${first.name} are of different comparisons: ${differing.join('; ')}; merge shards of one command`,
  );
}

function declarationOf({ results, shard }: ShardPart): Readonly<Record<string, unknown>> {
  return {
    'number of shards': shard.count,
    control: results.control.build,
    candidate: results.candidate.build,
    runtime: results.runtime,
    seeds: shard.seeds,
    ...results.configuration,
  };
}

function differences(one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>): string[] {
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return keys
    .filter((key) => !isDeepStrictEqual(one[key], other[key]))
    .slice(0, 3)
    .map((key) => `${key} ${inShort(other[key])} and ${inShort(one[key])}`);
}

function inShort(value: unknown): string {
  if (value === undefined) return 'not given';
  if (!Array.isArray(value) || value.length <= 3) return typeof value === 'string' ? value : JSON.stringify(value);
  return `${JSON.stringify(value[0])} to ${JSON.stringify(value.at(-1))} (${value.length})`;
}

function pairsBySeed(parts: readonly ShardPart[]): ReadonlyMap<number, { name: string; pair: PairResults }> {
  const found = new Map<number, { name: string; pair: PairResults }>();
  for (const { name, results } of parts) {
    for (const pair of results.pairs) {
      const before = found.get(pair.seed);
      if (before === undefined) found.set(pair.seed, { name, pair });
      else if (!sameOutcome(before.pair, pair)) {
        throw new UsageError(
          `seed ${pair.seed} came out differently in ${before.name} and in ${name}: name the one that was meant to count, and leave the other out`,
        );
      }
    }
  }
  return found;
}

function sameOutcome(one: PairResults, other: PairResults): boolean {
  const outcome = ({ valid, violations, kinds, exposures, completed }: PairedRun): unknown[] => [
    valid,
    violations,
    kinds,
    exposures,
    completed,
  ];
  return isDeepStrictEqual(
    [outcome(one.control), outcome(one.candidate)],
    [outcome(other.control), outcome(other.candidate)],
  );
}

function pairOfNobody(seed: number, count: number, present: ReadonlySet<number>, folder: string): PairResults {
  const index = shardOf(seed, count);
  const shard = `shard ${index}/${count}`;
  const error = present.has(index) ? `${shard} ended before this run` : `${shard} is missing`;
  const run = (side: Side): PairedRun => ({
    directory: `${folder}${runFolder(side, seed)}`,
    valid: 'unknown',
    violations: 0,
    kinds: [],
    exposures: null,
    completed: false,
    error,
  });
  return { seed, order: orderOf(seed), control: run('control'), candidate: run('candidate') };
}
