/** When the flaw could have bitten, and traces as they may come. */
import { describe, expect, it } from 'vitest';
import type { Anomaly } from '../../../checker/results.ts';
import { s1aPrime } from '../schedules.ts';
import { quiet } from '../story.ts';

describe('exposures', () => {
  it('need an acknowledged record at or above the follower’s own high watermark', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.begin(2, [1, 2, 3]);
    expect(story.check().exposures).toEqual([]);
  });

  it('need a member of the ISR', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    story.elect(2, [2, 3]);
    story.follow(1);
    expect(story.check().exposures).toEqual([]);
    story.elect(3, [1, 2, 3]);
    story.follow(1);
    expect(story.check().exposures).toMatchObject([
      { key: 'tide-0', node: 1, leaderEpoch: 2, highWatermark: 1, endOffset: 2, acknowledged: [1, 1] },
    ]);
  });

  it('need an acknowledgement of an earlier epoch', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    story.restart(1, 1);
    story.follow(1);
    expect(story.check().exposures).toEqual([]);
  });

  it('need a leader that is new to the follower, in this boot', () => {
    const story = quiet(1);
    story.send(2);
    story.copy(3, 1, 2);
    story.hw(2, 3);
    story.ack(2);
    const exposures = (): number => story.check().exposures?.length ?? -1;
    story.elect(3, [1, 2, 3]);
    story.follow(1);
    expect(exposures()).toBe(0);
    story.elect(null, [1, 2, 3]);
    story.follow(1);
    expect(exposures()).toBe(0);
    story.elect(2, [1, 2, 3]);
    story.follow(1);
    expect(exposures()).toBe(1);
    story.restart(1, 1);
    story.follow(1);
    expect(exposures()).toBe(2);
  });

  it('need the very record that was acknowledged, not another at its offset', () => {
    const story = quiet(1);
    story.send(2);
    story.hw(2, 3);
    story.ack(2);
    story.plant(1, 9, 1, 0);
    story.line(1, {
      event: 'append',
      partition: 'tide-0',
      leaderEpoch: 0,
      batches: [{ base: 1, last: 1, epoch: 5, hash: '00000001' }],
    });
    story.elect(2, [1, 2, 3]);
    story.follow(1);
    expect(story.check().exposures).toEqual([]);
  });
});

describe('the trace', () => {
  it('may arrive in any order between nodes and boots', () => {
    const story = s1aPrime('hw');
    const expected = story.check();
    const reversed = [...story.trace].reverse();
    const results = story.check({ trace: reversed });
    const told = ({ kind, summary, why }: Anomaly) => [kind, summary, why.map(({ text }) => text)];
    expect(results.anomalies.map(told)).toEqual(expected.anomalies.map(told));
    expect(results.exposures).toEqual(expected.exposures);
  });

  it('that shows less than a broker found on its disk is damaged', () => {
    const story = quiet(2);
    story.line(1, {
      event: 'recover',
      partition: 'tide-0',
      logStart: 0,
      flushed: 9,
      from: 9,
      to: 9,
      cut: 'none',
      hw: 1,
      epochs: [],
    });
    const results = story.check();
    expect(results.notes.join()).toContain('broker 1 recovered tide-0 up to offset 9');
    expect(results.guarantees.agreement).toBe('unknown');
  });

  it('whose last line breaks off is whole up to there', () => {
    const story = quiet(2);
    expect(story.check({ trace: [...story.trace, '{"seq":'] })).toMatchObject({ valid: true, notes: [] });
  });

  it('with lines of events that nobody knows yet is read all the same', () => {
    const story = quiet(2);
    story.line(1, { event: 'compaction', partition: 'tide-0', from: 0, to: 1 });
    expect(story.check().valid).toBe(true);
  });
});
