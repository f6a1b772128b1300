/** Each anomaly that a history alone can show, in the smallest history that has it, and its nearest lawful neighbour. */
import { describe, expect, it } from 'vitest';
import { checkRun, type CheckInput } from '../../../checker/check.ts';
import type { RunResults } from '../../../checker/results.ts';
import { historyInput, kinds, Story } from '../story.ts';

function check(tell: (story: Story) => void, changes: Partial<CheckInput> = {}): RunResults {
  const story = new Story();
  tell(story);
  return checkRun(historyInput(story.history, changes));
}

/** Sends a value and has it answered, without any broker. */
function send(story: Story, value: number, offset: number | null, acks: 'all' | 0 | 1 = 'all'): void {
  story.invoke(value, acks);
  story.acked(value, offset);
}

describe('inconsistent-offsets', () => {
  it('is one offset with two values, acknowledged or read', () => {
    const results = check((story) => {
      send(story, 1, 0);
      story.invoke(2);
      story.unanswered(2);
      story.poll(100, [[0, 2]]);
      story.poll(101, [[0, 1]]);
    });
    expect(kinds(results)).toEqual(['inconsistent-offsets']);
    expect(results.anomalies[0]).toMatchObject({ offset: 0, values: [1, 2], guarantee: 'offsets' });
    expect(results.guarantees).toMatchObject({ offsets: false, visibility: true });
  });

  it('is not an offset that was acknowledged twice under acks=1: that promises nothing', () => {
    const results = check((story) => {
      send(story, 1, 0, 1);
      send(story, 2, 0, 1);
      story.poll(100, [[0, 2]]);
    });
    expect(results).toMatchObject({ valid: true, anomalies: [] });
  });

  it('is not the same offset of two partitions', () => {
    const story = new Story();
    send(story, 1, 0);
    const lines = [
      ...story.history,
      ...story.history.map((line) => line.replaceAll('tide-0', 'tide-1').replaceAll('1]', '2]')),
    ];
    expect(kinds(checkRun(historyInput(lines)))).toEqual([]);
  });
});

describe('duplicate', () => {
  it('is one value read at two offsets', () => {
    const results = check((story) => {
      send(story, 1, 0);
      story.poll(100, [
        [0, 1],
        [1, 1],
      ]);
    });
    expect(kinds(results)).toEqual(['duplicate']);
  });

  it('is also a value acknowledged at one offset and read at another', () => {
    const results = check((story) => {
      send(story, 1, 0);
      story.poll(100, [[1, 1]]);
    });
    expect(kinds(results)).toEqual(['duplicate']);
  });

  it('is not a value read twice at one offset', () => {
    const results = check((story) => {
      send(story, 1, 0);
      story.poll(100, [[0, 1]]);
      story.poll(101, [[0, 1]]);
    });
    expect(results).toMatchObject({ valid: true, anomalies: [] });
  });
});

describe('phantom and G1a', () => {
  it('a value that nobody sent is a phantom', () => {
    const results = check((story) => story.poll(100, [[0, 9]]));
    expect(kinds(results)).toEqual(['phantom']);
  });

  it('a value whose send failed is an aborted read', () => {
    const results = check((story) => {
      story.invoke(1);
      story.unanswered(1, 'fail');
      story.poll(100, [[0, 1]]);
    });
    expect(kinds(results)).toEqual(['G1a']);
  });

  it('a value whose send nobody knows the end of may be read', () => {
    const results = check((story) => {
      story.invoke(1);
      story.unanswered(1, 'info');
      story.invoke(2);
      story.poll(100, [
        [0, 1],
        [1, 2],
      ]);
    });
    expect(results).toMatchObject({ valid: true, anomalies: [] });
  });
});

