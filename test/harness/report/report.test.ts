import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../../harness/errors.ts';
import { writeComparisonReport } from '../../../harness/report/comparison.ts';
import { headline } from '../../../harness/report/headline.ts';
import { renderRun, writeRunReport } from '../../../harness/report/run.ts';
import { readRunFiles } from '../../../harness/report/run-files.ts';
import type { RunResults } from '../../../checker/results.ts';
import { s11, s1a, s1aPrime } from '../../checker/schedules.ts';
import { Story } from '../../checker/story.ts';
import { temporaryFolder, writeComparisonFolder, writeRunFolder } from './folder.ts';

const folders: string[] = [];

function folder(): string {
  const directory = temporaryFolder();
  folders.push(directory);
  return directory;
}

afterEach(() => {
  for (const directory of folders.splice(0)) rmSync(directory, { recursive: true });
});

/** The page of a run told by hand, after `damage` was done to its folder. */
function pageOf(story: Story, damage: (directory: string) => void = () => undefined): string {
  const directory = folder();
  writeRunFolder(directory, story);
  damage(directory);
  return readFileSync(writeRunReport(directory), 'utf8');
}

/** A page as it reads. */
function textOf(page: string): string {
  return page
    .replaceAll(/<style>[^]*?<\/style>|<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,;:])/g, '$1');
}

describe('the opening sentence', () => {
  const results = (story: Story, changes: Partial<RunResults> = {}): RunResults => ({ ...story.check(), ...changes });

  it('says what was lost', () => {
    expect(headline(results(s1aPrime('hw')))).toBe(
      'hw broke its word: it lost 1 write that it had acknowledged and left replicas that hold different records.',
    );
  });

  it('counts the moments that a build survived', () => {
    expect(headline(results(s1a('epoch')))).toBe(
      'epoch kept its word through 1 moment at which the flaw could have bitten.',
    );
  });

  it('claims nothing for a run that never met such a moment, or whose evidence does not suffice', () => {
    const idle = new Story();
    idle.begin(3, [1, 2, 3]);
    idle.commit(1);
    expect(headline(results(idle))).toContain('proves nothing');
    expect(headline(results(idle, { valid: 'unknown' }))).toContain('Unknown');
  });

  it('does not call a loss that the configuration allows a broken word', () => {
    expect(headline(results(s11()))).not.toContain('broke its word');
  });
});

