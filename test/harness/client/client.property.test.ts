/** Whatever brokers and networks do, in whatever order, a client keeps its word. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextDeadlineNs } from '../../../harness/client/client.ts';
import type { ClientApi, ClientEffect, ClientEvent } from '../../../harness/client/contract.ts';
import type { ClientOperation } from '../../../harness/client/operations.ts';
import { batch, ByHand, concat, fetched, metadata, ms, offsets, produced } from './by-hand.ts';

type Move =
  | { readonly kind: 'invoke'; readonly operation: ClientOperation }
  | { readonly kind: 'sent' | 'wait' | 'early' }
  | { readonly kind: 'answer'; readonly code: number; readonly leaders: readonly number[]; readonly cut: number }
  | { readonly kind: 'closed' | 'connect-failed' | 'malformed'; readonly node: number };

const key = fc.integer({ min: 0, max: 2 }).map((partition) => `tide-${partition}`);
const operation: fc.Arbitrary<ClientOperation> = fc.oneof(
  fc.record({ f: fc.constant('send' as const), key, value: fc.nat() }),
  fc.constant({ f: 'poll' as const }),
  fc.record({
    f: fc.constant('assign' as const),
    keys: fc.uniqueArray(key),
    seek: fc.constantFrom('earliest' as const, 'latest' as const),
  }),
);
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ kind: fc.constant('invoke' as const), operation }),
  fc.record({ kind: fc.constantFrom('sent' as const, 'wait' as const, 'early' as const) }),
  fc.record({
    kind: fc.constant('answer' as const),
    code: fc.constantFrom(0, 0, 0, 1, 3, 6, 7, 19, 78, 999),
    leaders: fc.array(fc.integer({ min: -1, max: 4 }), { maxLength: 3 }),
    cut: fc.nat(80),
  }),
  fc.record({
    kind: fc.constantFrom('closed' as const, 'connect-failed' as const, 'malformed' as const),
    node: fc.integer({ min: 1, max: 3 }),
  }),
);

function bodyOf(api: ClientApi, { code, leaders, cut }: Extract<Move, { kind: 'answer' }>): unknown {
  if (api === 'Metadata') return metadata(leaders);
  if (api === 'Produce') return produced(leaders.length, code, cut);
  if (api === 'ListOffsets') return offsets({ 0: cut }, { 1: code });
  const bytes = concat(batch(cut, '1', '2'), batch(cut + 2, '3'));
  return fetched({ 0: { bytes: bytes.subarray(0, bytes.length - cut) }, 1: { errorCode: code }, 2: {} });
}

function eventOf(client: ByHand, next: Move): ClientEvent | null {
  const last = client.sends().at(-1);
  switch (next.kind) {
    case 'invoke':
      return client.state.current === null ? { type: 'invoke', operation: next.operation } : null;
    case 'sent':
      return last === undefined ? null : { type: 'sent', node: last.node, correlationId: last.correlationId };
    case 'answer': {
      if (last === undefined) return null;
      const { node, correlationId, api, version } = last;
      return { type: 'response', node, correlationId, api, version, body: bodyOf(api, next) } as ClientEvent;
    }
    case 'wait':
      client.nowNs = nextDeadlineNs(client.state) ?? client.nowNs + ms;
      return { type: 'deadline' };
    case 'early':
      return { type: 'deadline' };
    case 'closed':
    case 'connect-failed':
    case 'malformed':
      return { type: next.kind, node: next.node };
  }
}

function count(effects: readonly ClientEffect[], apis: readonly ClientApi[]): number {
  return effects.filter((effect) => effect.type === 'send' && apis.includes(effect.api)).length;
}

it('every operation makes at most one attempt and ends exactly once, within its deadline', () => {
  fc.assert(
    fc.property(
      fc.array(move, { maxLength: 60 }),
      fc.constantFrom('all' as const, 1 as const, 0 as const),
      (moves, acks) => {
        const client = new ByHand({ acks });
        let invoked = 0;
        let attempts = 0;
        let written = false;
        for (const next of moves) {
          const event = eventOf(client, next);
          if (event === null) continue;
          if (event.type === 'invoke') [invoked, attempts, written] = [invoked + 1, 0, false];
          const pending = client.state.current?.pending;
          const isAttempt = pending?.api === 'Produce' || pending?.api === 'Fetch';
          const own = 'correlationId' in event && event.correlationId === pending?.correlationId;
          if (isAttempt && own) written = true;
          const effects = client.tell(event);
          attempts += count(effects, ['Produce', 'Fetch']);
          expect(attempts).toBeLessThanOrEqual(1);
          const ended = effects.filter((effect) => effect.type === 'complete');
          expect(client.completions()).toHaveLength(invoked - (client.state.current === null ? 0 : 1));
          for (const { completion } of ended) {
            if (completion.type === 'info') expect(written).toBe(true);
            if (completion.type === 'ok' && completion.f === 'send') expect(written).toBe(true);
          }
          // Whatever is under way has a deadline, so it ends.
          if (client.state.current !== null)
            expect(nextDeadlineNs(client.state)).toBeLessThanOrEqual(client.nowNs + 1_000 * ms);
        }
        for (let round = 0; client.state.current !== null; round += 1) {
          expect(round).toBeLessThan(5);
          client.wait();
        }
        expect(client.completions()).toHaveLength(invoked);
      },
    ),
    { numRuns: 2_000 },
  );
});
