/**
 * The table of `docs/fidelity.md`: tries, losses and divergences of each schedule on each column, and whether they are
 * what the rule of that generation comes to.
 *
 * Invariant: whatever stands outside of the two markers of the page is left as it is.
 */
import { columns, knownAnswer } from './columns.ts';
import type { Column } from './columns.ts';
import { scheduleNames } from './schedules.ts';
import type { ScheduleName } from './schedules.ts';
import type { Try } from './tries.ts';

const beginMark = '<!-- table: npm run fidelity -->';
const endMark = '<!-- end of table -->';

export interface Cell {
  readonly tries: number;
  readonly lost: number;
  readonly diverged: number;
  readonly uncounted: number;
  /** Whether every try that counts answers as the rule, and broke no other promise; null without any. */
  readonly agrees: boolean | null;
}

export function cellOf(schedule: ScheduleName, { build, generation }: Column, tries: readonly Try[]): Cell {
  const all = tries.filter((made) => made.schedule === schedule && made.build === build);
  const counted = all.filter(({ uncounted }) => uncounted === null);
  const known = knownAnswer(schedule, generation);
  const same = ({ lost, diverged, others }: Try): boolean =>
    diverged === known.diverged && (known.lost === null || lost === known.lost) && others.length === 0;
  return {
    tries: counted.length,
    lost: counted.filter(({ lost }) => lost).length,
    diverged: counted.filter(({ diverged }) => diverged).length,
    uncounted: all.length - counted.length,
    agrees: counted.length === 0 ? null : counted.every(same),
  };
}

/** One row for each column of which there are tries. */
export function tableOf(tries: readonly Try[]): string {
  const head = ['rule', 'brokers', ...scheduleNames.map((name) => titles[name])];
  const rows = columns
    .filter(({ build }) => tries.some((made) => made.build === build))
    .map((column) => [
      `\`${column.generation}\``,
      `\`${column.build}\``,
      ...scheduleNames.map((schedule) => cellInWords(schedule, cellOf(schedule, column, tries))),
    ]);
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** The page with that table in the place of the one before; null where the page has no place for it. */
export function withTable(page: string, table: string): string | null {
  const from = page.indexOf(beginMark);
  const to = page.indexOf(endMark);
  if (from < 0 || to < from) return null;
  return `${page.slice(0, from + beginMark.length)}\n\n${table}\n\n${page.slice(to)}`;
}

const titles: Readonly<Record<ScheduleName, string>> = {
  's1a-paused': 'S1a paused: tries / lost / diverged',
  's1a-killed': 'S1a killed: tries / lost / diverged',
  s2: 'S2: tries / diverged',
  s3a: 'S3a: tries / diverged',
};

function cellInWords(schedule: ScheduleName, { tries, lost, diverged, agrees }: Cell): string {
  if (tries === 0) return '–';
  const bold = (count: number): string => (count === 0 ? '0' : `**${count}**`);
  const figures = [tries, ...(schedule === 's2' || schedule === 's3a' ? [] : [bold(lost)]), bold(diverged)];
  return `${figures.join(' / ')}${agrees === true ? '' : ' (differs)'}`;
}