describe('the report of a run', () => {
  it('tells the loss: why, what clients saw before and after, and commands to paste', () => {
    const text = textOf(pageOf(s1aPrime('hw')));
    expect(text).toContain('Why, step by step');
    expect(text).toContain('Broker 1 truncates its log from 2 to 1');
    expect(text).toContain('process 2 was told that 2 is committed');
    expect(text).toContain('process 100 read 2');
    expect(text).toContain('after settling process 101 read 3');
    expect(text).toContain('npm run tidemark -- run --build hw --seed 1');
  });

  it('says of a fault without effect that it counts for nothing', () => {
    const story = s1aPrime('hw');
    const directory = folder();
    const results = writeRunFolder(directory, story);
    const faults = results.faults.map((fault) => ({ ...fault, effective: false }));
    writeFileSync(join(directory, 'results.json'), JSON.stringify({ ...results, faults }));
    expect(readFileSync(writeRunReport(directory), 'utf8')).toContain('it had no effect, and counts for nothing');
  });

  it('says of a fault that is proved in part what took effect and what did not come', () => {
    const story = s1aPrime('hw');
    const tell = (value: Readonly<Record<string, unknown>>): void =>
      story.operation({ process: 'nemesis', type: 'info', f: 'handover-crash', value: { fault: 'f9', ...value } });
    tell({ phase: 'start', roles: { leader: 'tide-0' }, nodes: { leader: 3 } });
    tell({
      phase: 'end',
      effective: false,
      evidence: [{ action: 'kill', node: 3, state: 'exited', effective: true }],
      steps: [
        { step: 'kill leader', ms: 0 },
        { step: 'await follower leads tide-0', ms: 5000, came: false },
      ],
    });
    const text = textOf(pageOf(story));
    expect(text).toContain('in part: it did not go as planned, and counts for nothing. kill 3: exited');
    expect(text).toContain('did not come: follower leads tide-0');
  });

  it('needs no network and runs nothing', () => {
    const page = pageOf(s1aPrime('hw'));
    expect(page).not.toMatch(/<script|<link|<img|<iframe|url\(|@import|\ssrc=|\son\w+=/i);
    expect(page).toContain('default-src &#39;none&#39;');
  });

  it.each(['trace.jsonl', 'history.jsonl'])('comes about without %s, and says that it is missing', (name) => {
    const page = pageOf(s1aPrime('hw'), (directory) => rmSync(join(directory, name)));
    expect(page).toContain(`there is no ${name}`);
    expect(page).toContain('hw broke its word');
  });

  it.each(['trace.jsonl', 'history.jsonl'])('comes about with a torn and damaged %s', (name) => {
    const page = pageOf(s1aPrime('hw'), (directory) => {
      const path = join(directory, name);
      const text = readFileSync(path, 'utf8');
      const damaged = `${text.slice(0, text.length * 0.7)}\n{"time":1}\nnull\n[]\n"text"\n{"seq":1,"time":2,"node":1,"event":"append","partition":"tide-0","batches":[{"base":0,"last":1e300}]}\n{"broken`;
      writeFileSync(path, damaged);
    });
    expect(page).toContain('lines that are not JSON');
    expect(page).toContain('hw broke its word');
  });

  it('survives lines whose fields are of the wrong kind', () => {
    const wrong: unknown[] = [null, -1, 'x', [], {}, [[]], 2 ** 60, { a: 1 }];
    const page = pageOf(s1aPrime('hw'), (directory) => {
      for (const name of ['trace.jsonl', 'history.jsonl']) {
        const path = join(directory, name);
        const lines = readFileSync(path, 'utf8').trim().split('\n');
        const mangled = lines.flatMap((line, index) => {
          const parsed = JSON.parse(line) as Record<string, unknown>;
          const fields = Object.keys(parsed);
          const field = fields[index % fields.length] ?? 'time';
          return [line, JSON.stringify({ ...parsed, [field]: wrong[index % wrong.length] })];
        });
        writeFileSync(path, mangled.join('\n'));
      }
    });
    expect(page).toContain('hw broke its word');
  });

  it('names in one line what is wrong with results of unknown origin', () => {
    const directory = folder();
    const render = (): string => writeRunReport(directory);
    expect(render).toThrow(UsageError);
    expect(render).toThrow(/there is no .*results\.json: name the folder/);
    writeFileSync(join(directory, 'results.json'), '{');
    expect(render).toThrow(/is not JSON/);
    writeFileSync(join(directory, 'results.json'), JSON.stringify({ schemaVersion: 1, type: 'run', valid: 'perhaps' }));
    expect(render).toThrow(/does not fit docs\/results\.schema\.json: valid/);
    writeComparisonFolder(directory);
    expect(render).toThrow(/of a comparison, not of a run/);
  });
});

describe('the report of a comparison', () => {
  it('opens with the verdict, and tells one pair side by side', () => {
    const directory = folder();
    writeComparisonFolder(directory);
    const page = readFileSync(writeComparisonReport(directory), 'utf8');
    expect(page).toContain('epoch kept every acknowledged write that hw puts at risk');
    expect(page).toContain('The same danger arose once: broker 1 became follower in epoch 1');
    expect(page).toContain('nothing acknowledged was dropped');
    expect(page).toContain('href="./runs/control-1/report.html"');
  });

  it('comes about when the folders of its runs are gone', () => {
    const directory = folder();
    writeComparisonFolder(directory);
    rmSync(join(directory, 'runs'), { recursive: true });
    expect(readFileSync(writeComparisonReport(directory), 'utf8')).toContain('epoch kept every acknowledged write');
  });

  it('links nowhere but into its own folder, whatever its results say', () => {
    const directory = folder();
    writeComparisonFolder(directory);
    const path = join(directory, 'results.json');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replaceAll('runs/control-1', 'javascript:alert(1)//../../etc'));
    const page = readFileSync(writeComparisonReport(directory), 'utf8');
    const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, link]) => link ?? '');
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) expect(link).toMatch(/^\.\/(?!.*\.\.)/);
  });
});

describe('a large run', () => {
  it('becomes a report of bounded size', () => {
    const directory = folder();
    mkdirSync(directory, { recursive: true });
    const story = new Story();
    story.begin(3, [1, 2, 3]);
    for (let value = 1; value <= 1_500; value += 1) story.commit(value);
    for (let round = 0; round < 300; round += 1) {
      story.fault(`f${round}`, 'pause', { targets: 1 + (round % 3) });
      story.elect(1 + (round % 3), [1, 2, 3]);
      story.lead();
      story.truncate(1 + ((round + 1) % 3), 1_400, 'high-watermark', { highWatermark: 1_400 });
      story.copy(1 + (round % 3), 1 + ((round + 1) % 3));
      story.fault(`f${round}`, 'pause', { targets: 1 + (round % 3) }, 'end');
    }
    story.settle();
    writeRunFolder(directory, story);
    expect(renderRun(readRunFiles(directory)).length).toBeLessThan(1_000_000);
  });
});
