/** What a verdict says of what it lacks: every note word for word, and what cannot be judged for it. */
import { describe, expect, it } from 'vitest';
import { checkRun, type CheckInput } from '../../checker/check.ts';
import type { RunDescription } from '../../checker/evidence.ts';
import type { RunResults } from '../../checker/results.ts';
import { Told } from './anomalies/told.ts';
import { Foreign } from './foreign.ts';
import { sealed } from './logs/replicas.ts';
import { historyInput, key, kinds, quiet, Story } from './story.ts';

/** A quiet run of one record, read to its end, of which `run` says something else. */
function told(run: Partial<RunDescription>, changes: Partial<CheckInput> = {}): RunResults {
  const story = quiet(1);
  story.poll(100, [[0, 1]], { final: true });
  return story.check({ run: { ...story.input().run, ...run }, ...changes });
}

/** Guarantees that are in doubt. */
function doubts({ guarantees }: RunResults): string[] {
  return Object.entries(guarantees).flatMap(([name, verdict]) => (verdict === 'unknown' ? [name] : []));
}

const allButTransactions = ['durability', 'agreement', 'offsets', 'visibility', 'order', 'convergence'];

describe('a run that did not end well', () => {
  it('is told with its error, or that it was not completed', () => {
    expect(told({}).notes).toEqual([]);
    expect(told({ error: 'no engine', completed: false }).notes).toEqual(['the run did not end well: no engine']);
    expect(told({ completed: false }).notes).toEqual(['the run was not completed']);
    expect(told({ completed: null })).toMatchObject({ valid: true, notes: [] });
    expect(told({ error: 'no engine', completed: false }, { source: 'history' }).notes).toEqual([]);
  });

  it('is told with what was left after settling', () => {
    const residual = Array.from({ length: 103 }, (_, at) => `left ${at}`);
    expect(told({ residual: residual.slice(0, 2) }).notes).toEqual(['left 0', 'left 1']);
    expect(told({ residual }).notes).toHaveLength(100);
    expect(told({ settled: false, residual: ['left'] }).notes).not.toContain('left');
  });

  it('leaves visibility in doubt where the last readers did not reach the end', () => {
    const results = told({ finalReadComplete: false });
    expect(results.notes).toEqual(['visibility unknown: the last readers did not reach the end of every partition']);
    expect(doubts(results)).toEqual(['visibility']);
    expect(doubts(told({ finalReadComplete: null }))).toEqual([]);
  });
});

describe('copied logs', () => {
  const missing = (names: readonly string[]): string[] =>
    names.map((name) => `${name} unknown: the final logs of the replicas are missing`);
  const four = ['durability', 'agreement', 'offsets', 'visibility'];

  it('that are missing leave what they prove in doubt', () => {
    const results = told({}, { logs: null });
    expect(doubts(results)).toEqual([...four, 'convergence']);
    for (const note of missing(four)) expect(results.notes).toContain(note);
    expect(told({}, { logs: null, source: 'history' }).guarantees).toMatchObject({
      agreement: 'not-checked',
      offsets: true,
    });
  });

  it('that may be incomplete are left out', () => {
    const left = 'the copied logs are left out: ';
    const stopped = told({ settled: null });
    expect(stopped.notes[0]).toBe(`${left}the run was stopped before it settled, and they may be incomplete`);
    const moving = told({ logsCollected: false });
    expect(moving.notes[0]).toBe(`${left}not all of them were copied, or not while the replicas stood still`);
    for (const results of [stopped, moving])
      expect(results.notes.filter((note) => missing(four).includes(note))).toHaveLength(4);
    expect(told({ logsCollected: true })).toMatchObject({ valid: true, notes: [] });
  });

  it('of a node that has no folder for its partition are empty, if anything of it was copied', () => {
    const input = quiet(1).input();
    const without = (nodes: readonly number[]) =>
      checkRun({
        ...input,
        logs: {
          nodes,
          files: quiet(1)
            .files()
            .filter(({ node }) => node !== 2),
        },
      });
    expect(without([1, 2, 3]).anomalies[0]?.summary).toContain('its log ends at 0');
    const uncopied = without([1, 3]);
    expect(uncopied.anomalies).toEqual([]);
    expect(uncopied.notes).toEqual(['agreement unknown: tide-0: the log of broker 2 is missing']);
  });

  it('that cannot be unpacked leave losses and reads in doubt, and no others', () => {
    const files = quiet(1).files();
    const bytes = Uint8Array.from(files[2]!.segments[0]!.bytes);
    // A codec that nobody has, under a checksum that fits.
    const odd = { ...files[2]!, segments: [{ baseOffset: 0, bytes: sealed(bytes, (view) => view.setInt16(21, 7)) }] };
    const same = [1, 2, 3].map((node) => ({ ...odd, node }));
    const results = told(
      {},
      {
        trace: null,
        logs: { nodes: [1, 2, 3], files: same },
        run: { ...quiet(1).input().run, finalLeaders: { [key]: 3 } },
      },
    );
    const reason = "tide-0: 1 batches of the leader's log are compressed in a way that cannot be unpacked here";
    expect(results.notes).toContain(`durability unknown: ${reason}`);
    expect(results.notes).toContain(`visibility unknown: ${reason}`);
    expect(kinds(results)).toEqual([]);
  });
});

