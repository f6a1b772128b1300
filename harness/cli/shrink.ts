/**
 * `tidemark shrink DIR`: reduces a failing run to the fewest faults, operations and nodes that still fail the same way.
 */
import type { Command } from 'commander';
import { InterruptedError, UsageError, exitCodeOfVerdict, exitCodes } from '../errors.ts';
import { createProgress, paint } from '../progress.ts';
import type { Progress } from '../progress.ts';
import { buildInWords, counted } from '../report/words.ts';
import type { ShrinkOutcome } from '../shrink/shrink.ts';
import { tellProgress } from '../shrink/tell-progress.ts';
import type { StoredPlan } from '../shrink/stored-plan.ts';
import { onInterrupt } from './interrupt.ts';
import { durationOption, numberOption } from './option-types.ts';

interface ShrinkFlags {
  readonly budget: number;
  readonly runs: number;
  readonly build?: string;
  readonly kind?: string;
  readonly store: string;
  readonly json: boolean;
}

export function registerShrink(program: Command): void {
  program
    .command('shrink')
    .argument('<dir>', 'folder of a failing run, of a run in a comparison, or of a find of explore')
    .description(
      'reduce a failing run to the fewest faults and operations that still fail the same way, in the simulator',
    )
    .option('--build <build>', 'build of all brokers, or of each: 1=hw,2-3=epoch (default: as stored)')
    .option('--kind <anomaly>', 'the kind of anomaly to keep (default: the first loss, or whatever else was first)')
    .addOption(durationOption('--budget <time>', 'stop making it smaller after that time', 120_000))
    .addOption(numberOption('--runs <n>', 'stop making it smaller after so many runs', 10_000, 1, 10_000_000))
    .option('--store <dir>', 'where runs are kept', 'store')
    .option('--json', 'print what was found as JSON on standard output', false)
    .action(async (path: string, flags: ShrinkFlags) => {
      process.exitCode = await shrinkStored(path, flags);
    });
}

async function shrinkStored(path: string, flags: ShrinkFlags): Promise<number> {
  if (flags.kind !== undefined) await demandKind(flags.kind);
  const { planOn, readStoredPlan } = await import('../shrink/stored-plan.ts');
  const stored = readStoredPlan(path);
  const plan = planOn(stored, flags.build, 'sim');
  const progress = createProgress();
  const signal = onInterrupt(progress, 'stopping');
  progress.line(
    `seed ${plan.config.seed} · ${buildInWords(plan.config.build, plan.config.defects)} · ${counted(plan.schedule.faults.length, 'fault')}`,
  );
  const { shrink } = await import('../shrink/shrink.ts');
  progress.step('running it again');
  const outcome = await shrink(plan, {
    kind: flags.kind,
    budget: { runs: flags.runs, ms: flags.budget },
    signal,
    progress: tellProgress(progress),
  });
  const exitCode = await tell(outcome, stored, plan, flags, progress, signal);
  progress.line(`seed ${plan.config.seed}`);
  if (signal.aborted) throw new InterruptedError();
  return exitCode;
}

/** A kind that nobody knows would only seem not to be there. */
async function demandKind(kind: string): Promise<void> {
  const { guaranteeOf } = await import('../../checker/anomalies/finding.ts');
  const known = Object.keys(guaranteeOf);
  if (!known.includes(kind)) {
    throw new UsageError(`--kind ${kind}: there is no such anomaly; known are ${known.join(', ')}`);
  }
}

async function tell(
  outcome: ShrinkOutcome,
  stored: StoredPlan,
  plan: StoredPlan,
  flags: ShrinkFlags,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  switch (outcome.type) {
    case 'not-deterministic': {
      const [first, second] = outcome.hashes;
      if (flags.json) print({ ...nothingShrunk(plan), hashes: outcome.hashes });
      progress.line(
        paint('bad', `not deterministic: two runs of one plan ended with the hashes ${first} and ${second}`),
      );
      return exitCodes.notDeterministic;
    }
    case 'passes': {
      const where = stored.config.runtime === 'sim' ? '' : `, though it ran with runtime ${stored.config.runtime}`;
      const { valid, notes } = outcome.judged.results;
      const others = [...outcome.judged.violations.keys()];
      if (flags.json) print({ ...nothingShrunk(plan), valid, others });
      if (others.length > 0) {
        progress.line(paint('unsure', `${plan.config.build} shows no violation of that kind under this plan, but:`));
        for (const signature of others) progress.line(`  ${signature}`);
        return exitCodes.unknown;
      }
      progress.line(
        paint(
          'unsure',
          `${plan.config.build} breaks no promise under this plan in the simulator${where}: nothing to shrink`,
        ),
      );
      if (valid === 'unknown') for (const note of notes) progress.line(`note: ${note}`);
      return exitCodes.unknown;
    }
    case 'shrunk': {
      const { keepShrunk } = await import('../shrink/keep.ts');
      progress.step('looking for the nearest plan and order that pass');
      const kept = keepShrunk(outcome.shrunk, flags.store, signal);
      for (const line of kept.lines) progress.line(line);
      if (flags.json) print(kept.summary);
      if (kept.failure !== null) throw kept.failure;
      return exitCodeOfVerdict(false);
    }
  }
}

/** The head of the document where there is no failure to tell of. */
function nothingShrunk({ config }: StoredPlan): object {
  return { schemaVersion: 1, type: 'shrink', signature: null, build: config.build };
}

function print(document: object): void {
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}
