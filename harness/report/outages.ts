/**
 * When each broker's process did not run: from what the faults say that they did, step by step.
 *
 * A killed process writes no last line, so the trace alone cannot tell. Where a fault does not name the step, it is
 * taken to have lasted from its start to its end.
 */
import type { FaultSeen } from './history-events.ts';
import { isNumber } from './trace-events.ts';

export interface Outage {
  readonly node: number;
  readonly kind: 'down' | 'paused';
  readonly from: number;
  readonly to: number;
  /** Of the fault. */
  readonly fault: string;
}

export function outagesOf(faults: readonly FaultSeen[], end: number): Outage[] {
  return faults.flatMap((fault) => outagesOfOne(fault, fault.endTime ?? end));
}

function outagesOfOne(fault: FaultSeen, end: number): Outage[] {
  const outages: Outage[] = [];
  const open = new Map<number, { readonly kind: Outage['kind']; readonly from: number }>();
  const close = (node: number, to: number): void => {
    const began = open.get(node);
    if (began !== undefined) outages.push({ node, kind: began.kind, from: began.from, to, fault: fault.fault });
    open.delete(node);
  };
  for (const { step, ms } of fault.steps) {
    const [, verb, role] = /^(kill|power-loss|stop|pause|restore) (.+)$/.exec(step) ?? [];
    if (verb === undefined || role === undefined) continue;
    for (const node of nodesOf(fault, role)) {
      const time = fault.startTime + ms * 1e6;
      if (verb === 'restore') close(node, time);
      else open.set(node, { kind: verb === 'pause' ? 'paused' : 'down', from: time });
    }
  }
  if (fault.steps.length === 0 && ['crash', 'power-loss', 'pause'].includes(fault.kind)) {
    const kind = fault.kind === 'pause' ? 'paused' : 'down';
    for (const role of Object.keys(fault.nodes))
      for (const node of nodesOf(fault, role)) open.set(node, { kind, from: fault.startTime });
  }
  for (const node of open.keys()) close(node, end);
  return outages;
}

function nodesOf(fault: FaultSeen, role: string): number[] {
  const hit = Object.hasOwn(fault.nodes, role) ? fault.nodes[role] : [];
  return (Array.isArray(hit) ? hit : [hit]).filter(isNumber);
}
