import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordTrace, type TraceLog } from '../../../harness/run/trace-log.ts';
import { paperCluster, type PaperCluster } from './paper-cluster.ts';

let directory: string;
let cluster: PaperCluster;
let trace: TraceLog;
const path = (): string => join(directory, 'trace.jsonl');

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-trace-'));
  cluster = paperCluster();
  trace = recordTrace(cluster, path(), ['tide-0'], () => {});
});

afterEach(() => {
  trace.close();
  rmSync(directory, { recursive: true });
});

const seqs = (): number[] =>
  readFileSync(path(), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { seq: number }).seq);

describe('the copy of the trace', () => {
  it('holds every line, in the order of arrival, as soon as it was said', () => {
    cluster.say(2, 'append', { partition: 'tide-0', batches: [{ base: 0, last: 4 }] });
    expect(seqs()).toEqual([1]);
    cluster.say('controller', 'fence', { broker: 2 });
    expect(seqs()).toEqual([1, 2]);
  });

  it('is folded at once', () => {
    cluster.sayAtRest(7);
    cluster.say(2, 'hw', { partition: 'tide-0', from: 7, to: 9 });
    const partition = trace.view.partitions.get('tide-0');
    expect(partition).toMatchObject({ leader: 1, isr: [1, 2, 3] });
    expect(partition?.replica.get(2)).toMatchObject({ leo: 7, hw: 9 });
  });

  it('ends when it is closed, though the view goes on', () => {
    cluster.say(1, 'start');
    trace.close();
    cluster.sayAtRest(3);
    expect(seqs()).toEqual([1]);
    expect(trace.view.partitions.get('tide-0')?.leader).toBe(1);
  });

  it('is never written over one that is there', () => {
    expect(() => recordTrace(cluster, path(), [], () => {})).toThrow(`cannot write the trace ${path()}: EEXIST`);
  });
});

describe('changes', () => {
  it('count lines about records and roles, and no others', () => {
    cluster.say(1, 'append', { partition: 'tide-0', batches: [{ base: 0, last: 0 }] });
    cluster.say(1, 'truncation', { partition: 'tide-0', from: 1, to: 0 });
    expect(trace.changes).toBe(2);
    for (const event of ['fetch', 'ack', 'checkpoint', 'heartbeat']) cluster.say(1, event, { partition: 'tide-0' });
    expect(trace.changes).toBe(2);
  });
});

describe('waiting for the trace', () => {
  it('ends with the line that makes the condition true', async () => {
    const met = trace.until(() => trace.changes >= 2, 60_000);
    cluster.say(1, 'start');
    cluster.say(1, 'fetch');
    cluster.say(1, 'recover', { partition: 'tide-0', to: 0, hw: 0 });
    expect(await met).toBe(true);
  });

  it('ends at once if there is nothing to wait for, or nobody who waits', async () => {
    expect(await trace.until(() => true, 60_000)).toBe(true);
    expect(await trace.until(() => false, 60_000, AbortSignal.abort())).toBe(false);
  });

  it('ends at its deadline or with an abort, and the condition is not looked at again', async () => {
    let looks = 0;
    const never = (): boolean => {
      looks += 1;
      return false;
    };
    const abort = new AbortController();
    const waits = [trace.until(never, 5), trace.until(never, 60_000, abort.signal)];
    abort.abort();
    expect(await Promise.all(waits)).toEqual([false, false]);
    const before = looks;
    cluster.say(1, 'start');
    expect(looks).toBe(before);
  });
});
