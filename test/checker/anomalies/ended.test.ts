/** Brokers that ended themselves, or could not start: who is blamed, how often, and in whose words. */
import { describe, expect, it } from 'vitest';
import { findEnded, endedSteps } from '../../../checker/anomalies/ended.ts';
import type { Evidence, ProcessEnd } from '../../../checker/evidence.ts';
import { readObservations } from '../../../checker/observations.ts';

const end = (fields: Partial<ProcessEnd> = {}): ProcessEnd => ({
  node: 2,
  detail: 'exit code 1',
  blame: 'node',
  phase: 'running',
  ...fields,
});

function judged(ends: readonly ProcessEnd[] | undefined, seen: readonly object[] = []) {
  const evidence = { run: { ends }, notes: [], observed: seen.length === 0 ? null : readObservations(seen) };
  const findings = findEnded(evidence as unknown as Evidence);
  return { findings, notes: evidence.notes as readonly string[] };
}

describe('a broker that ended', () => {
  it('by itself is a finding of its own, in its last words', () => {
    const { findings, notes } = judged([end({ time: 7, lastLines: ['one', 'two'] })]);
    expect(findings).toMatchObject([
      {
        kind: 'broker-suicide',
        class: 'violation',
        key: null,
        summary: 'broker 2 ended itself: exit code 1',
        nodes: [2],
        evidence: [],
        why: [
          { text: 'Broker 2 ended by itself: exit code 1.', time: 7, references: [] },
          { text: 'It had said: one', references: [] },
          { text: 'It had said: two', references: [] },
        ],
      },
    ]);
    expect(notes).toEqual([]);
  });

  it('as it started is another kind', () => {
    const { findings } = judged([end({ phase: 'start', detail: 'no port' })]);
    expect(findings).toMatchObject([
      {
        kind: 'failed-start',
        summary: 'broker 2 could not start: no port',
        why: [{ text: 'Broker 2 did not start: no port.' }],
      },
    ]);
    expect(findings[0]?.why[0]).not.toHaveProperty('time');
  });

  it('several times is told once, each node and each phase by itself', () => {
    const { findings } = judged([
      end(),
      end({ node: 1, detail: 'b' }),
      end({ phase: 'start' }),
      end({ detail: 'later' }),
      end({ node: 'controller', detail: 'c' }),
    ]);
    expect(findings.map(({ kind, summary, nodes, why }) => [kind, summary, nodes, why.length])).toEqual([
      ['broker-suicide', 'broker 2 ended itself (2 times): exit code 1', [2], 2],
      ['broker-suicide', 'broker 1 ended itself: b', [1], 1],
      ['failed-start', 'broker 2 could not start: exit code 1', [2], 1],
      ['broker-suicide', 'the controller ended itself: c', [], 1],
    ]);
    expect(findings[3]?.why[0]?.text).toBe('The controller ended by itself: c.');
  });

  it('and was watched is told in the words of its own log', () => {
    const seen = [2, 1, 2].map((node, at) => ({
      seq: at === 2 ? 1 : 0,
      time: at,
      node,
      boot: 1,
      event: 'ended',
      words: `halt ${at}`,
    }));
    const { findings } = judged([end()], seen);
    expect(findings).toMatchObject([
      {
        summary: 'broker 2 ended itself: halt 0',
        evidence: [
          { source: 'observation', node: 2, boot: 1, seq: 0 },
          { source: 'observation', node: 2, boot: 1, seq: 1 },
        ],
      },
    ]);
    expect(judged([end({ node: 3 })], seen).findings[0]).toMatchObject({
      summary: 'broker 3 ended itself: exit code 1',
      evidence: [],
    });
  });

  it('by its environment accuses nobody, and is noted', () => {
    const { findings, notes } = judged([end({ blame: 'environment', detail: 'SIGKILL' })]);
    expect(findings).toEqual([]);
    expect(notes).toEqual(['broker 2 was ended by its environment, which accuses nobody: SIGKILL']);
  });

  it('may be none', () => {
    expect(judged(undefined)).toEqual({ findings: [], notes: [] });
  });

  it('is told with its last twenty lines', () => {
    const lines = Array.from({ length: 25 }, (_, at) => `line ${at}`);
    const steps = endedSteps(end({ lastLines: lines }));
    expect(steps).toHaveLength(21);
    expect([steps[1]?.text, steps.at(-1)?.text]).toEqual(['It had said: line 5', 'It had said: line 24']);
  });
});
