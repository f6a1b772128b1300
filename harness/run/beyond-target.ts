/**
 * What a plan must not hold where brokers that others wrote cannot be given it, or cannot show what it waits for.
 *
 * A target says what it cannot; what follows from that stands here, once, for drawn plans, for plans that are played
 * again, and for what is said of a target. A fault that moves a leader needs leaders that can be moved, and one whose steps
 * wait for something needs brokers that show it.
 */
import type { Able, Capabilities } from '../../checker/results.ts';
import { awaitedBy, awaitedByKind, awaitedWords, movesLeaders, type Awaited } from '../../nemesis/awaited.ts';
import type { Fault, FaultKind, Schedule } from '../../nemesis/schedule.ts';

/** What it cannot be given by its own word, and what follows from what it cannot show; each with the reason. */
export function faultsBeyondTarget({ faults, triggers }: Capabilities): ReadonlyMap<FaultKind, string> {
  const beyond = new Map<FaultKind, string>();
  for (const [kind, awaited] of Object.entries(awaitedByKind) as [FaultKind, readonly Awaited[]][]) {
    const unseen = awaited.find((seen) => reasonOf(triggers[seen]) !== null);
    if (unseen !== undefined)
      beyond.set(kind, `it waits until ${awaitedWords[unseen]}, which is not shown: ${reasonOf(triggers[unseen])}`);
  }
  for (const [kind, able] of Object.entries(faults)) {
    if (able !== true) beyond.set(kind as FaultKind, able.not);
  }
  return beyond;
}

/** What no drawn fault is to wait for. */
export function unseenOf({ triggers }: Capabilities): Awaited[] {
  return (Object.keys(triggers) as Awaited[]).filter(
    (seen) => seen !== 'steps-done' && reasonOf(triggers[seen]) !== null,
  );
}

/** What of a schedule cannot be played on a target of that name, in one clause; null where all of it can. */
export function whyBeyondTarget({ faults }: Schedule, name: string, capabilities: Capabilities): string | null {
  for (const fault of faults) {
    const why = whyFaultIsBeyond(fault, name, capabilities);
    if (why !== null) return `its fault ${fault.id} ${why}`;
  }
  return null;
}

function whyFaultIsBeyond(fault: Fault, name: string, { faults, triggers }: Capabilities): string | null {
  const kind = reasonOf(faults[fault.kind]);
  if (kind !== null) return `is ${fault.kind}, which ${name} cannot be given (${kind})`;
  const move = movesLeaders(fault) ? reasonOf(faults['leader-move']) : null;
  if (move !== null) return `(${fault.kind}) moves a leader, which cannot be done with ${name} (${move})`;
  for (const seen of awaitedBy(fault)) {
    const unseen = reasonOf(triggers[seen]);
    if (unseen !== null)
      return `(${fault.kind}) waits until ${awaitedWords[seen]}, which ${name} does not show (${unseen})`;
  }
  return null;
}

/** Null where it can; what is not named, it can. */
function reasonOf(able: Able | undefined): string | null {
  return able === undefined || able === true ? null : able.not;
}
