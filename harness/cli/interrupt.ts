/**
 * Ctrl-C, SIGTERM and SIGHUP end a command cleanly: the signal is passed on as an AbortSignal, everything that was
 * made is removed, and the exit code is 130. Further signals change nothing, so that npm, a terminal and a launcher may all pass
 * on the same one; clean-up has bounds of its own.
 */
import type { Progress } from '../progress.ts';

/** A signal that is aborted by the first interrupt; `ending` says what happens then. */
export function onInterrupt(progress: Progress, ending = 'healing and removing what this command made'): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) return;
      progress.line(`interrupted: ${ending}…`);
      controller.abort();
    });
  }
  return controller.signal;
}

/** Resolves when the signal is, or already was, aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await promise;
}
