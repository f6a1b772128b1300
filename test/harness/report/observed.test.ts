/** The report and the life of a record where brokers tell no trace: drawn from what was seen of them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRunDirectory } from '../../../harness/check/load-run.ts';
import { compareOutcomes } from '../../../harness/compare/verdict.ts';
import { writeComparisonReport } from '../../../harness/report/comparison.ts';
import { completeObservations, sourcesOf } from '../../../harness/report/observed-lines.ts';
import { renderRun } from '../../../harness/report/run.ts';
import { readRunFiles } from '../../../harness/report/run-files.ts';
import { recordLife } from '../../../harness/show/show.ts';
import { lifeText } from '../../../harness/show/text.ts';
import { Foreign, s1aOnKafka } from '../../checker/foreign.ts';
import { expectGolden } from '../../golden.ts';
import { writeForeignRun } from '../foreign-run.ts';

const capabilities = {
  faults: { pause: true, 'power-loss': { not: 'only in scripted schedules' } },
  guarantees: { durability: true },
  triggers: { 'follower-follows': true },
  exposures: true,
};
let root = '';

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemark-observed-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The folder of a run, checked. */
function folder(name: string, run: Foreign, facts: Readonly<Record<string, unknown>> = {}): string {
  const directory = join(root, name);
  writeForeignRun(run, directory, facts);
  writeFileSync(join(directory, 'results.json'), JSON.stringify(checkRunDirectory(directory)));
  return directory;
}

describe('the report of a run without a trace', () => {
  it('draws its lanes from what was observed, and says by whom', () => {
    const page = renderRun(readRunFiles(folder('s1a', s1aOnKafka(), { capabilities })));
    expect(page).toContain('Broker 1 acknowledges record LAST-ACKED at offset 3');
    expect(page).toContain('Broker 3 truncates its log from 4 to 3');
    expect(page).toContain('as its log said: Truncating log pause1-0 to offset 3.');
    expect(page).toContain('by which rule, nothing tells');
    expect(page).toContain('Broker 3 is elected, without record LAST-ACKED');
    expect(page).toContain('These brokers tell no trace. What is drawn was seen from outside');
    expect(page).toContain('Leader epochs that no broker had told by then are counted');
    expect(page).toContain('broker 1, leader: log end 4, high watermark not seen');
    expect(page).toContain('observations.jsonl');
    expect(page).not.toContain('trace.jsonl');
    expect(page).not.toContain('(clean');
  });

  it('tells who the active controller was, and from when on', () => {
    const run = s1aOnKafka();
    for (const controller of [100, 100, null, 2]) {
      run.see('controller', 'metadata', { event: 'active-controller', controller });
    }
    const page = renderRun(readRunFiles(folder('controllers', run)));
    expect(page).toMatch(
      /The active controller was node 100, from [\d.]+ s on node 100 again, from [\d.]+ s on nobody, from [\d.]+ s on node 2\./,
    );
  });

  it('holds what can be done to the target, and known of it', () => {
    const page = renderRun(readRunFiles(folder('matrix', s1aOnKafka(), { capabilities })));
    expect(page).toMatch(/What can be done to kafka:0\.10\.2\.2, and known of it/);
    expect(page).toContain('<b>power-loss</b>: only in scripted schedules');
    const unknown = renderRun(readRunFiles(folder('none', s1aOnKafka())));
    expect(unknown).toContain('What kafka:0.10.2.2 can do and show was not noted.');
  });

  it('names in that table the very parts that the notes say were not checked', () => {
    const directory = folder('parts', s1aOnKafka(), { capabilities });
    const { notes } = checkRunDirectory(directory);
    const table = /What can be done to .*?<\/section>/s.exec(renderRun(readRunFiles(directory)))?.[0] ?? '';
    const parts = notes.flatMap((note) => /^not checked of (\w+), for want of a trace: (.*)$/.exec(note) ?? []);
    expect(parts.length).toBeGreaterThan(3);
    for (let at = 0; at < parts.length; at += 3) {
      expect(table).toContain(`<b>${parts[at + 1]}</b>: not checked: ${parts[at + 2]}`);
    }
    const inFull = /guarantees<\/th>\s*<td>([^<]*)/.exec(table)?.[1];
    expect(inFull).toBe('order, transactions');
  });

  it('says that exposures are not known, and why', () => {
    const run = s1aOnKafka();
    const dark = { ...capabilities, exposures: { not: 'it tells no high watermark' } };
    expect(renderRun(readRunFiles(folder('dark', run, { capabilities: dark })))).toContain(
      'Whether there was one is not known: it tells no high watermark.',
    );
  });

  it('comes about without any observation', () => {
    const directory = folder('blind', s1aOnKafka());
    rmSync(join(directory, 'observations.jsonl'));
    expect(renderRun(readRunFiles(directory))).toContain('There are no observations of this partition');
  });
});

