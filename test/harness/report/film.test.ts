import { rmSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { viewPartition } from '../../../harness/report/partition.ts';
import type { Film } from '../../../harness/report/picture.ts';
import { readRunFiles } from '../../../harness/report/run-files.ts';
import { s1a, s1aPrime, s2 } from '../../checker/schedules.ts';
import { key, Story } from '../../checker/story.ts';
import { expectGolden } from '../../golden.ts';
import { filmText } from './film-text.ts';
import { temporaryFolder, writeRunFolder } from './folder.ts';

const folders: string[] = [];

function filmOf(story: Story): Film {
  const directory = temporaryFolder();
  folders.push(directory);
  writeRunFolder(directory, story);
  return viewPartition(readRunFiles(directory), key).film;
}

afterEach(() => {
  for (const directory of folders.splice(0)) rmSync(directory, { recursive: true });
});

describe('the film of a partition', () => {
  it.each([
    ['s1a-hw', () => s1a('hw')],
    ['s1a-prime-hw', () => s1aPrime('hw')],
    ['s1a-prime-epoch', () => s1aPrime('epoch')],
    ['s2-hw', () => s2('hw')],
  ] as const)('tells %s so that it can be read', (name, tell) => {
    expectGolden(`test/harness/report/golden/${name}.txt`, filmText(filmOf(tell())));
  });

  it('crosses out the lost record and not the one that took its offset', () => {
    const end = filmOf(s1aPrime('hw')).acts.at(-1)?.stills[0];
    const cells = end?.lanes.flatMap((lane) => lane.cells.filter((cell) => cell?.offset === 1)) ?? [];
    expect(cells.map((cell) => [cell?.value, cell?.lost])).toEqual([
      ['3', false],
      ['3', false],
      ['2', true],
    ]);
  });

  it('marks no record as lost or diverging where the checker found neither', () => {
    const cells = filmOf(s1aPrime('epoch')).acts.flatMap(({ stills }) =>
      stills.flatMap(({ lanes }) => lanes.flatMap((lane) => lane.cells)),
    );
    expect(cells.some((cell) => cell?.acknowledged)).toBe(true);
    expect(cells.filter((cell) => cell?.lost || cell?.diverged)).toEqual([]);
  });

  it('shows what a replica had held as a ghost of it, and no ghost where the same record came back', () => {
    const acts = filmOf(s1aPrime('hw')).acts;
    const after = acts.find(({ kind }) => kind === 'truncated')?.stills.at(-1);
    const lane = after?.lanes.find(({ node }) => node === 1);
    expect(lane?.ghosts.find((ghost) => ghost?.offset === 1)?.value).toBe('2');
    const refetched = new Story();
    refetched.begin(3, [1, 2, 3]);
    refetched.commit(1);
    refetched.truncate(2, 0, 'high-watermark', { highWatermark: 0 });
    refetched.copy(3, 2);
    const ghosts = filmOf(refetched)
      .acts.at(-1)
      ?.stills[0]?.lanes.flatMap((each) => each.ghosts);
    expect(ghosts?.filter((ghost) => ghost !== null)).toEqual([]);
  });

  it('shows the dangerous moment where no truncation followed it', () => {
    const story = new Story({ build: 'epoch' });
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    story.elect(2, [1, 2, 3]);
    story.follow(1);
    story.elect(1, [1, 2, 3]);
    story.lead();
    story.settle();
    const exposed = filmOf(story).acts.find(({ kind }) => kind === 'exposed');
    expect(exposed?.title).toBe('Broker 1 becomes a follower in epoch 1: the dangerous moment');
    expect(exposed?.detail).toBe('it holds offset 1, acknowledged, and its own high watermark is 1');
  });

  it('shows a bounded number of truncations and counts the others', () => {
    const story = new Story();
    story.begin(3, [1, 2, 3]);
    story.commit(1);
    for (let round = 0; round < 40; round += 1) {
      story.truncate(2, 0, 'high-watermark', { highWatermark: 0 });
      story.copy(3, 2);
    }
    const film = filmOf(story);
    const shown = film.acts.filter(({ kind }) => kind === 'truncated').length;
    expect(shown).toBeGreaterThan(0);
    expect(shown).toBeLessThan(10);
    expect(film.omitted).toBe(40 - shown);
  });
});
