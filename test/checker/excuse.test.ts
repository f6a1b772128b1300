/** Both sides of every clause of the rule of expected loss. */
import { describe, expect, it } from 'vitest';
import type { CheckInput } from '../../checker/check.ts';
import type { RunResults } from '../../checker/results.ts';
import { s10, s11, s1a, s2 } from './schedules.ts';
import { kinds, Story, type StoryOptions } from './story.ts';

const losses = (results: RunResults): string[] =>
  results.anomalies.filter(({ kind }) => kind === 'lost-acked-write').map((anomaly) => anomaly.class);

/** Broker 3 leads, and alone acknowledges the second record; what comes then decides. */
function acknowledgedAlone(options: StoryOptions = {}): Story {
  const story = new Story({ minInsyncReplicas: 1, uncleanElection: true, build: 'epoch', ...options });
  story.begin(3, [1, 2, 3]);
  story.commit(1);
  story.isr([3]);
  story.send(2);
  story.hw(2, 3);
  story.ack(2);
  return story;
}

/** Broker 3 comes back and follows broker 1, which lacks the second record. */
function settleUnder1(story: Story): Story {
  story.restart(3, 2);
  story.follow(3);
  story.truncateByEpoch(3, 1, 1, 0, 0);
  story.settle();
  return story;
}

describe('the election that lacked the record', () => {
  it('excuses when it was unclean and chose from outside the ISR', () => {
    const story = acknowledgedAlone();
    story.begin(1, [1], { clean: false });
    expect(losses(settleUnder1(story).check())).toEqual(['expected']);
  });

  it('excuses nothing when it was clean, though it chose from outside the ISR', () => {
    const story = acknowledgedAlone();
    story.begin(1, [1], { clean: true });
    expect(losses(settleUnder1(story).check())).toEqual(['violation']);
  });

  it('excuses nothing when it was unclean but chose a member of the ISR', () => {
    const story = new Story({ brokers: 2, minInsyncReplicas: 1, uncleanElection: true, build: 'epoch' });
    story.begin(2, [1, 2]);
    story.commit(1);
    story.send(2);
    story.hw(2, 2);
    // Acknowledged over an ISR whose member never had it: the promise was broken when it was made.
    story.ack(2);
    story.begin(1, [1], { clean: false });
    story.restart(2, 2);
    story.follow(2);
    story.truncateByEpoch(2, 1, 1, 0, 0);
    story.settle();
    expect(losses(story.check())).toEqual(['violation']);
  });

  it('that comes first decides, whatever later elections were like', () => {
    const story = acknowledgedAlone();
    story.begin(1, [1], { clean: true });
    story.begin(2, [1, 2], { clean: false });
    story.restart(3, 2);
    story.follow(3);
    story.truncateByEpoch(3, 1, 2, 0, 0);
    story.settle();
    expect(losses(story.check())).toEqual(['violation']);
  });
});

describe('a truncation by a member of the ISR', () => {
  it('is a violation when the leader to follow held the record, though an unclean election lost it then', () => {
    const story = new Story({ brokers: 3, minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([1, 3]);
    story.send(2);
    story.copy(3, 1);
    story.hw(2, 3);
    story.ack(2);
    story.restart(1, 1);
    story.follow(1);
    story.truncateToHw(1);
    story.begin(2, [2], { clean: false });
    story.restart(3, 1);
    story.follow(1, 3);
    story.truncateToHw(1);
    story.truncateToHw(3);
    story.settle();
    expect(losses(story.check())).toEqual(['violation']);
  });

  it('does not matter once the record has been fetched again: only the last removal counts', () => {
    const story = new Story({ brokers: 3, minInsyncReplicas: 1, uncleanElection: true });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([1, 3]);
    story.send(2);
    story.copy(3, 1);
    story.hw(2, 3);
    story.ack(2);
    story.restart(1, 1);
    story.follow(1);
    story.truncateToHw(1);
    story.copy(3, 1);
    story.begin(2, [2], { clean: false });
    story.restart(3, 1);
    story.follow(1, 3);
    story.truncateToHw(1);
    story.truncateToHw(3);
    story.settle();
    expect(losses(story.check())).toEqual(['expected']);
  });

  it('is judged by the log of a leader that never took the role as it stood before its next one', () => {
    expect(losses(s1a('hw').check())).toEqual(['violation']);
  });

  it('by a replica outside the ISR at the acknowledgement decides nothing', () => {
    const story = acknowledgedAlone();
    story.copy(3, 2);
    story.follow(2);
    story.truncateToHw(2);
    story.begin(1, [1], { clean: false });
    expect(losses(settleUnder1(story).check())).toEqual(['expected']);
  });

  it('is never justified when a new leader truncates itself', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true, build: 'hw-elect' });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    story.elect(1, [1, 2]);
    story.lead();
    story.truncate(1, 1, 'high-watermark-on-election', { highWatermark: 1 });
    story.follow(2);
    story.truncateToHw(2);
    story.restart(3, 1);
    story.follow(3);
    story.truncateToHw(3);
    story.settle();
    const results = story.check();
    expect(losses(results)).toEqual(['violation']);
    expect(results.anomalies[0]?.summary).toContain('broker 1 truncated its log without need');
  });
});

