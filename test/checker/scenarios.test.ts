/**
 * The checker on what the real cores do: every scenario on every build that it names, against the table of what each
 * build loses, and how. The scenarios say the same in their own words; here the checker has to find it by itself.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import { parseScenario } from '../../harness/sim/scenario.ts';
import { playedRun } from './played.ts';

const L = 'lost-acked-write';
const D = 'replica-divergence';
function everywhere(kinds: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(['hw', 'hw-elect', 'kip101', 'kip279', 'epoch'].map((build) => [build, kinds]));
}

/** Expected losses stand in parentheses; a scenario that is not named is clean on all builds. */
const table: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  s1a: { hw: [L], 'hw-elect': [L] },
  's1a-prime': { hw: [L, D], 'hw-elect': [L, D] },
  s1b: { hw: [L], 'hw-elect': [L] },
  s2: { hw: [D, `(${L})`], 'hw-elect': [D, `(${L})`], kip101: [`(${L})`], kip279: [`(${L})`], epoch: [`(${L})`] },
  s3a: { hw: [D], 'hw-elect': [D], kip101: [D] },
  s3b: { 'hw-elect': [L], kip101: [L, D] },
  s10: everywhere([`(${L})`]),
  s11: everywhere([`(${L})`]),
  'single-crash': { 'hw-elect': [L] },
};

const folder = 'test/scenarios';
const plays = readdirSync(folder)
  .filter((name) => name.endsWith('.scenario'))
  .map((name) => parseScenario(`${folder}/${name}`, readFileSync(`${folder}/${name}`, 'utf8')))
  .flatMap((scenario) =>
    scenario.builds.map((build) => ({ name: basename(scenario.file, '.scenario'), build, scenario })),
  );

describe('what the checker finds in the play of', () => {
  it.each(plays)('$name on $build is what the table says', ({ name, build, scenario }) => {
    const results = checkRun(playedRun(scenario, build));
    const found = results.anomalies.map((anomaly) =>
      anomaly.class === 'expected' ? `(${anomaly.kind})` : anomaly.kind,
    );
    expect(found).toEqual(table[name]?.[build] ?? []);
    expect(results.notes).toEqual([]);
    expect(results.valid).toBe(found.every((kind) => kind.startsWith('(')));
    if (name === 's10') expect(results.anomalies[0]?.labels).toContain('last-replica-standing');
  });
});
