import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verdictText } from '../../harness/check/verdict-text.ts';
import { expectGolden } from '../golden.ts';
import { Foreign, s1aOnKafka } from './foreign.ts';

const key = 'tide-7-0';

/** Two acknowledged records that all three hold, the second at or above the followers' high watermark. */
function whole(): Foreign {
  const run = new Foreign(key);
  run.elect(2, [2, 1, 3], 0);
  for (const node of [1, 2, 3]) run.role(node, 2, 0);
  for (const offset of [0, 1]) {
    for (const node of [2, 1, 3]) run.append(node, offset, 0);
    run.ack(2, offset, [2, 1, 3], 0);
    run.sent(offset, 10 + offset, offset);
  }
  run.poll(9, [
    [0, 10],
    [1, 11],
  ]);
  for (const node of [1, 2, 3]) run.log(node, [10, 11]);
  return run;
}

function kindsOf(run: Foreign): string[] {
  return run.check().anomalies.map(({ kind }) => kind);
}

describe('a run of brokers that tell no trace', () => {
  it('is judged in full by its history and its final logs, and keeps its word', () => {
    const results = whole().check();
    expect(results.valid).toBe(true);
    expect(results.guarantees).toEqual({
      durability: true,
      agreement: true,
      offsets: true,
      visibility: true,
      order: true,
      transactions: 'not-checked',
      convergence: true,
    });
    expect(results.run.target).toEqual({ name: 'kafka:0.10.2.2', capabilities: null });
  });

  it('is measured by what was seen of it: what was cut off, not what was only asked', () => {
    const run = whole();
    const cuts: readonly (readonly [number | null, number | null])[] = [
      [3, 1],
      [5, 5],
      [null, 1],
      [4, 6],
      [5, null],
    ];
    for (const [from, to] of cuts) run.see(1, 'log', { event: 'truncation', from, to, rule: null });
    expect(run.check().measures).toMatchObject({ truncationsSeen: 1, electionsSeen: 1, observations: 18 });
  });

  it('names what is not checked, guarantee by guarantee', () => {
    const { notes } = whole().check();
    for (const part of ['ack-below-min-isr', 'two-leaders-one-epoch', 'committed-overwritten', 'hw-regression'])
      expect(notes.filter((note) => note.startsWith('not checked of ') && note.includes(part))).toHaveLength(1);
  });

  it('of Apache Kafka 0.10.2.2 in which a paused leader kept the lost record is both a loss and a divergence', () => {
    const results = s1aOnKafka().check();
    const found = results.anomalies.map(({ kind, class: of, offset, values }) => ({ kind, of, offset, values }));
    expect(found).toEqual([
      { kind: 'lost-acked-write', of: 'violation', offset: 3, values: ['LAST-ACKED'] },
      { kind: 'replica-divergence', of: 'violation', offset: 3, values: ['LAST-ACKED', 'AFTER.try2'] },
    ]);
    expect(results.exposures).toMatchObject([{ node: 3, highWatermark: 3, endOffset: 4, acknowledged: [3, 3] }]);
    expectGolden('test/checker/golden/s1a-kafka-0.10.2.2.txt', verdictText(results));
  });

  it('finds a loss a violation where nothing can excuse it', () => {
    const run = whole();
    run.files.splice(0);
    for (const node of [1, 2, 3]) run.log(node, [10]);
    expect(run.check().guarantees.durability).toBe(false);
    expect(kindsOf(run)).toEqual(['lost-acked-write']);
  });

  it('cannot judge a loss where unclean elections are allowed, or a disk was cut', () => {
    const unclean = whole();
    unclean.promises = { ...unclean.promises, uncleanElection: true };
    const cut = whole();
    cut.operation({
      process: 'nemesis',
      type: 'info',
      f: 'power-loss',
      value: { fault: 'f1', phase: 'start', nodes: { leader: 2 } },
    });
    for (const run of [unclean, cut]) {
      run.files.splice(0);
      for (const node of [1, 2, 3]) run.log(node, [10]);
      const { guarantees, notes } = run.check();
      expect(guarantees.durability).toBe('unknown');
      expect(notes.join()).toContain('no trace tells how that came about, and an unclean election');
      expect(kindsOf(run)).not.toContain('lost-acked-write');
    }
  });

  it('takes the final leader from what the run noted', () => {
    const run = whole();
    run.files.splice(0);
    run.log(1, [10, 11]);
    run.log(2, [10]);
    run.log(3, [10, 11]);
    expect(kindsOf(run)).toContain('lost-acked-write');
    run.run = { finalLeaders: { [key]: 1 } };
    expect(kindsOf(run)).not.toContain('lost-acked-write');
    run.run = { finalLeaders: {} };
    expect(run.check().guarantees.durability).toBe('unknown');
  });

  it('accuses nobody where the run noted no leader, and one was last seen', () => {
    const run = whole();
    run.run = { finalLeaders: {} };
    const results = run.check();
    expect(results.anomalies).toEqual([]);
    expect(results.guarantees.convergence).toBe('unknown');
    expect(results.notes.join()).toContain('was last seen to lead it');
  });

  it('is unknown where its final logs are missing', () => {
    const { guarantees } = whole().check({ logs: null });
    expect(guarantees).toMatchObject({ durability: 'unknown', agreement: 'unknown', offsets: 'unknown' });
  });

  it('leaves out what the target cannot show, with its reason, and judges the rest by the history', () => {
    const run = whole();
    const able = { durability: true, agreement: { not: 'its files cannot be read' } } as const;
    run.run = {
      target: {
        name: 'image:example/broker:1',
        capabilities: { faults: {}, triggers: {}, guarantees: able, exposures: { not: 'it tells no high watermark' } },
      },
    };
    const results = run.check({ logs: null });
    expect(results.guarantees).toMatchObject({ durability: true, agreement: 'not-checked', offsets: true });
    // A folder in which nothing that was understood lies is no empty log.
    expect(run.check({ logs: { nodes: [1, 2, 3], files: [] } })).toEqual(results);
    run.run = { ...run.run, settled: null, finalReadComplete: null };
    expect(run.check({ logs: null })).toMatchObject({ valid: 'unknown', guarantees: { durability: 'unknown' } });
    expect(results.notes).toContain('agreement is not checked: its files cannot be read');
    expect(results).toMatchObject({ exposures: null, exposuresUnknown: 'it tells no high watermark' });
  });

  it('is unknown where its target can show nothing, and where no record was acknowledged', () => {
    const blank = whole();
    const names = ['durability', 'agreement', 'offsets', 'visibility', 'order', 'transactions', 'convergence'];
    const guarantees = Object.fromEntries(names.map((name) => [name, { not: 'nothing is known of it' }]));
    blank.run = {
      target: { name: 'image:black-box', capabilities: { faults: {}, guarantees, triggers: {}, exposures: true } },
    };
    expect(blank.check().valid).toBe('unknown');
    const idle = new Foreign(key);
    idle.elect(2, [2, 1, 3], 0);
    for (const node of [1, 2, 3]) idle.role(node, 2, 0);
    idle.poll(9, []);
    for (const node of [1, 2, 3]) idle.log(node, []);
    expect(idle.check().guarantees).toMatchObject({ durability: 'unknown', agreement: true });
    expect(idle.check().notes.join()).toContain('no record was acknowledged');
  });

  it('takes nothing for settled where segments could not be seen to the end', () => {
    const run = whole();
    run.see(3, 'segments', { event: 'blind', words: 'the volume is gone' });
    const { valid, guarantees, notes, exposures } = run.check();
    expect([valid, guarantees.convergence, exposures]).toEqual(['unknown', 'unknown', null]);
    expect(notes.join()).toContain('the segments of broker 3 could not be seen from');
    run.run = { settled: false, residual: ['the log of broker 3 ends at 0'] };
    expect(run.check().anomalies).toEqual([]);
  });

  it('looks only at the topic of the run: the cluster may serve several, and keeps topics of its own', () => {
    const run = whole();
    const bytes = (node: number): Uint8Array => run.files[node - 1]?.segments[0]?.bytes ?? new Uint8Array();
    run.bytes(1, bytes(1), 'tide-6-0');
    run.log(1, [70]);
    run.bytes(2, run.files.pop()?.segments[0]?.bytes ?? new Uint8Array(), 'tide-6-0');
    expect(run.check().valid).toBe(true);
  });
});

