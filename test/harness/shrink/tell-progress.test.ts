/** Whoever waits for a shrunk failure sees that something goes on, in a log file, too. */
import { expect, it } from 'vitest';
import { tellProgress } from '../../../harness/shrink/tell-progress.ts';

/** What is said of a report every four seconds, for half a minute. */
function said(isTerminal: boolean): string[] {
  const lines: string[] = [];
  const say = (kind: string) => (text: string) => {
    lines.push(`${kind}: ${text}`);
  };
  let ms = 0;
  const tell = tellProgress({ step: say('step'), detail: say('detail'), line: say('line') }, isTerminal, () => ms);
  for (let runs = 1; runs <= 8; runs += 1) {
    ms += 4_000;
    tell({ pass: 'closing gaps', faults: 1, operations: 30, runs });
  }
  return lines;
}

it('is a line every ten seconds where nothing can be rewritten', () => {
  expect(said(false)).toEqual([3, 6].map((runs) => `step: closing gaps · 1 fault, 30 operations · ${runs} runs`));
});

it('is live on a terminal', () => {
  expect(said(true)).toHaveLength(8);
  expect(said(true)[0]).toBe('detail: closing gaps · 1 fault, 30 operations · 1 run');
});
