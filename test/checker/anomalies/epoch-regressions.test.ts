/** Epochs that decrease along a log or a checkpoint, word for word. */
import { describe, expect, it } from 'vitest';
import { encodeBatch, encodeMessageSet } from '../../../broker/protocol/index.ts';
import { findEpochRegressions } from '../../../checker/anomalies/epochs.ts';
import type { Finding } from '../../../checker/anomalies/finding.ts';
import type { Evidence } from '../../../checker/evidence.ts';
import { readFinalLogs, type ReplicaFiles } from '../../../checker/final-logs.ts';
import { readTrace } from '../../../checker/parse-trace.ts';
import { rebuildReplicas } from '../../../checker/replicas.ts';

const key = 'tide-0';

function found(
  logs: Readonly<Record<number, readonly number[]>>,
  checkpoint: ReplicaFiles['epochs'] = null,
  trace: readonly object[] | null = null,
): Finding[] {
  const files = Object.entries(logs).map(([node, epochs]) => {
    const parts = epochs.map((leaderEpoch, baseOffset) =>
      encodeBatch({ baseOffset, leaderEpoch, records: [{ key: null, value: 'x' }] }),
    );
    const bytes = Uint8Array.from(Buffer.concat(parts));
    return { node: Number(node), key, segments: [{ baseOffset: 0, bytes }], logStart: null, epochs: checkpoint };
  });
  const cluster = trace === null ? null : rebuildReplicas(readTrace(trace));
  return findEpochRegressions({ logs: readFinalLogs(files, [1, 2], {}), cluster } as unknown as Evidence);
}

describe('epochs along a log', () => {
  it('may stay or grow', () => {
    expect(found({ 1: [0, 0, 1, 5, 5], 2: [] })).toEqual([]);
  });

  it('that decrease are told at the first place, on each broker', () => {
    expect(found({ 1: [0, 2, 1, 0], 2: [3, 2] })).toMatchObject([
      {
        kind: 'epoch-regression',
        class: 'violation',
        key,
        offset: 2,
        nodes: [1],
        ranges: [[2, 2]],
        labels: ['final-logs'],
        summary: 'in the log of broker 1 for tide-0 epoch 1 at offset 2 follows epoch 2',
        evidence: [
          { source: 'log', node: 1, offset: 1, epoch: 2 },
          { source: 'log', node: 1, offset: 2, epoch: 1 },
        ],
      },
      { nodes: [2], offset: 1 },
    ]);
  });

  it('are none in message sets', () => {
    const set = encodeMessageSet([{ key: null, value: 'a', timestampMs: 1 }]);
    const batch = (baseOffset: number, leaderEpoch: number): Uint8Array =>
      encodeBatch({ baseOffset, leaderEpoch, records: [{ key: null, value: 'x' }] });
    const bytes = Uint8Array.from(Buffer.concat([set, batch(1, 0), batch(2, 3)]));
    const files = [{ node: 1, key, segments: [{ baseOffset: 0, bytes }], logStart: null }];
    expect(findEpochRegressions({ logs: readFinalLogs(files, [1], {}), cluster: null } as unknown as Evidence)).toEqual(
      [],
    );
  });
});

describe('a checkpoint of epochs', () => {
  it('grows in epochs and in offsets', () => {
    expect(found({ 1: [0] }, [])).toEqual([]);
    expect(
      found({ 1: [0] }, [
        [0, 0],
        [2, 3],
        [3, 4],
      ]),
    ).toEqual([]);
    expect(
      found({ 1: [0] }, [
        [0, 0],
        [2, 3],
        [2, 4],
      ]),
    ).toMatchObject([
      {
        offset: 4,
        labels: ['checkpoint'],
        summary:
          'the leader epoch checkpoint of broker 1 for tide-0 goes from epoch 2 at offset 3 to epoch 2 at offset 4',
        evidence: [{ source: 'log', node: 1, offset: 4, epoch: 2 }],
      },
    ]);
    expect(
      found({ 1: [0] }, [
        [0, 5],
        [2, 5],
        [1, 4],
      ]),
    ).toMatchObject([{ offset: 5, summary: expect.stringContaining('to epoch 2 at offset 5') }]);
  });

  it('is not told beside its log', () => {
    expect(
      found({ 1: [2, 1] }, [
        [2, 0],
        [1, 1],
      ]),
    ).toMatchObject([{ labels: ['final-logs'] }]);
  });
});

describe('epochs in a trace', () => {
  const append = (seq: number, node: number, base: number, epoch: number): object => ({
    seq,
    time: seq * 10,
    node,
    boot: 1,
    event: 'append',
    partition: key,
    leaderEpoch: 7,
    batches: [{ base, last: base, epoch, hash: `0000000${base}` }],
  });

  it('that decreased are told once for each broker, if its log does not tell it', () => {
    const trace = [append(0, 1, 0, 2), append(1, 1, 1, 1), append(2, 1, 2, 0), append(0, 2, 0, 2), append(1, 2, 1, 1)];
    expect(found({ 1: [], 2: [] }, null, trace)).toMatchObject([
      {
        offset: 1,
        nodes: [1],
        labels: ['trace'],
        summary: 'broker 1 appended a record of epoch 1 to tide-0 at offset 1, behind one of a later epoch',
        evidence: [{ source: 'trace', node: 1, boot: 1, seq: 1 }],
        why: [
          {
            text: 'Broker 1, in epoch 7, appended it behind what it had of a later epoch, and had not truncated that.',
            time: 10,
            references: [{ source: 'trace', node: 1, boot: 1, seq: 1 }],
          },
        ],
      },
      { nodes: [2] },
    ]);
    expect(found({ 1: [2, 1], 2: [] }, null, trace).map(({ nodes, labels }) => [nodes, labels])).toEqual([
      [[1], ['final-logs']],
      [[2], ['trace']],
    ]);
  });

  it('are not told of a trace with holes, nor of a deleted partition', () => {
    const trace = [append(0, 1, 0, 2), append(1, 1, 1, 1)];
    expect(found({}, null, [...trace, append(5, 1, 2, 2)])).toEqual([]);
    const deleted = { seq: 0, time: 99, node: 'controller', boot: 1, event: 'delete', partition: key };
    expect(found({}, null, [...trace, deleted])).toEqual([]);
  });
});
