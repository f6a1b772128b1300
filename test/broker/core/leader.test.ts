import { describe, expect, it } from 'vitest';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import { Cluster } from './cluster.ts';
import type { ClusterOptions } from './cluster.ts';
import { batch, fetchBody, recordSet } from './values.ts';

/** Broker 1 leads, all are in the ISR, and everybody waits in a fetch. */
function led(options: ClusterOptions = {}): Cluster {
  const count = options.brokers ?? 3;
  const cluster = new Cluster(options);
  cluster.push({ leader: 1, epoch: 0, isr: Array.from({ length: count }, (_, index) => index + 1) });
  cluster.deliver();
  return cluster;
}

const without = (id: number) => (message: { readonly from: number; readonly to: unknown }) =>
  message.from !== id && message.to !== id;

/** What the leader knows of a follower. */
function followerEnd(cluster: Cluster, id: number): number | undefined {
  const { role } = cluster.partition(1);
  return role.kind === 'leader' ? role.followers.find((follower) => follower.id === id)?.end : undefined;
}

describe('a produce', () => {
  it('with acks=1 is acknowledged as soon as the leader has it', () => {
    const cluster = led();
    expect(cluster.produced(cluster.produce(1, 7, 1))).toBe(ErrorCode.NONE);
    expect(cluster.ends(1)).toEqual([1, 0]);
    expect(cluster.lines(1, 'ack')).toMatchObject([{ base: 0, last: 0, acks: 1, isr: [1, 2, 3] }]);
  });

  it('with acks=0 gets no answer, and its connection goes on', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7, 0);
    expect(cluster.answers.has(sent)).toBe(false);
    expect(cluster.released).toEqual([sent]);
    expect(cluster.ends(1)).toEqual([1, 0]);
  });

  it('with acks=0 that fails ends its connection', () => {
    const cluster = led();
    const sent = cluster.produce(2, 7, 0);
    expect(cluster.disconnected).toEqual([1_000 + sent]);
    expect(cluster.released).toEqual([]);
  });

  it('with acks=all waits for the whole ISR, and names itself in the trace of its acknowledgement', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7);
    cluster.deliver(without(3));
    expect(cluster.produced(sent)).toBeUndefined();
    cluster.deliver();
    expect(cluster.produced(sent)).toBe(ErrorCode.NONE);
    const [ack] = cluster.lines(1, 'ack');
    expect(ack).toMatchObject({ base: 0, last: 0, acks: -1, msg: { clientId: 'client-0', correlationId: sent } });
    const [append] = cluster.lines(1, 'append');
    expect(append).toMatchObject({
      msg: { clientId: 'client-0', correlationId: sent },
      batches: [{ base: 0, last: 0, epoch: 0, crc: 7 }],
    });
    expect(cluster.lines(2, 'append')).toMatchObject([{ msg: { clientId: 'broker-2.1' } }]);
  });

  it('is refused before the append where the ISR is too small, and only with acks=all', () => {
    const cluster = new Cluster();
    cluster.push({ leader: 1, epoch: 0, isr: [1] });
    expect(cluster.produced(cluster.produce(1, 7))).toBe(ErrorCode.NOT_ENOUGH_REPLICAS);
    expect(cluster.ends(1)).toEqual([0, 0]);
    expect(cluster.produced(cluster.produce(1, 7, 1))).toBe(ErrorCode.NONE);
    // And the high watermark advances under the bound: it decides what is acknowledged, not what is committed.
    expect(cluster.ends(1)).toEqual([1, 1]);
  });

  it('needs no more replicas than there are', () => {
    const cluster = new Cluster({ brokers: 1 });
    cluster.push({ leader: 1, epoch: 0, isr: [1] });
    expect(cluster.produced(cluster.produce(1, 7))).toBe(ErrorCode.NONE);
  });

  it('is told that the ISR became too small after the append', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7, -1, 10_000);
    cluster.advance(3_050);
    expect(cluster.answerProposal()).toEqual([1]);
    expect(cluster.produced(sent)).toBe(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND);
    expect(cluster.ends(1)).toEqual([1, 1]);
  });

  it('that was appended and not replicated in time has timed out, and stays appended', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7, -1, 1_000);
    cluster.advance(950);
    expect(cluster.produced(sent)).toBeUndefined();
    cluster.advance(50);
    expect(cluster.produced(sent)).toBe(ErrorCode.REQUEST_TIMED_OUT);
    expect(cluster.ends(1)).toEqual([1, 0]);
  });

  it('that was appended by a leader which is then deposed is answered at once, and not as acknowledged', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7);
    cluster.push({ leader: 2, epoch: 1, isr: [1, 2, 3] });
    expect(cluster.produced(sent)).toBe(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    expect(cluster.lines(1, 'ack')).toEqual([]);
  });

  it('goes on waiting in a new epoch of the same leader', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7, -1, 10_000);
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2] });
    cluster.run(1_000);
    expect(cluster.produced(sent)).toBe(ErrorCode.NONE);
  });

  it('is forgotten with its connection', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7);
    cluster.event(1, { type: 'requester-closed', connection: 1_000 + sent });
    cluster.run(2_000);
    expect(cluster.answers.has(sent)).toBe(false);
    expect(cluster.ends(1)).toEqual([1, 1]);
  });

  it('of a topic that is deleted while it waits is told so', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7);
    cluster.push({ leader: -1, epoch: 1, isr: [1], deleted: true });
    expect(cluster.produced(sent)).toBe(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    expect(cluster.lines(1, 'delete')).toMatchObject([{ partition: 't-0' }]);
  });

  it.each([
    ['two batches', recordSet([batch({ value: 1 }), batch({ value: 2 })]), ErrorCode.INVALID_RECORD],
    ['no batch', recordSet([]), ErrorCode.INVALID_RECORD],
    ['no records', null, ErrorCode.INVALID_RECORD],
    ['a damaged batch', { ...recordSet([]), flaw: 'corrupt' as const }, ErrorCode.CORRUPT_MESSAGE],
    [
      'an old format',
      { ...recordSet([]), flaw: 'unsupported-format' as const },
      ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    ],
    ['too large a batch', recordSet([batch({ value: 1, sizeBytes: 2_000_000 })]), ErrorCode.MESSAGE_TOO_LARGE],
    ['a count that lies', recordSet([{ ...batch({ value: 1 }), recordCount: 2 }]), ErrorCode.INVALID_RECORD],
    ['a control batch', recordSet([{ ...batch({ value: 1 }), attributes: 0x20 }]), ErrorCode.INVALID_RECORD],
  ])('of %s is refused', (_what, records, errorCode) => {
    const cluster = led();
    const topicData = [{ name: 't', partitionData: [{ index: 0, records }] }];
    const sent = cluster.request(1, 'Produce', 7, { transactionalId: null, acks: -1, timeoutMs: 1_000, topicData });
    expect(cluster.produced(sent)).toBe(errorCode);
    expect(cluster.ends(1)).toEqual([0, 0]);
  });

  it('asks for acknowledgements that exist', () => {
    const cluster = led();
    expect(cluster.produced(cluster.produce(1, 7, 2))).toBe(ErrorCode.INVALID_REQUIRED_ACKS);
  });
});

