import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../../harness/errors.ts';
import { eventsMax } from '../../../harness/show/life.ts';
import { recordLife } from '../../../harness/show/show.ts';
import { lifeText } from '../../../harness/show/text.ts';
import { s1aPrime, s2 } from '../../checker/schedules.ts';
import { Story } from '../../checker/story.ts';
import { expectGolden } from '../../golden.ts';
import { storeStory } from '../stored-story.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-show-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function textOf(story: Story, offset: number): string {
  storeStory(directory, story);
  return lifeText(recordLife(directory, 'tide-0', { offset }));
}

describe('the life of a record', () => {
  it.each([
    ['that was lost, and whose offset another took', 's1a-prime-hw', () => s1aPrime('hw'), 1],
    ['on replicas that differ', 's2-hw', () => s2('hw'), 1],
    ['that was kept', 's1a-prime-epoch', () => s1aPrime('epoch'), 1],
  ])('%s is told in order', (_, name, story, offset) => {
    expectGolden(`test/harness/show/golden/${name}.txt`, textOf(story(), offset));
  });

  it('is the same from packed files, and by its value', () => {
    storeStory(directory, s1aPrime('hw'));
    const plain = recordLife(directory, 'tide-0', { offset: 1 });
    const [value] = plain.values;
    expect(recordLife(directory, 'tide-0', { value: value as string })).toEqual(plain);
    for (const name of ['history.jsonl', 'trace.jsonl']) {
      const path = join(directory, name);
      writeFileSync(`${path}.zst`, zstdCompressSync(readFileSync(path)));
      rmSync(path);
    }
    expect(recordLife(directory, 'tide-0', { offset: 1 })).toEqual(plain);
  });

  it('without a trace is what clients and the final logs tell, and says so', () => {
    storeStory(directory, s1aPrime('hw'));
    rmSync(join(directory, 'trace.jsonl'));
    const life = recordLife(directory, 'tide-0', { offset: 1 });
    expect(life.events.map(({ reference }) => reference.source)).not.toContain('trace');
    expect(life.events.map(({ event }) => event)).toContain('final-log');
    expect(life.notes).toContain('there is no trace: what the brokers did is not known');
  });

  it('goes on over lines that cannot be understood, and counts them', () => {
    storeStory(directory, s1aPrime('hw'));
    const before = recordLife(directory, 'tide-0', { offset: 1 });
    appendFileSync(join(directory, 'trace.jsonl'), '{"partition":"tide-0","eve\n"tide-0"\n');
    appendFileSync(join(directory, 'history.jsonl'), 'what\n{"index":');
    const life = recordLife(directory, 'tide-0', { offset: 1 });
    expect(life.events).toEqual(before.events);
    expect(life.notes).toEqual([
      '1 line of the trace cannot be understood',
      '1 line of the history cannot be understood',
      'the last line of the history breaks off',
    ]);
  });

  it('holds the lines of the logs of nodes that name the partition and the offset', () => {
    storeStory(directory, s1aPrime('hw'));
    mkdirSync(join(directory, 'logs'));
    const lines = [
      '{"time":7,"msg":"tide-0 is cut at 1"}',
      '{"time":8,"msg":"tide-0 is cut at 11"}',
      '{"time":9,"msg":"tide-1 is cut at 1"}',
      '[2026-11-29] Truncating tide-0 to offset 1. (kafka.log.Log)',
      '[2026-11-29 00:00:01,1] Removed fetcher for tide-1 and tide-0',
      'tide-01 is cut at 1',
    ];
    writeFileSync(join(directory, 'logs', '2.log'), `${lines.join('\n')}\n`);
    const { events } = recordLife(directory, 'tide-0', { offset: 1 });
    const logged = events.filter(({ event }) => event === 'log-line');
    expect(logged).toEqual([
      {
        time: 7,
        who: 'broker 2',
        event: 'log-line',
        text: 'logs: tide-0 is cut at 1',
        reference: { source: 'file', path: 'logs/2.log', line: 1 },
      },
      {
        time: null,
        who: 'broker 2',
        event: 'log-line',
        text: `logs: ${lines[3]}`,
        reference: { source: 'file', path: 'logs/2.log', line: 4 },
      },
    ]);
  });

  it('tells what logs say on clocks of their own after everything else, and the first lines of each node alone', () => {
    storeStory(directory, s1aPrime('hw'));
    mkdirSync(join(directory, 'logs'));
    const fetches = Array.from({ length: 12 }, (_, count) => `[00:00] TRACE tide-0 ends at 1, fetch ${count + 100}\n`);
    writeFileSync(join(directory, 'logs', '2.log'), fetches.join(''));
    writeFileSync(join(directory, 'logs', 'controller-zookeeper.log'), fetches[0] as string);
    const [before, after] = lifeText(recordLife(directory, 'tide-0', { offset: 1 })).split(
      '\nIn the logs of the nodes',
    );
    expect(before).toContain('After everything:');
    expect(before).not.toContain('TRACE');
    expect(after?.match(/broker 2 .*TRACE/g)).toHaveLength(8);
    expect(after).toContain('broker 2: 4 more lines');
    expect(after).toMatch(/controller-zookeeper +logs: \[00:00\] TRACE/);
  });

  it('lists the first readers, and counts the others', () => {
    const story = new Story();
    story.begin(1, [1, 2, 3]);
    story.commit(5);
    for (let process = 100; process < 120; process += 1) story.poll(process, [[0, 5]]);
    storeStory(directory, story);
    const { events, notes } = recordLife(directory, 'tide-0', { offset: 0 });
    expect(events.filter(({ event }) => event === 'read')).toHaveLength(12);
    expect(notes).toEqual(['8 more operations read 5 at offset 0']);
  });

  it('has a bound, and says what it leaves out', () => {
    const story = new Story();
    story.begin(1, [1, 2, 3]);
    story.commit(5);
    for (let count = 0; count < eventsMax; count += 1) story.isr([1, 2]);
    storeStory(directory, story);
    const { events, notes } = recordLife(directory, 'tide-0', { offset: 0 });
    expect(events.filter(({ reference }) => reference.source === 'trace')).toHaveLength(eventsMax);
    expect(notes.join()).toMatch(/^\d+ more events left out: 2000 of each source are listed$/);
  });
});

describe('a record that is not there', () => {
  it.each([
    [
      'an offset beyond the log',
      'tide-0',
      { offset: 99 },
      /nothing ever stood at offset 99 of tide-0; it holds offsets/,
    ],
    ['an unknown key', 'tide-7', { offset: 0 }, /names no key tide-7; it names tide-0/],
    ['an unknown key, by value', 'tide-7', { value: '1' }, /names no key tide-7; it names tide-0/],
    ['an unknown value', 'tide-0', { value: '77' }, /nobody saw the value 77 at an offset of tide-0/],
  ])('is one clear line: %s', (_, key, wanted, line) => {
    storeStory(directory, s1aPrime('hw'));
    expect(() => recordLife(directory, key, wanted)).toThrow(UsageError);
    expect(() => recordLife(directory, key, wanted)).toThrow(line);
  });

  it('is one clear line: a folder that is no run', () => {
    expect(() => recordLife(directory, 'tide-0', { offset: 0 })).toThrow(/holds no history.jsonl/);
    expect(() => recordLife(join(directory, 'nowhere'), 'tide-0', { offset: 0 })).toThrow(/there is no such folder/);
    mkdirSync(join(directory, 'runs'));
    expect(() => recordLife(directory, 'tide-0', { offset: 0 })).toThrow(/it looks like a comparison/);
  });
});
