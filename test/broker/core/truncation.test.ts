import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildNamed } from '../../../broker/core/builds.ts';
import { assignEpoch, endOffsetFor, latestEpoch, truncateFromEnd } from '../../../broker/core/epoch-cache.ts';
import type { EpochCache, EpochEnd, EpochLookup } from '../../../broker/core/epoch-cache.ts';
import { followerStep } from '../../../broker/core/truncation.ts';
import type { EpochTruncation } from '../../../broker/core/truncation.ts';
import { expectGolden } from '../../golden.ts';

/** `[epoch, start offset]` pairs. */
type Entries = readonly (readonly [number, number])[];

interface Vector {
  readonly title: string;
  readonly leader: { readonly epochs: Entries; readonly end: number };
  readonly follower: { readonly epochs: Entries; readonly end: number; readonly highWatermark?: number };
  readonly rule: EpochTruncation;
  readonly lookup: EpochLookup;
  /** The ends after each round, until the follower may fetch. */
  readonly ends: readonly number[];
}

const epoch = rulesOf('epoch');
const kip279 = rulesOf('kip279');
const kip101 = rulesOf('kip101');

/** The switches of a build that decide where a log ends. */
function rulesOf(name: string): Pick<Vector, 'rule' | 'lookup'> {
  const build = buildNamed(name);
  if (build === undefined || build.truncation === 'high-watermark') throw new Error(`${name} asks for no epoch`);
  return { rule: build.truncation, lookup: build.epochLookup };
}

const vectors: readonly Vector[] = [
  {
    title: 'a follower that is merely behind keeps all',
    leader: {
      epochs: [
        [0, 0],
        [1, 5],
      ],
      end: 8,
    },
    follower: {
      epochs: [
        [0, 0],
        [1, 5],
      ],
      end: 7,
    },
    ...epoch,
    ends: [7],
  },
  {
    title: 'a follower with a longer old epoch is cut to where the leader ended it',
    leader: {
      epochs: [
        [0, 0],
        [1, 5],
      ],
      end: 8,
    },
    follower: { epochs: [[0, 0]], end: 9 },
    ...epoch,
    ends: [5],
  },
  {
    title: 'KIP-101 keeps a tail of an epoch that the leader never saw',
    leader: {
      epochs: [
        [0, 0],
        [2, 1],
        [4, 4],
      ],
      end: 6,
    },
    follower: {
      epochs: [
        [0, 0],
        [1, 1],
        [3, 2],
      ],
      end: 3,
    },
    ...kip101,
    ends: [3],
  },
  {
    title: 'KIP-279 asks again, until both logs have met',
    leader: {
      epochs: [
        [0, 0],
        [2, 1],
        [4, 4],
      ],
      end: 6,
    },
    follower: {
      epochs: [
        [0, 0],
        [1, 1],
        [3, 2],
      ],
      end: 3,
    },
    ...kip279,
    ends: [2, 1],
  },
  {
    title: 'so does the epoch build',
    leader: {
      epochs: [
        [0, 0],
        [2, 1],
        [4, 4],
      ],
      end: 6,
    },
    follower: {
      epochs: [
        [0, 0],
        [1, 1],
        [3, 2],
      ],
      end: 3,
    },
    ...epoch,
    ends: [2, 1],
  },
  {
    title: 'Kafka 2.0.0 keeps a record below its first epoch, which the leader has not',
    leader: {
      epochs: [
        [0, 0],
        [2, 1],
      ],
      end: 2,
    },
    follower: { epochs: [[1, 0]], end: 1 },
    ...kip279,
    ends: [1],
  },
  {
    title: 'the epoch build cuts it (KAFKA-7415)',
    leader: {
      epochs: [
        [0, 0],
        [2, 1],
      ],
      end: 2,
    },
    follower: { epochs: [[1, 0]], end: 1 },
    ...epoch,
    ends: [0],
  },
  {
    title: 'a leader without an entry of its own sends the follower back to its high watermark',
    leader: { epochs: [[0, 0]], end: 1 },
    follower: {
      epochs: [
        [0, 0],
        [1, 1],
      ],
      end: 3,
      highWatermark: 2,
    },
    ...kip279,
    ends: [2],
  },
  {
    title: 'a leader that has noted its epoch answers instead',
    leader: {
      epochs: [
        [0, 0],
        [2, 1],
      ],
      end: 1,
    },
    follower: {
      epochs: [
        [0, 0],
        [1, 1],
      ],
      end: 3,
      highWatermark: 2,
    },
    ...epoch,
    ends: [1],
  },
  {
    title: 'a leader whose log starts later answers with its start',
    leader: { epochs: [[5, 10]], end: 20 },
    follower: { epochs: [[4, 0]], end: 15 },
    ...epoch,
    ends: [10],
  },
  {
    title: 'an answer without an epoch is an older leader, and taken at its word',
    leader: {
      epochs: [
        [0, 0],
        [2, 1],
        [4, 4],
      ],
      end: 6,
    },
    follower: {
      epochs: [
        [0, 0],
        [1, 1],
        [3, 2],
      ],
      end: 3,
    },
    rule: 'epoch-until-met',
    lookup: 'end-only',
    ends: [3],
  },
];