describe('a trace', () => {
  it('that is missing leaves agreement and convergence in doubt', () => {
    const results = told({ finalLeaders: { [key]: 3 } }, { trace: null });
    expect(doubts(results)).toEqual(['agreement', 'convergence']);
    expect(results.notes).toContain('agreement unknown: there is no trace');
    expect(results.notes).toContain('convergence unknown: there is no trace');
    expect(results).toMatchObject({ exposures: null, exposuresUnknown: 'there is no trace' });
    expect(told({}, { trace: null, source: 'history' }).notes.join()).not.toContain('there is no trace');
  });

  it('that was cut, or holds nothing of a broker, is damaged', () => {
    const { trace, history } = quiet(1);
    const lines = { history: history.length, trace: trace.length };
    expect(told({ recordedLines: lines })).toMatchObject({ valid: true, notes: [] });
    const cut = told({ recordedLines: { ...lines, trace: trace.length + 2 } });
    expect(cut.notes[0]).toBe(`the trace ends at line ${trace.length}, and the harness wrote ${trace.length + 2}`);
    expect(cut.notes).toContain('agreement unknown: the trace is damaged');
    expect(doubts(cut)).toContain('agreement');
    const input = quiet(1).input();
    const more = checkRun({ ...input, logs: { ...input.logs!, nodes: [1, 2, 3, 4] } });
    expect(more.notes[0]).toBe('the trace holds no line of broker 4');
    expect(checkRun({ ...input, logs: { ...input.logs!, nodes: [1, 2, 3, 4] }, source: 'history' }).notes).toEqual([]);
  });

  it('is told with its first twenty flaws', () => {
    const { trace } = quiet(1);
    const broken = [...trace, ...Array.from({ length: 30 }, () => '7'), trace[0]!];
    const { notes } = told({}, { trace: broken });
    expect(notes.filter((note) => !note.includes(' unknown: ')).length).toBe(20);
  });
});

