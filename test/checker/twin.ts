/**
 * A second checker of histories, written from the definitions and sharing no code with the first: it knows no index, no
 * columns and no speed. It looks at everything again for every question, which is fine for a dozen operations.
 *
 * Only what a history alone shows, of a cluster without unclean elections and storage faults.
 */
import type { Operation } from '../../checker/history.ts';

interface Read {
  readonly key: string;
  readonly offset: number;
  readonly value: number;
  readonly index: number;
  readonly final: boolean;
}

interface Sent {
  readonly key: string;
  readonly value: number;
  readonly acks: 'all' | 0 | 1;
  readonly type: 'ok' | 'fail' | 'info' | 'open';
  readonly offset: number | null;
}

interface Gap {
  readonly key: string;
  readonly after: number;
  readonly before: number;
  readonly since: number;
  readonly final: boolean;
}

/** `kind key place` of each anomaly, sorted; the place is an offset, or the value for what concerns a value. */
export function twin(history: readonly Operation[]): string[] {
  const sends = sendsOf(history);
  const reads = readsOf(history);
  const gaps = gapsOf(history);
  const found = new Set<string>();
  for (const { key, offset } of [...reads, ...sends]) {
    if (offset !== null && valuesAt(sends, reads, key, offset).size > 1)
      found.add(`inconsistent-offsets ${key} ${offset}`);
    const acked = sends.filter((send) => send.key === key && send.offset === offset && offset !== null);
    if (acked.filter(({ type, acks }) => type === 'ok' && acks === 'all').length > 1)
      found.add(`ack-conflict ${key} ${offset}`);
  }
  for (const read of reads) {
    const send = sends.find((each) => each.key === read.key && each.value === read.value);
    if (send === undefined) found.add(`phantom ${read.key} ${read.value}`);
    if (send?.type === 'fail') found.add(`G1a ${read.key} ${read.value}`);
    if (offsetsOf(sends, reads, read.key, read.value).size > 1) found.add(`duplicate ${read.key} ${read.value}`);
    if (isGone(reads, gaps, read.key, read.value)) found.add(`consumer-saw-uncommitted ${read.key} ${read.value}`);
  }
  for (const send of sends) if (isLost(reads, gaps, send)) found.add(`lost-write ${send.key} ${send.value}`);
  return [...found].sort();
}

function sendsOf(history: readonly Operation[]): Sent[] {
  const sends: Sent[] = [];
  for (const [at, operation] of history.entries()) {
    if (operation.type !== 'invoke' || operation.f !== 'send') continue;
    const [micro] = operation.value as [['send', string, number]];
    const end = history.slice(at + 1).find((later) => later.process === operation.process);
    const completed = (end?.value as [['send', string, number | [number | null, number]]] | undefined)?.[0][2];
    sends.push({
      key: micro[1],
      value: micro[2],
      acks: operation.acks ?? 'all',
      type: end === undefined ? 'open' : (end.type as 'ok'),
      offset: end?.type === 'ok' && Array.isArray(completed) ? completed[0] : null,
    });
  }
  return sends;
}

function readsOf(history: readonly Operation[]): Read[] {
  const reads: Read[] = [];
  for (const operation of history) {
    if (operation.f !== 'poll' || operation.type === 'invoke') continue;
    const final = operation.type === 'ok' && operation.error === undefined && isFinal(history, operation);
    for (const [, polled] of operation.value as ['poll', Record<string, [number, number][]>][]) {
      for (const [key, records] of Object.entries(polled ?? {})) {
        for (const [offset, value] of records) reads.push({ key, offset, value, index: operation.index, final });
      }
    }
  }
  return reads;
}

/** Operations of the process since it last began to read: since its last assignment or indefinite operation. */
function session(history: readonly Operation[], operation: Operation): Operation[] {
  const before = history
    .slice(0, history.indexOf(operation) + 1)
    .filter(({ process }) => process === operation.process);
  const begins = before.findLastIndex(
    (each) => (each.type === 'invoke' && each.f === 'assign') || (each.type === 'info' && each !== operation),
  );
  if (begins === -1) return before;
  return before.slice(before[begins]?.f === 'assign' && before[begins].type === 'invoke' ? begins : begins + 1);
}