describe('an ISR', () => {
  it('loses a follower that has lagged for longer than replica.lag.time.max.ms, and then goes on without it', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7, -1, 10_000);
    cluster.run(1_900, without(3));
    expect(cluster.proposals()).toEqual([]);
    cluster.run(1_150, without(3));
    expect(cluster.proposals()).toEqual([[1, 2]]);
    // Until the controller has agreed, nothing is acknowledged without the third.
    expect(cluster.produced(sent)).toBeUndefined();
    cluster.answerProposal();
    expect(cluster.produced(sent)).toBe(ErrorCode.NONE);
    expect(cluster.lines(1, 'hw').at(-1)).toMatchObject({ from: 0, to: 1, isr: [1, 2] });
  });

  it('keeps a silent follower that has everything on epoch, and drops it on hw', () => {
    const proposals = (build: string) => {
      const cluster = led({ build });
      cluster.run(3_050, without(3));
      return cluster.proposals();
    };
    expect(proposals('epoch')).toEqual([]);
    expect(proposals('hw')).toEqual([[1, 2]]);
  });

  it('is kept by a leader that cannot reach the controller', () => {
    const cluster = led();
    const sent = cluster.produce(1, 7, -1, 10_000);
    cluster.run(8_000, without(3));
    expect(cluster.partition(1).isr).toEqual([1, 2, 3]);
    expect(cluster.produced(sent)).toBeUndefined();
  });

  it('takes a follower back that has caught up, and counts on it from the proposal on', () => {
    const cluster = new Cluster();
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    cluster.produce(1, 7);
    cluster.run(600);
    expect(cluster.proposals()).toEqual([[1, 2, 3]]);
    cluster.produce(1, 8);
    cluster.deliver(without(3));
    expect(cluster.ends(1)).toEqual([2, 1]);
    cluster.answerProposal();
    cluster.deliver();
    expect(cluster.ends(1)).toEqual([2, 2]);
    expect(cluster.partition(1).isr).toEqual([1, 2, 3]);
  });

  it.each(['hw', 'epoch'])('counts on whom it has proposed until the controller answers, on %s', (build) => {
    const cluster = new Cluster({ build });
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    cluster.produce(1, 7);
    cluster.run(600);
    expect(cluster.proposals()).toEqual([[1, 2, 3]]);
    cluster.produce(1, 8);
    // The third has gone silent; the controller may have taken it in all the same.
    cluster.run(5_000, without(3));
    expect(cluster.ends(1)).toEqual([2, 1]);
  });

  it.each(['hw', 'epoch'])('keeps a follower that is always one record behind, on %s', (build) => {
    const cluster = led({ build });
    for (let value = 1; value <= 80; value++) {
      cluster.deliver(({ kind }) => kind === 'response');
      cluster.produce(1, value, 1);
      cluster.deliver(({ kind }) => kind === 'request');
      cluster.advance(50);
      if (value > 1) expect(followerEnd(cluster, 3)).toBe(cluster.ends(1)[0] - 1);
    }
    expect(cluster.proposals()).toEqual([]);
  });

  it('does not take a follower that is below the start of the epoch; a build without that rule does', () => {
    const proposals = (options: ClusterOptions) => {
      const cluster = new Cluster({ brokers: 2, minInsyncReplicas: 1, ...options });
      cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
      cluster.produce(1, 1, 1);
      // The follower has nothing; the leader leads again, with one record above its high watermark of 0.
      cluster.push({ leader: 1, epoch: 1, isr: [1, 2] }, [1]);
      cluster.partition(1).isr = [1];
      cluster.request(1, 'Fetch', 11, fetchBody(2, 0, 0), 'broker-2.1');
      return cluster.proposals();
    };
    expect(proposals({ build: 'epoch' })).toEqual([]);
    expect(proposals({ build: 'hw' })).toEqual([[1, 2]]);
    expect(proposals({ build: 'epoch', defects: ['expand-without-epoch-start'] })).toEqual([[1, 2]]);
  });

  it('is not waited for by the high watermark when a follower on its way into it goes silent', () => {
    const cluster = new Cluster({ brokers: 2, minInsyncReplicas: 1 });
    cluster.push({ leader: 1, epoch: 0, isr: [1] });
    cluster.deliver();
    cluster.answerProposal(ErrorCode.INELIGIBLE_REPLICA);
    const sent = cluster.produce(1, 7, -1, 10_000);
    expect(cluster.produced(sent)).toBeUndefined();
    cluster.advance(3_000);
    expect(cluster.produced(sent)).toBe(ErrorCode.NONE);
  });

  it('does not take a follower that the controller has fenced', () => {
    const cluster = new Cluster();
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2], fenced: [3] });
    cluster.run(1_000);
    expect(cluster.proposals()).toEqual([]);
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    cluster.run(600);
    expect(cluster.proposals()).toEqual([[1, 2, 3]]);
  });

  it('goes back to what is committed when the controller finds a replica ineligible', () => {
    const cluster = new Cluster();
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    cluster.run(600);
    cluster.answerProposal(ErrorCode.INELIGIBLE_REPLICA);
    expect(cluster.partition(1).role).toMatchObject({ proposal: null });
    expect(cluster.proposals()).toEqual([]);
    cluster.run(600);
    expect(cluster.proposals()).toEqual([[1, 2, 3]]);
  });

  it.each(['hw', 'epoch'])('is kept as proposed when the controller is ahead, until its word comes, on %s', (build) => {
    const cluster = new Cluster({ build });
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    cluster.run(600);
    cluster.answerProposal(ErrorCode.INVALID_UPDATE_VERSION);
    cluster.produce(1, 7);
    cluster.run(1_000, without(3));
    expect(cluster.proposals()).toEqual([]);
    expect(cluster.ends(1)).toEqual([1, 0]);
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2], fenced: [3] });
    expect(cluster.ends(1)).toEqual([1, 1]);
  });

  it('is not proposed again when the controller is ahead', () => {
    const cluster = new Cluster();
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    cluster.run(600);
    cluster.answerProposal(ErrorCode.INVALID_UPDATE_VERSION);
    cluster.run(2_000);
    expect(followerEnd(cluster, 3)).toBe(0);
    expect(cluster.proposals()).toEqual([]);
  });

  it('is proposed again, the same, when the answer never comes', () => {
    const cluster = new Cluster();
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    cluster.run(600);
    expect(cluster.proposals()).toEqual([[1, 2, 3]]);
    cluster.run(650);
    expect(cluster.proposals()).toEqual([[1, 2, 3]]);
    cluster.answerProposal();
    expect(cluster.partition(1).isr).toEqual([1, 2, 3]);
  });
});