describe('a history', () => {
  it('that was cut is malformed behind its end', () => {
    const { history, trace } = quiet(1);
    const lines = history.length + 2;
    const results = told({ recordedLines: { history: lines + 3, trace: trace.length } });
    expect(results.notes).toContain(
      `history line ${lines + 1}: the history ends before it, and the harness wrote ${lines + 3} lines`,
    );
    expect(results.anomalies).toMatchObject([
      {
        kind: 'malformed',
        class: 'expected',
        key: null,
        summary: `1 malformed in the history; the first is line ${lines + 1}: the history ends before it, and the harness wrote ${lines + 3} lines`,
      },
    ]);
    expect(doubts(results)).toEqual(allButTransactions);
  });

  it('that breaks off is told, after what the reader of the files had to say', () => {
    const { history } = quiet(1);
    const { notes } = told({}, { history: [...history, '{"index":'], notes: ['it was read from afar'] });
    expect(notes).toEqual([
      'it was read from afar',
      'the last line of the history breaks off: the recorder was stopped while it wrote',
    ]);
  });

  it('without a completed operation leaves everything in doubt', () => {
    const { history } = quiet(1);
    const results = told({}, { history: history.slice(0, 1), trace: null, logs: null, source: 'history' });
    expect(results.notes).toContain('order unknown: the history holds no completed operation');
    expect(results.valid).toBe('unknown');
    for (const type of ['fail', 'info']) {
      const completed = [history[0]!, history[1]!.replace('"ok"', `"${type}"`)];
      expect(told({}, { history: completed }).notes.join()).not.toContain('no completed operation');
    }
  });

  it('of one operation that was done and one that was not has completed operations', () => {
    const story = new Story();
    story.poll(60, []);
    for (const type of ['invoke', 'fail']) story.operation({ process: 61, type, f: 'poll', value: [['poll']] });
    expect(checkRun(historyInput(story.history)).notes.join()).not.toContain('no completed operation');
  });

  it('is looked at to its end, also where readers lag then', () => {
    const lines = new Told()
      .poll(7, 0)
      .poll(8, 1)
      .poll(7)
      .lines.map((line) => JSON.stringify(line));
    expect(checkRun(historyInput(lines)).measures['realtimeLagMs']).toBeGreaterThan(0);
  });

  it('names operations that nobody understands, by their number', () => {
    const story = quiet(1);
    for (let count = 0; count < 3; count += 1) {
      const f = count === 2 ? 'sleep' : 'dance';
      for (const type of ['invoke', 'ok']) story.operation({ process: 70, type, f, value: null });
    }
    expect(story.check().notes.slice(0, 2)).toEqual([
      '2 operations "dance" of the history are not understood, and were left aside',
      '1 operation "sleep" of the history are not understood, and were left aside',
    ]);
  });

  it('with malformed lines shows the first twenty of them, and leaves out what they might explain', () => {
    const { history } = quiet(1);
    const read = (...lines: string[]) => told({}, { history: lines, trace: null, logs: null, source: 'history' });
    const phantoms = new Story();
    for (const [at, value] of [77, 78].entries()) phantoms.poll(60 + at, [[at, value]]);
    const results = read('x', ...phantoms.history);
    expect(results.notes).toContain('2 phantom are left out: what is missed may be malformed');
    expect(kinds(results)).toEqual([]);
    const many = read(...Array.from({ length: 25 }, () => 'x'), ...history);
    expect(many.notes.filter((note) => note.startsWith('history line'))).toHaveLength(20);
    expect(many.notes).toContain('6 more lines of the history are malformed');
    expect(many.anomalies[0]?.summary).toBe('26 malformed in the history; the first is line 1: not JSON');
    expect(read('x', ...history).notes.join()).not.toContain('more lines');
  });

  it('with malformed lines keeps what rests on what was seen', () => {
    const story = new Story();
    story.poll(60, [[0, 1]]);
    story.poll(61, [[5, 1]]);
    story.poll(62, [
      [9, 7],
      [8, 6],
    ]);
    const results = checkRun(historyInput(['x', ...story.history]));
    expect(kinds(results).sort()).toEqual(['duplicate', 'int-nonmonotonic-poll']);
    expect(results.notes.filter((note) => note.includes('left out'))).toEqual([
      '3 phantom are left out: what is missed may be malformed',
    ]);
  });
});

