/**
 * Histories without any plan: a few processes send and read in one operation whatever they like, at offsets drawn from a
 * handful. Nothing is planted, so everything that the families plant one by one comes together here.
 */
import type { Operation } from '../../../checker/history.ts';
import type { Draws } from './random.ts';

/** `keys`: the partitions that there are; the twins of places and of order know one only. */
export function brawl(draws: Draws, keys: readonly string[] = ['a-0']): Operation[] {
  const history: Operation[] = [];
  const open = new Map<number, { readonly f: string; readonly sends: readonly (readonly [string, number])[] }>();
  const sent: (readonly [key: string, value: number])[] = [];
  const offsets = 3 + draws.below(7);
  let next = 1;
  const free = [0, 1, 2, 3];
  const add = (fields: object): void => {
    const index = history.length;
    history.push({ index, time: index * 1000, ...fields } as Operation);
  };
  const records = (): Record<string, (readonly [number, number])[]> => {
    const found: Record<string, (readonly [number, number])[]> = {};
    for (const key of keys) {
      const candidates = sent.filter(([of]) => of === key).map(([, value]) => value);
      if (candidates.length === 0 || draws.chance(0.4)) continue;
      const count = 1 + draws.below(3);
      const read = Array.from({ length: count }, () => {
        // Now and then what is only sent later, or never.
        const value = draws.chance(0.06) ? next + draws.below(2) : draws.pick(candidates);
        return [draws.below(offsets), value] as const;
      });
      found[key] = draws.chance(0.8) ? read.sort(([x], [y]) => x - y) : read;
    }
    return found;
  };
  for (let count = 6 + draws.below(20); count > 0; count -= 1) {
    const process = free[draws.below(free.length)] as number;
    const under = open.get(process);
    if (under === undefined) {
      const f = draws.pick(['send', 'send', 'poll', 'txn', 'txn']);
      const sends = Array.from(
        { length: f === 'poll' ? 0 : f === 'send' ? 1 + draws.below(2) : draws.below(3) },
        () => {
          const message = [draws.pick(keys), next] as const;
          next += 1;
          return message;
        },
      );
      sent.push(...sends);
      open.set(process, { f, sends });
      const value = [...sends.map((send) => ['send', ...send]), ...(f === 'send' ? [] : [['poll']])];
      add({ process, type: 'invoke', f, value, acks: draws.pick(['all', 'all', 'all', 1]) });
      continue;
    }
    const { f, sends } = under;
    open.delete(process);
    const type = draws.pick(['ok', 'ok', 'ok', 'ok', 'info', 'fail']);
    const done = sends.map(([key, value]) => ['send', key, type === 'ok' ? [draws.below(offsets), value] : value]);
    const value = [...done, ...(f === 'send' ? [] : [['poll', ...(type === 'ok' ? [records()] : [])]])];
    add({ process, type, f, value });
    // A process of which nobody knows what became is not used again; another has its place.
    if (type === 'info') free[free.indexOf(process)] = Math.max(...free) + 1;
  }
  return history;
}
