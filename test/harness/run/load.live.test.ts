import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../../checker/history.ts';
import { createAdmin } from '../../../harness/run/admin.ts';
import { createRandom } from '../../../harness/plan/random.ts';
import type { LoadOptions } from '../../../harness/run/load.ts';
import { startLoad } from '../../../harness/run/load.ts';
import type { Recorder } from '../../../harness/run/recorder.ts';
import { createRecorder } from '../../../harness/run/recorder.ts';
import type { LittleBroker } from './little-broker.ts';
import { startLittleBroker } from './little-broker.ts';

let broker: LittleBroker;
let directory: string;
let recorder: Recorder;
let options: LoadOptions;

beforeEach(async () => {
  broker = await startLittleBroker();
  directory = mkdtempSync(join(tmpdir(), 'tidemark-load-'));
  const clockOriginNs = process.hrtime.bigint();
  recorder = createRecorder(join(directory, 'history.jsonl'), clockOriginNs);
  options = {
    addresses: new Map([[1, broker.address]]),
    config: { acks: 'all', topic: 'tide', partitions: 8, rate: 400, concurrency: 4, clientTimeoutMs: 200 },
    recorder,
    random: createRandom(7),
    clockOriginNs,
  };
});
afterEach(async () => {
  recorder.close();
  await broker.close();
  rmSync(directory, { recursive: true });
});

function history(): Operation[] {
  const text = readFileSync(join(directory, 'history.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Operation);
}

/** Resolves when the broker has read so many requests of this API. */
async function read(api: 'Produce' | 'Fetch', count: number): Promise<void> {
  while (broker.requests.filter((each) => each === api).length < count) await broker.next(api);
}

/** End offsets as acknowledged: the little broker loses nothing. */
function ends(operations: readonly Operation[]): Map<string, number> {
  const found = new Map(Array.from({ length: 8 }, (_, partition): [string, number] => [`tide-${partition}`, 0]));
  for (const { type, f, value } of operations) {
    if (type !== 'ok' || f !== 'send') continue;
    const [, key, [offset]] = (value as any)[0];
    found.set(key, Math.max(found.get(key) ?? 0, offset + 1));
  }
  return found;
}

describe('the load', () => {
  it('writes each operation down as invoked and as ended, one at a time for each process', async () => {
    const load = startLoad(options);
    await read('Produce', 60);
    await load.stop();
    const operations = history();
    expect(operations.filter((each) => each.type === 'ok').length).toBeGreaterThan(80);
    const open = new Map<unknown, string>();
    for (const each of operations) {
      if (each.type === 'invoke') expect(open.has(each.process)).toBe(false);
      else expect(open.get(each.process)).toBe(each.f);
      if (each.type === 'invoke') open.set(each.process, each.f);
      else open.delete(each.process);
    }
    expect([...open]).toEqual([]);
    expect(new Set(operations.map((each) => each.process))).toEqual(new Set([0, 1, 2, 3]));
    for (const process of [0, 1, 2, 3]) expect(operations.find((each) => each.process === process)?.f).toBe('assign');
  });

  it('replaces a process that got info by a fresh one, whose number is higher by the concurrency', async () => {
    let answers = 0;
    broker.mood = (api) => (api === 'Produce' && (answers += 1) % 10 === 0 ? 'hang-up' : 'answer');
    const load = startLoad(options);
    await read('Produce', 60);
    await load.stop();
    const operations = history();
    const infos = operations.filter((each) => each.type === 'info');
    expect(infos.length).toBeGreaterThanOrEqual(5);
    for (const info of infos) {
      expect(info).toMatchObject({
        f: 'send',
        error: 'disconnect',
        msg: expect.stringMatching(`^client-${info.process}#`),
      });
      const after = operations.slice(info.index + 1);
      expect(after.filter((each) => each.process === info.process)).toEqual([]);
      const next = after.find((each) => each.process === Number(info.process) + 4);
      if (next !== undefined) expect(next).toMatchObject({ type: 'invoke', f: 'assign', seek: expect.anything() });
    }
  });

  it('lets operations under way end by their deadlines when it stops, and closes every connection', async () => {
    broker.mood = (api) => (api === 'Produce' ? 'silent' : 'answer');
    const load = startLoad(options);
    await broker.next('Produce');
    await load.stop();
    const operations = history();
    expect(operations.filter((each) => each.type === 'invoke').length).toBe(operations.length / 2);
    expect(operations.filter((each) => each.error === 'timeout').length).toBeGreaterThan(0);
    await createAdmin(options.addresses).describe(['tide']);
    expect(broker.connections()).toBeLessThanOrEqual(1);
  });

  it('reads everything back with fresh processes, marked final, up to the given ends', async () => {
    const load = startLoad(options);
    await read('Produce', 60);
    await load.stop();
    const before = history();
    const wanted = ends(before);
    const reached = await load.finalRead(wanted, 5_000);
    expect(reached.size).toBe(8);
    for (const [key, each] of reached)
      expect(each).toEqual({ complete: true, reached: wanted.get(key), end: wanted.get(key) });
    const final = history().slice(before.length);
    expect(final.filter((each) => each.final).map((each) => [each.process, each.f, each.seek])).toEqual([
      [4, 'assign', 'earliest'],
      [5, 'assign', 'earliest'],
    ]);
    const sent = before.filter((each) => each.type === 'ok' && each.f === 'send').length;
    for (const process of [4, 5]) {
      const polls = final.filter((each) => each.process === process && each.type === 'ok' && each.f === 'poll');
      const records = polls.flatMap((each) => Object.values((each.value as any)[0][1]).flat());
      expect(records).toHaveLength(sent);
    }
  });

  it('gives the final read up at its deadline, and says how far it came', async () => {
    const load = startLoad(options);
    await read('Produce', 20);
    await load.stop();
    const wanted = ends(history()).set('tide-0', 1_000_000);
    const reached = await load.finalRead(wanted, 300);
    expect(reached.get('tide-0')).toMatchObject({ complete: false, end: 1_000_000 });
    expect(reached.get('tide-1')).toMatchObject({ complete: true });
  });

  it('replaces a final reader that got info, and starts over', async () => {
    const load = startLoad(options);
    await read('Produce', 60);
    await load.stop();
    let fetches = 0;
    broker.mood = (api) => (api === 'Fetch' && (fetches += 1) <= 2 ? 'hang-up' : 'answer');
    const reached = await load.finalRead(ends(history()), 5_000);
    expect([...reached.values()].every((each) => each.complete)).toBe(true);
    const final = history().filter((each) => each.final);
    expect(new Set(final.map((each) => each.process))).toEqual(new Set([4, 5, 8, 9]));
  });

  it('ends at once, with one error that names the file, when the history cannot be written', async () => {
    const full = createRecorder('/dev/full', options.clockOriginNs, 'w');
    const { promise, resolve } = Promise.withResolvers<Error>();
    const load = startLoad({ ...options, recorder: full, onFailure: resolve });
    expect((await promise).message).toMatch(/^cannot write the history \/dev\/full: ENOSPC/u);
    await expect(load.stop()).rejects.toThrow('cannot write the history /dev/full');
    await expect(load.finalRead(new Map(), 100)).rejects.toThrow('cannot write the history /dev/full');
    expect(broker.requests).toEqual([]);
    full.close();
  });
});
