/**
 * A quiet run of one record, read to its end, of which a test says something else than all is well: what a verdict then
 * says is what it says of that alone.
 */
import type { CheckInput } from '../../checker/check.ts';
import type { RunDescription } from '../../checker/evidence.ts';
import type { RunResults } from '../../checker/results.ts';
import { quiet } from './story.ts';

/** The verdict on that run, described as `run` says, with other input where `changes` has some. */
export function quietRun(run: Partial<RunDescription>, changes: Partial<CheckInput> = {}): RunResults {
  const story = quiet(1);
  story.poll(100, [[0, 1]], { final: true });
  return story.check({ run: { ...story.input().run, ...run }, ...changes });
}

/** Guarantees that are in doubt. */
export function doubts({ guarantees }: RunResults): string[] {
  return Object.entries(guarantees).flatMap(([name, verdict]) => (verdict === 'unknown' ? [name] : []));
}
