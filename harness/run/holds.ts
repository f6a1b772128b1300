/** Waiting for what nobody announces: it is asked again and again, within a bound. */

const pollPauseMs = 20;

/** Asks until it is so (true), or until `deadline`, in milliseconds of `performance.now()`, has passed (false). */
export async function holds(deadline: number, isSo: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    if (await isSo()) return true;
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, pollPauseMs));
  }
}
