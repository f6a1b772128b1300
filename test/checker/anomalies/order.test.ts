/** Order among records that stand, and among records of which one was lost: by the rule, or against it. */
import { describe, expect, it } from 'vitest';
import { encodeBatch } from '../../../broker/protocol/index.ts';
import { checkRun } from '../../../checker/check.ts';
import type { RunResults } from '../../../checker/results.ts';
import { historyInput, kinds, quiet, Story } from '../story.ts';

/** Broker 3 alone acknowledges two records and dies; broker 1 is elected without them, and acknowledges one. */
function overtaken(clean: boolean, brokersReturn: 'epoch' | 'never-lost'): Story {
  const story = new Story({ minInsyncReplicas: 1, uncleanElection: !clean, build: 'epoch' });
  story.begin(3, [1, 2, 3]);
  story.commit(1);
  story.isr([3]);
  for (const value of [2, 4]) {
    story.send(value);
    story.hw(story.end(3), 3);
    story.ack(value);
  }
  story.begin(1, clean ? [1, 2, 3] : [1], { clean, reason: 'fenced' });
  story.follow(2);
  story.send(3);
  story.copy(1, 2);
  story.hw(2, 1);
  story.ack(3);
  if (brokersReturn === 'never-lost') {
    // Once more without a clean choice: what broker 3 had kept is back, and the newer record is gone.
    story.begin(3, [3], { clean: false, reason: 'fenced' });
    for (const node of [1, 2]) {
      story.follow(node);
      story.truncateByEpoch(node, 1, 3, 0, 0);
    }
  } else {
    story.restart(3, 3);
    story.follow(3);
    story.truncateByEpoch(3, 1, 1, 0, 0);
  }
  story.settle();
  return story;
}

function everything(results: RunResults): string[] {
  return results.anomalies.flatMap(({ kind, consequences }) => [kind, ...consequences.map((each) => each.kind)]);
}

describe('realtime-order with logs', () => {
  it('is a violation where both records stand', () => {
    const story = quiet(0);
    for (const node of [1, 2, 3]) story.plant(node, 50, 0, 0);
    story.commit(1);
    story.invoke(50);
    story.acked(50, 0);
    expect(kinds(story.check())).toEqual(['realtime-order']);
  });

  it('follows from the loss of the earlier record, and is as expected as that', () => {
    const expected = overtaken(false, 'epoch').check();
    expect(everything(expected)).toContain('realtime-order');
    expect(expected).toMatchObject({ valid: true, guarantees: { order: true } });
    const violated = overtaken(true, 'epoch').check();
    expect(kinds(violated)).toEqual(['lost-acked-write']);
    expect(everything(violated)).toContain('realtime-order');
    expect(violated.guarantees.order).toBe(false);
  });

  it('is expected where it is the later record that was lost, as the configuration allows', () => {
    const results = overtaken(false, 'never-lost').check();
    expect(kinds(results)).toEqual([]);
    expect(everything(results)).toContain('realtime-order');
    expect(results.valid).toBe(true);
  });
});

describe('order without logs', () => {
  const alone = (story: Story, uncleanElection: boolean): RunResults => {
    const promises = { acks: 'all' as const, minInsyncReplicas: 1, uncleanElection };
    return story.check({ source: 'history', trace: null, logs: null, promises });
  };

  it('is unknown where an unclean election may excuse it, and a violation where nothing can', () => {
    const unknown = alone(overtaken(false, 'epoch'), true);
    expect(everything(unknown)).not.toContain('realtime-order');
    expect(unknown.guarantees.order).toBe('unknown');
    expect(everything(alone(overtaken(false, 'epoch'), false))).toContain('realtime-order');
  });

  it('of a reader is judged the same way', () => {
    const story = quiet(3);
    for (const [from, value] of [
      [2, 3],
      [0, 1],
    ] as const)
      story.poll(70, [[from, value]]);
    expect(kinds(story.check())).toEqual(['nonmonotonic-poll']);
    expect(alone(story, true).guarantees.order).toBe('unknown');
    expect(kinds(alone(story, false))).toEqual(['nonmonotonic-poll']);
  });

  it('of a reader with logs is one that passed over what stands', () => {
    const story = quiet(3);
    story.poll(70, [[0, 1]]);
    story.poll(70, [[2, 3]]);
    const results = story.check();
    expect(kinds(results)).toEqual(['poll-skip']);
    expect(results.anomalies[0]).toMatchObject({ offset: 1, values: [2], guarantee: 'order' });
  });
});

