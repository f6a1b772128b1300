/** What is told of an anomaly for which the history alone speaks: its deciding lines, in their order, and no others. */
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import type { Operation } from '../../checker/history.ts';
import { historyInput, Story } from './story.ts';
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
});