describe("the controller's word", () => {
  it('changes only ISR and partition epoch where the leader epoch is the same', () => {
    const cluster = led();
    const roles = cluster.lines(1, 'role').length;
    cluster.push({ leader: 1, epoch: 0, isr: [1, 2] });
    expect(cluster.partition(1).isr).toEqual([1, 2]);
    expect(cluster.lines(1, 'role')).toHaveLength(roles);
  });

  it('is ignored where it is older than what is known', () => {
    const cluster = led();
    cluster.push({ leader: 2, epoch: 2, isr: [2] });
    cluster.push({ leader: 1, epoch: 1, isr: [1, 2, 3] });
    expect(cluster.partition(1)).toMatchObject({ leader: 2, leaderEpoch: 2 });
    cluster.push({ leader: 2, epoch: 2, isr: [1, 2, 3], partitionEpoch: 0 });
    expect(cluster.partition(1).isr).toEqual([2]);
  });

  it('lets a leader forget its followers where it has missed an epoch, on epoch; on hw it never does', () => {
    const ends = (build: string) => {
      const cluster = led({ build });
      cluster.produce(1, 7);
      cluster.run(600);
      cluster.push({ leader: 1, epoch: 2, isr: [1, 2, 3] }, [1]);
      const { role } = cluster.partition(1);
      return role.kind === 'leader' ? role.followers.map(({ end }) => end) : [];
    };
    expect(ends('epoch')).toEqual([-1, -1]);
    expect(ends('hw')).toEqual([1, 1]);
  });

  it('is refused by a broker that came back and has not registered again: it is meant for its former life', () => {
    const cluster = led();
    cluster.kill(2);
    cluster.restart(2);
    cluster.node(2).state.controller.brokerEpoch = -1;
    cluster.push({ leader: 3, epoch: 1, isr: [1, 2, 3] }, [2]);
    expect([...cluster.answers.values()].at(-1)?.body).toMatchObject({ errorCode: ErrorCode.STALE_BROKER_EPOCH });
    expect(cluster.node(2).state.partitions.get('t-0')).toMatchObject({ leaderEpoch: -1, role: { kind: 'none' } });
  });

  it('is answered with the version that it brought', () => {
    const cluster = led();
    const answers = [...cluster.answers.values()].filter(({ api }) => api === 'PartitionStates');
    expect(answers[0]?.body).toEqual({ errorCode: ErrorCode.NONE, metadataVersion: 1 });
  });
});