describe('the report of a comparison of brokers without a trace', () => {
  /** The same story on both sides, as two builds. */
  function compared(
    name: string,
    candidate: Foreign,
    exposures: typeof capabilities.exposures | { not: string },
  ): string {
    const directory = join(root, name);
    const sides = (['control', 'candidate'] as const).map((side) => {
      const run = `runs/${side}-1`;
      const story = side === 'control' ? s1aOnKafka() : candidate;
      writeForeignRun(story, join(directory, run), { capabilities: { ...capabilities, exposures } });
      const results = checkRunDirectory(join(directory, run));
      writeFileSync(join(directory, run, 'results.json'), JSON.stringify(results));
      return { directory: run, results };
    });
    const results = compareOutcomes({
      control: 'kafka:0.10.2.2',
      candidate: 'kafka:4.4.0',
      runtime: 'docker',
      seeds: [1],
      configuration: {},
      command: 'x',
      pairs: [{ seed: 1, order: ['control', 'candidate'], control: sides[0]!, candidate: sides[1]! }],
    });
    writeFileSync(join(directory, 'results.json'), JSON.stringify(results));
    return readFileSync(writeComparisonReport(directory), 'utf8');
  }

  /** A broker that lost nothing: it follows anew and keeps what it has. */
  function kept(): Foreign {
    const run = new Foreign('pause1-0');
    run.elect(1, [1, 2, 3], 0);
    for (const node of [1, 2, 3]) run.role(node, 1, 0);
    for (const node of [1, 2, 3]) run.append(node, 0, 0);
    run.hw(3, 0);
    run.ack(1, 0, [1, 2, 3], 0, 1);
    run.sent(1, 7, 0);
    run.elect(2, [2, 3], 1);
    run.role(3, 2, 1);
    run.see('controller', 'metadata', { event: 'isr', leaderEpoch: 1, from: [2, 3], to: [2, 3, 1] });
    run.poll(2, [[0, 7]]);
    for (const node of [1, 2, 3]) run.log(node, [7]);
    run.run = { finalLeaders: { 'pause1-0': 2 }, configuration: { build: 'kafka:4.4.0', runtime: 'docker', seed: 1 } };
    return run;
  }

  it('tells both builds from what was observed, and what can be known of each', () => {
    const page = compared('both', kept(), true);
    expect(page).toContain('kafka:0.10.2.2 broke a promise in 1 of 1 runs');
    expect(page).toContain('The same danger arose once: broker 3 became follower in epoch 1');
    expect(page).toContain('it dropped nothing in that epoch');
    expect(page.match(/What can be done to /g)).toHaveLength(2);
  });

  it('says that nobody knows whether the other met the danger, where nobody does', () => {
    const page = compared('dark-pair', kept(), { not: 'it tells no high watermark' });
    expect(page).toContain(
      'Whether kafka:4.4.0 met a dangerous moment under this plan is not known: it tells no high watermark.',
    );
    expect(page).toContain('0 (1 not known)');
    expect(page).toContain('exposures unknown');
  });
});

