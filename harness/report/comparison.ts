/**
 * The report of a comparison: the sentence, the rates, every pair, and one pair told side by side: the same plan, the
 * same partition, what each build did.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildResults, ComparisonResults, PairResults, PairedRun, RunResults } from '../../checker/results.ts';
import { partsOf } from '../compare/two-parts.ts';
import { SIGNIFICANCE } from '../compare/statistics.ts';
import { placeOf, unexercised } from '../compare/verdict.ts';
import { UsageError } from '../errors.ts';
import { shownPath } from '../shown-path.ts';
import { writeWhole } from '../store.ts';
import { figureCells, figureHeads } from './build-figures.ts';
import { writeForCi } from './ci-files.ts';
import { html, type Markup } from './html.ts';
import { badge, commands, configuration, moodOf, opening, page, table } from './page.ts';
import { drawFilm, drawTimelines, viewPartition, type PartitionView } from './partition.ts';
import { drawRates } from './rates-svg.ts';
import { readComparisonResults, readRunResults } from './read-results.ts';
import { cards, faultsTable } from './run.ts';
import { lifeOfRecord, readRunFiles, type RunFiles } from './run-files.ts';
import { unknownRule } from './picture.ts';
import { storyKeys } from './story.ts';
import { targetSection } from './target.ts';
import { capital, counted, listInWords, pValue, seedsInWords, shellWord, shortened, span } from './words.ts';

/** Pairs shown in the table. */
const PAIRS_MAX = 300;
const FEW_PAIRS = 12;
/** Pairs that are looked at to find the one to tell. */
const LOOKED_AT_MAX = 60;

/** Renders the comparison in `directory` again, for people and for CI, and returns the path of `report.html`. */
export function writeComparisonReport(directory: string): string {
  const results = readComparisonResults(join(directory, 'results.json'));
  const path = join(directory, 'report.html');
  writeWhole(path, renderComparison(directory, results, readExample(directory, results)));
  writeForCi(directory, results);
  return path;
}

/** One pair, told in full. */
export interface Example {
  readonly pair: PairResults;
  /** The build that broke, or else the control. */
  readonly broken: RunFiles;
  readonly other: RunFiles | null;
}

function readExample(directory: string, results: ComparisonResults): Example | null {
  const pair = exampleOf(directory, partsOf(results));
  if (pair === null) return null;
  const [first, second] =
    pair.candidate.violations > 0 ? [pair.candidate, pair.control] : [pair.control, pair.candidate];
  const broken = readSide(directory, first, null);
  if (broken === null) return null;
  return { pair, broken, other: readSide(directory, second, broken.keys[0] ?? null) };
}