describe('convergence without a trace', () => {
  it('is broken where a replica is not in the last ISR that was seen', () => {
    const run = whole();
    run.see('controller', 'metadata', { event: 'isr', leaderEpoch: 0, from: [2, 1, 3], to: [2, 1] });
    expect(kindsOf(run)).toEqual(['no-convergence']);
    run.see('controller', 'metadata', { event: 'isr', leaderEpoch: 0, from: [2, 1], to: [2, 1, 3] });
    expect(kindsOf(run)).toEqual([]);
  });

  it('is broken where final logs end differently', () => {
    const run = whole();
    run.files.splice(2);
    run.log(3, [10, 11, 12]);
    expect(kindsOf(run)).toEqual(['no-convergence']);
  });

  it('is unknown without observations, or with a hole in them', () => {
    expect(whole().check({ observations: null }).guarantees.convergence).toBe('unknown');
    const holed = whole().observations.filter((_, line) => line !== 3);
    expect(whole().check({ observations: holed }).guarantees.convergence).toBe('unknown');
    const short = { ...whole().input().run, recordedLines: { history: 6, trace: 0, observations: 99 } };
    expect(whole().check({ run: short }).guarantees.convergence).toBe('unknown');
  });

  it('names the broker that never came back, and what it had said', () => {
    const run = whole();
    run.see('controller', 'metadata', { event: 'isr', leaderEpoch: 0, from: [2, 1, 3], to: [2, 1] });
    run.run = {
      settled: false,
      ends: [{ node: 3, detail: 'exit code 1', lastLines: ['FATAL no'], blame: 'node', phase: 'running' }],
    };
    const [suicide, never] = run.check().anomalies;
    expect(suicide).toMatchObject({ kind: 'broker-suicide', class: 'violation', nodes: [3] });
    expect(never?.summary).toContain('broker 3 did not come back into the ISR of 1 partition');
    expect(never?.why.map(({ text }) => text)).toEqual([
      'Broker 3 ended by itself: exit code 1.',
      'It had said: FATAL no',
    ]);
  });
});

