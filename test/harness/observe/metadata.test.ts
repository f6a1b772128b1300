import { describe, expect, test } from 'vitest';
import type { ResponseBody } from '../../../broker/protocol/index.ts';
import { createObservedMetadata, deafMs, foldAnswer, forgetNode, lateMs } from '../../../harness/observe/metadata.ts';
import type { LogPattern } from '../../../docker/targets/target.ts';
import type { Sighting } from '../../../harness/observe/lines.ts';
import { createLogReader, readLogLine } from '../../../harness/observe/log-lines.ts';
import type { NodeName } from '../../../nemesis/ports.ts';

interface Said {
  readonly leader: number;
  readonly isr?: readonly number[];
  readonly epoch?: number;
  readonly live?: readonly number[];
}

/** A cluster of three, asked by hand. */
function stage(brokers = [1, 2, 3]) {
  let nowMs = 0;
  const state = createObservedMetadata('tide-7', 1, brokers, () => nowMs);
  const say = (node: NodeName, { leader, isr = [1, 2, 3], epoch = -1, live = brokers }: Said): Sighting[] =>
    foldAnswer(state, node, answer(leader, epoch, isr, live));
  const everybody = (said: Said, nodes = brokers): Sighting[] => nodes.flatMap((node) => say(node, said));
  return {
    state,
    say,
    everybody,
    pass: (ms: number): void => {
      nowMs += ms;
    },
  };
}

function answer(
  leaderId: number,
  leaderEpoch: number,
  isrNodes: readonly number[],
  live: readonly number[],
): ResponseBody<'Metadata'> {
  const partition = { errorCode: 0, partitionIndex: 0, leaderId, leaderEpoch, isrNodes, offlineReplicas: [] };
  return {
    throttleTimeMs: 0,
    brokers: live.map((nodeId) => ({ nodeId, host: 'somewhere', port: 9092, rack: null })),
    clusterId: null,
    controllerId: -1,
    topics: [
      {
        errorCode: 0,
        name: 'tide-7',
        isInternal: false,
        partitions: [{ ...partition, replicaNodes: [1, 2, 3] }],
        topicAuthorizedOperations: 0,
      },
    ],
    clusterAuthorizedOperations: 0,
  } as ResponseBody<'Metadata'>;
}

/** What these lines may hold. */
type Shown = Sighting & Partial<Record<'leader' | 'role' | 'from' | 'to' | 'broker', string | number | null>>;

const short = (sightings: readonly Sighting[]): string[] =>
  sightings.map((line) => {
    const { node, event, leaderEpoch, leader, role, from, to, broker } = line as Shown;
    const abouts = new Map([
      ['election', `${leader}`],
      ['role', `${role} of ${leader}`],
      ['isr', `${from} to ${to}`],
      ['fence', `${broker}`],
      ['unfence', `${broker}`],
    ]);
    const epoch = leaderEpoch === undefined ? '' : ` @${leaderEpoch}`;
    return `${node} ${event} ${abouts.get(event) ?? ''}${epoch}`.trimEnd();
  });

describe('answers to Metadata without epochs', () => {
  test('tell of a partition once, and then of the role that each broker takes', () => {
    const { say } = stage();
    expect(short(say(1, { leader: 3 }))).toEqual([
      'controller create',
      'controller election 3 @0',
      '1 role follower of 3 @0',
    ]);
    expect(short(say(3, { leader: 3 }))).toEqual(['3 role leader of 3 @0']);
    expect(say(3, { leader: 3 })).toEqual([]);
  });

  test('mark a counted epoch as one that no broker told', () => {
    const { say } = stage();
    expect(say(1, { leader: 3 }).at(-1)).toMatchObject({ leaderEpoch: 0, epochSeen: false, source: 'metadata' });
  });

  test('count leaderships up, and place every broker in them at its own time', () => {
    const { say, everybody } = stage();
    everybody({ leader: 3 });
    expect(short(say(2, { leader: 2, isr: [2, 1] }))).toEqual(['controller election 2 @1', '2 role leader of 2 @1']);
    expect(short(say(1, { leader: 1, isr: [1] }))).toEqual(['controller election 1 @2', '1 role leader of 1 @2']);
  });

  test('of a broker that slept through elections lead it through them, and are no elections of their own', () => {
    const { say, everybody, pass } = stage();
    everybody({ leader: 3 });
    for (const leader of [2, 1]) {
      pass(deafMs);
      everybody({ leader, isr: [1, 2] }, [1, 2]);
    }
    pass(10);
    expect(short(say(3, { leader: 3 }))).toEqual([]);
    expect(short(say(3, { leader: 2 }))).toEqual(['3 role follower of 2 @1']);
    expect(short(say(3, { leader: 1 }))).toEqual(['3 role follower of 1 @2']);
  });

  test('of a broker that is catching up name no new leader before it had the time', () => {
    const { say, everybody, pass } = stage();
    everybody({ leader: 3 });
    everybody({ leader: 2 }, [1, 2]);
    everybody({ leader: 1 }, [1, 2]);
    everybody({ leader: 2 }, [1, 2]);
    pass(deafMs + 1);
    everybody({ leader: 2 }, [1, 2]);
    expect(say(3, { leader: 3 })).toEqual([]);
    // It takes the second leadership for the fourth; the third comes after it, and is no fifth.
    expect(short(say(3, { leader: 2 }))).toEqual(['3 role follower of 2 @3']);
    expect(say(3, { leader: 1 })).toEqual([]);
    pass(lateMs / 2);
    expect(say(3, { leader: 2 })).toEqual([]);
  });

  test('of a broker that was started anew tell its role again', () => {
    const { state, say, everybody } = stage();
    everybody({ leader: 3 });
    forgetNode(state, 1);
    expect(say(1, { leader: -1, isr: [] })).toEqual([]);
    expect(short(say(1, { leader: 3 }))).toEqual(['1 role follower of 3 @0']);
  });

  test('that know no leader for a moment say nothing', () => {
    const { say, everybody } = stage();
    everybody({ leader: 3 });
    expect(say(1, { leader: -1 })).toEqual([]);
  });
});

