/**
 * Crash: processes are killed, and started again at the end with what they had written.
 *
 * A killed process loses nothing that it wrote, since that is in the page cache; it loses what it only remembered, such
 * as the high watermark since its last checkpoint. What proves it: the process is gone, and a new one has started.
 */
import type { NodeId } from '../ports.ts';
import type { CrashFault, End } from '../schedule.ts';
import { describeTarget, resolveTarget } from '../targets.ts';
import type { ClusterView } from '../view.ts';
import { drawProcessTarget } from './process-target.ts';
import { provenBy } from './program.ts';
import type { DrawContext, Draws, Program } from './program.ts';

export function crashProgram(fault: CrashFault, view: ClusterView, brokers: readonly NodeId[]): Program | null {
  const targets = resolveTarget(fault.targets, view, brokers);
  return (
    targets && {
      roles: { targets: describeTarget(fault.targets) },
      groups: { targets },
      steps: [{ step: 'kill', node: 'targets' }],
      isProven: provenBy('kill'),
    }
  );
}

export function drawCrash(context: DrawContext, random: Draws): Pick<CrashFault, 'kind' | 'targets' | 'until'> {
  const partition = random.pick(context.partitions);
  const targets = drawProcessTarget(partition, random);
  return { kind: 'crash', targets, until: drawComeback(partition, context, random) };
}

/** Some come back as soon as another leads: the return then meets a young leader. */
export function drawComeback(partition: string, context: DrawContext, random: Draws): End {
  return random.chance(0.3)
    ? { await: { seen: 'leader-change', partition }, deadlineMs: context.sessionTimeoutMs + 1_000 }
    : { ms: random.int(300, context.sessionTimeoutMs + 1_000) };
}
