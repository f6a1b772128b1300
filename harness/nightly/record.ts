/**
 * What a night has found so far: the pairs of each cell, in memory and in the ledger, and the results that they make.
 *
 * `results.json` of the cells and of the night are written anew now and then, so that a morning after a crash finds them;
 * the ledger is what counts. Writing them may take a twentieth of the night's time at most.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ComparisonResults, NightResults, PairResults } from '../../checker/results.ts';
import { comparePairs } from '../compare/verdict.ts';
import { environmentErrorFrom } from '../errors.ts';
import { seedsFrom, seedsOfShard } from '../plan/shard.ts';
import { writeJson } from '../store.ts';
import type { Cell } from './cells.ts';
import { concludeNight, type ConcludedCell } from './conclude.ts';
import { budgetMsOf } from './config.ts';
import type { Declared } from './folder.ts';
import { openLedger, type Ledger } from './ledger.ts';
import { Estimates, type Turn } from './order.ts';

export interface NightRequest {
  readonly directory: string;
  readonly declared: Declared;
  readonly cells: readonly Cell[];
  /** As typed, complete: it repeats this night. */
  readonly command: string;
}

export interface FoundPair {
  readonly pair: PairResults;
  /** How much a report has to tell of it. */
  readonly telling: number;
}

const SHARE_OF_WRITING = 1 / 20;

export class NightRecord {
  readonly request: NightRequest;
  readonly budgetMs: number;
  /** Of this night or of its shard, in their order. */
  readonly seeds: readonly number[];
  readonly estimates: Estimates;
  /** Pairs that are over. */
  done = 0;
  readonly #ledger: Ledger;
  /** By seed, of each cell. */
  readonly #found: readonly Map<number, FoundPair>[];
  readonly #startMs = performance.now();
  readonly #usedBeforeMs: number;
  /** Broken runs that count against each cell and kept their files. */
  readonly #kept: number[];
  readonly #changed: Set<number>;
  #writeAfterMs = 0;

  /** Opens the ledger, and the cells' folders. */
  constructor(request: NightRequest) {
    this.request = request;
    const { declared, cells, directory } = request;
    const { seeds, shard, config } = declared;
    this.budgetMs = budgetMsOf(config);
    this.seeds = seedsOfShard(seedsFrom(seeds.from, seeds.count), shard);
    this.estimates = new Estimates(cells.map(({ leastMs }) => 2 * leastMs));
    this.#found = cells.map(() => new Map<number, FoundPair>());
    this.#kept = cells.map(() => 0);
    this.#changed = new Set(cells.keys());
    try {
      for (const { folder } of cells) mkdirSync(join(directory, folder), { recursive: true });
    } catch (error) {
      throw environmentErrorFrom(error, `cannot make the folders of the cells in ${directory}`);
    }
    this.#ledger = openLedger(join(directory, 'ledger.jsonl'));
    const declaredSeeds = new Set(this.seeds);
    for (const { cell: name, pair, telling, tookMs } of this.#ledger.lines) {
      const cell = cells.findIndex((each) => each.name === name);
      if (cell === -1 || !declaredSeeds.has(pair.seed)) continue;
      this.#count({ cell, seed: pair.seed }, { pair, telling }, tookMs);
    }
    this.#usedBeforeMs = Math.max(0, ...this.#ledger.lines.slice(-1).map(({ usedMs }) => usedMs));
  }

  /** How much of the budget is gone. */
  get usedMs(): number {
    return this.#usedBeforeMs + performance.now() - this.#startMs;
  }

  /** All pairs that were declared. */
  get declared(): number {
    return this.seeds.length * this.request.cells.length;
  }

  isDone({ cell, seed }: Turn): boolean {
    return this.#found[cell]?.has(seed) === true;
  }

