/** What is excused where the trace is missing, has holes, or ends with the run. */
import { describe, expect, it } from 'vitest';
import type { CheckInput } from '../../../checker/check.ts';
import type { RunResults } from '../../../checker/results.ts';
import { s11, s1a, s2 } from '../schedules.ts';
import { kinds, Story } from '../story.ts';
import { losses } from './alone.ts';

describe('without a whole trace', () => {
  const without: Partial<CheckInput> = { trace: null };

  it('a loss is a violation where neither unclean elections nor storage faults were possible', () => {
    const story = s1a('hw');
    const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 1 } } });
    expect(losses(results)).toEqual(['violation']);
    expect(results.exposures).toBeNull();
  });

  it('a loss is unknown where unclean elections were allowed', () => {
    const story = s11();
    const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 1 } } });
    expect(losses(results)).toEqual([]);
    expect(results.guarantees.durability).toBe('unknown');
    expect(results.valid).toBe('unknown');
  });

  it('a loss is unknown where a storage fault was injected', () => {
    const story = s2('epoch');
    const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 2 } } });
    expect(results.guarantees.durability).toBe('unknown');
  });

  it.each([
    [true, []],
    [false, ['violation']],
  ])('a storage fault whose evidence is %s excuses accordingly', (effective, expected) => {
    const story = s1a('hw');
    for (const phase of ['start', 'end'] as const) {
      const value = { fault: 'f1', phase, roles: {}, nodes: {}, ...(phase === 'end' ? { effective } : {}) };
      story.operation({ process: 'nemesis', type: 'info', f: 'power-loss', value });
    }
    const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 1 } } });
    expect(losses(results)).toEqual(expected);
  });

  it.each([
    ['cut no power', ['pause', 'call', 'resume'], ['start', 'end'], ['violation']],
    ['cut the power of somebody', ['kill', 'power-loss', 'start'], ['start', 'end'], []],
    ['never told what it did', [], ['start'], []],
  ] as const)(
    'a script that %s excuses accordingly, whether or not it came to its end',
    (_, actions, phases, expected) => {
      const story = s1a('hw');
      for (const phase of phases) {
        const told = { effective: false, evidence: actions.map((action) => ({ action, effective: true })) };
        const value = { fault: 'the script', phase, roles: {}, nodes: {}, ...(phase === 'end' ? told : {}) };
        story.operation({ process: 'nemesis', type: 'info', f: 'script', value });
      }
      const results = story.check({ ...without, run: { ...story.input().run, finalLeaders: { 'tide-0': 1 } } });
      expect(losses(results)).toEqual(expected);
    },
  );

  it('a trace with a hole counts as none: nothing is excused by what it does not show', () => {
    const story = s11();
    const trace = story.trace.filter((line) => !line.includes('"truncation"'));
    const results = story.check({ trace });
    expect(losses(results)).toEqual([]);
    expect(results.guarantees).toMatchObject({ durability: 'unknown', agreement: 'unknown' });
    expect(results.notes.join('\n')).toContain('goes from seq');
  });
});

describe('what the trace does not reach', () => {
  it('is a loss that no line explains: of a run that came to rest it is a violation, whatever was allowed', () => {
    const story = new Story({ uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.commit(2);
    const files = story.files().map((file) => ({ ...file, segments: [] }));
    const results = story.check({ logs: { nodes: [1, 2, 3], files } });
    expect(losses(results)).toEqual(['violation']);
    expect(results.anomalies[0]?.summary).toContain('no elected leader lacked it when it was elected');
  });

  it('is a partition of which it has no line: it excuses and proves nothing', () => {
    const story = new Story({ uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    const send = { process: 70, f: 'send' };
    story.operation({ ...send, type: 'invoke', value: [['send', 'other-0', 9]], acks: 'all' });
    story.operation({ ...send, type: 'ok', value: [['send', 'other-0', [1, 9]]] });
    story.operation({ process: 71, type: 'invoke', f: 'poll', value: [['poll']] });
    const records = [
      [0, 7],
      [2, 8],
    ];
    story.operation({ process: 71, type: 'ok', f: 'poll', value: [['poll', { 'other-0': records }]] });
    const results = story.check({ logs: null });
    expect(losses(results)).toEqual([]);
    expect(results.notes.join('\n')).toContain(
      'other-0: acknowledged records are lost, and there is no whole trace, and an unclean election or a storage fault may excuse it',
    );
  });
});

describe('of a run that was killed', () => {
  /** The record is passed over by a reader, after what `tell` says has happened to it. */
  function killed(tell: (story: Story) => void): RunResults {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([3]);
    story.send(2);
    story.hw(2, 3);
    story.ack(2);
    tell(story);
    story.poll(100, [
      [0, 1],
      [2, 3],
    ]);
    return story.check({ run: { ...story.input().run, settled: null, completed: false }, logs: null });
  }

  it('a loss is still a violation by a truncation without need, though no election is there to explain it', () => {
    const results = killed((story) => story.truncate(3, 1, 'high-watermark', { highWatermark: 1 }));
    expect(kinds(results)).toContain('lost-write');
  });

  it('a loss is still a violation where a copy outside the ISR was thrown away without need', () => {
    const results = killed((story) => {
      story.copy(3, 2);
      story.follow(2);
      story.truncate(2, 1, 'high-watermark', { highWatermark: 1 });
    });
    expect(kinds(results)).toContain('lost-write');
  });

  it('a loss may be explained later where power went before the record was flushed', () => {
    const results = killed((story) => story.restart(3, 1, { flushed: 1 }));
    expect(kinds(results)).not.toContain('lost-write');
  });

  it('a loss by a clean election of who lacked it is a violation, though nothing was thrown away without need', () => {
    const results = killed((story) => story.begin(1, [1], { clean: true }));
    expect(kinds(results)).toContain('lost-write');
  });

  it('a loss that nothing explains may be explained by what the trace does not reach', () => {
    const results = killed(() => {});
    expect(kinds(results)).not.toContain('lost-write');
    expect(results.notes.join('\n')).toContain('the trace ends before the loss');
  });

  it.each([
    [true, [], 'unknown'],
    [false, ['lost-write'], false],
  ])(
    'with unclean elections %s, a loss that its trace does not reach is judged as without a trace',
    (unclean, found, verdict) => {
      const story = new Story({ uncleanElection: unclean });
      story.begin(3, [1, 2, 3]);
      for (const value of [1, 2, 3]) story.commit(value);
      story.poll(100, [
        [0, 1],
        [2, 3],
      ]);
      const results = story.check({ run: { ...story.input().run, settled: null, completed: false }, logs: null });
      expect(kinds(results)).toEqual(found);
      expect(results.guarantees.durability).toBe(verdict);
    },
  );
});
