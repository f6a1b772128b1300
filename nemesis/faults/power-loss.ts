/**
 * Power loss: machines go dark, and start again at the end with what they had flushed.
 *
 * A broker leaves flushing to the page cache, so what it wrote last is gone, whatever it had acknowledged; its log may
 * end anywhere behind what is known to be flushed. Replication has to make up for that, as long as not too many lose
 * power at once: then a loss is what the configuration allows. The controller flushes before it tells anything, and is
 * no target. What proves it: the process is gone, and its data directory bears the mark.
 */
import type { NodeId } from '../ports.ts';
import type { PowerLossFault } from '../schedule.ts';
import { describeTarget, resolveTarget } from '../targets.ts';
import type { ClusterView } from '../view.ts';
import { drawComeback } from './crash.ts';
import { drawBrokerTarget } from './process-target.ts';
import { provenBy } from './program.ts';
import type { DrawContext, Draws, Program } from './program.ts';

export function powerLossProgram(fault: PowerLossFault, view: ClusterView, brokers: readonly NodeId[]): Program | null {
  const targets = resolveTarget(fault.targets, view, brokers)?.filter((node) => node !== 'controller');
  return targets === undefined || targets.length === 0
    ? null
    : {
        roles: { targets: describeTarget(fault.targets) },
        groups: { targets },
        steps: [{ step: 'power-loss', node: 'targets' }],
        isProven: provenBy('power-loss'),
      };
}

export function drawPowerLoss(context: DrawContext, random: Draws): Pick<PowerLossFault, 'kind' | 'targets' | 'until'> {
  const partition = random.pick(context.partitions);
  return {
    kind: 'power-loss',
    // Often several at once, as machines that share a fuse do.
    targets: drawBrokerTarget(partition, random, 0.3),
    until: drawComeback(partition, context, random),
  };
}
