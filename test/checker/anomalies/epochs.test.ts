/** Leader epochs that go back: in a log, in a checkpoint, or only for a while. */
import { describe, expect, it } from 'vitest';
import { key, kinds, quiet, type Story } from '../story.ts';

/** Epochs 0 and 1 have a record each, everywhere; then one more of `epoch` is planted on all. */
function planted(epoch: number): Story {
  const story = quiet(1);
  story.begin(2, [1, 2, 3]);
  story.commit(2);
  for (const node of [1, 2, 3]) story.plant(node, 3, 2, epoch);
  for (const node of [1, 2, 3]) story.line(node, { event: 'hw', partition: key, leaderEpoch: 1, from: 2, to: 3 });
  return story;
}

describe('epoch-regression', () => {
  it('is a lower epoch behind a higher one in a copied log', () => {
    const results = planted(0).check();
    expect(kinds(results)).toEqual(['epoch-regression', 'epoch-regression', 'epoch-regression']);
    expect(results.anomalies[0]).toMatchObject({
      offset: 2,
      nodes: [1],
      labels: ['final-logs'],
      guarantee: 'agreement',
    });
  });

  it('is not the same epoch, or a higher one', () => {
    for (const epoch of [1, 7]) expect(planted(epoch).check().anomalies).toEqual([]);
  });

  it.each([
    [
      'epochs',
      [
        [0, 0],
        [2, 1],
        [1, 2],
      ],
    ],
    [
      'epochs that stand twice',
      [
        [0, 0],
        [0, 1],
      ],
    ],
    [
      'offsets',
      [
        [0, 2],
        [1, 1],
      ],
    ],
  ] as const)('is a checkpoint with %s that do not increase', (_, epochs) => {
    const story = quiet(3);
    const files = story.files().map((file) => (file.node === 2 ? { ...file, epochs } : file));
    const results = story.check({ logs: { nodes: [1, 2, 3], files } });
    expect(kinds(results)).toEqual(['epoch-regression']);
    expect(results.anomalies[0]).toMatchObject({ nodes: [2], labels: ['checkpoint'] });
  });

  it('is not a checkpoint that increases, is empty, or is not there', () => {
    const story = quiet(3);
    for (const epochs of [
      [
        [0, 0],
        [1, 3],
      ],
      [],
      null,
    ] as const) {
      const files = story.files().map((file) => ({ ...file, epochs }));
      expect(story.check({ logs: { nodes: [1, 2, 3], files } }).anomalies).toEqual([]);
    }
  });

  /** A follower appends a record of `epoch` behind one of epoch 1, and throws it away again. */
  function passing(epoch: number): Story {
    const story = quiet(1);
    story.begin(2, [1, 2, 3]);
    story.commit(2);
    const batch = { base: 2, last: 2, epoch, hash: '0000000a' };
    story.line(1, { event: 'append', partition: key, leaderEpoch: 1, batches: [batch] });
    story.truncateByEpoch(1, 2, 2, 1, 1);
    return story;
  }

  it('is seen in the trace even if the log was mended', () => {
    const results = passing(0).check();
    expect(kinds(results)).toEqual(['epoch-regression']);
    expect(results.anomalies[0]).toMatchObject({ offset: 2, nodes: [1], labels: ['trace'] });
    expect(passing(1).check().anomalies).toEqual([]);
  });
});
