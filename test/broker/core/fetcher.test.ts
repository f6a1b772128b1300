import { describe, expect, it } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../../broker/protocol/index.ts';
import { Cluster } from './cluster.ts';
import type { ClusterOptions, InFlight } from './cluster.ts';

type FetchedPartition = ResponseBody<'Fetch'>['responses'][number]['partitions'][number];
type Writable<T> = { -readonly [K in keyof T]: T[K] };

function pair(options: ClusterOptions = {}): Cluster {
  const cluster = new Cluster({ brokers: 2, minInsyncReplicas: 1, ...options });
  cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
  cluster.deliver();
  return cluster;
}

/** What broker 2 has on the way to broker 1. */
const asked = (cluster: Cluster) => cluster.inFlight.filter(({ from, to }) => from === 2 && to === 1);
const kinds = (cluster: Cluster) => asked(cluster).map(({ api, version }) => `${api} v${version}`);
const toBroker2 = ({ kind, to }: InFlight) => kind === 'response' && to === 2;

describe('a fetcher', () => {
  it('asks for the end of its epoch before it fetches, in the versions of its build', () => {
    const cluster = pair();
    cluster.produce(1, 1);
    cluster.run(600);
    cluster.kill(2);
    cluster.restart(2);
    cluster.push({ leader: 1, epoch: 1, isr: [1] });
    expect(kinds(cluster)).toEqual(['OffsetForLeaderEpoch v3']);
    const [question] = asked(cluster);
    expect((question!.body as RequestBody<'OffsetForLeaderEpoch'>).topics[0]?.partitions).toEqual([
      { partition: 0, currentLeaderEpoch: 1, leaderEpoch: 0 },
    ]);
    cluster.deliver(({ api }) => api === 'OffsetForLeaderEpoch');
    expect(kinds(cluster)).toEqual(['Fetch v11']);
  });

  it('asks nothing on hw, and fetches as Fetch v4', () => {
    const cluster = pair({ build: 'hw' });
    cluster.kill(2);
    cluster.restart(2);
    cluster.push({ leader: 1, epoch: 1, isr: [1] });
    expect(kinds(cluster)).toEqual(['Fetch v4']);
  });

  it('has one request under way, whatever is pushed meanwhile', () => {
    const cluster = pair();
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] }, [2]);
    cluster.push({ leader: 1, epoch: 2, isr: [1, 2] }, [2]);
    expect(asked(cluster)).toEqual([]);
    cluster.advance(500);
    cluster.deliver(toBroker2);
    expect(asked(cluster)).toHaveLength(1);
  });

  it('starts anew at every epoch on epoch, and goes on in a new epoch of the same leader on hw', () => {
    const truncations = (build: string) => {
      const cluster = pair({ build });
      cluster.produce(1, 1);
      cluster.run(600);
      const before = cluster.lines(2, 'truncation').length;
      cluster.push({ leader: 1, epoch: 1, isr: [1, 2] });
      cluster.run(600);
      return cluster.lines(2, 'truncation').length - before;
    };
    expect(truncations('epoch')).toBe(1);
    expect(truncations('hw')).toBe(0);
  });

  it('drops the answer to a fetch of an older epoch', () => {
    const cluster = pair();
    cluster.produce(1, 1, 1);
    // The answer with the record is on its way while the follower hears of another epoch.
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] }, [2]);
    cluster.deliver(toBroker2);
    expect(cluster.ends(2)).toEqual([0, 0]);
  });

  it('drops the answer of a leader that it does not follow any more', () => {
    const cluster = pair();
    cluster.produce(1, 1, 1);
    cluster.push({ leader: 2, epoch: 1, isr: [1, 2] }, [2]);
    cluster.deliver(toBroker2);
    expect(cluster.log(2)).toEqual([]);
  });

  it('closes the connection when no answer comes, and tries again', () => {
    const cluster = pair();
    const before = cluster.partition(2).log.endOffset;
    cluster.produce(1, 1, 1);
    const stuck = cluster.inFlight.filter(toBroker2);
    expect(stuck).toHaveLength(1);
    cluster.advance(1_700);
    expect(cluster.inFlight).not.toContain(stuck[0]);
    expect(kinds(cluster)).toEqual(['Fetch v11']);
    cluster.deliver();
    expect(cluster.partition(2).log.endOffset).toBe(before + 1);
  });

  it('waits before it tries again what was refused', () => {
    const cluster = new Cluster({ brokers: 2 });
    // The follower hears of its leader before the leader does.
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] }, [2]);
    cluster.deliver();
    expect(kinds(cluster)).toEqual([]);
    cluster.advance(100);
    expect(kinds(cluster)).toEqual(['Fetch v11']);
  });

  it('is refused while the leader knows an older epoch, and asks again (UNKNOWN_LEADER_EPOCH)', () => {
    const cluster = pair();
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] }, [2]);
    cluster.run(600);
    expect(cluster.lines(1, 'fenced').at(-1)).toMatchObject({ leaderEpoch: 0, requestEpoch: 1, from: 'broker-2.1' });
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] }, [1]);
    cluster.produce(1, 1);
    cluster.run(600);
    expect(cluster.log(2)).toEqual(['m1@1']);
  });

  it('waits for the controller when the leader knows a newer epoch (FENCED_LEADER_EPOCH)', () => {
    const cluster = pair();
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] }, [1]);
    cluster.run(2_000);
    expect(cluster.lines(1, 'fenced')).toHaveLength(1);
    expect(asked(cluster)).toEqual([]);
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] }, [2]);
    cluster.produce(1, 1);
    cluster.run(600);
    expect(cluster.log(2)).toEqual(['m1@1']);
  });

  it('of epoch falls back on its high watermark behind a leader of hw, which cannot answer', () => {
    const cluster = pair({ builds: ['hw', 'epoch'] });
    cluster.produce(1, 1);
    cluster.run(600);
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] });
    cluster.run(600);
    expect(cluster.lines(2, 'truncation').at(-1)).toMatchObject({
      from: 1,
      to: 1,
      rule: 'leader-epoch',
      evidence: { question: { epoch: 0 }, answer: { epoch: -1, endOffset: -1 } },
    });
  });

  it('follows nobody while there is no leader, and cuts nothing', () => {
    for (const build of ['hw', 'epoch']) {
      const cluster = pair({ build });
      cluster.produce(1, 1);
      cluster.run(600);
      cluster.kill(1);
      const before = cluster.lines(2, 'truncation').length;
      cluster.push({ leader: -1, epoch: 1, isr: [1] });
      cluster.run(1_000);
      expect(cluster.lines(2, 'role').at(-1)).toMatchObject({ role: 'follower', leader: null });
      expect(cluster.lines(2, 'truncation')).toHaveLength(before);
    }
  });
});

