import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../../checker/history.ts';
import { createRecorder } from '../../../harness/run/recorder.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-recorder-'));
  path = join(directory, 'history.jsonl');
});
afterEach(() => rmSync(directory, { recursive: true }));

const lines = (): Operation[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Operation);

describe('the recorder', () => {
  it('writes each event at once, with an index that counts up and a time of the run', () => {
    const origin = process.hrtime.bigint();
    const recorder = createRecorder(path, origin);
    recorder.invoke(0, { f: 'send', key: 'tide-0', value: 1 }, 'all');
    expect(lines()).toHaveLength(1);
    recorder.complete(0, {
      type: 'ok',
      f: 'send',
      value: [['send', 'tide-0', [4, 1]]],
      acks: 'all',
      node: 2,
      msg: 'client-0#1',
    });
    recorder.invoke(1, { f: 'assign', keys: ['tide-0'], seek: 'earliest' }, 'all', true);
    recorder.nemesis('pause', { fault: 'f1', phase: 'start', roles: { one: 'leader' }, nodes: { one: 2 } });
    const written = lines();
    expect(written.map((line) => ({ ...line, time: 0 }))).toEqual([
      { index: 0, time: 0, process: 0, type: 'invoke', f: 'send', value: [['send', 'tide-0', 1]], acks: 'all' },
      {
        index: 1,
        time: 0,
        process: 0,
        type: 'ok',
        f: 'send',
        value: [['send', 'tide-0', [4, 1]]],
        acks: 'all',
        node: 2,
        msg: 'client-0#1',
      },
      { index: 2, time: 0, process: 1, type: 'invoke', f: 'assign', value: ['tide-0'], seek: 'earliest', final: true },
      {
        index: 3,
        time: 0,
        process: 'nemesis',
        type: 'info',
        f: 'pause',
        value: { fault: 'f1', phase: 'start', roles: { one: 'leader' }, nodes: { one: 2 } },
      },
    ]);
    const times = written.map((line) => line.time);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeLessThanOrEqual(Number(process.hrtime.bigint() - origin));
    recorder.close();
  });

  it('never writes over a history', () => {
    writeFileSync(path, 'precious');
    expect(() => createRecorder(path, 0n)).toThrow(`cannot write the history ${path}`);
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it('says in one line where it cannot write', () => {
    const nowhere = join(directory, 'missing', 'history.jsonl');
    expect(() => createRecorder(nowhere, 0n)).toThrow(/^cannot write the history .*missing\/history\.jsonl: .*$/u);
  });

  it('says in one line that the disk is full, and writes nothing more', () => {
    const full = createRecorder('/dev/full', 0n, 'w');
    const attempt = (): unknown => full.invoke(0, { f: 'poll' }, 'all');
    expect(attempt).toThrow(/^cannot write the history \/dev\/full: ENOSPC, the disk is full: .*$/u);
    expect(attempt).toThrow(/ENOSPC/u);
    full.close();
  });
});