describe('the life of a record without a trace', () => {
  it('is told as it was seen', () => {
    const directory = folder('life', s1aOnKafka());
    expectGolden('test/harness/show/golden/observed.txt', lifeText(recordLife(directory, 'pause1-0', { offset: 3 })));
  });

  it('leaves out lines that cannot be read, and says so', () => {
    const directory = folder('torn', s1aOnKafka());
    const path = join(directory, 'observations.jsonl');
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"partition":"pause1-0"\n`);
    const { notes } = recordLife(directory, 'pause1-0', { offset: 3 });
    expect(notes).toContain('1 line of the observations cannot be understood');
  });
});

describe('completed observations', () => {
  const complete = (run: Foreign): ReturnType<typeof completeObservations> =>
    completeObservations(run.observations.map((line): unknown => JSON.parse(line)));

  it('know the end and the high watermark at a role, and nothing that nobody saw', () => {
    const run = new Foreign('tide-0');
    run.append(1, 0, 4);
    run.role(1, 2, 4);
    run.hw(1, 1);
    run.role(1, 3, 5);
    expect(complete(run).filter(({ event }) => event === 'role')).toMatchObject([
      { leo: 1, hw: null, leaderEpoch: 4 },
      { leo: 1, hw: 1, leaderEpoch: 5 },
    ]);
  });

  it('forget a high watermark that a leader, or a process that starts anew, no longer tells', () => {
    const run = new Foreign('tide-0');
    run.hw(1, 1);
    run.role(1, 1, 0);
    run.append(1, 0);
    run.hw(2, 5);
    run.see(2, 'harness', { event: 'start', partition: undefined }, 2);
    const told = complete(run).filter(({ event }) => event === 'hw' || event === 'role');
    expect(told.map(({ node, hw, to }) => [node, hw ?? null, to ?? null])).toEqual([
      [1, null, 1],
      [1, 1, null],
      [1, null, null],
      [2, null, 5],
      [2, null, null],
    ]);
  });

  it('hold an acknowledgement back until the file is seen to hold the record, and tie the two', () => {
    const run = new Foreign('tide-0');
    run.role(1, 1, 0);
    run.ack(1, 0, [1], 0, 7);
    run.append(1, 0);
    const events = complete(run);
    expect(events.map(({ event }) => event)).toEqual(['create', 'role', 'append', 'ack']);
    expect(events[2]).toMatchObject({ msg: 'client-7#1', batches: [{ base: 0, last: 0, epoch: 0 }] });
  });

  it('take a copy for the record of the leader that is followed, in formats without epochs', () => {
    const run = new Foreign('tide-0');
    run.elect(1, [1, 2], 0);
    run.role(1, 1, 0);
    run.append(1, 0);
    run.elect(2, [2, 1], 1);
    run.append(2, 0);
    run.append(3, 0);
    run.role(3, 2, 1);
    const appended = complete(run).filter(({ event }) => event === 'append');
    expect(appended.map(({ batches }) => batches)).toEqual([
      [{ base: 0, last: 0, epoch: 0, hash: 'seen-0' }],
      [{ base: 0, last: 0, epoch: 1, hash: 'seen-1' }],
      [{ base: 0, last: 0, epoch: 1, hash: 'seen-1' }],
    ]);
  });

  it('take what a leader writes that does not know of the next one for a record of its own epoch', () => {
    const run = new Foreign('tide-0');
    run.elect(1, [1, 2], 0);
    run.role(1, 1, 0);
    run.append(1, 0);
    run.elect(2, [2], 1);
    run.append(1, 1);
    run.cut(1, 2, 1);
    run.append(2, 1);
    run.append(1, 1);
    const appended = complete(run).filter(({ event }) => event === 'append');
    expect(appended.map(({ node, batches }) => [node, ...(batches as unknown[])])).toEqual([
      [1, { base: 0, last: 0, epoch: 0, hash: 'seen-0' }],
      [1, { base: 1, last: 1, epoch: 0, hash: 'seen-0' }],
      [2, { base: 1, last: 1, epoch: 1, hash: 'seen-1' }],
      [1, { base: 1, last: 1, epoch: 1, hash: 'seen-1' }],
    ]);
  });

  it('leave out what is no line, and count what there is by source', () => {
    expect(completeObservations([null, 4, {}, { time: 'x' }])).toEqual([]);
    expect(sourcesOf([null, { source: 'log' }, { source: 'log', epochSeen: false }, { source: 5 }])).toEqual({
      sources: { log: 2 },
      epochsCounted: true,
      controllers: [],
    });
  });
});
