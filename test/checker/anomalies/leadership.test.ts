/** What a leader may never do, each in the smallest run that shows it, and its nearest lawful neighbour. */
import { describe, expect, it } from 'vitest';
import { findLeaderFaults } from '../../../checker/anomalies/leadership.ts';
import type { Evidence } from '../../../checker/evidence.ts';
import { key, kinds, quiet, Story, type StoryOptions } from '../story.ts';

describe('two-leaders-one-epoch', () => {
  /** Broker 2 takes the lead of an epoch that broker 3 already leads. */
  function usurped(writes: boolean): Story {
    const story = quiet(1);
    story.line(2, {
      event: 'role',
      partition: key,
      leaderEpoch: 0,
      role: 'leader',
      leader: 2,
      leo: 1,
      hw: 1,
      isr: [2],
    });
    if (!writes) return story;
    const batch = { base: 1, last: 1, epoch: 0, hash: '0000000a' };
    story.line(2, { event: 'append', partition: key, leaderEpoch: 0, batches: [batch] });
    story.truncate(2, 1, 'high-watermark', { highWatermark: 1 });
    return story;
  }

  it('is two brokers that write under one leader epoch', () => {
    const results = usurped(true).check();
    expect(kinds(results)).toEqual(['two-leaders-one-epoch']);
    expect(results.anomalies[0]).toMatchObject({ key, nodes: [2, 3], offset: 0, guarantee: 'agreement' });
    expect(results.guarantees.agreement).toBe(false);
  });

  it('is told with whom the controller had elected in that epoch, if anybody', () => {
    const story = usurped(true);
    const nobody = { event: 'election', partition: key, leaderEpoch: 0, leader: null, previousLeader: 3, isr: [3] };
    story.line('controller', { ...nobody, clean: true, reason: 'test' });
    const [shared] = story.check().anomalies.filter(({ kind }) => kind === 'two-leaders-one-epoch');
    expect(shared?.why.slice(0, 2).map(({ text }) => text)).toEqual([
      'Broker 3 was elected (epoch 0, clean, test).',
      'Nobody was elected (epoch 0, clean, test).',
    ]);
  });

  it('is not a second leader that never writes', () => {
    expect(usurped(false).check().anomalies).toEqual([]);
  });

  it('is not one broker that leads the same epoch again after a start', () => {
    const story = quiet(1);
    story.restart(3, 1);
    story.lead();
    story.commit(2);
    expect(story.check().anomalies).toEqual([]);
  });

  it('is not judged where lines of the trace are missing', () => {
    const story = usurped(true);
    const results = story.check({ trace: story.trace.filter((line) => !line.includes('"event":"start"')) });
    expect(results.anomalies).toEqual([]);
    expect(results.valid).toBe('unknown');
  });
});

describe('hw-regression', () => {
  it('is a high watermark that goes back while its leader leads', () => {
    const story = quiet(3);
    story.hw(1, 3);
    story.hw(3, 3);
    const results = story.check();
    expect(kinds(results)).toEqual(['hw-regression']);
    expect(results.anomalies[0]).toMatchObject({ offset: 1, nodes: [3], labels: ['leader'], guarantee: 'visibility' });
    expect(results.anomalies[0]?.summary).toContain('went back from 3 to 1');
  });

  it('is not that of a follower', () => {
    const story = quiet(3);
    story.hw(1, 2);
    story.hw(3, 2);
    expect(story.check().anomalies).toEqual([]);
  });

  it('is not a new leader that knows of less than its predecessor', () => {
    const story = quiet(2);
    story.send(3);
    story.copy(3, 1, 2);
    story.hw(3, 3);
    story.ack(3);
    story.begin(2, [1, 2, 3]);
    story.settle();
    expect(story.check().anomalies).toEqual([]);
  });

  it('is not a broker that took the lead, lost it and started again', () => {
    const story = quiet(3);
    story.restart(3, 1);
    story.hw(3, 3);
    expect(story.check().anomalies).toEqual([]);
  });
});

describe('hw-regression after a start', () => {
  it('is not a broker that starts again and takes the lead of the same epoch with what its checkpoint says', () => {
    const story = quiet(3);
    story.restart(3, 1);
    story.lead();
    story.hw(3, 3);
    expect(story.check().anomalies).toEqual([]);
  });
});

describe('ack-below-min-isr', () => {
  it('is acks=all, acknowledged by fewer than min.insync.replicas', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 1, 2, 3);
    story.ack(2, 3, [3]);
    const results = story.check();
    expect(kinds(results)).toEqual(['ack-below-min-isr']);
    expect(results.anomalies[0]).toMatchObject({ offset: 1, nodes: [3], guarantee: 'durability' });
  });

  it.each<[string, StoryOptions, number[]]>([
    ['of as many as were asked for', { minInsyncReplicas: 2 }, [1, 3]],
    ['of all replicas, where there are fewer than were asked for', { minInsyncReplicas: 3, brokers: 2 }, [1, 2]],
    ['at acks=1', { acks: 1 }, [2]],
  ])('is not an acknowledgement %s', (_, options, isr) => {
    const story = new Story(options);
    const all = options.brokers === 2 ? [1, 2] : [1, 2, 3];
    story.begin(2, all);
    story.send(1);
    story.copy(2, ...all.filter((node) => node !== 2));
    story.hw(1, ...all);
    story.ack(1, 2, isr);
    expect(story.check()).toMatchObject({ valid: true, anomalies: [] });
  });

  /** The ISR of each acknowledgement, from offset 5 on; null where its line has none. */
  const judged = (...isrs: readonly (readonly number[] | null)[]) => {
    const acks = isrs.map((isr, row) => {
      return { row, node: 1, base: row + 5, last: row + 6, acks: -1, batchEpoch: 0, epoch: 0, isr: isr ?? [] };
    });
    const store = {
      isr: { get: (row: number) => (isrs[row] === null ? -1 : row) },
      boot: { get: () => 1 },
      seq: { get: (row: number) => row },
      time: { get: () => 0 },
      nodeOf: () => 1,
    };
    const partitions = new Map([[key, { key, replicas: [1, 2, 3], acks }]]);
    const cluster = { damage: ['a hole'], partitions, store };
    return findLeaderFaults({ cluster, promises: { minInsyncReplicas: 3 } } as unknown as Evidence);
  };

  it('is told with the offsets, and with the ISR of the first', () => {
    expect(judged([1, 3], [1, 2, 3], [1])).toMatchObject([
      {
        offset: 5,
        summary: `2 acknowledgements of acks=all for ${key} with fewer than 3 in-sync replicas: broker 1 acknowledged offset 5 with 1, 3`,
        ranges: [
          [5, 6],
          [7, 8],
        ],
      },
    ]);
  });

  it('is not an acknowledgement of which no ISR is known', () => {
    expect(judged(null)).toEqual([]);
    expect(judged([])).toHaveLength(1);
  });
});