function isFinal(history: readonly Operation[], operation: Operation): boolean {
  return session(history, operation).some((each) => each.final === true);
}

function gapsOf(history: readonly Operation[]): Gap[] {
  const gaps: Gap[] = [];
  for (const operation of history) {
    if (operation.f !== 'poll' || operation.type !== 'ok' || operation.error !== undefined) continue;
    const all = session(history, operation);
    const since = all.find(({ type, f }) => type === 'invoke' && f === 'poll')?.index ?? -1;
    const polls = all.filter(({ f, type }) => f === 'poll' && type !== 'invoke');
    const broken = polls.findLastIndex((poll) => poll.type !== 'ok' || poll.error !== undefined);
    const readBefore = polls
      .slice(0, broken + 1)
      .some((poll) => poll.type === 'ok' && poll.error === undefined && anyRecord(poll));
    const final = isFinal(history, operation);
    const own = Object.entries((operation.value as [['poll', Record<string, [number, number][]>]])[0][1] ?? {});
    for (const [key, records] of own) {
      const earlier = polls.slice(broken + 1, -1).flatMap((poll) => recordsOf(poll, key));
      let last = earlier.at(-1)?.[0] ?? (final && !readBefore ? -1 : null);
      for (const [offset] of records) {
        if (last !== null && offset > last + 1) gaps.push({ key, after: last, before: offset, since, final });
        last = offset;
      }
    }
  }
  return gaps;
}

function recordsOf(poll: Operation, key: string): [number, number][] {
  return (poll.value as ['poll', Record<string, [number, number][]>][]).flatMap(([, polled]) => polled?.[key] ?? []);
}

function anyRecord(poll: Operation): boolean {
  return (poll.value as ['poll', Record<string, unknown[]>][]).some(([, polled]) =>
    Object.values(polled ?? {}).some((records) => records.length > 0),
  );
}

function valuesAt(sends: readonly Sent[], reads: readonly Read[], key: string, offset: number): Set<number> {
  const acked = sends.filter((send) => send.type === 'ok' && send.acks === 'all');
  return new Set(
    [...acked, ...reads].filter((each) => each.key === key && each.offset === offset).map(({ value }) => value),
  );
}

function offsetsOf(sends: readonly Sent[], reads: readonly Read[], key: string, value: number): Set<number> {
  const all = [...sends, ...reads].filter((each) => each.key === key && each.value === value && each.offset !== null);
  return new Set(all.map(({ offset }) => offset as number));
}

/** Read, and passed over by a reader who began after that read. */
function isGone(reads: readonly Read[], gaps: readonly Gap[], key: string, value: number): boolean {
  const first = reads.find((read) => read.key === key && read.value === value);
  return gaps.some(
    (gap) =>
      first !== undefined &&
      gap.key === key &&
      gap.after < first.offset &&
      first.offset < gap.before &&
      first.index < gap.since,
  );
}

function isLost(reads: readonly Read[], gaps: readonly Gap[], send: Sent): boolean {
  const { key, value, offset } = send;
  if (send.type !== 'ok' || send.acks !== 'all' || offset === null) return false;
  const own = reads.filter((read) => read.key === key && read.value === value);
  if (own.some(({ final }) => final)) return false;
  const finally_ = (other: number): boolean =>
    reads.some((read) => read.key === key && read.value === other && read.final);
  const others = reads.filter((read) => read.key === key && read.offset === offset && read.value !== value);
  const overwritten = others.some((read) => own.length === 0 || finally_(read.value));
  const passed = gaps.some(
    (gap) => gap.key === key && gap.after < offset && offset < gap.before && (own.length === 0 || gap.final),
  );
  return overwritten || passed;
}
