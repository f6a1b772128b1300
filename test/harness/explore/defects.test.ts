/**
 * Every defect is found, for what it is, in a run that the search came upon; and under the same plan the build without
 * the defect, and `epoch`, keep every promise. When plans or draws change, `npm run defects` finds other runs.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defects, isDefect } from '../../../broker/core/defects.ts';
import { planOfJob, runJob } from '../../../harness/explore/one-run.ts';
import { defectTable, isShownBy, jobOf, type DefectFinds } from './defect-table.ts';

const finds = JSON.parse(readFileSync('test/harness/explore/defect-finds.json', 'utf8')) as DefectFinds;

/** Three whole runs each; a machine that does other things needs its time. */
const timeoutMs = 60_000;

describe('a search', () => {
  it.each(Object.keys(defects).filter(isDefect))(
    'finds %s by what it does, and nothing without it',
    (name) => {
      const seed = finds[name]?.seed;
      if (seed === undefined) throw new Error(`npm run defects has not found ${name}`);
      const job = jobOf(name, seed);
      const { config, schedule } = planOfJob(job);
      expect(isShownBy(name, runJob(job)), `run ${seed} of ${name} shows ${defectTable[name].shows.join(' or ')}`).toBe(
        true,
      );
      for (const build of new Set(['epoch', config.build])) {
        const without = runJob({ config: { ...config, build, defects: [] }, schedule });
        expect([build, without.valid, without.violations]).toEqual([build, true, []]);
      }
    },
    timeoutMs,
  );
});
