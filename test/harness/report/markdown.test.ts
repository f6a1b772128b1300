import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunResults } from '../../../checker/results.ts';
import { joinComparisons } from '../../../harness/compare/two-parts.ts';
import { renderMarkdown } from '../../../harness/report/markdown.ts';
import { expectGolden } from '../../golden.ts';
import { comparisonOf, comparisonWith, hostile, nightOf, runOf, runWith } from './reported.ts';

const golden = (name: string): string => `test/harness/report/golden/${name}.txt`;

describe('the summary', () => {
  it('of a run says what broke, why, and how to see it again', () => {
    expectGolden(golden('summary-run'), renderMarkdown(runOf('hw')));
  });

  it('of a run that kept its word says through what', () => {
    expect(renderMarkdown(runOf('epoch'))).toMatch(/^## epoch kept its word through 1 moment at which/);
  });

  it('of a comparison tells the runs in which the candidate broke, of those at hand also why', () => {
    const results = comparisonOf([
      ['broken', 'valid'],
      ['broken', 'broken'],
      ['failed', 'unknown'],
    ]);
    const runs = new Map([['runs/candidate-2', runOf('hw', 2)]]);
    expectGolden(golden('summary-comparison'), renderMarkdown(results, runs));
  });

  it('of two parts shows both, and one sentence', () => {
    const one = comparisonOf([['broken', 'valid']]);
    const page = renderMarkdown(joinComparisons(one, { ...one, runtime: 'local' }, 'npm start -- --seed 1'));
    expect(page.match(/^## /gm)).toHaveLength(1);
    expect(page).toMatch(/^In the simulator: 1 of 1 pair, [^]*^In local processes: 1 of 1 pair, /m);
  });
});

describe('the summary of a night', () => {
  it('has a line for each cell, what is broken first', () => {
    const night = nightOf(
      [
        { comparison: comparisonOf([['broken', 'valid']]) },
        { comparison: comparisonOf([['valid', 'valid']]) },
        { comparison: comparisonOf([], { declared: 3 }) },
        { comparison: comparisonOf([['broken', 'broken']]) },
      ],
      { ended: 'budget' },
    );
    expectGolden(golden('summary-night'), renderMarkdown(night));
  });
});

/** The marks that are left when everything escaped is taken out: what a reader would make something of. */
function skeleton(page: string): string[] {
  const lines = page.split('\n');
  let fence: string | null = null;
  return lines.flatMap((line) => {
    const marks = /^(`{3,})(?:sh)?$/.exec(line)?.[1];
    if (fence !== null) {
      if (line !== fence) return [];
      fence = null;
      return ['fence'];
    }
    if (marks !== undefined) {
      fence = marks;
      return ['fence'];
    }
    const bare = line.replaceAll(/\\[^\w\s]/g, 'e');
    return [`${/^(?:#+ |- |\d+\. )?/.exec(bare)?.[0]} ${bare.replaceAll(/[^|`*_<>#~[\]$!@&]/g, '')}`];
  });
}

describe('text from outside', () => {
  it('neither becomes a mark nor leaves its place, in a run', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(skeleton(renderMarkdown(runWith(text)))).toEqual(skeleton(renderMarkdown(runWith('plain'))));
      }),
    );
  });

  it('neither becomes a mark nor leaves its place, in a comparison', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const page = renderMarkdown(comparisonWith(text));
        expect(skeleton(page)).toEqual(skeleton(renderMarkdown(comparisonWith('plain'))));
        const prose = page.replaceAll(/^(`{3,})sh\n.*\n\1$/gm, '');
        expect(prose).not.toMatch(/[a-z]:\/\/|\bwww\./i);
      }),
    );
  });

  it('shows a command as it is typed', () => {
    const command = "npm run tidemark -- replay 'a ``` b'";
    expect(renderMarkdown(runWith(command))).toContain(`\n\`\`\`\`sh\n${command}\n\`\`\`\`\n`);
  });
});

describe('however much there is', () => {
  it('the page stays short', () => {
    const long = 'x'.repeat(10_000);
    const one = runWith(long);
    const many: RunResults = {
      ...one,
      notes: Array.from({ length: 500 }, () => long),
      anomalies: one.anomalies.flatMap((anomaly) =>
        Array.from({ length: 2_000 }, () => ({ ...anomaly, why: Array.from({ length: 50 }, () => anomaly.why[0]!) })),
      ),
    };
    expect(renderMarkdown(many).length).toBeLessThan(40_000);
    const pairs = Array.from({ length: 10_000 }, () => ['broken', 'broken'] as const);
    expect(renderMarkdown(comparisonOf(pairs)).length).toBeLessThan(10_000);
  });
});
