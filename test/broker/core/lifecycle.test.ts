/** Start, registration, heartbeats, forwarding and the way out: one broker, its effects looked at directly. */
import { describe, expect, it } from 'vitest';
import { createBroker, nextDeadlineNs, step } from '../../../broker/core/broker.ts';
import type { CoreEvent, Effect, RecoveredLog, SendEffect } from '../../../broker/core/step.ts';
import { ErrorCode } from '../../../broker/protocol/index.ts';
import type { ApiName, ResponseBody } from '../../../broker/protocol/index.ts';
import { batch, configOf, nsPerMs } from './values.ts';

const found: RecoveredLog = {
  log: 'my-topic-7',
  logStartOffset: 0,
  batches: [batch({ value: 1, base: 0, epoch: 0 }), batch({ value: 2, base: 1, epoch: 4 })],
  epochs: [
    { epoch: 0, startOffset: 0 },
    { epoch: 4, startOffset: 1 },
    { epoch: 5, startOffset: 2 },
  ],
  checkpointedHighWatermark: 9,
  flushedOffset: 1,
  foundEndOffset: 3,
  cut: 'torn-tail',
};

function start(build = 'epoch', recovered: readonly RecoveredLog[] = []) {
  const { state, effects } = createBroker(configOf(1, build), recovered, 0);
  const run = (event: CoreEvent, atMs: number) => step(state, event, atMs * nsPerMs);
  const answer = <A extends ApiName>(to: SendEffect, _api: A, body: ResponseBody<A>, atMs: number) => {
    const { correlationId, api, version } = to;
    return run({ type: 'response', peer: 'controller', correlationId, api, version, body } as CoreEvent, atMs);
  };
  return { state, effects, run, answer };
}

const sends = (effects: readonly Effect[]) => effects.filter((effect): effect is SendEffect => effect.type === 'send');
const apisOf = (effects: readonly Effect[]) => sends(effects).map(({ api }) => api);
const registered = { throttleTimeMs: 0, errorCode: ErrorCode.NONE, brokerEpoch: 12 };
const alive = {
  throttleTimeMs: 0,
  errorCode: ErrorCode.NONE,
  isCaughtUp: true,
  isFenced: false,
  shouldShutDown: false,
};

/** A broker that has registered at 0 ms and whose first heartbeat was answered. */
function running(build?: string, recovered?: readonly RecoveredLog[]) {
  const broker = start(build, recovered);
  const [registration] = sends(broker.effects);
  const [heartbeat] = sends(broker.answer(registration!, 'BrokerRegistration', registered, 0));
  broker.answer(heartbeat!, 'BrokerHeartbeat', alive, 0);
  return broker;
}

describe('a start', () => {
  it('says what it is and what it found before anything else', () => {
    const { effects } = start('epoch', [found]);
    expect(effects.slice(0, 2)).toEqual([
      { type: 'trace', line: { event: 'start', port: 9092, build: 'epoch', defects: [] } },
      {
        type: 'trace',
        line: {
          event: 'recover',
          partition: 'my-topic-7',
          logStart: 0,
          flushed: 1,
          from: 3,
          to: 2,
          cut: 'torn-tail',
          hw: 2,
          epochs: [
            [0, 0],
            [4, 1],
          ],
        },
      },
    ]);
  });

  it('truncates nothing, whatever the build, and takes the checkpointed high watermark as far as the log reaches', () => {
    for (const build of ['hw', 'hw-elect', 'epoch']) {
      const { state, effects } = start(build, [{ ...found, checkpointedHighWatermark: 1 }]);
      expect(state.partitions.get('my-topic-7')).toMatchObject({ highWatermark: 1, log: { endOffset: 2 } });
      expect(effects.filter(({ type }) => type === 'truncate')).toEqual([]);
    }
  });

  it('refuses a build and a defect that do not exist, in one line that names those which do', () => {
    expect(() => createBroker(configOf(1, 'hv'), [], 0)).toThrow(
      'there is no build "hv": use hw, hw-elect, kip101, kip279, epoch',
    );
    expect(() => createBroker(configOf(1, 'hw', { defects: ['x'] }), [], 0)).toThrow(
      'there is no defect "x": use truncate-none, ',
    );
  });
});

