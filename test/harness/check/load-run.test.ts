import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkPath, checkRunDirectory } from '../../../harness/check/load-run.ts';
import { collectedBytes } from '../../../harness/check/collected-bytes.ts';
import { readLines } from '../../../harness/check/read-lines.ts';
import { EnvironmentError, UsageError } from '../../../harness/errors.ts';
import { s11, s1aPrime } from '../../checker/schedules.ts';
import { kinds, type Story } from '../../checker/story.ts';
import { storeStory } from '../stored-story.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-check-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function store(story: Story): void {
  storeStory(directory, story);
}

describe('the folder of a run', () => {
  it('gives the verdict that its parts give', () => {
    const story = s1aPrime('hw');
    store(story);
    expect(checkRunDirectory(directory)).toEqual(story.check());
  });

  it('may hold its history and its trace packed', () => {
    const story = s1aPrime('hw');
    store(story);
    for (const name of ['history.jsonl', 'trace.jsonl']) {
      const path = join(directory, name);
      writeFileSync(`${path}.zst`, zstdCompressSync(readFileSync(path)));
      rmSync(path);
    }
    expect(checkRunDirectory(directory).anomalies).toEqual(story.check().anomalies);
  });

  it('shows a leader epoch checkpoint that goes back', () => {
    store(s1aPrime('epoch'));
    const path = join(directory, 'data', '2', 'tide-0', 'leader-epoch-checkpoint');
    writeFileSync(path, '0\n2\n0 0\n1 1\n');
    expect(kinds(checkRunDirectory(directory))).toEqual([]);
    writeFileSync(path, '0\n2\n1 0\n0 1\n');
    expect(kinds(checkRunDirectory(directory))).toEqual(['epoch-regression']);
  });

  it('without trace or data is unknown, and still shows what the history shows', () => {
    const story = s1aPrime('hw');
    store(story);
    rmSync(join(directory, 'trace.jsonl'));
    rmSync(join(directory, 'data'), { recursive: true });
    const results = checkRunDirectory(directory);
    expect(kinds(results)).toEqual(['lost-write']);
    expect(results.exposures).toBeNull();
    expect(results.guarantees).toMatchObject({ durability: false, agreement: 'unknown', convergence: 'unknown' });
  });

  it('of a run that was killed, with its last lines broken off, gives a verdict', () => {
    const story = s1aPrime('epoch');
    store(story);
    rmSync(join(directory, 'data'), { recursive: true });
    writeFileSync(join(directory, 'run.json'), JSON.stringify({ configuration: { build: 'epoch' }, completed: false }));
    writeFileSync(join(directory, 'history.jsonl'), story.history.join('\n').slice(0, -7));
    writeFileSync(join(directory, 'trace.jsonl'), story.trace.join('\n').slice(0, -7));
    const results = checkRunDirectory(directory);
    expect(results).toMatchObject({ valid: 'unknown', anomalies: [], run: { build: 'epoch' } });
    expect(results.notes.join('\n')).toContain('breaks off');
  });

  it('without run.json is judged by the defaults, and says so', () => {
    store(s1aPrime('epoch'));
    rmSync(join(directory, 'run.json'));
    const results = checkRunDirectory(directory);
    expect(results.valid).toBe('unknown');
    expect(results.notes.join('\n')).toContain('there is no run.json');
  });

  it.each([
    ['{', 'it is not JSON'],
    ['[]', 'the whole'],
    ['{"name":"x"}', 'configuration'],
    ['{"configuration":{},"settled":"yes"}', 'settled'],
    ['{"configuration":{},"schemaVersion":2}', 'schemaVersion'],
  ])('with the run.json %s is an error of the environment, in one line', (text, detail) => {
    store(s1aPrime('epoch'));
    writeFileSync(join(directory, 'run.json'), text);
    expect(() => checkRunDirectory(directory)).toThrow(EnvironmentError);
    expect(() => checkRunDirectory(directory)).toThrow(detail);
    expect(() => checkRunDirectory(directory)).toThrow(/^[^\n]*$/);
  });

  it('whose trace was cut, or emptied, or lacks a broker, accuses nobody and praises nobody', () => {
    const story = s1aPrime('epoch');
    store(story);
    const { run } = story.input();
    const recordedLines = { history: story.history.length, trace: story.trace.length };
    writeFileSync(join(directory, 'run.json'), JSON.stringify({ ...run, recordedLines }));
    expect(checkRunDirectory(directory).valid).toBe(true);
    for (let lines = 0; lines < story.trace.length; lines += 1) {
      writeFileSync(join(directory, 'trace.jsonl'), story.trace.slice(0, lines).join('\n'));
      const results = checkRunDirectory(directory);
      expect([results.valid, ...results.anomalies]).toEqual(['unknown']);
    }
    writeFileSync(join(directory, 'run.json'), JSON.stringify(run));
    writeFileSync(join(directory, 'trace.jsonl'), story.trace.filter((line) => !line.includes('"node":2')).join('\n'));
    const results = checkRunDirectory(directory);
    expect(results.valid).toBe('unknown');
    expect(results.notes).toContain('the trace holds no line of broker 2');
  });

  it('whose history lacks its last lines is unknown', () => {
    const story = s1aPrime('epoch');
    store(story);
    const recordedLines = { history: story.history.length, trace: story.trace.length };
    writeFileSync(join(directory, 'run.json'), JSON.stringify({ ...story.input().run, recordedLines }));
    for (let lines = 0; lines < story.history.length; lines += 1) {
      writeFileSync(join(directory, 'history.jsonl'), story.history.slice(0, lines).join('\n'));
      const results = checkRunDirectory(directory);
      expect(results.valid).toBe('unknown');
      expect(results.anomalies.map(({ kind }) => kind)).toEqual(['malformed']);
    }
  });

  it('whose copied logs are not all there any more accuses nobody', () => {
    const story = s1aPrime('epoch');
    store(story);
    const bytes = collectedBytes(join(directory, 'data'));
    writeFileSync(join(directory, 'run.json'), JSON.stringify({ ...story.input().run, collectedBytes: bytes }));
    expect(checkRunDirectory(directory).valid).toBe(true);
    rmSync(join(directory, 'data', '3', 'tide-0'), { recursive: true });
    const results = checkRunDirectory(directory);
    expect([results.valid, ...results.anomalies]).toEqual(['unknown']);
    expect(results.notes.join('\n')).toContain(`${bytes} were collected: something has changed them since`);
  });

  it('with something else where a file of a replica should be is told in one line that names it', () => {
    store(s1aPrime('epoch'));
    const log = join(directory, 'data', '1', 'tide-0', '00000000000000000000.log');
    rmSync(log);
    mkdirSync(log);
    expect(() => checkRunDirectory(directory)).toThrow(`${log} cannot be read: it is a folder`);
    rmSync(join(directory, 'data'), { recursive: true });
    writeFileSync(join(directory, 'data'), '');
    expect(() => checkRunDirectory(directory)).toThrow(`${join(directory, 'data')} cannot be read: ENOTDIR`);
  });

  it('whose log cannot be read says so instead of throwing', () => {
    store(s1aPrime('epoch'));
    writeFileSync(join(directory, 'data', '1', 'tide-0', '00000000000000000000.log'), 'this is no log');
    expect(checkRunDirectory(directory).guarantees.agreement).toBe('unknown');
  });
});