describe('lost-write', () => {
  it('is an acknowledged value that a reader passed over', () => {
    const results = check((story) => {
      for (const value of [1, 2, 3]) send(story, value, value - 1);
      story.poll(100, [
        [0, 1],
        [2, 3],
      ]);
    });
    expect(kinds(results)).toEqual(['lost-write']);
    expect(results.anomalies[0]).toMatchObject({ offset: 1, values: [2], guarantee: 'durability' });
  });

  it('is also one that the next poll of the same reader passed over', () => {
    const results = check((story) => {
      for (const value of [1, 2, 3]) send(story, value, value - 1);
      story.poll(100, [[0, 1]]);
      story.poll(100, [[2, 3]]);
    });
    expect(kinds(results)).toEqual(['lost-write']);
  });

  it('has a value at its offset instead as a consequence', () => {
    const results = check((story) => {
      send(story, 1, 0);
      send(story, 2, 0);
      story.poll(100, [[0, 2]]);
    });
    expect(kinds(results)).toEqual(['lost-write']);
    expect(results.anomalies[0]?.consequences).toMatchObject([
      { kind: 'ack-conflict', count: 1 },
      { kind: 'inconsistent-offsets', count: 1 },
    ]);
  });

  it('is a value that was read before, if a reader after settling passes over it', () => {
    const results = check((story) => {
      for (const value of [1, 2]) send(story, value, value - 1);
      story.poll(100, [[0, 1]]);
      story.poll(101, [[1, 2]], { final: true });
    });
    expect(kinds(results)).toEqual(['lost-write']);
    expect(results.anomalies[0]?.consequences).toMatchObject([{ kind: 'consumer-saw-uncommitted' }]);
  });

  it('is not a value that was only never read: that is unknown', () => {
    const results = check((story) => {
      send(story, 1, 0);
      send(story, 2, 1);
      story.poll(100, [[0, 1]]);
    });
    expect(results.anomalies).toEqual([]);
    expect(results.guarantees.durability).toBe('unknown');
    expect(results.measures['unseen']).toBe(1);
  });

  it('is not a gap between two readers, or after a failed poll', () => {
    const results = check((story) => {
      for (const value of [1, 2, 3]) send(story, value, value - 1);
      story.poll(100, [[0, 1]]);
      story.poll(101, [[2, 3]]);
      story.operation({ process: 100, type: 'invoke', f: 'poll', value: [['poll']] });
      story.operation({ process: 100, type: 'fail', f: 'poll', value: [['poll']], error: 'OFFSET_OUT_OF_RANGE' });
      story.poll(100, [[2, 3]]);
    });
    expect(results.anomalies).toEqual([]);
    expect(results.guarantees.durability).toBe('unknown');
  });

  it('is never a value of acks=1, of info or of fail', () => {
    const results = check((story) => {
      send(story, 1, 0);
      send(story, 2, 1, 1);
      story.invoke(3);
      story.unanswered(3);
      story.invoke(4);
      story.unanswered(4, 'fail');
      send(story, 5, 4);
      story.poll(100, [
        [0, 1],
        [4, 5],
      ]);
    });
    expect(results).toMatchObject({ valid: true, anomalies: [] });
  });
});

describe('a history alone', () => {
  it('checks neither agreement nor convergence, and that does not spoil the whole', () => {
    const results = check((story) => {
      send(story, 1, 0);
      story.poll(100, [[0, 1]]);
    });
    expect(results.valid).toBe(true);
    expect(results.guarantees).toMatchObject({ agreement: 'not-checked', convergence: 'not-checked' });
  });

  it('costs no memory for huge and sparse offsets', () => {
    const results = check((story) => {
      send(story, 1, 3);
      send(story, 2, 9_007_199_254_740_990);
      story.poll(100, [[3, 1]]);
      story.poll(101, [[9_007_199_254_740_990, 2]]);
    });
    expect(results).toMatchObject({ valid: true, anomalies: [] });
  });

  it('of a run of ours is unknown, since trace and logs should be there, and still shows what it can', () => {
    const tell = (story: Story): void => {
      send(story, 1, 0);
      story.poll(100, [[0, 1]]);
    };
    expect(check(tell, { source: 'run' }).guarantees).toMatchObject({
      durability: 'unknown',
      agreement: 'unknown',
      offsets: 'unknown',
      visibility: 'unknown',
      convergence: 'unknown',
    });
    const broken = check(
      (story) => {
        tell(story);
        story.poll(101, [[1, 9]]);
      },
      { source: 'run' },
    );
    expect(broken.valid).toBe(false);
    expect(kinds(broken)).toEqual(['phantom']);
  });
});
