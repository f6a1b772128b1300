/**
 * After the last fault: prove that everything healed, wait until the cluster is at rest, and say what never came to rest.
 *
 * *Healed* means a fresh round trip on every link. *Settled* means that the cluster is at rest (`nemesis/rest.ts` says
 * when), and that no replica changed for longer than a follower's fetch can wait. Both have a bound, and both are
 * measured.
 *
 * Invariant: nothing is concluded from silence; a cluster that does not settle is reported with its reasons. Nor is it
 * blamed for the time in which this process stood still: after that it gets its whole time again.
 */
import type { Cluster, LinkProbe, NodeName } from '../../nemesis/ports.ts';
import { unrest } from '../../nemesis/rest.ts';
import { EnvironmentError } from '../errors.ts';
import { probePauseMs, probeTimeoutMs } from '../plan/patience.ts';
import { watchForStalls } from './stalls.ts';
import type { TraceLog } from './trace-log.ts';

/** A process that stands still more often cannot tell whether a cluster settles. */
const STALLS_MAX = 10;
const GONE_LOOK_MS = 500;
const nobody: ReadonlySet<NodeName> = new Set();

/**
 * Probes every link until each answers, for at most `timeoutMs`. Returns the links that did not. Those of nodes that
 * are gone for good are not waited for.
 */
export async function proveHealed(
  cluster: Cluster,
  timeoutMs: number,
  signal: AbortSignal,
  isGone: (place: LinkProbe['from']) => boolean = () => false,
): Promise<readonly LinkProbe[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const failed = (await cluster.probeLinks(probeTimeoutMs)).filter((probe) => !probe.ok);
    const isHealed = failed.every(({ from, to }) => isGone(from) || isGone(to));
    if (isHealed || performance.now() > deadline || signal.aborted) return failed;
    await new Promise((resolve) => setTimeout(resolve, probePauseMs));
  }
}

/**
 * Waits until the cluster rests for `restMs`, for at most `timeoutMs`; says what is still wrong then, one sentence each.
 * `gone` are brokers that ended by themselves and will not come back: where the others rest without them, nothing more
 * is waited for, though the cluster has not settled.
 */
export async function settle(
  trace: TraceLog,
  timeoutMs: number,
  restMs: number,
  signal: AbortSignal,
  gone: () => ReadonlySet<NodeName> = () => nobody,
): Promise<{ readonly settled: boolean; readonly residual: readonly string[] }> {
  const stalls = watchForStalls();
  try {
    for (;;) {
      const before = stalls.count();
      if (await restsWithin(trace, timeoutMs, restMs, signal, gone)) {
        const residual = unrest(trace.view);
        return { settled: residual.length === 0, residual };
      }
      if (signal.aborted || stalls.count() === before) break;
      if (stalls.count() > STALLS_MAX)
        throw new EnvironmentError(
          'this machine stood still again and again while the cluster settled: leave it more of its processors',
        );
    }
  } finally {
    stalls.close();
  }
  const residual = unrest(trace.view);
  return { settled: false, residual: residual.length > 0 ? residual : ['the replicas kept changing'] };
}

async function restsWithin(
  trace: TraceLog,
  timeoutMs: number,
  restMs: number,
  signal: AbortSignal,
  gone: () => ReadonlySet<NodeName>,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline && !signal.aborted) {
    // Who is gone is not told by a line: so it is looked at now and then, and not after lines alone.
    const wait = Math.min(deadline - performance.now(), GONE_LOOK_MS);
    if (!(await trace.until(() => unrest(trace.view, gone()).length === 0, wait, signal))) continue;
    // At rest now; does it last? Any change ends the wait early and starts over.
    const before = trace.changes;
    const rest = Math.max(1, restMs - trace.quietMs());
    const changed = await trace.until(() => trace.changes !== before, rest, signal);
    if (!changed && !signal.aborted) return true;
  }
  return false;
}