describe('a leader outside the ISR at the acknowledgement', () => {
  /** Broker 2 fetched the record and leads; broker 1 leads after it, without the record; broker 3 lost its disk. */
  function twoUncleanLeaders(truncates: boolean): Story {
    const story = acknowledgedAlone();
    story.copy(3, 2);
    story.begin(2, [2], { clean: false });
    if (truncates) story.truncate(2, 1, 'high-watermark-on-election', { highWatermark: 1 });
    story.begin(1, [1], { clean: false });
    story.restart(3, 1, { flushed: 1 });
    story.follow(2, 3);
    if (!truncates) story.truncateByEpoch(2, 1, 1, 0, 0);
    story.settle();
    return story;
  }

  it('that truncates itself is not excused by a later unclean election', () => {
    expect(losses(twoUncleanLeaders(true).check())).toEqual(['violation']);
    expect(losses(twoUncleanLeaders(false).check())).toEqual(['expected']);
  });
});

describe('a storage fault', () => {
  /** Both brokers had the record; broker 2, alone in the ISR, loses power with `flushed` records on disk. */
  function powerLoss(flushed: number, cutTo: number, cut = 'power-loss'): Story {
    const story = new Story({ brokers: 2, minInsyncReplicas: 1, build: 'epoch' });
    story.begin(1, [1, 2]);
    story.commit(1);
    story.commit(2);
    story.isr([2]);
    story.elect(null, [2]);
    story.restart(2, 2, { flushed: cutTo });
    const line = JSON.parse(story.trace.at(-1) as string);
    story.trace[story.trace.length - 1] = JSON.stringify({ ...line, flushed, cut });
    story.begin(2, [2]);
    story.restart(1, 2);
    story.follow(1);
    story.truncateByEpoch(1, 1, 2, 0, 0);
    story.settle();
    return story;
  }

  it('excuses what had not been flushed', () => {
    expect(losses(powerLoss(1, 1).check())).toEqual(['expected']);
  });

  it('does not excuse what had been flushed', () => {
    expect(losses(powerLoss(2, 1).check())).toEqual(['violation']);
  });

  it('is no excuse when nobody injected one: a torn tail without power loss', () => {
    expect(losses(powerLoss(1, 1, 'torn-tail').check())).toEqual(['violation']);
  });
});

describe('the last replica standing', () => {
  it('is labelled where the ISR had shrunk below min.insync.replicas and good copies existed', () => {
    expect(s10(2).check().anomalies[0]?.labels).toContain('last-replica-standing');
  });

  it('is not labelled where one replica was enough by configuration', () => {
    expect(s10(1).check().anomalies[0]?.labels).not.toContain('last-replica-standing');
    expect(s2('epoch').check().anomalies[0]?.labels).not.toContain('last-replica-standing');
  });
});

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

describe('of a run that was killed', () => {
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

describe('what readers saw', () => {
  it('of a record that was never acknowledged is judged by when its high watermark passed it', () => {
    const story = new Story({ minInsyncReplicas: 1, uncleanElection: true, build: 'epoch' });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.isr([3]);
    story.send(2);
    story.hw(2, 3);
    story.unanswered(2);
    story.poll(100, [
      [0, 1],
      [1, 2],
    ]);
    story.begin(1, [1], { clean: false });
    const results = settleUnder1(story).check();
    expect(kinds(results, 'expected')).toEqual(['consumer-saw-uncommitted']);
    expect(results.valid).toBe(true);
  });

  it('is judged by its own record, not by an acknowledged one that took its offset', () => {
    const story = new Story({ brokers: 2, minInsyncReplicas: 1, build: 'epoch' });
    story.begin(1, [1, 2]);
    story.commit(1);
    story.send(2);
    story.copy(1, 2);
    story.hw(2, 1);
    story.unanswered(2);
    story.poll(100, [
      [0, 1],
      [1, 2],
    ]);
    story.isr([2]);
    story.elect(null, [2]);
    story.restart(2, 1, { flushed: 1 });
    story.begin(2, [2]);
    story.send(3);
    story.hw(2, 2);
    story.ack(3);
    story.restart(1, 2);
    story.follow(1);
    story.truncateByEpoch(1, 1, 2, 0, 0);
    story.settle();
    const results = story.check();
    expect(results.anomalies.map(({ kind, class: className }) => [kind, className])).toEqual([
      ['inconsistent-offsets', 'expected'],
    ]);
    expect(results.valid).toBe(true);
  });

  it('above every high watermark is a violation, however it was lost', () => {
    const story = new Story({ minInsyncReplicas: 1, build: 'epoch' });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.send(2);
    story.unanswered(2);
    story.poll(100, [
      [0, 1],
      [1, 2],
    ]);
    story.begin(1, [1, 2], { clean: true });
    const results = settleUnder1(story).check();
    expect(kinds(results)).toEqual(['consumer-saw-uncommitted']);
    expect(results.anomalies[0]?.labels).toEqual(['never-committed']);
  });
});
