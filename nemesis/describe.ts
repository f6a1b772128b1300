/**
 * A schedule in words, for people who review a plan, and for golden files. One line for each fault, one for each step
 * of a composite. It leaves nothing out that decides what happens, except the draws that choose among nodes.
 */
import { describeCondition } from './conditions.ts';
import { describeTopology } from './faults/partition.ts';
import { describeSlowness } from './faults/slow-links.ts';
import { describeStep } from './fault-run.ts';
import type { Fault, Schedule, Step } from './schedule.ts';
import { describeTarget } from './targets.ts';

export function describeSchedule(schedule: Schedule): string {
  const head = `seed ${schedule.seed}: ${schedule.faults.length} faults in ${schedule.durationMs} ms`;
  return [head, ...schedule.faults.flatMap(describeFault)].map((line) => `${line}\n`).join('');
}

/** One fault in words: its aim and its times, then its steps. */
export function describeFault(fault: Fault): string[] {
  const head = `${fault.id} ${fault.kind} (${describeAim(fault)}) ${describeStart(fault)}, ${describeEnd(fault)}`;
  const steps = 'steps' in fault ? fault.steps : [];
  return [head, ...steps.map((step) => `   ${describeStep(step)}${describeDeadline(step)}`)];
}

function describeAim(fault: Fault): string {
  switch (fault.kind) {
    case 'partition':
      return describeTopology(fault.topology);
    case 'slow-links':
      return `${describeTopology(fault.topology)}; by ${describeSlowness(fault)}`;
    case 'pause':
    case 'crash':
    case 'power-loss':
      return describeTarget(fault.targets);
    case 'leader-move':
      return `${fault.partition} to ${describeTarget(fault.targets)}`;
    case 'rolling-restart':
      return `${fault.downMs} ms down, at most ${fault.patienceMs} ms for the ISR`;
    case 'leader-burst':
    case 'rejoin-crash':
    case 'script':
      return fault.partition;
    case 'handover-crash':
      return `${fault.partition}, roles in ${fault.roles.replaceAll('-', ' ')}`;
  }
}

function describeStart({ at }: Fault): string {
  if ('ms' in at) return `at ${at.ms} ms`;
  return `from ${at.fromMs} ms on when ${describeCondition(at.await)}, at ${at.deadlineMs} ms in any case`;
}

function describeEnd({ until }: Fault): string {
  if ('ms' in until) return `for ${until.ms} ms`;
  return `until ${describeCondition(until.await)}, at most ${until.deadlineMs} ms`;
}

function describeDeadline(step: Step): string {
  if (step.step !== 'await') return '';
  return `, at most ${step.deadlineMs} ms${step.otherwise === 'give-up' ? ', else give up' : ''}`;
}
