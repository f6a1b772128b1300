import * as fc from 'fast-check';
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { html } from '../../../harness/report/html.ts';
import { renderRun } from '../../../harness/report/run.ts';
import { readRunFiles, type RunFiles } from '../../../harness/report/run-files.ts';
import { shellWord } from '../../../harness/report/words.ts';
import { s1aPrime } from '../../checker/schedules.ts';
import { temporaryFolder, writeRunFolder } from './folder.ts';

const directory = temporaryFolder();
writeRunFolder(directory, s1aPrime('hw'));
const files = readRunFiles(directory);
afterAll(() => rmSync(directory, { recursive: true }));

const snippets = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onload='x",
  '</title>',
  '</style>',
  '<!--',
  ']]>',
  '&lt;',
  '\u0000',
  '\u2028',
  '${x}',
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...snippets), fc.string({ unit: 'binary', maxLength: 8 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(''));

/** Names of the tags and of their attributes, in order: what a browser would make of the page, without its text. */
function skeleton(page: string): string[] {
  return [...page.matchAll(/<(\/?[a-z!][a-z0-9]*)((?:\s+[^\s"'>=]+(?:="[^"]*")?)*)\s*\/?>/gi)].map(
    ([, tag, attributes]) => {
      const names = [...(attributes ?? '').matchAll(/\s([^\s"'>=]+)(?:="[^"]*")?/g)].map(([, name]) => name);
      return `${tag} ${names.join(' ')}`;
    },
  );
}

/** The run with `text` in every place that comes from outside. */
function withText(text: string): RunFiles {
  const { results, trace, history } = files;
  return {
    ...files,
    directory: text,
    notes: [text],
    results: {
      ...results,
      run: {
        ...results.run,
        name: text,
        build: text,
        runtime: text,
        command: text,
        configuration: { [text]: text, list: [text] },
      },
      notes: [text],
      anomalies: results.anomalies.map((anomaly) => ({
        ...anomaly,
        summary: text,
        labels: [text],
        why: anomaly.why.map((step) => ({ ...step, text })),
        consequences: anomaly.consequences.map((consequence) => ({ ...consequence, summary: text })),
      })),
      faults: results.faults.map((fault) => ({ ...fault, fault: text, kind: text, nodes: { [text]: text } })),
      measures: { [text]: 1 },
    },
    trace: trace.map((event) => ({
      ...event,
      ...(event.event === 'truncation' ? { rule: text, evidence: { highWatermark: text } } : {}),
      ...(event.event === 'election' ? { reason: text } : {}),
    })),
    history: {
      ...history,
      sent: history.sent.map((sent) => ({ ...sent, value: text, process: text, error: text })),
      polled: history.polled.map((poll) => ({
        ...poll,
        process: text,
        records: poll.records.map(([offset]) => [offset, text] as const),
      })),
      faults: history.faults.map((fault) => ({
        ...fault,
        fault: text,
        kind: text,
        nodes: { [text]: text },
        evidence: [{ action: text, state: text }],
      })),
    },
  };
}

describe('text from outside', () => {
  it('never becomes markup, wherever it stands', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const plain = 'x'.repeat(text.length);
        expect(skeleton(renderRun(withText(text)))).toEqual(skeleton(renderRun(withText(plain))));
      }),
      { numRuns: 60 },
    );
  });

  it('comes out of the template as the same text, and as one piece', () => {
    const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
    fc.assert(
      fc.property(hostile, (text) => {
        const { text: escaped } = html`${text}`;
        expect(escaped).not.toMatch(/[<>"']/);
        expect(escaped.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? '')).toBe(text);
      }),
    );
  });

  it('is one word of a command', () => {
    expect(shellWord('store/latest')).toBe('store/latest');
    expect(shellWord("it's; rm -rf $HOME")).toBe(`'it'\\''s; rm -rf $HOME'`);
  });
});