describe('what a malformed line may have said', () => {
  const leftOut = (told: Told): string[] => {
    const lines = ['x', ...told.lines.map((line) => JSON.stringify(line))];
    const results = checkRun(
      historyInput(lines, { promises: { acks: 'all', minInsyncReplicas: 1, uncleanElection: false } }),
    );
    return results.notes.filter((note) => note.includes('left out')).map((note) => note.split(' left out')[0]!);
  };
  const sent = (): Told => new Told().send(1, 1, 0).send(1, 2, 1).send(1, 3, 2);

  it('is told of each kind by its number', () => {
    expect(leftOut(sent().poll(7, 0).poll(7, 2).poll(8, 0).poll(8, 2).poll(9, 2).poll(9, 0))).toEqual([
      '1 lost-write is',
      '1 poll-skip is',
      '1 nonmonotonic-poll is',
    ]);
  });

  it('is what was read and gone, where no log tells', () => {
    expect(
      leftOut(new Told().send(1, 1, 0).send(1, 2, null).send(1, 3, 2).poll(6, 0, 1, 2).poll(7, 0).poll(7, 2)),
    ).toContain('1 consumer-saw-uncommitted is');
  });

  it('is nothing of what a log tells', () => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    for (const node of [1, 2, 3]) run.role(node, 2, 0);
    for (const node of [2, 1, 3]) run.append(node, 0, 0);
    run.poll(9, [
      [0, 10],
      [1, 11],
    ]);
    run.history.unshift('x');
    for (const node of [1, 2, 3]) run.log(node, [10]);
    expect(kinds(run.check())).toContain('consumer-saw-uncommitted');
  });

  it('is the order of operations, and what one of them did to another', () => {
    const own = new Told().txn(1, [
      ['send', 'a-0', [0, 1]],
      ['poll', { 'a-0': [[0, 1]] }],
    ]);
    expect(leftOut(own)).toEqual(['1 precommitted-read is']);
    expect(leftOut(new Told().send(1, 1, 5).send(2, 2, 3))).toEqual(['1 realtime-order is']);
  });

  it('leaves every guarantee in doubt', () => {
    const { notes } = checkRun(historyInput(['x', ...quiet(1).history]));
    expect(notes).toContain('order unknown: lines of the history are malformed');
  });
});

describe('a value that stands elsewhere in the end', () => {
  const standing = (...values: readonly number[]): string[] => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    for (const node of [1, 2, 3]) run.role(node, 2, 0);
    for (const node of [2, 1, 3]) for (const offset of values.keys()) run.append(node, offset, 0);
    run.ack(2, 0, [2, 1, 3], 0);
    run.sent(0, 10, 0);
    run.poll(9, []);
    for (const node of [1, 2, 3]) run.log(node, values);
    return run
      .check()
      .anomalies.flatMap(({ kind, consequences }) => [kind, ...consequences.map((each) => each.kind)])
      .sort();
  };

  it('has moved, and is doubled only if it stands at a third place', () => {
    expect(standing(8, 10)).toEqual(['offset-moved']);
    expect(standing(8, 10, 10)).toEqual(['duplicate', 'offset-moved']);
    expect(standing(10, 10)).toEqual(['duplicate']);
  });

  it('and is gone from where it was acknowledged is lost and doubled', () => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    for (const node of [1, 2, 3]) run.role(node, 2, 0);
    for (const [process, offset] of [0, 2].entries()) {
      for (const node of [2, 1, 3]) run.append(node, offset, 0);
      run.ack(2, offset, [2, 1, 3], 0);
      run.sent(process, 10 + offset, offset);
    }
    run.poll(8, [[5, 10]], false);
    run.poll(9, []);
    for (const node of [1, 2, 3]) run.log(node, [8, 9, 7]);
    const found = run
      .check()
      .anomalies.flatMap(({ kind, consequences }) => [kind, ...consequences.map((each) => each.kind)]);
    expect(found).toEqual(expect.arrayContaining(['lost-acked-write', 'duplicate']));
  });
});

