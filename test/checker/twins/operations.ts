/**
 * A history as its twins see it: operations with their beginning and their end, sends and reads written out. Nothing of
 * the checker is used here but the types of its input.
 */
import type { Operation } from '../../../checker/history.ts';

export interface Act {
  readonly process: number;
  readonly f: string;
  readonly type: 'ok' | 'fail' | 'info' | 'open';
  /** Indices of the two lines; `end` is Infinity for what never completed. */
  readonly begin: number;
  readonly end: number;
  readonly invocation: Operation;
  readonly completion: Operation | null;
}

export interface Sent {
  readonly act: Act;
  readonly key: string;
  readonly value: number;
  readonly all: boolean;
  /** As the completion told; null for unknown, or failed. */
  readonly offset: number | null;
}

export interface Read {
  readonly act: Act;
  readonly key: string;
  readonly offset: number;
  readonly value: number;
}

type Records = Record<string, [number, number][]>;
type Micro = ['send', string, number | [number | null, number]] | ['poll', Records?];

export function actsOf(history: readonly Operation[]): Act[] {
  const acts: Act[] = [];
  for (const [at, invocation] of history.entries()) {
    if (invocation.type !== 'invoke') continue;
    const completion = history.slice(at + 1).find(({ process }) => process === invocation.process) ?? null;
    acts.push({
      process: invocation.process as number,
      f: invocation.f,
      type: completion === null ? 'open' : (completion.type as 'ok'),
      begin: at,
      end: completion === null ? Number.POSITIVE_INFINITY : completion.index,
      invocation,
      completion,
    });
  }
  return acts;
}

export function sentBy(act: Act): Sent[] {
  if (act.f !== 'send' && act.f !== 'txn') return [];
  const told = new Map<string, number | null>();
  for (const [name, key, value] of microsOf(act.completion)) {
    if (name === 'send' && Array.isArray(value) && act.type !== 'fail') told.set(`${key} ${value[1]}`, value[0]);
  }
  return microsOf(act.invocation).flatMap((micro) => {
    if (micro[0] !== 'send') return [];
    const [, key, value] = micro as ['send', string, number];
    return { act, key, value, all: act.invocation.acks === 'all', offset: told.get(`${key} ${value}`) ?? null };
  });
}

/** In the order in which they stand. */
export function readBy(act: Act): Read[] {
  if (act.f !== 'poll' && act.f !== 'txn') return [];
  return microsOf(act.completion).flatMap((micro) => {
    if (micro[0] !== 'poll') return [];
    return Object.entries((micro[1] as Records | undefined) ?? {}).flatMap(([key, records]) =>
      records.map(([offset, value]) => ({ act, key, offset, value })),
    );
  });
}

function microsOf(operation: Operation | null): Micro[] {
  return (operation?.value ?? []) as unknown as Micro[];
}

/** Acknowledged under acks=all, with a known offset. */
export function isPromised(sent: Sent): boolean {
  return sent.act.type === 'ok' && sent.all && sent.offset !== null;
}

export function combinations<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((one, at) => items.slice(at + 1).map((other): [T, T] => [one, other]));
}
