/**
 * What a verdict says of a run that lacks something: every note word for word, and what cannot be judged for it.
 *
 * Here are a run's description, its copied logs and its trace, and what a verdict says of itself. What a damaged history
 * leaves to say stands in `check-history.test.ts`, what observations leave in `check-observations.test.ts`.
 */
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import type { RunResults } from '../../checker/results.ts';
import { sealed } from './logs/replicas.ts';
import { doubts, quietRun } from './quiet-run.ts';
import { historyInput, key, kinds, quiet, Story } from './story.ts';

describe('a run that did not end well', () => {
  it('is told with its error, or that it was not completed', () => {
    expect(quietRun({}).notes).toEqual([]);
    expect(quietRun({ error: 'no engine', completed: false }).notes).toEqual(['the run did not end well: no engine']);
    expect(quietRun({ completed: false }).notes).toEqual(['the run was not completed']);
    expect(quietRun({ completed: null })).toMatchObject({ valid: true, notes: [] });
    expect(quietRun({ error: 'no engine', completed: false }, { source: 'history' }).notes).toEqual([]);
  });

  it('is told with what was left after settling', () => {
    const residual = Array.from({ length: 103 }, (_, at) => `left ${at}`);
    expect(quietRun({ residual: residual.slice(0, 2) }).notes).toEqual(['left 0', 'left 1']);
    expect(quietRun({ residual }).notes).toHaveLength(100);
    expect(quietRun({ settled: false, residual: ['left'] }).notes).not.toContain('left');
  });

  it('leaves visibility in doubt where the last readers did not reach the end', () => {
    const results = quietRun({ finalReadComplete: false });
    expect(results.notes).toEqual(['visibility unknown: the last readers did not reach the end of every partition']);
    expect(doubts(results)).toEqual(['visibility']);
    expect(doubts(quietRun({ finalReadComplete: null }))).toEqual([]);
  });
});

describe('copied logs', () => {
  const missing = (names: readonly string[]): string[] =>
    names.map((name) => `${name} unknown: the final logs of the replicas are missing`);
  const four = ['durability', 'agreement', 'offsets', 'visibility'];

  it('that are missing leave what they prove in doubt', () => {
    const results = quietRun({}, { logs: null });
    expect(doubts(results)).toEqual([...four, 'convergence']);
    for (const note of missing(four)) expect(results.notes).toContain(note);
    expect(quietRun({}, { logs: null, source: 'history' }).guarantees).toMatchObject({
      agreement: 'not-checked',
      offsets: true,
    });
  });

  it('that may be incomplete are left out', () => {
    const left = 'the copied logs are left out: ';
    const stopped = quietRun({ settled: null });
    expect(stopped.notes[0]).toBe(`${left}the run was stopped before it settled, and they may be incomplete`);
    const moving = quietRun({ logsCollected: false });
    expect(moving.notes[0]).toBe(`${left}not all of them were copied, or not while the replicas stood still`);
    for (const results of [stopped, moving])
      expect(results.notes.filter((note) => missing(four).includes(note))).toHaveLength(4);
    expect(quietRun({ logsCollected: true })).toMatchObject({ valid: true, notes: [] });
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
    const results = quietRun(
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
    const results = quietRun({ finalLeaders: { [key]: 3 } }, { trace: null });
    expect(doubts(results)).toEqual(['agreement', 'convergence']);
    expect(results.notes).toContain('agreement unknown: there is no trace');
    expect(results.notes).toContain('convergence unknown: there is no trace');
    expect(results).toMatchObject({ exposures: null, exposuresUnknown: 'there is no trace' });
    expect(quietRun({}, { trace: null, source: 'history' }).notes.join()).not.toContain('there is no trace');
  });

  it('that was cut, or holds nothing of a broker, is damaged', () => {
    const { trace, history } = quiet(1);
    const lines = { history: history.length, trace: trace.length };
    expect(quietRun({ recordedLines: lines })).toMatchObject({ valid: true, notes: [] });
    const cut = quietRun({ recordedLines: { ...lines, trace: trace.length + 2 } });
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
    const { notes } = quietRun({}, { trace: broken });
    expect(notes.filter((note) => !note.includes(' unknown: ')).length).toBe(20);
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
    const { notes } = quietRun({}, { logs: { nodes: [1, 2, 3], files: [...quiet(1).files(), ...files] } });
    const reasons = notes.filter((note) => note.startsWith('agreement unknown: '));
    expect(reasons).toHaveLength(11);
    expect(reasons.at(-1)).toBe('agreement unknown: 3 more reasons');
    const ten = quietRun({}, { logs: { nodes: [1, 2, 3], files: [...quiet(1).files(), ...files.slice(0, 10)] } }).notes;
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
    const { run } = quietRun({ configuration: { build: 'hw', runtime: 'sim', seed: 7 }, command: 'tidemark run' });
    expect(run).toEqual({
      name: 'story',
      build: 'hw',
      runtime: 'sim',
      seed: 7,
      configuration: { build: 'hw', runtime: 'sim', seed: 7 },
      command: 'tidemark run',
    });
    expect(quietRun({ configuration: { build: 1, runtime: null, seed: '7' } }).run).toMatchObject({
      build: 'unknown',
      runtime: 'unknown',
      seed: null,
    });
    expect(quietRun({ target: null }).run).not.toHaveProperty('target');
    const target = { name: 'x', capabilities: null };
    expect(quietRun({ target } as never).run).toMatchObject({ target });
  });
});