/** The run of one side; null when its folder is gone or does not fit, since the figures can be shown without it. */
function readSide(directory: string, run: PairedRun, key: string | null): RunFiles | null {
  const folder = join(directory, run.directory);
  if (!existsSync(join(folder, 'results.json'))) return null;
  try {
    return readRunFiles(folder, key);
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

/**
 * The pair to tell, of whichever part: one in which the candidate broke; else one in which the control broke, if possible
 * where the candidate met the same danger in the same partition.
 */
function exampleOf(directory: string, parts: readonly ComparisonResults[]): PairResults | null {
  const candidates = parts.flatMap(({ pairs }) =>
    pairs
      .filter((pair) => pair.candidate.violations > 0 || pair.control.violations > 0)
      .filter((pair) => pair.control.kept !== false || pair.candidate.kept !== false)
      .slice(0, LOOKED_AT_MAX),
  );
  let best: { readonly pair: PairResults; readonly rank: number } | null = null;
  for (const pair of candidates) {
    const rank = rankOf(directory, pair);
    if (best === null || rank > best.rank) best = { pair, rank };
  }
  return best?.pair ?? parts[0]?.pairs[0] ?? null;
}

function rankOf(directory: string, pair: PairResults): number {
  if (pair.candidate.violations > 0) return 10;
  const control = sideResults(directory, pair.control);
  const candidate = sideResults(directory, pair.candidate);
  if (control === null || candidate === null) return 0;
  const [key] = storyKeys(control);
  const kinds = new Set(control.anomalies.filter((anomaly) => anomaly.key === key).map(({ kind }) => kind));
  const sameDanger =
    candidate.anomalies.length === 0 && candidate.exposures?.some((exposure) => exposure.key === key) === true;
  return (sameDanger ? 4 : 0) + (kinds.has('lost-acked-write') ? 2 : 0) + (kinds.has('replica-divergence') ? 1 : 0);
}

function sideResults(directory: string, run: PairedRun): RunResults | null {
  try {
    return readRunResults(join(directory, run.directory, 'results.json'));
  } catch {
    return null;
  }
}

/** The page as text. */
export function renderComparison(directory: string, results: ComparisonResults, example: Example | null): string {
  const { control, candidate } = results;
  const silent = control.anomalous === 0;
  const parts = partsOf(results);
  const mood = results.valid === true && (silent || results.void) ? 'unsure' : moodOf(results.valid);
  const kicker = html`Tidemark · <b>${control.build}</b> against <b>${candidate.build}</b>${parts.map(
      (part) => html` · ${part.runtime}: ${pairsMade(part)}, seeds ${seedsInWords(part)}`,
    )}`;
  const pairsSection = html`<section>
    <h2>Every pair</h2>
    ${parts.map((part) => html`${parts.length === 1 ? null : html`<h3>${headingOf(part)}</h3>`} ${pairsTable(part)}`)}
  </section>`;
  // A long table must not stand before what matters.
  const few = parts.reduce((sum, { pairs }) => sum + pairs.length, 0) <= FEW_PAIRS;
  const body = html`${opening(kicker, mood, results.verdict)}
    <section class="rates">
      ${parts.map(
        (part) =>
          html`${parts.length === 1 ? null : html`<h2>${headingOf(part)}</h2>`}
          ${drawRates(part.control, part.candidate)}`,
      )}
      ${howToRead(parts)}
    </section>
    ${few ? pairsSection : null} ${example === null ? null : tellExample(example)} ${few ? null : pairsSection}
    <section>
      <h2>The figures</h2>
      ${parts.map(
        (part) =>
          html`${parts.length === 1 ? null : html`<h3>${headingOf(part)}</h3>`}
          ${ratesTable(part.control, part.candidate)}${testsTable(part)}`,
      )}
    </section>
    ${example === null ? null : [example.broken, example.other].map((files) => targetSection(files?.results.run.target))}
    <section>
      <h2>Look for yourself</h2>
      ${commands([
        ['do it all again, with the same seeds', results.command],
        ...(example === null || example.broken.results.run.command === null
          ? []
          : [['run the told run alone', example.broken.results.run.command] as const]),
        ...(example === null
          ? []
          : [
              [
                'judge its files again',
                `npm run tidemark -- check ${shellWord(shownPath(example.broken.directory))}`,
              ] as const,
            ]),
        ...(example === null ? [] : lifeOfRecord(example.broken)),
        ['draw this report again', `npm run tidemark -- report ${shellWord(shownPath(directory))}`],
      ])}
      ${parts.map((part) => configuration(part.configuration))}
    </section>`;
  return page(`Tidemark: ${control.build} against ${candidate.build}`, body);
}

function pairsMade({ pairs, seeds }: ComparisonResults): string {
  return pairs.length === seeds.length
    ? counted(pairs.length, 'pair')
    : `${pairs.length} of ${counted(seeds.length, 'pair')}`;
}

function headingOf(part: ComparisonResults): string {
  const place = placeOf(part);
  const role = part.runtime === 'sim' ? 'the primary comparison' : 'for realism, never pooled with the other';
  return `${capital(place)}: ${role}`;
}

function ratesTable(...builds: readonly BuildResults[]): Markup {
  return table(
    ['build', ...figureHeads],
    builds.map(
      (build) =>
        html`<tr>
          <th scope="row">${build.build}</th>
          ${figureCells(build)}
        </tr>`,
    ),
  );
}

function testsTable(results: ComparisonResults): Markup {
  return table(
    ['endpoint', 'test', `only ${results.control.build} broke`, `only ${results.candidate.build} broke`, 'p', 'note'],
    results.tests.map(
      (test) =>
        html`<tr>
          <th scope="row">${test.endpoint}</th>
          <td>${test.test === 'mcnemar-exact' ? 'exact McNemar, two-sided' : 'Fisher’s exact, two-sided'}</td>
          <td class="number">${counted(test.controlOnly, 'pair')}</td>
          <td class="number">${counted(test.candidateOnly, 'pair')}</td>
          <td class="number">${pValue(test.adjustedP)}</td>
          <td>
            ${test.primary ? 'primary, declared before the first run' : 'corrected by Holm'}${test.smallestP > SIGNIFICANCE ? `; so few pairs cannot reach significance (at best p = ${pValue(test.smallestP)})` : null}
          </td>
        </tr>`,
    ),
  );
}

function howToRead(parts: readonly ComparisonResults[]): Markup {
  const idle = parts.reduce((sum, { candidate }) => sum + unexercised(candidate).idle, 0);
  const dark = parts.reduce((sum, { candidate }) => sum + unexercised(candidate).dark, 0);
  const build = parts[0]?.candidate.build ?? '';
  return html`<p class="note">
    Both builds met the same plan: one seed draws the same load and the same faults for both. Faults name roles; whom a
    role means is decided when the fault fires, so once the builds part, the nodes hit may differ. A run is exercised
    when it met an exposure: a member of the ISR became follower while it held, at or above its own high watermark, a
    record acknowledged in an earlier
    epoch.${idle > 0 ? ` ${counted(idle, 'run')} of ${build} met none, and ${idle === 1 ? 'stays' : 'stay'} in all figures.` : ''}${dark > 0 ? ` Of ${counted(dark, 'run')} of ${build} that is not known: the run did not come to its end, or its brokers do not tell a follower’s high watermark.` : ''}
  </p>`;
}

function pairsTable(results: ComparisonResults): Markup {
  const side = (run: PairedRun): Markup =>
    html`<td>
      ${badge(run.valid)} ${whatCameOut(run)}
      <span class="ref">${run.exposures === null ? 'exposures unknown' : counted(run.exposures, 'exposure')}</span>
    </td>`;
  return html`${table(
    ['seed', results.control.build, results.candidate.build, 'ran first'],
    results.pairs.slice(0, PAIRS_MAX).map(
      (pair) =>
        html`<tr>
          <th scope="row" class="number">${pair.seed}</th>
          ${side(pair.control)}${side(pair.candidate)}
          <td>${pair.order[0] === 'control' ? results.control.build : results.candidate.build}</td>
        </tr>`,
    ),
  )}
  ${notKept(results)}
  ${results.pairs.length > PAIRS_MAX ? html`<p class="note">${results.pairs.length - PAIRS_MAX} more pairs stand in <code>results.json</code>.</p>` : null}`;
}

function whatCameOut(run: PairedRun): Markup {
  if (!run.completed) return html`<span class="note">${shortened(run.error ?? 'no verdict', 160)}</span>`;
  const violations = counted(run.violations, 'violation');
  return run.kept === false
    ? html`<span title="${run.command ?? ''}">${violations}</span>`
    : html`<a href="${linkTo(run.directory)}">${violations}</a>`;
}

/** Simulated runs leave no folder where nothing asks for one, and need none. */
function notKept({ pairs }: ComparisonResults): Markup | null {
  const gone = pairs.flatMap(({ control, candidate }) => [control, candidate]).filter(({ kept }) => kept === false);
  const [first] = gone;
  if (first?.command === undefined) return null;
  return html`<p class="note">
    ${counted(gone.length, 'run')} without a link left no files: a simulated run can be made again, to the byte. The
    command of each stands in <code>results.json</code>; that of the first is <code>${first.command}</code>.
  </p>`;
}

/** A link into the comparison's own folder, and nowhere else whatever the results say. */
function linkTo(directory: string): string {
  const parts = directory.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  return `./${parts.map(encodeURIComponent).join('/')}/report.html`;
}

/** One pair in pictures: the build that broke, and beside it what the other did with the same plan and partition. */
function tellExample({ pair, broken, other }: Example): Markup | null {
  const [key] = broken.keys;
  if (key === undefined) return null;
  const view = viewPartition(broken, key);
  const otherView = other === null ? null : viewPartition(other, otherKey(other, key));
  const builds = [broken.results.run.build, other?.results.run.build ?? ''];
  return html`<section class="example">
    <h2>
      Seed ${pair.seed}, <code>${shortened(key, 60)}</code>, ${placeOf(broken.results.run)}: what each build did under
      the same plan
    </h2>
    <div class="sides">
      <div class="side">
        <h3><span class="side-name">${builds[0]}</span> ${badge(broken.results.valid)}</h3>
        ${drawFilm(view, 4)}
      </div>
      ${
        otherView === null
          ? html`<p class="note">The folder of the other run is gone, so it cannot be shown.</p>`
          : html`<div class="side">
              <h3><span class="side-name">${builds[1]}</span> ${badge(otherView.files.results.valid)}</h3>
              <p class="lead">${whatTheOtherDid(otherView, key)}</p>
              ${drawFilm(otherView, 4)}
            </div>`
      }
    </div>
    ${
      view.story.anomalies.length === 0
        ? null
        : html`<h3>Why, under <span class="side-name">${builds[0]}</span></h3>
            <div class="cards">${cards(view.story.anomalies, broken, 4)}</div>`
    }
    <h3>On the clock: <span class="side-name">${builds[0]}</span></h3>
    ${drawTimelines(view)}
    <details>
      <summary>What was broken on purpose, ${builds[0]}</summary>
      ${faultsTable(broken.results.faults, broken.history.faults)}
    </details>
    ${
      otherView === null
        ? null
        : html`<h3>On the clock: <span class="side-name">${builds[1]}</span></h3>
            ${drawTimelines(otherView)}
            <details>
              <summary>What was broken on purpose, ${builds[1]}</summary>
              ${faultsTable(otherView.files.results.faults, otherView.files.history.faults)}
            </details>`
    }
  </section>`;
}

/** The same partition if it was exposed there too, else the first that was. */
function otherKey(files: RunFiles, key: string): string {
  const exposed = files.results.exposures ?? [];
  return exposed.some((exposure) => exposure.key === key)
    ? key
    : (files.keys.find((each) => each !== key && exposed.some((exposure) => exposure.key === each)) ?? key);
}

/** What became of the dangerous moment under the other build, in words. */
function whatTheOtherDid(view: PartitionView, key: string): string {
  const { story, files } = view;
  const { build } = files.results.run;
  const violations = story.anomalies.filter((anomaly) => anomaly.class === 'violation');
  if (violations.length > 0)
    return `${build} broke a promise here, too: ${violations.map(({ summary }) => summary).join('; ')}.`;
  const where = story.key === key ? '' : ` It was not exposed in ${key}; here is ${story.key}, where it was.`;
  const { exposures, exposuresUnknown } = files.results;
  if (exposures === null && exposuresUnknown !== undefined)
    return `Whether ${build} met a dangerous moment under this plan is not known: ${exposuresUnknown}.`;
  if (story.exposures.length === 0)
    return `${build} met no dangerous moment in this partition under this plan, so there was nothing to lose.`;
  const told = story.exposures.slice(0, 3).map((exposure) => {
    const decision = files.trace.find(
      (event) =>
        event.event === 'truncation' &&
        event.partition === story.key &&
        event.node === exposure.node &&
        event.leaderEpoch === exposure.leaderEpoch,
    );
    const risk =
      exposure.acknowledged[0] === exposure.acknowledged[1]
        ? `offset ${exposure.acknowledged[0]}`
        : `offsets ${span(...exposure.acknowledged)}`;
    const moment = `broker ${exposure.node} became follower in epoch ${exposure.leaderEpoch} with its high watermark at ${exposure.highWatermark} and its log end at ${exposure.endOffset}, ${risk} acknowledged`;
    if (decision?.event !== 'truncation') return `${moment}; it dropped nothing in that epoch`;
    const kept = decision.to > exposure.acknowledged[1];
    const rule =
      decision.rule === unknownRule ? 'its log was cut to end' : `by the rule ${decision.rule} its log had to end`;
    return `${moment}; ${rule} at ${decision.to}, so ${kept ? 'nothing acknowledged was dropped' : 'acknowledged records were dropped, and had to be fetched again'}`;
  });
  const often = story.exposures.length === 1 ? 'once' : counted(story.exposures.length, 'time');
  return `The same danger arose ${often}: ${listInWords(told)}.${where}`;
}