interface BuildVector extends Pick<Vector, 'title' | 'leader' | 'follower'> {
  /** The leader of a build that notes its epoch when it is elected, where that makes a difference. */
  readonly startedLeader?: Vector['leader'];
  readonly ends: Readonly<Record<'kip101' | 'kip279' | 'epoch', readonly number[]>>;
}

const byBuild: readonly BuildVector[] = [
  {
    title: 'a follower that is merely behind',
    leader: logOf({ 0: 0, 1: 5 }, 8),
    follower: logOf({ 0: 0, 1: 5 }, 7),
    ends: { kip101: [7], kip279: [7], epoch: [7] },
  },
  {
    title: 'a longer old epoch',
    leader: logOf({ 0: 0, 1: 5 }, 8),
    follower: logOf({ 0: 0 }, 9),
    ends: { kip101: [5], kip279: [5], epoch: [5] },
  },
  {
    title: 'two epochs that the leader never saw',
    leader: logOf({ 0: 0, 2: 1, 4: 4 }, 6),
    follower: logOf({ 0: 0, 1: 1, 3: 2 }, 3),
    ends: { kip101: [3], kip279: [2, 1], epoch: [2, 1] },
  },
  {
    title: 'an epoch below the first one of the follower',
    leader: logOf({ 0: 0, 2: 1 }, 2),
    follower: logOf({ 1: 0 }, 1),
    ends: { kip101: [1], kip279: [1], epoch: [0] },
  },
  {
    title: 'a leader of epoch 2 that has written nothing',
    leader: logOf({ 0: 0 }, 1),
    startedLeader: logOf({ 0: 0, 2: 1 }, 1),
    follower: { ...logOf({ 0: 0, 1: 1 }, 4), highWatermark: 3 },
    ends: { kip101: [3], kip279: [3], epoch: [1] },
  },
  {
    title: 'a leader whose log starts later',
    leader: logOf({ 5: 10 }, 20),
    follower: { ...logOf({ 4: 0 }, 15), highWatermark: 12 },
    ends: { kip101: [12], kip279: [12], epoch: [10] },
  },
];

function logOf(epochs: Readonly<Record<number, number>>, end: number): Vector['leader'] {
  return { epochs: Object.entries(epochs).map(([at, startOffset]) => [Number(at), startOffset] as const), end };
}

describe('a follower with epochs', () => {
  it.each(vectors)('$title', ({ leader, follower, rule, lookup, ends }) => {
    const log = { ...follower, epochs: cache(follower.epochs) };
    expect(endsOf(truncateUntilDone(cache(leader.epochs), leader.end, log, rule, lookup))).toEqual(ends);
  });

  it.each(byBuild)('$title, build by build', ({ leader, startedLeader = leader, follower, ends }) => {
    const rounds = (name: 'kip101' | 'kip279' | 'epoch') => {
      const { epochs, end } = name === 'epoch' ? startedLeader : leader;
      const { rule, lookup } = rulesOf(name);
      return endsOf(
        truncateUntilDone(cache(epochs), end, { ...follower, epochs: cache(follower.epochs) }, rule, lookup),
      );
    };
    expect({ kip101: rounds('kip101'), kip279: rounds('kip279'), epoch: rounds('epoch') }).toEqual(ends);
  });

  it('asks and cuts as its golden trace tells', () => {
    expectGolden('test/golden/epoch-questions.txt', vectors.map(narrate).join('\n'));
  });

  it('ends where both logs agree, whatever their histories, and asks no oftener than it has epochs', () => {
    fc.assert(
      fc.property(histories(), ({ leader, follower }) => {
        const log = { epochs: epochsOf(follower), end: follower.length };
        const ends = endsOf(
          truncateUntilDone(epochsOf(leader), leader.length, log, 'epoch-until-met', 'start-below-first'),
        );
        const end = ends.at(-1) ?? follower.length;
        expect(follower.slice(0, end)).toEqual(leader.slice(0, end));
        expect(ends.length).toBeLessThanOrEqual(log.epochs.length + 1);
        // And it keeps all that they share.
        expect(end).toBe(sharedLength(leader, follower));
      }),
    );
  });
});