describe('a verdict', () => {
  it('lists two hundred anomalies of a kind, and counts the others', () => {
    const phantoms = (count: number): RunResults => {
      const lines = Array.from({ length: count }, (_, at) => [
        { index: 2 * at, time: at, process: at, type: 'invoke', f: 'poll', value: [['poll']] },
        {
          index: 2 * at + 1,
          time: at,
          process: at,
          type: 'ok',
          f: 'poll',
          value: [['poll', { [`t-${at}`]: [[0, at]] }]],
        },
      ]);
      return checkRun(historyInput(lines.flat().map((line) => JSON.stringify(line))));
    };
    const more = phantoms(203);
    expect(kinds(more)).toHaveLength(200);
    expect(more.notes).toContain('3 more anomalies of the kind phantom are not listed');
    expect(more).toMatchObject({ schemaVersion: 1, type: 'run' });
    const exactly = phantoms(200);
    expect(kinds(exactly)).toHaveLength(200);
    expect(exactly.notes.join()).not.toContain('not listed');
  });

  it('names ten reasons for a doubt, and counts the others', () => {
    const keys = Array.from({ length: 13 }, (_, at) => `t-${at}`);
    const files = keys.map((each) => ({
      node: 1,
      key: each,
      segments: [{ baseOffset: 0, bytes: new Uint8Array(9) }],
      logStart: null,
    }));
    const { notes } = told({}, { logs: { nodes: [1, 2, 3], files: [...quiet(1).files(), ...files] } });
    const reasons = notes.filter((note) => note.startsWith('agreement unknown: '));
    expect(reasons).toHaveLength(11);
    expect(reasons.at(-1)).toBe('agreement unknown: 3 more reasons');
    const ten = told({}, { logs: { nodes: [1, 2, 3], files: [...quiet(1).files(), ...files.slice(0, 10)] } }).notes;
    expect(ten.filter((note) => note.startsWith('agreement unknown: '))).toHaveLength(10);
  });

  it('tells why durability is not checked', () => {
    const story = new Story({ acks: 1 });
    story.begin(3, [1, 2, 3]);
    story.send(1);
    story.copy(3, 1, 2);
    story.hw(1, 3, 1, 2);
    story.ack(1);
    expect(story.check({ logs: null }).notes.join()).not.toContain('durability unknown');
    expect(story.check().notes).toContain(
      'durability is not checked: acks=1 promises nothing about an acknowledged record',
    );
  });

  it('describes the run as it described itself', () => {
    const { run } = told({ configuration: { build: 'hw', runtime: 'sim', seed: 7 }, command: 'tidemark run' });
    expect(run).toEqual({
      name: 'story',
      build: 'hw',
      runtime: 'sim',
      seed: 7,
      configuration: { build: 'hw', runtime: 'sim', seed: 7 },
      command: 'tidemark run',
    });
    expect(told({ configuration: { build: 1, runtime: null, seed: '7' } }).run).toMatchObject({
      build: 'unknown',
      runtime: 'unknown',
      seed: null,
    });
    expect(told({ target: null }).run).not.toHaveProperty('target');
    const target = { name: 'x', capabilities: null };
    expect(told({ target } as never).run).toMatchObject({ target });
  });
});

