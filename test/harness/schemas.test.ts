import { describe, expect, it } from 'vitest';
import { compareOutcomes } from '../../harness/compare/verdict.ts';
import { parseResults, resultsJsonSchema } from '../../harness/schemas.ts';
import { s10, s11, s1a, s1aPrime, s1b, s2, s3b } from '../checker/schedules.ts';
import { expectGolden } from '../golden.ts';

const stories = [s10, s11, () => s1a('hw'), () => s1a('epoch'), () => s1aPrime('hw'), s1b, () => s2('hw'), s3b];

describe('the schema of results.json', () => {
  it.each(stories.map((story) => story().check()))('fits what the checker says of a run: %#', (results) => {
    const parsed = parseResults(JSON.parse(JSON.stringify(results)));
    expect(parsed).toEqual({ results });
  });

  it('fits what a comparison says, also of runs that failed', () => {
    const results = compareOutcomes({
      control: 'hw',
      candidate: 'epoch',
      runtime: 'test',
      seeds: [1, 2],
      configuration: {},
      command: 'npm start',
      pairs: [
        {
          seed: 1,
          order: ['candidate', 'control'],
          control: { directory: 'runs/control-1', results: s1a('hw').check() },
          candidate: { directory: 'runs/candidate-1', results: null, error: 'the disk is full' },
        },
      ],
    });
    expect(parseResults(JSON.parse(JSON.stringify(results)))).toEqual({ results });
  });

  it('names the first thing that does not fit, and where', () => {
    const results = s1a('hw').check();
    const flawOf = (value: unknown): string => {
      const parsed = parseResults(value);
      return 'flaw' in parsed ? parsed.flaw : 'none';
    };
    expect(flawOf({ ...results, valid: 'perhaps' })).toMatch(/^valid: /);
    expect(flawOf({ ...results, anomalies: [{ ...results.anomalies[0], class: 'odd' }] })).toMatch(
      /^anomalies\.0\.class: /,
    );
    expect(flawOf({ ...results, schemaVersion: 2 })).toMatch(/^schemaVersion: /);
    expect(flawOf(null)).toMatch(/^the whole: /);
  });

  it('lets fields pass that a later version may add', () => {
    expect(parseResults({ ...s1a('epoch').check(), more: 1 })).toHaveProperty('results.more', 1);
  });

  it('is published as docs/results.schema.json', () => {
    expectGolden('docs/results.schema.json', `${JSON.stringify(resultsJsonSchema(), null, 2)}\n`);
  });
});