function cache(entries: Entries): EpochCache {
  return entries.map(([at, startOffset]) => ({ epoch: at, startOffset }));
}

/** One question of a follower, its answer, and where the log ends then. */
interface Round {
  readonly asked: number;
  readonly answer: EpochEnd;
  readonly end: number;
}

const endsOf = (rounds: readonly Round[]) => rounds.map(({ end }) => end);

/** A vector as a reader can follow it; caches as the checkpoint file has them. */
function narrate({ title, leader, follower, rule, lookup }: Vector): string {
  const log = { ...follower, epochs: cache(follower.epochs) };
  const rounds = truncateUntilDone(cache(leader.epochs), leader.end, log, rule, lookup);
  const entries = (epochs: Entries) => epochs.map((entry) => entry.join(' ')).join(', ');
  const hw = follower.highWatermark === undefined ? '' : `, high watermark ${follower.highWatermark}`;
  const told = rounds.map(({ asked, answer, end }) => {
    const said =
      answer.endOffset < 0
        ? 'unknown'
        : `${answer.epoch < 0 ? 'it' : `epoch ${answer.epoch}`} ends at ${answer.endOffset}`;
    return `  where does epoch ${asked} end? ${said}: the follower ends at ${end}`;
  });
  return [
    `# ${title} (${rule}, ${lookup})`,
    `  leader: epochs ${entries(leader.epochs)}; ends at ${leader.end}`,
    `  follower: epochs ${entries(follower.epochs)}; ends at ${follower.end}${hw}`,
    ...told,
    '',
  ].join('\n');
}

/** Asks and cuts, as a follower does, until it may fetch. */
function truncateUntilDone(
  leaderEpochs: EpochCache,
  leaderEnd: number,
  follower: { readonly epochs: EpochCache; readonly end: number; readonly highWatermark?: number },
  rule: EpochTruncation,
  lookup: EpochLookup,
): Round[] {
  const rounds: Round[] = [];
  let { epochs, end: endOffset } = follower;
  for (let done = latestEpoch(epochs) < 0; !done && rounds.length < 50;) {
    const asked = latestEpoch(epochs);
    const answer = endOffsetFor(leaderEpochs, asked, leaderEnd, lookup);
    const own = { epochs, endOffset, highWatermark: follower.highWatermark ?? 0 };
    const step = followerStep(rule, lookup, own, answer);
    endOffset = step.truncateTo;
    epochs = truncateFromEnd(epochs, endOffset);
    done = step.done || latestEpoch(epochs) < 0;
    rounds.push({ asked, answer, end: endOffset });
  }
  return rounds;
}

/**
 * Two logs as leaders and followers of Kafka can leave them: records carry (epoch, writer), one writer per epoch, and
 * both logs grew from the same past. The leader has started an epoch above all others.
 */
function histories(): fc.Arbitrary<{ leader: string[]; follower: string[] }> {
  const step = fc.record({ writer: fc.boolean(), records: fc.integer({ min: 1, max: 3 }), syncs: fc.boolean() });
  return fc.array(step, { maxLength: 8 }).map((steps) => {
    const logs: [string[], string[]] = [[], []];
    steps.forEach(({ writer, records, syncs }, at) => {
      const [own, other] = writer ? logs : [logs[1], logs[0]];
      // Whoever follows in this epoch has truncated first, so that its log is a prefix.
      if (syncs) other.splice(sharedLength(own, other));
      for (let count = 0; count < records; count++) own.push(`${at}.${own.length}`);
      if (syncs) other.push(...own.slice(other.length, other.length + 1));
    });
    return { leader: [...logs[0], `${steps.length}.${logs[0].length}`], follower: logs[1] };
  });
}

function epochsOf(log: readonly string[]): EpochCache {
  return log.reduce<EpochCache>(
    (grown, record, offset) => assignEpoch(grown, Number(record.split('.')[0]), offset),
    [],
  );
}

function sharedLength(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
