/**
 * How far shrinking has come: live on a terminal, and elsewhere a line every ten seconds, since it may take two minutes.
 */
import type { Progress } from '../progress.ts';
import { counted } from '../report/words.ts';
import type { ShrinkOptions } from './shrink.ts';

const PLAIN_STEP_MS = 10_000;

/** What a {@link ShrinkOptions} is told with. `nowMs` is a clock. */
export function tellProgress(
  progress: Progress,
  isTerminal = process.stderr.isTTY,
  nowMs: () => number = () => performance.now(),
): ShrinkOptions['progress'] {
  let toldMs = nowMs();
  return ({ pass, faults, operations, runs }) => {
    const text = `${pass} · ${counted(faults, 'fault')}, ${counted(operations, 'operation')} · ${counted(runs, 'run')}`;
    if (isTerminal) return progress.detail(text);
    if (nowMs() - toldMs < PLAIN_STEP_MS) return;
    toldMs = nowMs();
    progress.step(text);
  };
}