describe('a follower of hw', () => {
  it('whose leader was none for a while and is the same again has no other leader, and cuts nothing', () => {
    const cluster = pair({ build: 'hw' });
    cluster.produce(1, 1);
    cluster.deliver();
    const before = cluster.lines(2, 'truncation').length;
    expect(cluster.ends(2)).toEqual([1, 0]);
    cluster.push({ leader: -1, epoch: 1, isr: [1] });
    cluster.push({ leader: 1, epoch: 2, isr: [1, 2] });
    expect(cluster.lines(2, 'truncation')).toHaveLength(before);
    cluster.run(600);
    expect(cluster.ends(2)).toEqual([1, 1]);
  });
});

describe('a follower whose log does not fit', () => {
  it.each(['hw', 'epoch'])(
    'neither appends nor believes the high watermark of records that do not start at its end, on %s',
    (build) => {
      const cluster = pair({ build });
      cluster.produce(1, 1);
      cluster.deliver();
      cluster.produce(1, 2);
      expect(cluster.ends(2)).toEqual([1, 0]);
      const answer = cluster.inFlight.find(toBroker2)!.body as ResponseBody<'Fetch'>;
      const [fetched] = answer.responses[0]!.partitions as [Writable<FetchedPartition>];
      fetched.records = {
        ...fetched.records!,
        batches: fetched.records!.batches.map((each) => ({ ...each, baseOffset: 2 })),
      };
      fetched.highWatermark = 1;
      cluster.deliver(toBroker2, 1);
      expect(cluster.ends(2)).toEqual([1, 0]);
      expect(cluster.lines(2, 'append')).toHaveLength(1);
      expect(cluster.lines(2, 'hw')).toEqual([]);
    },
  );
});

