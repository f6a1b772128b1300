/** What is told of an anomaly for which the history alone speaks: its deciding lines, in their order, and no others. */
import { describe, expect, it } from 'vitest';
import { emptyFinding } from '../../checker/anomalies/finding.ts';
import { checkRun } from '../../checker/check.ts';
import type { Evidence } from '../../checker/evidence.ts';
import type { Operation } from '../../checker/history.ts';
import { whyFromHistory } from '../../checker/why-history.ts';
import { historyInput, key, Story } from './story.ts';
import { Plot } from './twins/plant.ts';

function told(tell: (plot: Plot) => void, kind: string): string[] {
  const history: Operation[] = [];
  tell(new Plot(history, 0));
  const { anomalies } = checkRun(historyInput([], { history }));
  const anomaly = anomalies.find((each) => each.kind === kind);
  return (anomaly?.why ?? []).map(({ text, references }) => {
    const indices = references.flatMap((each) => (each.source === 'history' ? [each.index] : []));
    return `${text} {${indices.join(', ')}}`;
  });
}

describe('why, by the history alone', () => {
  it('names both sends of which the later one stands before the earlier', () => {
    const lines = told((plot) => {
      plot.poll(7, []);
      plot.send(0, 1, 4);
      plot.send(1, 2, 3);
    }, 'realtime-order');
    expect(lines).toEqual([
      'Process 1400 began to send 41 to a-0. {2}',
      '41 was acknowledged (acks=all) at offset 44. {3}',
      'Process 1401 began to send 42 to a-0. {4}',
      '42 was acknowledged (acks=all) at offset 43. {5}',
    ]);
  });

  it('names who passed over a lost write', () => {
    const lines = told((plot) => {
      plot.send(0, 1, 3);
      plot.poll(1, [[2, 8]]);
      plot.poll(1, [[4, 9]]);
    }, 'lost-write');
    expect(lines.at(-1)).toBe('A reader passed over its offset, or read another value there. {5}');
  });

  it('names the failure of a send whose value was read', () => {
    const lines = told((plot) => {
      plot.send(0, 1, null, 'fail');
      plot.poll(1, [[3, 1]]);
    }, 'G1a');
    expect(lines.slice(1)).toEqual([
      'The send of 41 failed: it certainly did not happen. {1}',
      '41 was read, at offset 43. {3}',
    ]);
  });

  it('follows a circle of reads from link to link', () => {
    const lines = told((plot) => {
      plot.invokeTransaction(0, [1], 1);
      plot.poll(1, [[3, 1]]);
      plot.invokeTransaction(1, [2], 0);
      plot.completeTransaction(0, [[3, 1]], [[[4, 2]]]);
      plot.completeTransaction(1, [[4, 2]], []);
    }, 'G1c-process');
    expect(lines).toEqual([
      'Process 1401 went on to its next operation. {2, 3}',
      'Process 1400 read 42 of a-0, which process 1401 had sent. {5, 4}',
      'Process 1401 read 41 of a-0, which process 1400 had sent. {4, 2}',
    ]);
  });

  it('points to the line by which the leader wrote the record, if there is a trace', () => {
    const story = new Story();
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.poll(90, [[5, 1]]);
    const [duplicate] = story.check().anomalies;
    expect(duplicate?.kind).toBe('duplicate');
    const sources = duplicate?.why.flatMap(({ references }) => references.map(({ source }) => source));
    expect(sources).toEqual(['history', 'history', 'trace', 'history']);
  });

  it('names three of many places at which a value was seen', () => {
    const lines = told((plot) => {
      plot.send(0, 1, 3);
      plot.poll(
        1,
        [4, 5, 6, 7, 8].map((offset) => [offset, 1]),
      );
    }, 'duplicate');
    const as = (offset: number): string => `41 was seen at offset ${offset} as well. {3}`;
    expect(lines.filter((line) => line.includes('as well'))).toEqual([as(45), as(46), as(47)]);
  });

  it('points to the first such line, and to none for another message of the same client or a partition without lines', () => {
    const record = { base: 0, last: 0, epoch: 0, hash: '0000000a' };
    /** What the trace adds to the duplicate of value 1, which its client's message `msg` put at offset 0 of `of`. */
    const pointed = (msg: string, of: string, ...appends: readonly string[]): unknown => {
      const story = new Story();
      story.begin(3, [1, 2, 3]);
      const value = (offset: number | null): unknown => [['send', of, offset === null ? 1 : [offset, 1]]];
      for (const each of appends)
        story.line(3, { event: 'append', partition: key, leaderEpoch: 0, msg: each, batches: [record] });
      story.operation({ process: 1, type: 'invoke', f: 'send', value: value(null), acks: 'all' });
      story.operation({ process: 1, type: 'ok', f: 'send', value: value(0), msg });
      story.operation({ process: 90, type: 'invoke', f: 'poll', value: [['poll']] });
      story.operation({ process: 90, type: 'ok', f: 'poll', value: [['poll', { [of]: [[5, 1]] }]] });
      const anomaly = story.check({ logs: null }).anomalies.find(({ kind }) => kind === 'duplicate');
      return anomaly?.why.flatMap(({ references }) => references).filter(({ source }) => source === 'trace');
    };
    const first = { source: 'trace', node: 3, boot: 1, seq: 2 };
    expect(pointed('client-1#7', key, 'client-1#7')).toEqual([first]);
    expect(pointed('client-1#1', key, 'client-1#1')).toEqual([first]);
    expect(pointed('client-1#7', key, 'client-1#7', 'client-1#7')).toEqual([first]);
    expect(pointed('client-1#7', key, 'client-1#6', 'client-1#7')).toEqual([{ ...first, seq: 3 }]);
    expect(pointed('client-1#7', key, 'client-1#6')).toEqual([]);
    expect(pointed('client-1#7', 'tide-9', 'client-1#7')).toEqual([]);
  });

  it('tells of the operations among what is pointed to, and of no line of a trace', () => {
    const finding = {
      ...emptyFinding('lost-write', key),
      evidence: [{ source: 'trace', node: 3, boot: 1, seq: 2 } as const, { source: 'history', index: 4 } as const],
    };
    const steps = whyFromHistory({ history: {} } as Evidence, finding);
    expect(steps.map(({ references }) => references)).toEqual([[{ source: 'history', index: 4 }]]);
  });
});
