/** Whatever peers and clients send, decoded as it may be: a step never fails, and a log never loses its order. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBroker, nextDeadlineNs, step } from '../../../broker/core/broker.ts';
import type { CoreEvent, Effect, SendEffect } from '../../../broker/core/step.ts';
import { allKinds, bodies } from '../protocol/arbitraries.ts';
import { Cluster } from './cluster.ts';
import { configOf, nsPerMs } from './values.ts';

const requests = allKinds.filter(({ direction }) => direction === 'request');

interface Sent {
  readonly event: Record<string, unknown>;
  readonly tame: boolean;
}

const anyRequest: fc.Arbitrary<Sent> = fc.constantFrom(...requests).chain((kind) =>
  fc.record({
    tame: fc.boolean(),
    event: bodies(kind).map((body) => ({ type: 'request', api: kind.api, version: kind.version, body })),
  }),
);

const anyAnswers = new Map(
  allKinds
    .filter(({ direction }) => direction === 'response')
    .map((kind) => [`${kind.api} v${kind.version}`, bodies(kind)]),
);

/** Moves names and numbers close to those of the one partition that there is, so that more of them mean something. */
function tamed(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => tamed(each, field));
  if (typeof value === 'string') return /topic|name/i.test(field) ? 't' : value;
  if (typeof value === 'number')
    return /^(index|partition|partitionIndex)$/.test(field) ? 0 : (Math.abs(value) % 5) - 1;
  if (value === null || typeof value !== 'object' || 'batches' in value || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, tamed(each, name)]));
}

it.each(['hw', 'epoch'])('a broker of %s survives any request, in any order', (build) => {
  fc.assert(
    fc.property(fc.array(anyRequest, { maxLength: 40 }), (sent) => {
      const cluster = new Cluster({ build });
      cluster.push({ leader: 1, epoch: 0, isr: [1, 2, 3] });
      sent.forEach(({ event, tame }, index) => {
        const origin = { connection: index, correlationId: index, clientId: 'anybody' };
        const body = tame ? tamed(event['body']) : event['body'];
        cluster.event(1, { ...event, body, origin } as unknown as CoreEvent);
        cluster.advance(50);
        expectOrder(cluster);
      });
    }),
    { numRuns: 60 },
  );
});

it.each(['hw', 'epoch'])('a broker of %s survives any answer to what it asks', (build) => {
  const answers = fc.array(fc.tuple(fc.nat(), fc.boolean(), fc.integer({ min: 0, max: 400 })), { maxLength: 40 });
  fc.assert(
    fc.property(answers, fc.gen(), (picks, draw) => {
      const { state, effects } = createBroker(configOf(2, build), [], 0);
      const asked: SendEffect[] = [];
      let nowNs = 0;
      const note = (all: readonly Effect[]) =>
        asked.push(...all.filter((each): each is SendEffect => each.type === 'send'));
      note(effects);
      for (const [index, [pick, tame, waitMs]] of picks.entries()) {
        // Mostly the newest question: older ones have been given up.
        const question = asked.at(-1 - (pick % 3));
        if (question !== undefined) {
          const { peer, correlationId, api, version } = question;
          const drawn = draw(() => anyAnswers.get(`${api} v${version}`)!);
          const body = tame ? tamed(drawn) : drawn;
          note(step(state, { type: 'response', peer, correlationId, api, version, body } as CoreEvent, nowNs));
        }
        note(step(state, push(state.controller.brokerEpoch, index), nowNs));
        nowNs += waitMs * nsPerMs;
        if (nextDeadlineNs(state) <= nowNs) note(step(state, { type: 'deadline' }, nowNs));
      }
    }),
    { numRuns: 60 },
  );
});

/** The controller keeps broker 1 as leader for a while, then makes broker 2 the leader, and so on. */
function push(brokerEpoch: number, version: number): CoreEvent {
  const brokers = [1, 2].map((brokerId) => ({ brokerId, brokerEpoch, host: 'h', port: 1, fenced: false }));
  const leader = version % 12 === 11 ? 2 : 1;
  const leaderEpoch = Math.floor((version + 1) / 6);
  const state = { topic: 't', partition: 0, leader, leaderEpoch, partitionEpoch: version, isr: [1, 2] };
  return {
    type: 'request',
    origin: { connection: 1, correlationId: version, clientId: 'controller.1' },
    api: 'PartitionStates',
    version: 0,
    body: {
      metadataVersion: version,
      full: false,
      brokers,
      partitions: [{ ...state, replicas: [1, 2], deleted: false }],
    },
  };
}

function expectOrder(cluster: Cluster): void {
  for (const { log, highWatermark } of cluster.node(1).state.partitions.values()) {
    expect(highWatermark).toBeLessThanOrEqual(log.endOffset);
    log.batches.reduce((end, { baseOffset, lastOffset }) => {
      expect(baseOffset).toBe(end);
      return lastOffset + 1;
    }, log.batches[0]?.baseOffset ?? 0);
  }
}