describe('answers to Metadata with epochs', () => {
  test('give each role the epoch that the broker itself knows', () => {
    const { say, everybody } = stage();
    everybody({ leader: 3, epoch: 4 });
    expect(short(say(2, { leader: 2, epoch: 6, isr: [2, 1] }))).toEqual([
      'controller election 2 @6',
      '2 role leader of 2 @6',
    ]);
    expect(short(say(1, { leader: 2, epoch: 6, isr: [2, 1] }))).toEqual(['1 role follower of 2 @6']);
    expect(say(1, { leader: 2, epoch: 6, isr: [2, 1] })[0]?.['epochSeen']).toBeUndefined();
  });

  test('that only rise under one leader are a change of the ISR', () => {
    const { say, everybody } = stage();
    everybody({ leader: 3, epoch: 4 });
    expect(short(say(3, { leader: 3, epoch: 5, isr: [3, 2] }))).toEqual([
      'controller isr 1,2,3 to 3,2 @5',
      '3 role leader of 3 @5',
    ]);
  });

  test('tell that nobody leads', () => {
    const { say, everybody } = stage();
    everybody({ leader: 3, epoch: 4 });
    expect(short(say(1, { leader: -1, epoch: 5, isr: [3] }))[0]).toBe('controller election null @5');
  });
});

describe('the ISR', () => {
  test('is what a broker says differently than before, once', () => {
    const { say, everybody } = stage();
    everybody({ leader: 3 });
    expect(short(say(3, { leader: 3, isr: [3, 2] }))).toEqual(['controller isr 1,2,3 to 3,2 @0']);
    expect(say(1, { leader: 3, isr: [3, 2] })).toEqual([]);
    // What broker 2 still says is old: it undoes nothing.
    expect(say(2, { leader: 3, isr: [1, 2, 3] })).toEqual([]);
  });

  test('is not what a broker says first that has just started', () => {
    const { state, say, everybody, pass } = stage();
    everybody({ leader: 3 });
    forgetNode(state, 1);
    everybody({ leader: 3, isr: [3, 2] }, [2, 3]);
    say(1, { leader: 3, isr: [3, 2] });
    everybody({ leader: 3 }, [2, 3]);
    for (let ms = 0; ms < 2 * lateMs; ms += lateMs / 4) {
      pass(lateMs / 4);
      everybody({ leader: 3 }, [2, 3]);
      expect(short(say(1, { leader: 3, isr: [3, 2] }))).toEqual([]);
    }
  });
});

describe('live brokers', () => {
  test('are fenced by the word of most who answer', () => {
    const { say, everybody } = stage();
    everybody({ leader: 3 });
    expect(say(1, { leader: 3, live: [1, 2] })).toEqual([]);
    expect(short(say(2, { leader: 3, live: [1, 2] }))).toEqual(['controller fence 3']);
    expect(short(say(1, { leader: 3 }))).toEqual(['controller unfence 3']);
  });

  test('are fenced by the word of the controller alone, where it answers', () => {
    const { say, everybody } = stage();
    say('controller', { leader: 3 });
    everybody({ leader: 3, live: [1, 2] });
    expect(short(say('controller', { leader: 3, live: [1, 3] }))).toEqual(['controller fence 2']);
  });
});

