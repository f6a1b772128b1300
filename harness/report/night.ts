/**
 * The report of a night: the sentence, the matrix of builds, workloads and faults with what came out in each cell, the
 * figures behind it, and the commands that go on with it. Each cell links to its own report, which tells the rest.
 */
import { join } from 'node:path';
import type { BuildResults, NightCell, NightResults } from '../../checker/results.ts';
import { budgetInWords, canBeSignificant, isSilent, wordOfCell } from '../nightly/conclude.ts';
import { shownPath } from '../shown-path.ts';
import { writeWhole } from '../store.ts';
import { figureCells, figureHeads } from './build-figures.ts';
import { writeForCi } from './ci-files.ts';
import { html, type Markup } from './html.ts';
import { commands, moodOf, opening, page, table, type Mood } from './page.ts';
import { readNightResults } from './read-results.ts';
import { counted, intervalInWords, pValue, shellWord, span } from './words.ts';

/** Renders the night in `directory` again and returns the report's path. */
export function writeNightReport(directory: string): string {
  const results = readNightResults(join(directory, 'results.json'));
  const path = join(directory, 'report.html');
  writeWhole(path, renderNight(directory, results));
  writeForCi(directory, results);
  return path;
}

/** The page as text. */
export function renderNight(directory: string, results: NightResults): string {
  const { cells, runtime, seeds, shard, budgetMs, usedMs, verdict, valid } = results;
  const silent = shard === undefined && cells.some(isSilent);
  const mood = valid === true && silent ? 'unsure' : moodOf(valid);
  const seedsTold = span(seeds.from, seeds.from + seeds.count - 1);
  const done = cells.reduce((sum, cell) => sum + cell.done, 0);
  const kicker = html`Tidemark · a night of <b>${counted(cells.length, 'cell')}</b> · ${runtime} · seeds
    ${seedsTold}${shard === undefined ? null : ` · shard ${shard.index} of ${shard.count}`} · ${counted(done, 'pair')}
    in ${budgetInWords(Math.round(usedMs / 1000) * 1000)} of ${budgetInWords(budgetMs)}`;
  const body = html`${opening(kicker, mood, verdict)}
    <section>
      <h2>Builds, workloads and faults</h2>
      ${matrix(cells, shard !== undefined)}
      <p class="note">
        Runs that broke a promise, of all runs of that build. The control is expected to break; where both sides are the
        same, neither is. A pair that the budget had no time for is no run.
      </p>
    </section>
    <section>
      <h2>The figures</h2>
      ${figuresTable(cells)}
      <p class="note">
        p: exact McNemar, two-sided, of any violation; corrected by Holm over the ${counted(cells.length, 'cell')} of
        this night. A run is exercised when a member of the ISR became follower while it held, at or above its own high
        watermark, a record acknowledged in an earlier epoch.${early(results)}
      </p>
    </section>
    <section>
      <h2>Look for yourself</h2>
      ${commands([
        ['do it all again, with the same seeds', results.command],
        ...cells
          .filter((cell) => cell.valid === false && cell.command !== results.command)
          .map((cell) => [`${cell.name} alone`, cell.command] as const),
        ['draw this report again', `npm run tidemark -- report ${shellWord(shownPath(directory))}`],
      ])}
    </section>`;
  return page('Tidemark: a night', body);
}

/** What intervals and p-values are worth where the night ended early. */
function early({ ended }: NightResults): string {
  switch (ended) {
    case 'all-run':
      return '';
    case 'budget':
      return ' The clock, not the outcome, has set the number of runs: intervals and p are good approximations.';
    case 'unfinished':
      return ' The night is not finished: its p-values are not to be read yet.';
    case 'shard-missing':
      return ' A shard is missing: the p-values are not to be read without it.';
  }
}

/** One row for each pair of builds under each workload, one column for each set of faults. */
function matrix(cells: readonly NightCell[], ofShard: boolean): Markup {
  const faults = [...new Set(cells.map((cell) => cell.faults))];
  const rows = [...new Map(cells.map((cell) => [`${cell.builds} ${cell.workload}`, cell])).values()];
  return table(
    ['builds', 'workload', ...faults],
    rows.map(
      ({ builds, workload }) =>
        html`<tr>
          <th scope="row">${builds}</th>
          <td>${workload}</td>
          ${faults.map((name) => {
            const cell = cells.find(
              (each) => each.builds === builds && each.workload === workload && each.faults === name,
            );
            return html`<td>${cell === undefined ? null : matrixCell(cell, ofShard)}</td>`;
          })}
        </tr>`,
    ),
  );
}

function matrixCell(cell: NightCell, ofShard: boolean): Markup {
  const { control, candidate, done, declared } = cell;
  const word = wordOfCell(cell, ofShard);
  const mood: Mood = word === 'kept' ? 'good' : word === 'broken' ? 'bad' : 'unsure';
  const pairs = done === declared ? counted(done, 'pair') : `${done} of ${counted(declared, 'pair')}`;
  return html`<span class="badge ${mood}">${word}</span> <a href="${linkTo(cell.folder)}">${pairs}</a><br />
    ${sideIn(control)}<br />${sideIn(candidate)}`;
}

function sideIn(build: BuildResults): Markup {
  const { runs, anomalous, unknown } = build;
  const unknownToo = unknown === 0 ? '' : `, ${unknown} unknown`;
  return html`${build.build} ${anomalous} of ${runs}<span class="ref"> ${intervalInWords(build)}${unknownToo}</span>`;
}

function figuresTable(cells: readonly NightCell[]): Markup {
  const sides = cells.flatMap((cell) => [
    { cell, build: cell.control, first: true },
    { cell, build: cell.candidate, first: false },
  ]);
  return table(
    ['cell', 'build', ...figureHeads, 'p'],
    sides.map(
      ({ cell, build, first }) =>
        html`<tr>
          ${first ? html`<th scope="row" rowspan="2">${cell.name}</th>` : null}
          <td>${build.build}</td>
          ${figureCells(build)} ${first ? html`<td rowspan="2">${pOf(cell, cells.length)}</td>` : null}
        </tr>`,
    ),
  );
}

function pOf(cell: NightCell, family: number): string {
  const p = pValue(cell.adjustedP);
  return canBeSignificant(cell, family) ? p : `${p} (not significant at this n)`;
}

/** A link into the night's own folder, and nowhere else whatever the results say. */
function linkTo(folder: string): string {
  const parts = folder.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  return `./${parts.map(encodeURIComponent).join('/')}/report.html`;
}
