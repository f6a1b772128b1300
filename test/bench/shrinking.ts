/**
 * Shrinking: failures of 200 primitive faults each, made smaller; how many faults are left, and the seconds that it took.
 *
 * Builds take turns. The faults are single ones (no composite holds a whole schedule), some two a second, in a run of two
 * virtual minutes; the first 200 of each plan are kept. Each failure is shrunk as `tidemark shrink` does it, from
 * the first run, which has to show it, to the last. Then every fault that is left is taken out once: the anomaly must be
 * gone. Beside the seconds on the clock stand those of the processor, in which other work counts little.
 */
import { defaultRunConfig } from '../../harness/plan/config.ts';
import type { RunConfig } from '../../harness/plan/config.ts';
import { planOf } from '../../harness/run/plan.ts';
import { withFaults } from '../../harness/shrink/case.ts';
import { shrink } from '../../harness/shrink/shrink.ts';
import type { Shrunk } from '../../harness/shrink/shrink.ts';
import { judge } from '../../harness/shrink/trial.ts';
import type { Figure } from './figure.ts';
import { markdownTable, median, spread } from './figure.ts';

const FAILURES = 20;
const FAULTS = 200;
const BUILDS = ['hw', 'hw-elect', 'kip101', 'kip279'];

interface ShrunkFailure {
  readonly build: string;
  readonly seed: number;
  readonly shrunk: Shrunk;
  readonly seconds: number;
  readonly processorSeconds: number;
  /** Faults that could be left out with the anomaly still there. */
  readonly needless: number;
}

/** The figures, and a table with a line for each failure. */
export async function shrinkingFigures(
  doing: (what: string) => void,
): Promise<{ readonly figures: Figure[]; readonly table: string }> {
  const failures: ShrunkFailure[] = [];
  for await (const failure of shrunkFailures(FAILURES, BUILDS)) {
    failures.push(failure);
    doing(`shrinking, ${failures.length} of ${FAILURES}`);
  }
  const faults = failures.map(({ shrunk }) => shrunk.smallest.schedule.faults.length);
  const seconds = failures.map((failure) => failure.seconds);
  const processor = failures.map(({ processorSeconds }) => processorSeconds);
  const runs = failures.map(({ shrunk }) => shrunk.runs);
  const needless = failures.filter((failure) => failure.needless > 0).length;
  const what = `shrink ${FAULTS} faults`;
  const budget = 'under 20 s';
  const figures = [
    { what: `${what}: faults left`, value: median(faults), unit: '', budget: '10 or fewer', note: spread(faults) },
    { what: `${what}: seconds`, value: median(seconds), unit: 's', budget, note: spread(seconds, 1) },
    { what: `${what}: … of the processor`, value: median(processor), unit: 's', budget, note: spread(processor, 1) },
    { what: `${what}: runs`, value: median(runs), unit: '', note: spread(runs) },
    { what: `${what}: with a fault too many`, value: needless, unit: '', budget: '0' },
  ];
  const head = ['failure', 'faults left', 'operations', 'runs', 'seconds', 'of the processor', 'signature'];
  return { figures, table: markdownTable([head, ...failures.map(rowOf)]).join('\n') };
}

function rowOf({ build, seed, shrunk, seconds, processorSeconds }: ShrunkFailure): string[] {
  const { smallest, runs, signature } = shrunk;
  const sizes = [smallest.schedule.faults.length, smallest.load.operations.length, runs].map(String);
  return [`${build} ${seed}`, ...sizes, seconds.toFixed(1), processorSeconds.toFixed(1), signature];
}

/** So many failures, shrunk, one after the other; seeds that fail to fail are passed over. */
async function* shrunkFailures(count: number, builds: readonly string[]): AsyncGenerator<ShrunkFailure> {
  let found = 0;
  for (let seed = 1; found < count; seed += 1) {
    const config = configOf(builds[found % builds.length] as string, seed);
    const plan = planOf(config);
    if (plan.faults.length < FAULTS) continue;
    const startedMs = performance.now();
    const started = process.cpuUsage();
    const outcome = await shrink(
      { config, schedule: { ...plan, faults: plan.faults.slice(0, FAULTS) } },
      { budget: { runs: 10_000, ms: 600_000 }, signal: new AbortController().signal, progress: () => {} },
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    const { user, system } = process.cpuUsage(started);
    if (outcome.type !== 'shrunk') continue;
    const { shrunk } = outcome;
    found += 1;
    const processorSeconds = (user + system) / 1e6;
    yield { build: config.build, seed, shrunk, seconds, processorSeconds, needless: needlessIn(shrunk) };
  }
}

function needlessIn({ smallest, signature }: Shrunk): number {
  const { faults } = smallest.schedule;
  const without = (index: number): boolean =>
    judge(withFaults(smallest, faults.toSpliced(index, 1))).violations.has(signature);
  return [...faults.keys()].filter(without).length;
}

function configOf(build: string, seed: number): RunConfig {
  return {
    ...defaultRunConfig,
    build,
    seed,
    runtime: 'sim',
    partitions: 2,
    rate: 60,
    timeLimitMs: 120_000,
    nemesis: ['partition', 'pause', 'crash', 'power-loss', 'leader-move'],
    nemesisIntervalMs: 400,
    replicaLagTimeMaxMs: 1_000,
    fetchMaxWaitMs: 200,
  };
}