describe('a path', () => {
  it('that is not there, or holds no history, is a bad argument', () => {
    expect(() => checkPath(join(directory, 'nowhere'))).toThrow(UsageError);
    expect(() => checkPath(directory)).toThrow(/holds no history.jsonl/);
    mkdirSync(join(directory, 'runs'));
    expect(() => checkPath(directory)).toThrow(/comparison/);
  });

  it('to another file of a run is a bad argument, and the folder is named', () => {
    store(s1aPrime('hw'));
    for (const name of ['run.json', 'trace.jsonl']) {
      const check = (): unknown => checkPath(join(directory, name));
      expect(check).toThrow(UsageError);
      expect(check).toThrow(/is no history; npm run tidemark -- check \S+ checks the run/);
    }
  });

  it('to a history alone checks the history, and says what it leaves out', () => {
    store(s1aPrime('hw'));
    const results = checkPath(join(directory, 'history.jsonl'));
    expect(kinds(results)).toEqual(['lost-write']);
    expect(results.guarantees.agreement).toBe('not-checked');
    expect(results.notes.join('\n')).toContain('takes its trace and logs in as well');
  });
});

describe('flags about the promises', () => {
  it('win over run.json, and the difference is noted', () => {
    store(s11());
    expect(checkPath(directory, { acks: 1 }).notes).toContain('judged as if acks had been 1; the run had all');
    expect(checkPath(directory, { acks: 'all' }).notes).toEqual([]);
  });

  it('decide what a history alone was promised', () => {
    const story = s1aPrime('hw');
    const lines = story.history.map((line) => line.replace(',"acks":"all"', ''));
    writeFileSync(join(directory, 'history.jsonl'), lines.join('\n'));
    const path = join(directory, 'history.jsonl');
    expect(checkPath(path).guarantees.durability).toBe(false);
    expect(checkPath(path, { acks: 1 }).guarantees.durability).toBe('not-checked');
    expect(checkPath(path, { uncleanElection: true }).guarantees.durability).toBe('unknown');
  });
});

describe('readLines', () => {
  it('gives the beginning of a line that is longer than any of ours, in linear time', () => {
    const path = join(directory, 'lines');
    writeFileSync(path, Buffer.alloc(200_000_000, 'x'));
    appendFileSync(path, '\nlast');
    const [first, ...others] = readLines(path);
    expect(first?.length).toBeLessThan(100_000_000);
    expect(others).toEqual(['last']);
  });

  it('gives every line, whatever its length, and the end of a file that breaks off', () => {
    const lines = ['a', '', 'ü'.repeat(700_000), 'b'.repeat(3_000_000), 'last'];
    const path = join(directory, 'lines');
    writeFileSync(path, lines.join('\n'));
    expect([...readLines(path)]).toEqual(lines);
    writeFileSync(path, `${lines.join('\n')}\n`);
    expect([...readLines(path)]).toEqual(lines);
    expect(existsSync(path)).toBe(true);
  });
});