describe('a broker that is missing in the end', () => {
  /** Broker 3 ended in its first boot, and is out of the ISR at the end. */
  function missing(...blames: readonly ('node' | 'environment')[]): Foreign {
    const run = whole();
    run.see(3, 'log', { event: 'ended', words: 'FATAL no session' });
    run.see('controller', 'metadata', { event: 'isr', leaderEpoch: 0, from: [2, 1, 3], to: [2, 1] });
    const ends = blames.map((blame) => ({
      node: 3,
      detail: 'no session',
      lastLines: [],
      blame,
      phase: 'start' as const,
    }));
    run.run = { settled: false, ends };
    return run;
  }

  const notes = (run: Foreign): string => run.check().notes.join('\n');

  it('because its environment ended it leaves convergence unknown', () => {
    const run = missing('environment');
    const { anomalies, guarantees } = run.check();
    expect(anomalies).toEqual([]);
    expect(guarantees.convergence).toBe('unknown');
    expect(notes(run)).toContain('broker 3 was ended by the environment and did not come back');
  });

  it('is accused where it ended itself too, or nothing ended it', () => {
    expect(kindsOf(missing('environment', 'node'))).toEqual(expect.arrayContaining(['failed-start', 'no-convergence']));
    expect(kindsOf(missing())).toEqual(['no-convergence']);
  });

  it('is accused where it had come back long before, whatever had ended it', () => {
    for (const sign of [
      (run: Foreign) => run.role(3, 2, 0, 2),
      (run: Foreign) => run.hw(3, 2, 2),
      (run: Foreign) => run.see(3, 'segments', { event: 'append', batches: [{ base: 1, last: 1, epoch: 0 }] }, 2),
    ]) {
      const run = missing('environment');
      sign(run);
      run.pass(29_900);
      run.poll(10, []);
      expect(kindsOf(run)).toEqual([]);
      expect(run.check().guarantees.convergence).toBe('unknown');
      run.pass(200);
      run.poll(11, []);
      expect(kindsOf(run)).toEqual(['no-convergence']);
    }
  });

  it('had not come back where it ended once more', () => {
    const run = missing('environment', 'environment');
    run.role(3, 2, 0, 2);
    run.see(3, 'log', { event: 'ended', words: 'FATAL no session' }, 2);
    run.hw(3, 2, 2);
    run.pass(60_000);
    run.poll(10, []);
    expect(kindsOf(run)).toEqual([]);
    expect(notes(run)).toContain('broker 3 was ended by the environment and did not come back');
  });

  it('excuses none of the others', () => {
    const short = missing('environment');
    short.files.splice(0, 1);
    short.log(1, [10]);
    expect(kindsOf(short)).toContain('no-convergence');
    const own = missing('environment');
    own.files.splice(2);
    own.log(3, [10]);
    expect(kindsOf(own)).not.toContain('no-convergence');
    const both = missing('environment');
    both.see('controller', 'metadata', { event: 'isr', leaderEpoch: 0, from: [2, 1], to: [2] });
    expect(kindsOf(both)).toEqual(['no-convergence']);
  });
});

