/** The observer of a cluster on paper, of which nobody answers Metadata: what it makes of lines and of segments. */
import { describe, expect, it } from 'vitest';
import type { SegmentEvent } from '../../../docker/agent/messages.ts';
import type { ForeignCluster, OutputListener } from '../../../docker/foreign.ts';
import { observe, type Observer } from '../../../harness/observe/observer.ts';
import type { TraceLine } from '../../../nemesis/ports.ts';
import { paperCluster } from '../run/paper-cluster.ts';
import { passingTarget } from './ours-as-foreign.ts';

interface Stage {
  readonly observer: Observer;
  readonly lines: TraceLine[];
  readonly ends: string[];
  readonly excuses: string[];
  readonly print: OutputListener;
  readonly segments: (node: number, event: SegmentEvent | Error) => void;
}

async function stage(): Promise<Stage> {
  let print: OutputListener = () => {};
  let segments: Stage['segments'] = () => {};
  const foreign: ForeignCluster = {
    ...paperCluster(),
    perform: () => Promise.resolve({ effective: true, facts: {} }),
    target: {
      ...passingTarget,
      logPatterns: (node) => [
        ...passingTarget.logPatterns(node),
        { shows: 'leads', pattern: /leads (?<key>\S+) in (?<epoch>\d+)/ },
        { shows: 'lost-session', pattern: /^SessionExpired/ },
      ],
    },
    kafkaAddresses: new Map(),
    onOutput(listener) {
      print = listener;
      return () => {};
    },
    watchSegments(_, listener) {
      segments = listener;
      return Promise.resolve();
    },
    collectTopic: () => Promise.resolve(),
  };
  const ends: string[] = [];
  const excuses: string[] = [];
  const observer = observe(foreign, {
    topic: 'tide',
    partitions: 1,
    clockOriginNs: process.hrtime.bigint(),
    assignment: [[1, 2]],
    onSelfEnd: (node, words) => ends.push(`${node}: ${words}`),
    onExcuse: (node, words) => excuses.push(`${node}: ${words}`),
  });
  const lines: TraceLine[] = [];
  observer.cluster.subscribe((line) => lines.push(line));
  await observer.begin(7);
  return {
    observer,
    lines,
    ends,
    excuses,
    print: (...output) => print(...output),
    segments: (...seen) => segments(...seen),
  };
}

const found = { event: 'segments', partition: 'tide-0', time: 5, batches: [] } as const;

describe('the observer', () => {
  it('says of which replicas no segments are seen, and from when on a broker’s cannot be seen', async () => {
    const { observer, lines, print, segments } = await stage();
    print(1, 'leads tide-0 in 3');
    const none = 'where the logs of broker 2 should lie there is none of tide-0';
    segments(1, found);
    expect(observer.unseen()).toEqual([none]);
    segments(2, found);
    expect(observer.unseen()).toEqual([]);
    const before = lines.length;
    segments(1, new Error('the volume is gone'));
    expect(lines.slice(before)).toMatchObject([
      { node: 1, event: 'blind', source: 'segments', words: 'the volume is gone' },
    ]);
    expect(observer.unseen()).toEqual(['the volume is gone']);
  });

  it('does not take what a companion prints for the word of its node', async () => {
    const { observer, ends, print } = await stage();
    print('controller', 'it ends itself', 'zookeeper');
    expect([ends, observer.lastLines('controller')]).toEqual([[], []]);
    print('controller', 'it ends itself');
    expect(ends).toEqual(['controller: it ends itself']);
  });

  it('takes a lost session for an excuse only right behind the line by which that node ends', async () => {
    const { ends, excuses, print } = await stage();
    print(1, 'SessionExpired: while it goes on');
    print(1, 'it ends itself');
    print(2, 'SessionExpired: of another broker');
    print(1, 'java.io.IOException: the disk is gone');
    print(1, 'SessionExpired: as it ends anyway');
    expect([ends, excuses]).toEqual([['1: it ends itself'], []]);
    print(2, 'it ends itself');
    print(2, 'SessionExpired: for /brokers/ids/2', 'zookeeper');
    print(2, 'SessionExpired: for /brokers/ids/2');
    expect(excuses).toEqual(['2: SessionExpired: for /brokers/ids/2']);
  });

  it('takes every node for up that was up when it began; one that was started again has to answer, if it is asked', async () => {
    const { observer } = await stage();
    expect(['controller', 1, 2, 3].map((node) => observer.hasAnswered(node as 1))).toEqual([true, true, true, true]);
    await observer.cluster.perform({ port: 'process', verb: 'start', node: 'controller' });
    expect(observer.hasAnswered('controller')).toBe(true);
  });
});