describe('observations', () => {
  const watched = (): Foreign => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    for (const node of [1, 2, 3]) run.role(node, 2, 0);
    for (const node of [2, 1, 3]) run.append(node, 0, 0);
    run.ack(2, 0, [2, 1, 3], 0);
    run.sent(0, 10, 0);
    run.poll(9, [[0, 10]]);
    for (const node of [1, 2, 3]) run.log(node, [10]);
    return run;
  };

  it('that were cut are damaged', () => {
    const run = watched();
    const lines = { history: run.history.length, trace: 0, observations: run.observations.length };
    run.run = { recordedLines: lines };
    expect(run.check().guarantees.convergence).toBe(true);
    run.run = { recordedLines: { ...lines, observations: lines.observations + 1 } };
    const { notes, guarantees } = run.check();
    expect(notes).toContain(
      `the observations end at line ${lines.observations}, and the harness wrote ${lines.observations + 1}`,
    );
    expect(guarantees.convergence).toBe('unknown');
  });

  it('that are missing leave convergence and exposures in doubt', () => {
    const results = watched().check({ observations: null });
    expect(results.notes).toContain('convergence unknown: there are no observations');
    expect(results).toMatchObject({ exposures: null, exposuresUnknown: 'there are no observations' });
  });

  it('are told with their first twenty flaws', () => {
    const run = watched();
    run.observations.push(...Array.from({ length: 30 }, () => '7'), '7');
    expect(run.check().notes.filter((note) => note.includes('of the observations'))).toHaveLength(20);
  });

  it('of a cluster that nobody could write to prove nothing of what it keeps', () => {
    const run = new Foreign(key);
    run.elect(2, [2, 1, 3], 0);
    run.poll(9, []);
    for (const node of [1, 2, 3]) run.log(node, []);
    expect(run.check().notes).toContain('durability unknown: no record was acknowledged');
    run.promises = { ...run.promises, acks: 1 };
    expect(run.check().notes.join()).not.toContain('no record was acknowledged');
    expect(watched().check().notes.join()).not.toContain('no record was acknowledged');
  });

  it('leave topics aside that are of no operation, of no leader and of no line', () => {
    const run = watched();
    run.bytes(1, new Uint8Array(9), '__consumer_offsets-0');
    expect(run.check().notes.join()).not.toContain('__consumer_offsets');
    run.run = { finalLeaders: { [key]: 2, '__consumer_offsets-0': 1 } };
    expect(run.check().notes.join()).toContain('__consumer_offsets-0: the log of broker 1 cannot be read');
  });

  it('leave aside what the target says that it cannot show, and name the rest of what is not checked', () => {
    const capabilities = { exposures: true, guarantees: { order: true, agreement: { not: 'its logs are packed' } } };
    const named = (run: Foreign): string[] => run.check().notes.filter((note) => note.includes('not checked'));
    const run = watched();
    run.run = { target: { name: 'x', capabilities } as never };
    expect(named(run)).toEqual([
      'agreement is not checked: its logs are packed',
      'not checked of durability, for want of a trace: acknowledgements by too few in-sync replicas (ack-below-min-isr), and why a log starts later (log-start-moved)',
      'not checked of offsets, for want of a trace: committed records that were overwritten and that no client had seen (committed-overwritten)',
      'not checked of visibility, for want of a trace: high watermarks that went back (hw-regression)',
      'not checked of convergence, for want of a trace: the high watermarks in the end',
    ]);
    const weak = new Foreign(key);
    weak.promises = { ...weak.promises, acks: 1 };
    weak.poll(9, []);
    expect(named(weak)[0]).toBe('durability is not checked: acks=1 promises nothing about an acknowledged record');
    expect(named(weak).slice(1).join()).not.toContain('durability');
  });

  it('of which some are known and others are not tell both', () => {
    const run = watched();
    run.hw(3, 0);
    run.hw(1, 0);
    run.elect(1, [1, 2, 3], 1);
    run.role(3, 1, 1);
    run.role(2, 1, 1, 2);
    const results = run.check();
    expect(results.exposures).toHaveLength(1);
    expect(results.notes).toContain(
      'there may have been more exposures: at one moment at which a broker became follower, its high watermark was not known',
    );
    expect(results).not.toHaveProperty('exposuresUnknown');
    expect(told({})).not.toHaveProperty('exposuresUnknown');
  });

  it('name topics of which nobody else told', () => {
    const run = watched();
    run.bytes(1, new Uint8Array(9), 'other-0');
    run.see('controller', 'metadata', { event: 'create', replicas: [1], partition: 'other-0' });
    expect(run.check().notes.join()).toContain('other-0: the log of broker 1 cannot be read');
  });

  it('are not enough for durability where logs cannot be had, and nobody read to the end', () => {
    const run = watched();
    const capabilities = { exposures: true, guarantees: { agreement: { not: 'its logs are packed' } } };
    const doubt = 'durability unknown: nobody read every partition to its end after settling';
    run.run = { target: { name: 'x', capabilities } as never, finalReadComplete: null };
    expect(run.check().notes).toContain(doubt);
    run.run = { target: { name: 'x', capabilities } as never, finalReadComplete: true };
    expect(run.check().notes).not.toContain(doubt);
    const none = { exposures: true, guarantees: { durability: { not: 'it keeps nothing' } } };
    run.run = { target: { name: 'x', capabilities: none } as never };
    expect(run.check().notes.filter((note) => note.startsWith('durability'))).toEqual([
      'durability is not checked: it keeps nothing',
    ]);
  });

  it('of exposures that the target cannot show tell why', () => {
    const run = watched();
    const capabilities = { exposures: { not: 'it tells no high watermark' }, guarantees: {} };
    run.run = { target: { name: 'x', capabilities } as never };
    expect(run.check()).toMatchObject({ exposures: null, exposuresUnknown: 'it tells no high watermark' });
  });
});