describe('what a way of reading always allows', () => {
  function twice(f: 'assign' | 'subscribe', extra: object = {}): RunResults {
    const story = quiet(3);
    const assign = (more: object = {}): void => {
      story.operation({ process: 70, type: 'invoke', f, value: ['tide-0'], ...more });
      story.operation({ process: 70, type: 'ok', f, value: ['tide-0'], ...more });
    };
    assign();
    story.poll(70, [[2, 3]]);
    if (Object.keys(extra).length > 0) assign(extra);
    story.poll(70, [[0, 1]]);
    return story.check();
  }

  it('is a measure under subscribe, and no anomaly after a seek', () => {
    expect(kinds(twice('assign'))).toEqual(['nonmonotonic-poll']);
    expect(twice('subscribe')).toMatchObject({ valid: true, anomalies: [], measures: { stepsBackUnderSubscribe: 1 } });
    expect(twice('assign', { 'seek-to-beginning?': true })).toMatchObject({ valid: true, anomalies: [] });
    expect(twice('assign', { seek: { 'tide-0': 0 } })).toMatchObject({ valid: true, anomalies: [] });
  });

  it('is a position that a broker denies: the reader starts over', () => {
    const story = quiet(3);
    story.poll(70, [[2, 3]]);
    story.operation({ process: 70, type: 'invoke', f: 'poll', value: [['poll']] });
    story.operation({ process: 70, type: 'fail', f: 'poll', value: [['poll', {}]], error: 'OFFSET_OUT_OF_RANGE' });
    story.poll(70, [[0, 1]]);
    expect(story.check()).toMatchObject({ anomalies: [], measures: { positionsOutOfRange: 1 } });
  });

  it('is how long a reader goes without what somebody has seen', () => {
    const story = quiet(2);
    story.poll(70, [[0, 1]]);
    story.poll(71, [
      [0, 1],
      [1, 2],
    ]);
    story.poll(70, []);
    story.poll(70, [[1, 2]]);
    const { measures } = story.check();
    expect(measures['realtimeLagMs']).toBeGreaterThan(0);
  });
});

describe('a record that order is judged by', () => {
  /** 1 was acknowledged at `offset`, and 2, sent after that, at offset 3; the log holds what is given. */
  function judged(
    offset: number,
    log: readonly (readonly [offset: number, value: number])[],
    logStart = 0,
  ): RunResults {
    const send = (value: number, at: number, index: number): string[] =>
      [
        { type: 'invoke', value: [['send', 'a-0', value]], acks: 'all' },
        { type: 'ok', value: [['send', 'a-0', [at, value]]] },
      ].map((line, place) => JSON.stringify({ index: index + place, time: index, process: value, f: 'send', ...line }));
    const batches = log.map(([at, value]) =>
      encodeBatch({ baseOffset: at, leaderEpoch: 0, records: [{ key: null, value: String(value) }] }),
    );
    const { run } = historyInput([]);
    return checkRun(
      historyInput([...send(1, offset, 0), ...send(2, 3, 2)], {
        run: { ...run, settled: true, finalLeaders: { 'a-0': 1 } },
        promises: { acks: 'all', minInsyncReplicas: 1, uncleanElection: true },
        logs: {
          nodes: [1],
          files: [{ node: 1, key: 'a-0', segments: [{ baseOffset: 0, bytes: Buffer.concat(batches) }], logStart }],
        },
      }),
    );
  }

  it('stands where the log holds it, also where it holds it elsewhere as well', () => {
    const once = judged(5, [
      [3, 2],
      [5, 1],
    ]);
    expect(everything(once)).toContain('realtime-order');
    const twice = judged(5, [
      [0, 1],
      [3, 2],
      [5, 1],
    ]);
    expect(everything(twice)).toContain('realtime-order');
  });

  it('is gone where the log holds it only elsewhere, and then nobody knows', () => {
    const moved = judged(5, [
      [0, 1],
      [3, 2],
      [6, 1],
    ]);
    expect(everything(moved)).not.toContain('realtime-order');
  });

  it('stands where the log has deleted what is as old', () => {
    expect(everything(judged(5, [[7, 9]], 7))).toContain('realtime-order');
  });
});