describe('log lines beside answers', () => {
  const patterns: readonly LogPattern[] = [
    { shows: 'leads', pattern: /starts leading (?<key>\S+)(?: in (?<epoch>\d+))?/ },
    { shows: 'follows', pattern: /follows (?<leader>\d+) on (?<topic>\S+) (?<partition>\d+)(?: in (?<epoch>\d+))?/ },
    { shows: 'hw', pattern: /high watermark of (?<key>\S+) is (?<offset>\d+)/ },
    { shows: 'truncates', pattern: /Truncating (?<key>\S+) to (?<offset>\d+)/ },
    { shows: 'ends-itself', pattern: /Exiting because/ },
  ];

  test('are ahead of answers, which then say nothing new', () => {
    const { state, say, everybody } = stage();
    everybody({ leader: 3 });
    const reader = createLogReader(2, patterns);
    expect(short(readLogLine(reader, state.partitions, 'starts leading tide-7-0'))).toEqual([
      'controller election 2 @1',
      '2 role leader of 2 @1',
    ]);
    expect(say(2, { leader: 3 })).toEqual([]);
    expect(say(2, { leader: 2 })).toEqual([]);
    expect(short(say(1, { leader: 2 }))).toEqual(['1 role follower of 2 @1']);
  });

  test('that tell an epoch raise what was counted, and every role under it', () => {
    const { state, everybody } = stage();
    everybody({ leader: 3 });
    everybody({ leader: 2 }, [1, 2]);
    const reader = createLogReader(2, patterns);
    const told = readLogLine(reader, state.partitions, 'starts leading tide-7-0 in 5');
    expect(short(told)).toEqual([
      'controller isr 1,2,3 to 1,2,3 @5',
      '1 role follower of 2 @5',
      '2 role leader of 2 @5',
    ]);
    expect(told.every((line) => line['epochSeen'] === undefined)).toBe(true);
  });

  test('tell of an ISR by the word of its leader alone, which counts until Metadata goes on saying otherwise', () => {
    const { state, everybody, pass } = stage();
    everybody({ leader: 3 });
    const read = (node: number): Sighting[] => {
      const pattern = /ISR of (?<key>\S+) is (?<isr>[\d,]+)/;
      return readLogLine(
        createLogReader(node, [{ shows: 'isr', pattern }]),
        state.partitions,
        'ISR of tide-7-0 is 3,2',
      );
    };
    expect(read(1)).toEqual([]);
    expect(short(read(3))).toEqual(['controller isr 1,2,3 to 3,2 @0']);
    for (let ms = 0; ms < 7_000; ms += 500) {
      pass(500);
      expect(everybody({ leader: 3 })).toEqual([]);
    }
    pass(500);
    everybody({ leader: 3 });
    pass(600);
    expect(short(everybody({ leader: 3 }))).toEqual(['controller isr 3,2 to 1,2,3 @0']);
  });

  test('tell a high watermark when it is another one, or when the role is', () => {
    const { state, say, everybody } = stage();
    everybody({ leader: 3 });
    const reader = createLogReader(1, patterns);
    const read = (): Sighting[] => readLogLine(reader, state.partitions, 'high watermark of tide-7-0 is 4');
    expect(read()).toMatchObject([{ node: 1, event: 'hw', to: 4, leaderEpoch: 0 }]);
    expect(read()).toEqual([]);
    say(1, { leader: 2 });
    expect(read()).toHaveLength(1);
  });

  test('tell that a broker truncates, and that it ends, in its own words', () => {
    const { state } = stage();
    const reader = createLogReader(1, patterns);
    expect(readLogLine(reader, state.partitions, 'INFO Truncating tide-7-0 to 3. (log)')).toEqual([
      {
        node: 1,
        event: 'truncation',
        source: 'log',
        partition: 'tide-7-0',
        to: 3,
        rule: null,
        words: 'INFO Truncating tide-7-0 to 3. (log)',
      },
    ]);
    expect(readLogLine(reader, state.partitions, 'FATAL Exiting because of it')).toEqual([
      { node: 1, event: 'ended', source: 'log', words: 'FATAL Exiting because of it' },
    ]);
  });

  test('about other topics, and without a leader, say nothing', () => {
    const { state } = stage();
    const reader = createLogReader(1, [{ shows: 'follows', pattern: /follows on (?<key>\S+)/ }, ...patterns]);
    expect(readLogLine(reader, state.partitions, 'starts leading other-0')).toEqual([]);
    expect(readLogLine(reader, state.partitions, 'follows on tide-7-0')).toEqual([]);
    expect(readLogLine(reader, state.partitions, 'x'.repeat(5_000))).toEqual([]);
  });
});