  /** A pair is over: it is in the ledger when this returns. */
  add({ cell, seed }: Turn, found: FoundPair, tookMs: number): void {
    this.#count({ cell, seed }, found, tookMs);
    const { name } = this.request.cells[cell]!;
    this.#ledger.append({ cell: name, ...found, tookMs: Math.round(tookMs), usedMs: Math.round(this.usedMs) });
  }

  /** How many broken runs have kept their files that count against the cell. */
  keptOf(cell: number): number {
    return this.#kept[cell] ?? 0;
  }

  /** Counts in the results but is not over: a resumed night runs it again. */
  note({ cell, seed }: Turn, found: FoundPair): void {
    this.#found[cell]?.set(seed, found);
    this.#changed.add(cell);
  }

  /** Puts another pair, of the same outcome, in the place of one. */
  replace(cell: number, pair: PairResults): void {
    const telling = this.#found[cell]?.get(pair.seed)?.telling ?? 0;
    this.note({ cell, seed: pair.seed }, { pair, telling });
  }

  /** The pair of a cell of which its report has the most to tell. */
  mostTelling(cell: number): PairResults | null {
    let most: FoundPair | null = null;
    for (const found of this.#pairsOf(cell)) if (most === null || found.telling > most.telling) most = found;
    return most?.pair ?? null;
  }

  /** Writes results as far as they go, unless that was done a moment ago. */
  writeNowAndThen(): void {
    const startMs = performance.now();
    if (startMs < this.#writeAfterMs) return;
    this.write('unfinished');
    const endMs = performance.now();
    this.#writeAfterMs = endMs + (endMs - startMs) / SHARE_OF_WRITING;
  }

  /** Writes the results of all cells that have changed, and those of the night. */
  write(ended: NightResults['ended']): NightResults {
    const { cells, directory } = this.request;
    const concluded = this.conclude();
    const results = this.resultsOf(concluded, ended);
    for (const index of this.#changed) {
      writeJson(join(directory, cells[index]!.folder, 'results.json'), concluded[index]!.comparison);
    }
    this.#changed.clear();
    writeJson(join(directory, 'results.json'), results);
    return results;
  }

  conclude(): ConcludedCell[] {
    return this.request.cells.map((cell, index) => ({ cell, comparison: this.#comparisonOf(cell, index) }));
  }

  resultsOf(concluded: readonly ConcludedCell[], ended: NightResults['ended']): NightResults {
    const { declared, command } = this.request;
    const { runtime, seeds, shard } = declared;
    const { budgetMs } = this;
    const usedMs = Math.round(this.usedMs);
    const facts = { runtime, seeds, ...(shard === undefined ? {} : { shard }), command, budgetMs, usedMs, ended };
    return concludeNight(facts, concluded);
  }

  close(): void {
    this.#ledger.close();
  }

  #count(turn: Turn, found: FoundPair, tookMs: number): void {
    this.note(turn, found);
    this.estimates.took(turn.cell, tookMs);
    this.done += 1;
    const { control, candidate } = found.pair;
    const sides = this.request.cells[turn.cell]?.sameBuilds === true ? [control, candidate] : [candidate];
    this.#kept[turn.cell] =
      this.keptOf(turn.cell) + sides.filter(({ violations, kept }) => violations > 0 && kept !== false).length;
  }

  #comparisonOf(cell: Cell, index: number): ComparisonResults {
    const { runtime, seeds, shard } = this.request.declared;
    const { build: _build, seed: _seed, ...configuration } = cell.configure(cell.control, seeds.from, 'control');
    const { control, candidate } = cell.labels;
    const all = seedsFrom(seeds.from, seeds.count);
    const command = cell.command ?? this.request.command;
    const declaration = { control, candidate, runtime, seeds: all, shard, configuration, command };
    return comparePairs(
      declaration,
      this.#pairsOf(index).map(({ pair }) => pair),
    );
  }

  /** In the order of their seeds. */
  #pairsOf(cell: number): FoundPair[] {
    return [...(this.#found[cell]?.values() ?? [])].toSorted((one, other) => one.pair.seed - other.pair.seed);
  }
}