describe('a follower out of the range of its leader', () => {
  it('cuts to the end of the leader on hw, by asking for its bounds', () => {
    const cluster = pair({ build: 'hw' });
    for (const value of [1, 2]) cluster.produce(1, value);
    cluster.run(1_200);
    expect(cluster.ends(2)).toEqual([2, 2]);
    // The leader loses its disk, and leads again all the same.
    cluster.kill(1);
    cluster.restart(1, 1);
    cluster.push({ leader: 1, epoch: 1, isr: [1] }, [1]);
    cluster.run(600);
    expect(cluster.ends(2)).toEqual([1, 1]);
    expect(cluster.lines(2, 'truncation').at(-1)).toMatchObject({
      from: 2,
      to: 1,
      rule: 'offset-out-of-range',
      evidence: { leader: 1, leaderStart: 0, leaderEnd: 1 },
    });
  });

  it('begins anew at the start of a leader whose log starts later', () => {
    const cluster = pair({ build: 'hw' });
    cluster.partition(1).log.startOffset = 40;
    cluster.partition(1).log.endOffset = 40;
    cluster.run(1_000);
    expect(cluster.ends(2)).toEqual([40, 40]);
    expect(cluster.lines(2, 'log-start')).toMatchObject([{ from: 0, to: 40 }]);
    cluster.produce(1, 1);
    cluster.run(600);
    expect(cluster.ends(2)[0]).toBe(41);
  });
});

describe('a fetch', () => {
  it('of a consumer waits until something is committed, or until its time is up', () => {
    const cluster = pair();
    const waiting = cluster.consume(1, 0, 5_000) as number;
    cluster.produce(1, 1);
    expect(cluster.consumed(waiting)).toBeUndefined();
    cluster.deliver();
    expect(cluster.consumed(waiting)).toMatchObject({ values: [1], highWatermark: 1 });
    const idle = cluster.consume(1, 1, 300) as number;
    cluster.advance(250);
    expect(cluster.consumed(idle)).toBeUndefined();
    cluster.advance(50);
    expect(cluster.consumed(idle)).toMatchObject({ errorCode: ErrorCode.NONE, values: [] });
  });

  it('that waits is ended when its leader is deposed', () => {
    const cluster = pair();
    const waiting = cluster.consume(1, 0, 5_000) as number;
    cluster.push({ leader: 2, epoch: 1, isr: [1, 2] });
    expect(cluster.consumed(waiting)).toMatchObject({ errorCode: ErrorCode.NOT_LEADER_OR_FOLLOWER });
  });

  it('that waits and is then refused for its epoch is named in the trace of the refusal', () => {
    const cluster = pair();
    const [waiting] = cluster.node(1).state.purgatory.waiting;
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] }, [1]);
    const msg = { clientId: 'broker-2.1', correlationId: waiting!.origin.correlationId };
    expect(cluster.lines(1, 'fenced')).toMatchObject([{ by: 'Fetch', requestEpoch: 0, from: 'broker-2.1', msg }]);
  });

  it('is bounded, and brings at least one batch', () => {
    const cluster = pair();
    for (const value of [1, 2, 3]) cluster.produce(1, value);
    cluster.run(600);
    const ask = (maxBytes: number) => {
      const topics = [
        {
          topic: 't',
          partitions: [
            { partition: 0, currentLeaderEpoch: -1, fetchOffset: 0, logStartOffset: -1, partitionMaxBytes: maxBytes },
          ],
        },
      ];
      const common = { replicaId: -1, maxWaitMs: 0, minBytes: 1, isolationLevel: 0, sessionId: 0, sessionEpoch: -1 };
      return cluster.consumed(
        cluster.request(1, 'Fetch', 11, { ...common, maxBytes, topics, forgottenTopicsData: [], rackId: '' }),
      )?.values;
    };
    expect(ask(250)).toEqual([1, 2]);
    expect(ask(10)).toEqual([1]);
  });
});
