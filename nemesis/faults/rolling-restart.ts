/**
 * Rolling restart: brokers stop in good order and start again, one after the other, as in an upgrade.
 *
 * A broker that is asked to stop hands its leaderships over, flushes, and ends. The next one follows when every ISR is
 * full again, or when patience has ended: then two may be missing at once. What proves it: processes that ended because
 * they were asked to, and not because they were killed.
 */
import type { NodeId } from '../ports.ts';
import type { RollingRestartFault, Step } from '../schedule.ts';
import { some } from '../targets.ts';
import type { ClusterView } from '../view.ts';
import { drawChoice } from './program.ts';
import type { DrawContext, Draws, Program } from './program.ts';

export function rollingRestartProgram(
  fault: RollingRestartFault,
  _view: ClusterView,
  brokers: readonly NodeId[],
): Program {
  const rotated = some(brokers, brokers.length, fault.draw);
  const order = fault.draw % 2 === 0 ? rotated : rotated.toReversed();
  return {
    roles: { order: 'brokers, one after the other' },
    groups: Object.fromEntries(order.map((node, index) => [roleOf(index), [node]])),
    steps: order.flatMap((_, index): Step[] => [
      { step: 'stop', node: roleOf(index) },
      { step: 'wait', ms: fault.downMs },
      { step: 'restore', node: roleOf(index) },
      { step: 'await', what: { seen: 'full-isr' }, deadlineMs: fault.patienceMs, otherwise: 'go-on' },
    ]),
    isProven: (evidence) => evidence.some(({ action, effective }) => action === 'stop' && effective),
  };
}

export function drawRollingRestart(
  context: DrawContext,
  random: Draws,
): Pick<RollingRestartFault, 'kind' | 'draw' | 'downMs' | 'patienceMs' | 'until'> {
  const downMs = random.int(0, 500);
  const patienceMs = random.pick([200, 1_000, context.lagTimeMs]);
  return {
    kind: 'rolling-restart',
    draw: drawChoice(random),
    downMs,
    patienceMs,
    until: {
      await: { seen: 'steps-done' },
      deadlineMs: context.brokers.length * (downMs + patienceMs + context.sessionTimeoutMs),
    },
  };
}

function roleOf(index: number): string {
  return `broker-${index + 1}-of-order`;
}