describe('a send below what was acknowledged before it', () => {
  interface Sent {
    readonly value: number;
    readonly offset: number;
    readonly acks?: 'all' | 1;
    readonly key?: string;
    /** Acknowledged only when all others were. */
    readonly late?: boolean;
  }

  /** Each is sent and acknowledged by a process of its own; `stands` are still in the log. */
  function judged(sends: readonly Sent[], stands: readonly number[]): RunResults {
    const lines: object[] = [];
    const close = ({ value, offset, key: name = 'a-0' }: Sent): object => ({
      process: value,
      type: 'ok',
      f: 'send',
      value: [['send', name, [offset, value]]],
    });
    for (const sent of sends) {
      const { value, acks = 'all', key: name = 'a-0', late = false } = sent;
      lines.push({ process: value, type: 'invoke', f: 'send', value: [['send', name, value]], acks });
      if (!late) lines.push(close(sent));
    }
    for (const sent of sends) if (sent.late === true) lines.push(close(sent));
    const batches = sends
      .filter(({ value, key: name = 'a-0' }) => stands.includes(value) && name === 'a-0')
      .toSorted((x, y) => x.offset - y.offset)
      .map(({ offset, value }) =>
        encodeBatch({ baseOffset: offset, leaderEpoch: 0, records: [{ key: null, value: String(value) }] }),
      );
    const { run } = historyInput([]);
    return checkRun(
      historyInput(
        lines.map((line, index) => JSON.stringify({ index, time: index, ...line })),
        {
          run: { ...run, settled: true, finalLeaders: { 'a-0': 1, 'b-0': 1 } },
          promises: { acks: 'all', minInsyncReplicas: 1, uncleanElection: true },
          logs: {
            nodes: [1],
            files: ['a-0', 'b-0'].map((name) => ({
              node: 1,
              key: name,
              segments: [{ baseOffset: 0, bytes: name === 'a-0' ? Buffer.concat(batches) : new Uint8Array() }],
              logStart: null,
            })),
          },
        },
      ),
    );
  }

  const ordered = (results: RunResults): unknown[] =>
    results.anomalies.filter(({ kind }) => kind === 'realtime-order').map(({ values }) => values);

  const gone: Sent = { value: 2, offset: 9 };
  const below: Sent = { value: 3, offset: 3 };

  it('is told by the highest that still stands, where the highest of all is gone', () => {
    expect(ordered(judged([{ value: 1, offset: 5 }, gone, below], [1, 3]))).toEqual([[1, 3]]);
    expect(ordered(judged([{ value: 1, offset: 5 }, { value: 4, offset: 7 }, gone, below], [1, 3, 4]))).toEqual([
      [4, 3],
    ]);
    const falling = judged([{ value: 4, offset: 7 }, { value: 1, offset: 5 }, gone, below], [1, 3, 4]);
    expect(ordered(falling)).toEqual([
      [4, 3],
      [4, 1],
    ]);
  });

  it.each<[string, readonly Sent[], readonly number[]]>([
    ['stands below it as well', [{ value: 1, offset: 2 }, gone, below], [1, 3]],
    ['is gone, too', [{ value: 1, offset: 5 }, gone, below], [3]],
    ['was promised nothing', [{ value: 1, offset: 5, acks: 1 }, gone, below], [1, 3]],
    ['is of another partition', [{ value: 1, offset: 5, key: 'b-0' }, gone, below], [3]],
    ['was acknowledged later', [{ value: 1, offset: 5, late: true }, gone, below], [1, 3]],
  ])('is doubtful where what else was acknowledged %s', (_, sends, stands) => {
    expect(ordered(judged(sends, stands))).toEqual([]);
  });
});

describe('the sends of one operation', () => {
  it('are in the order in which it made them, whoever read them first', () => {
    const lines = [
      { process: 1, type: 'invoke', f: 'send', value: [['send', 'a-0', 1]], acks: 'all' },
      { process: 1, type: 'ok', f: 'send', value: [['send', 'a-0', [6, 1]]] },
      { process: 9, type: 'invoke', f: 'poll', value: [['poll']] },
      // 3 is heard of before 2 is.
      { process: 9, type: 'ok', f: 'poll', value: [['poll', { 'a-0': [[5, 3]] }]] },
      {
        process: 1,
        type: 'invoke',
        f: 'send',
        value: [
          ['send', 'a-0', 2],
          ['send', 'a-0', 3],
        ],
        acks: 'all',
      },
      {
        process: 1,
        type: 'ok',
        f: 'send',
        value: [
          ['send', 'a-0', [4, 2]],
          ['send', 'a-0', [5, 3]],
        ],
      },
      { process: 1, type: 'invoke', f: 'send', value: [['send', 'a-0', 4]], acks: 'all' },
      { process: 1, type: 'ok', f: 'send', value: [['send', 'a-0', [5, 4]]] },
    ];
    const { anomalies } = checkRun(
      historyInput(lines.map((line, index) => JSON.stringify({ index, time: index, ...line }))),
    );
    const all = anomalies.flatMap(({ kind, values, consequences }) => [
      ...(kind === 'nonmonotonic-send' ? [values.join()] : []),
      ...consequences.flatMap((each) => (each.kind === 'nonmonotonic-send' ? [`${each.count}: ${each.summary}`] : [])),
    ]);
    expect(all.join('; ')).toContain('2 has offset 4 of a-0, and 1, at offset 6, was sent before by the same process');
    expect(all.join('; ')).not.toContain('3 has offset 5 of a-0, and 1');
  });
});