describe('a registration', () => {
  it('is repeated while the controller still counts the former life as alive', () => {
    const { effects, run, answer } = start();
    const [first] = sends(effects);
    expect(first).toMatchObject({
      api: 'BrokerRegistration',
      peer: 'controller',
      body: { brokerId: 1, clusterId: 'test' },
    });
    const refused = { throttleTimeMs: 0, errorCode: ErrorCode.DUPLICATE_BROKER_REGISTRATION, brokerEpoch: -1 };
    expect(sends(answer(first!, 'BrokerRegistration', refused, 10))).toEqual([]);
    const [second] = sends(run({ type: 'deadline' }, 110));
    expect(second?.body).toEqual(first?.body);
    const [heartbeat] = sends(answer(second!, 'BrokerRegistration', registered, 120));
    expect(heartbeat).toMatchObject({ api: 'BrokerHeartbeat', body: { brokerEpoch: 12, wantShutDown: false } });
  });

  it('names another life after a restart', () => {
    const incarnation = (boot: number) => {
      const { effects } = createBroker({ ...configOf(1, 'epoch'), boot }, [], 0);
      return (sends(effects)[0]!.body as { incarnationId: string }).incarnationId;
    };
    expect(incarnation(1)).not.toBe(incarnation(2));
    expect(incarnation(1)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('is repeated when the connection ends, or no answer comes in time', () => {
    const closed = start();
    expect(sends(closed.run({ type: 'closed', peer: 'controller' }, 20))).toEqual([]);
    expect(apisOf(closed.run({ type: 'deadline' }, 120))).toEqual(['BrokerRegistration']);
    const silent = start();
    expect(silent.run({ type: 'deadline' }, 500)).toContainEqual({ type: 'close', peer: 'controller' });
    expect(apisOf(silent.run({ type: 'deadline' }, 600))).toEqual(['BrokerRegistration']);
  });
});

describe('heartbeats', () => {
  it('go out at their interval, each after the answer to the one before', () => {
    const { state, run, answer } = running();
    expect(nextDeadlineNs(state)).toBe(300 * nsPerMs);
    const [heartbeat] = sends(run({ type: 'deadline' }, 300));
    expect(heartbeat?.api).toBe('BrokerHeartbeat');
    expect(sends(run({ type: 'deadline' }, 700))).toEqual([]);
    answer(heartbeat!, 'BrokerHeartbeat', alive, 710);
    expect(apisOf(run({ type: 'deadline' }, 1_010))).toEqual(['BrokerHeartbeat']);
  });

  it('of a broker epoch that the controller does not know lead to a new registration', () => {
    const { run, answer } = running();
    const [heartbeat] = sends(run({ type: 'deadline' }, 300));
    const stale = { ...alive, errorCode: ErrorCode.STALE_BROKER_EPOCH };
    expect(apisOf(answer(heartbeat!, 'BrokerHeartbeat', stale, 310))).toEqual(['BrokerRegistration']);
  });
});

describe('what clients ask of the controller', () => {
  const origin = { connection: 5, correlationId: 77, clientId: 'client-0' };
  const body = { topic: 't', partition: 0, target: 2 };
  const event = { type: 'request', origin, api: 'MoveLeader', version: 0, body } as const;

  it('is handed on, and its answer handed back', () => {
    const { run, answer } = running();
    const [sent] = sends(run(event, 100));
    expect(sent).toMatchObject({ peer: 'controller', api: 'MoveLeader', body });
    const done = { errorCode: 0, errorMessage: null };
    expect(answer(sent!, 'MoveLeader', done, 110)).toEqual([
      { type: 'respond', origin, api: 'MoveLeader', version: 0, body: done },
    ]);
  });

  it('times out when the controller does not answer: nobody knows whether it was done', () => {
    const { run } = running();
    run(event, 100);
    const effects = run({ type: 'closed', peer: 'controller' }, 200);
    expect(effects).toMatchObject([{ type: 'respond', origin, body: { errorCode: ErrorCode.REQUEST_TIMED_OUT } }]);
  });

  it('times out partition by partition, since the first version of ElectLeaders has no other place to say so', () => {
    const { run } = running();
    const elect = { electionType: 0, topicPartitions: [{ topic: 't', partitions: [0, 4] }], timeoutMs: 1_000 };
    run({ type: 'request', origin, api: 'ElectLeaders', version: 0, body: elect }, 100);
    const [effect] = run({ type: 'closed', peer: 'controller' }, 200);
    const errorCode = ErrorCode.REQUEST_TIMED_OUT;
    expect(effect).toMatchObject({
      api: 'ElectLeaders',
      body: {
        errorCode,
        replicaElectionResults: [
          {
            topic: 't',
            partitionResult: [
              { partitionId: 0, errorCode },
              { partitionId: 4, errorCode },
            ],
          },
        ],
      },
    });
  });
});

describe('the high watermark checkpoint', () => {
  it('is written at its interval, whole, and only when something moved', () => {
    const { state, run } = running('epoch', [found]);
    const checkpoints = (atMs: number) =>
      run({ type: 'deadline' }, atMs).filter(({ type }) => type === 'offset-checkpoint');
    expect(checkpoints(4_900)).toEqual([]);
    expect(checkpoints(5_000)).toEqual([
      { type: 'offset-checkpoint', file: 'replication-offset-checkpoint', offsets: { 'my-topic-7': 2 } },
    ]);
    expect(checkpoints(10_000)).toEqual([]);
    state.partitions.get('my-topic-7')!.highWatermark = 1;
    expect(checkpoints(14_900)).toEqual([]);
    expect(checkpoints(15_000)).toMatchObject([{ offsets: { 'my-topic-7': 1 } }]);
  });
});

describe('a controlled shutdown', () => {
  it('hands over first, then writes everything down, says so, and ends', () => {
    const { state, run, answer } = running('epoch', [found]);
    const [leaving] = sends(run({ type: 'stop' }, 100));
    expect(leaving).toMatchObject({ api: 'BrokerHeartbeat', body: { wantShutDown: true } });
    expect(answer(leaving!, 'BrokerHeartbeat', alive, 110)).toEqual([]);
    const [again] = sends(run({ type: 'deadline' }, 210));
    const effects = answer(again!, 'BrokerHeartbeat', { ...alive, isFenced: true, shouldShutDown: true }, 220);
    expect(effects.map((effect) => ('file' in effect ? effect.file : effect.type))).toEqual([
      'replication-offset-checkpoint',
      'flush',
      'recovery-point-offset-checkpoint',
      'log-start-offset-checkpoint',
      'trace',
      'exit',
    ]);
    expect(effects.at(-2)).toMatchObject({ line: { event: 'stop' } });
    expect(nextDeadlineNs(state)).toBe(Infinity);
    expect(run({ type: 'deadline' }, 10_000)).toEqual([]);
  });

  it('does not wait for ever for a controller that is gone, nor at all for one that it never met', () => {
    const { run } = running();
    run({ type: 'stop' }, 100);
    run({ type: 'closed', peer: 'controller' }, 110);
    expect(run({ type: 'deadline' }, 2_000)).not.toContainEqual({ type: 'exit' });
    expect(run({ type: 'deadline' }, 3_100)).toContainEqual({ type: 'exit' });
    expect(start().run({ type: 'stop' }, 10)).toContainEqual({ type: 'exit' });
  });
});
