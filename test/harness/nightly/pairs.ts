/** Pairs and cells for tests of nights, told by what came out. */
import type { ComparisonResults, NightResults, PairResults, PairedRun, Verdict } from '../../../checker/results.ts';
import { comparePairs } from '../../../harness/compare/verdict.ts';
import type { CellName } from '../../../harness/nightly/cells.ts';
import { concludeNight, type ConcludedCell, type NightFacts } from '../../../harness/nightly/conclude.ts';
import type { Shard } from '../../../harness/plan/shard.ts';

function run(directory: string, valid: Verdict, exposures: number): PairedRun {
  const broken = valid === false;
  return {
    directory,
    valid,
    violations: broken ? 1 : 0,
    kinds: broken ? ['lost-acked-write'] : [],
    exposures,
    completed: true,
  };
}

export function pairOf(seed: number, control: Verdict, candidate: Verdict, exposures = 1): PairResults {
  return {
    seed,
    order: ['control', 'candidate'],
    control: run(`runs/control-${seed}`, control, exposures),
    candidate: run(`runs/candidate-${seed}`, candidate, exposures),
  };
}

function nameOfCell(name: string, sameBuilds = false): CellName {
  const [builds = '', workload = '', faults = ''] = name.split('.');
  return { name, builds, workload, faults, folder: name, sameBuilds };
}

export interface Told {
  readonly sameBuilds?: boolean;
  readonly declared?: number;
  readonly shard?: Shard;
}

/** A cell of `hw` against `epoch`, or of `epoch` against itself, with seeds from 1 up. */
export function cellOf(name: string, pairs: readonly PairResults[], told: Told = {}): ConcludedCell {
  const { sameBuilds = false, declared = pairs.length, shard } = told;
  const comparison: ComparisonResults = comparePairs(
    {
      control: sameBuilds ? 'epoch' : 'hw',
      candidate: 'epoch',
      runtime: 'sim',
      seeds: Array.from({ length: declared }, (_, index) => index + 1),
      shard,
      configuration: { brokers: 3 },
      command: `npm start -- --seed 1${shard === undefined ? '' : ` --shard ${shard.index}/${shard.count}`}`,
    },
    pairs,
  );
  return { cell: nameOfCell(name, sameBuilds), comparison };
}

/** The night of these cells, with six seeds from 1 up. */
export function nightOf(cells: readonly ConcludedCell[], facts: Partial<NightFacts> = {}): NightResults {
  return concludeNight(
    {
      runtime: 'sim',
      seeds: { from: 1, count: 6 },
      command: 'npm run tidemark -- nightly n.json',
      budgetMs: 3_600_000,
      usedMs: 61_400,
      ended: 'all-run',
      ...facts,
    },
    cells,
  );
}