describe('a process that ended', () => {
  const end = { node: 1, detail: 'exit code 1', lastLines: ['a', 'b'], phase: 'running' } as const;

  it('by a fault of its own is one broker-suicide, however often, with its last lines', () => {
    const run = whole();
    const words = 'Exiting because log truncation is not allowed for partition tide-7-0';
    run.see(1, 'log', { event: 'ended', words });
    run.run = { ends: [end, end].map((each) => ({ ...each, blame: 'node' })) };
    const { anomalies, guarantees } = run.check();
    expect(anomalies).toMatchObject([
      {
        kind: 'broker-suicide',
        class: 'violation',
        guarantee: 'convergence',
        nodes: [1],
        summary: `broker 1 ended itself (2 times): ${words}`,
        evidence: [{ source: 'observation', node: 1, boot: 1 }],
      },
    ]);
    expect(anomalies[0]?.why).toHaveLength(6);
    expect(guarantees.convergence).toBe(false);
  });

  it('as it started is a failed-start', () => {
    const run = whole();
    run.run = { ends: [{ ...end, node: 'controller', blame: 'node', phase: 'start' }] };
    expect(run.check().anomalies).toMatchObject([
      { kind: 'failed-start', nodes: [], summary: 'the controller could not start: exit code 1' },
    ]);
  });

  it('by its environment accuses nobody, and is noted', () => {
    const run = whole();
    run.run = { ends: [{ ...end, blame: 'environment', detail: 'out of memory' }] };
    const { anomalies, notes, valid } = run.check();
    expect(anomalies).toEqual([]);
    expect(valid).toBe(true);
    expect(notes).toContain('broker 1 was ended by its environment, which accuses nobody: out of memory');
  });
});

describe('replicas in formats v0 and v1', () => {
  const segment = (name: string): Uint8Array =>
    new Uint8Array(readFileSync(`test/fixtures/kafka-logs/${name}/00000000000000000000.log`));
  const plain = segment('0.10.2.2-s1a-diverged/broker-2/pause1-0');

  function holding(one: Uint8Array, other: Uint8Array): Foreign {
    const run = new Foreign('pause1-0', [1, 2]);
    run.elect(1, [1, 2], 0);
    run.sent(1, 'm0', 0);
    run.poll(2, [[0, 'm0']]);
    run.bytes(1, one);
    run.bytes(2, other);
    run.run = { finalLeaders: { 'pause1-0': 1 } };
    return run;
  }

  it('agree where one was written anew with the same messages in another format', async () => {
    const { encodeBatch } = await import('../../broker/protocol/index.ts');
    const values = ['m0', 'm1', 'm2', 'AFTER.try2'];
    const parts = values.map((value, baseOffset) =>
      encodeBatch({ baseOffset, leaderEpoch: 4, records: [{ key: null, value }] }),
    );
    const anew = Uint8Array.from(parts.flatMap((part) => [...part]));
    expect(holding(plain, anew).check().guarantees).toMatchObject({ agreement: true, durability: true });
    const changed = [...parts.slice(0, 3), encodeBatch({ baseOffset: 3, records: [{ key: null, value: 'x' }] })];
    const other = Uint8Array.from(changed.flatMap((part) => [...part]));
    expect(kindsOf(holding(plain, other))).toEqual(['replica-divergence']);
  });

  it('are no regression of epochs where messages without one follow a batch with one', async () => {
    const { encodeBatch } = await import('../../broker/protocol/index.ts');
    const first = encodeBatch({ baseOffset: 0, leaderEpoch: 4, records: [{ key: null, value: 'm0' }] });
    const mixed = Uint8Array.from([...first, ...plain.slice(36)]);
    expect(holding(mixed, mixed).check().valid).toBe(true);
  });
});
