/** What shrinking leaves and says, when nobody waits for it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keepShrunk } from '../../../harness/shrink/keep.ts';
import { shrink } from '../../../harness/shrink/shrink.ts';
import type { Shrunk } from '../../../harness/shrink/shrink.ts';
import { judge } from '../../../harness/shrink/trial.ts';
import { requestOf } from './failing.ts';

const store = mkdtempSync(join(tmpdir(), 'tidemark-keep-'));
let shrunk: Shrunk;
beforeAll(async () => {
  const failing = requestOf({ timeLimitMs: 8_000, nemesis: ['handover-crash', 'crash'] });
  const budget = { runs: 200, ms: 120_000 };
  const outcome = await shrink(failing, { budget, signal: new AbortController().signal, progress: () => {} });
  if (outcome.type !== 'shrunk') throw new Error(`it ${outcome.type}`);
  ({ shrunk } = outcome);
}, 60_000);
afterAll(() => rmSync(store, { recursive: true }));

it('says what makes it pass', { timeout: 60_000 }, () => {
  const { lines, summary } = keepShrunk(shrunk, store, new AbortController().signal);
  expect(summary.nearestPassing).not.toBeNull();
  expect(lines.some((line) => line.startsWith('nearest plan that passes: '))).toBe(true);
});

it('is of a violation that nobody knows yet: a run that shows nothing else passes', async () => {
  const budget = { runs: 200, ms: 120_000 };
  const { signal } = new AbortController();
  const known = new Set(judge(shrunk.smallest).violations.keys());
  const outcome = await shrink(shrunk.smallest, { budget, signal, known, progress: () => {} });
  expect(outcome.type).toBe('passes');
});

it('keeps the case at once when Ctrl-C was pressed, and says what was not looked for', () => {
  const { lines, summary, failure } = keepShrunk(shrunk, store, AbortSignal.abort());
  expect(failure).toBeNull();
  expect(summary).toMatchObject({ nearestPassing: null, nearestOrder: null, nearestComplete: false });
  expect(lines).toContain('what makes it pass was not looked for: you pressed Ctrl-C');
  const stored = readFileSync(join(summary.directory ?? '', 'failure.scenario'), 'utf8');
  expect(stored).toContain(`# ${shrunk.signature}.`);
  // Once in each, wherever the lines of the file are broken.
  for (const text of [lines.join('\n'), stored.replaceAll('\n# ', ' ')])
    expect(text.match(/high watermark[^.(]* \(the smallest log end of the in-sync replicas, /g)).toHaveLength(1);
});
