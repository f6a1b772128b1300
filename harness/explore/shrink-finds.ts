/**
 * `explore --shrink`: the first find of each signature is made as small as it gets, and kept as `tidemark shrink` keeps it.
 */
import { InterruptedError, EnvironmentError } from '../errors.ts';
import { paint, type Progress } from '../progress.ts';
import { keepShrunk, type ShrinkSummary } from '../shrink/keep.ts';
import { shrink } from '../shrink/shrink.ts';
import { tellProgress } from '../shrink/tell-progress.ts';
import { planOfJob } from './one-run.ts';
import type { Find } from './search.ts';

/** So many are shrunk; any other can be, with `tidemark shrink` and its folder. */
const MOST_SHRUNK = 5;
const BUDGET = { runs: 10_000, ms: 120_000 };

export interface ShrunkFinds {
  readonly summaries: readonly ShrinkSummary[];
  readonly failure: InterruptedError | EnvironmentError | null;
}

export async function shrinkFinds(
  finds: readonly Find[],
  store: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<ShrunkFinds> {
  const summaries: ShrinkSummary[] = [];
  const shrunk = new Set<string>();
  try {
    for (const { run, violations, job } of finds) {
      if (summaries.length === MOST_SHRUNK) break;
      if (violations.every(({ signature }) => shrunk.has(signature))) continue;
      progress.step(`shrinking run ${run}`);
      const outcome = await shrink(planOfJob(job), {
        budget: BUDGET,
        known: shrunk,
        signal,
        progress: tellProgress(progress),
      });
      if (outcome.type === 'not-deterministic') {
        progress.line(
          paint('bad', `run ${run} is not deterministic: done twice it ends with ${outcome.hashes.join(' and ')}`),
        );
      }
      if (outcome.type !== 'shrunk') continue;
      shrunk.add(outcome.shrunk.signature);
      const { summary, lines, failure } = keepShrunk(outcome.shrunk, store, signal);
      summaries.push(summary);
      progress.line('');
      for (const line of lines) progress.line(line);
      if (failure !== null) return { summaries, failure };
      if (signal.aborted) throw new InterruptedError();
    }
    return { summaries, failure: null };
  } catch (error) {
    if (!(error instanceof InterruptedError || error instanceof EnvironmentError)) throw error;
    return { summaries, failure: error };
  }
}
