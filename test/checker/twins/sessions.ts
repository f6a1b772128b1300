/** How a process reads, for the twins: since when, from where, and what breaks it. */
import type { Act, Read } from './operations.ts';
import { readBy } from './operations.ts';

export interface Session {
  /** Operations of one process since it began, or since it was assigned anew; all of them completed. */
  readonly acts: readonly Act[];
  readonly subscribed: boolean;
  /** It reads everything back after settling. */
  readonly final: boolean;
  /** The invocation of its first poll. */
  readonly since: number;
}

export function sessionsOf(acts: readonly Act[]): Session[] {
  const sessions: Session[] = [];
  for (const process of new Set(acts.map((act) => act.process))) {
    const own = acts.filter((act) => act.process === process);
    let part: Act[] = [];
    for (const act of own) {
      const anew = (act.f === 'assign' || act.f === 'subscribe') && act.type === 'ok';
      if (anew) {
        sessions.push(session(part, own));
        part = [];
      }
      part.push(act);
    }
    sessions.push(session(part, own));
  }
  return sessions;
}

function session(acts: readonly Act[], own: readonly Act[]): Session {
  const final = acts[0] !== undefined && acts[0] === own[0] && acts[0].invocation.final === true;
  const polls = acts.filter(({ f }) => f === 'poll' || f === 'txn');
  return { acts, final, subscribed: acts[0]?.f === 'subscribe' && acts[0].type === 'ok', since: polls[0]?.begin ?? -1 };
}

/** Stretches of one key that were read without a break; a final reader's first one begins before the first offset. */
export function stretchesOf(
  { acts, final }: Session,
  key: string,
): { readonly from: number | null; readonly reads: Read[] }[] {
  const stretches: { from: number | null; reads: Read[] }[] = [{ from: final ? -1 : null, reads: [] }];
  for (const act of acts) {
    if ((act.f !== 'poll' && act.f !== 'txn') || act.type === 'open') continue;
    const clean = act.type === 'ok' && act.completion?.error === undefined;
    if (clean) stretches.at(-1)?.reads.push(...readBy(act).filter((read) => read.key === key));
    else stretches.push({ from: null, reads: [] });
  }
  return stretches;
}
