/**
 * The phases after the last fault, of which a run says what came of them in `run.json`: it is proven that every link has
 * healed, the cluster settles, and the replicas' logs are copied.
 *
 * Each has a bound. What is still wrong at the end of one is a sentence in `residual`, and the next begins all the same:
 * a cluster that did not settle is read back and copied too.
 *
 * Invariant: `settled` and `logsCollected` are true only if whoever watches could see that nothing changed any more.
 */
import { join } from 'node:path';
import type { Key } from '../../checker/history.ts';
import type { LinkProbe } from '../../nemesis/ports.ts';
import { collectedBytes } from '../check/collected-bytes.ts';
import type { RunConfig } from '../plan/config.ts';
import { foreignStartMs, healTimeoutMs, restMs } from '../plan/patience.ts';
import type { Admin } from './admin.ts';
import type { RunFile } from './run-file.ts';
import type { SelfEnds } from './self-ends.ts';
import { proveHealed, settle } from './settle.ts';
import type { Subject } from './subject.ts';
import type { TraceLog } from './trace-log.ts';

/** What the last phases are about. */
export interface Ending {
  readonly config: RunConfig;
  readonly directory: string;
  readonly file: RunFile;
  readonly subject: Subject;
  readonly trace: TraceLog;
  readonly selfEnds: SelfEnds;
  readonly signal: AbortSignal;
  /** Throws what has ended the run, if anything has. */
  readonly check: () => void;
}

const COLLECT_ATTEMPTS = 5;
/** Between two looks at where the partitions end, while they do not end where the logs do. */
const ENDS_PAUSE_MS = 200;

/** Waits for a fresh round trip on every link; a node that crashed does not answer, whatever its links are like. */
export async function heal({ file, subject, selfEnds, signal, check }: Ending): Promise<void> {
  const { cluster } = subject;
  const started = performance.now();
  const isGone = (place: LinkProbe['from']): boolean => place !== 'clients' && selfEnds.gone().has(place);
  const timeoutMs = healTimeoutMs + (cluster.observed === true ? foreignStartMs : 0);
  const deaf = await proveHealed(cluster, timeoutMs, signal, isGone);
  check();
  file.healed = deaf.every(({ from, to }) => isGone(from) || isGone(to));
  file.healMs = Math.round(performance.now() - started);
  remain(
    file,
    deaf.map((probe) => `no round trip from ${probe.from} to ${probe.to}: ${probe.error ?? 'no answer'}`),
  );
}

/** Waits until the cluster rests, once more if it was called before; resolves with where the partitions end, as the brokers say. */
export async function comeToRest(ending: Ending, admin: Admin): Promise<ReadonlyMap<Key, number>> {
  const { config, file, subject, trace, selfEnds, signal, check } = ending;
  const started = performance.now();
  const leftMs = (): number => Math.max(0, config.settleTimeoutMs - (performance.now() - started));
  const gone = subject.cluster.observed === true ? () => selfEnds.gone() : undefined;
  for (;;) {
    const { settled, residual } = await settle(trace, leftMs(), restMs(config), signal, gone);
    // A cluster that was not given its time has not failed to settle.
    check();
    const { ends, unrest } = await subject.ends(admin, trace.view);
    const isEarly = unrest.length > 0 || selfEnds.isMending();
    if (settled && isEarly && leftMs() > restMs(config)) {
      await new Promise((resolve) => setTimeout(resolve, ENDS_PAUSE_MS));
      continue;
    }
    file.settled = settled && unrest.length === 0 && file.healed === true;
    file.settleMs = (file.settleMs ?? 0) + Math.round(performance.now() - started);
    remain(file, [...residual, ...unrest]);
    return ends;
  }
}

/** Copies the data directories; again if a replica changed meanwhile, as then the copies tell of different moments. */
export async function collectLogs({ directory, file, subject, trace }: Ending): Promise<void> {
  for (let attempt = 1; attempt <= COLLECT_ATTEMPTS; attempt += 1) {
    const before = trace.changes;
    await subject.collect();
    if (trace.changes !== before) continue;
    file.collectedBytes = collectedBytes(join(directory, 'data'));
    const unseen = subject.unseen();
    file.logsCollected = unseen.length === 0;
    remain(
      file,
      unseen.map((why) => `whether the copied logs stood still was not seen: ${why}`),
    );
    return;
  }
  remain(file, [`the replicas changed while their logs were copied, ${COLLECT_ATTEMPTS} times`]);
}

/** What was still wrong in the end. */
export function remain(file: RunFile, residual: readonly string[]): void {
  file.residual = [...file.residual, ...residual];
}
