/**
 * The report of a comparison: the sentence, the figures, every pair, and one discordant pair told side by side: the same
 * plan, the same partition, what each build did.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildResults, ComparisonResults, PairResults, PairedRun } from '../../checker/results.ts';
import { writeWhole } from '../store.ts';
import { html, type Markup } from './html.ts';
import { readRunFiles, type RunFiles } from './run-files.ts';
import { anomalyCards, badge, faultsTable, legend, moodOf, page, partitionStory, storyOf } from './sections.ts';

/** Renders the comparison in `directory` again and returns the report's path. */
export function writeComparisonReport(directory: string): string {
  const results = JSON.parse(readFileSync(join(directory, 'results.json'), 'utf8')) as ComparisonResults;
  const example = exampleOf(results);
  const read = (run: PairedRun): RunFiles | null =>
    existsSync(join(directory, run.directory, 'results.json')) ? readRunFiles(join(directory, run.directory)) : null;
  const path = join(directory, 'report.html');
  const sides =
    example === null ? null : { pair: example, control: read(example.control), candidate: read(example.candidate) };
  writeWhole(path, renderComparison(results, sides));
  return path;
}

interface Example {
  readonly pair: PairResults;
  readonly control: RunFiles | null;
  readonly candidate: RunFiles | null;
}

/** The page as text. */
export function renderComparison(results: ComparisonResults, example: Example | null): string {
  const { control, candidate } = results;
  const mood = results.valid === true && control.anomalous === 0 ? 'unsure' : moodOf(results.valid);
  const body = html`
    <p class="kicker">
      Tidemark · ${control.build} against ${candidate.build} · ${results.runtime} · ${results.pairs.length} pairs, seeds
      ${results.seeds[0] ?? ''} to ${results.seeds.at(-1) ?? ''}
    </p>
    <h1 class="${mood}">${results.verdict}</h1>
    ${ratesTable(control, candidate)} ${testsTable(results)}
    <p class="note">
      Both builds met the same plan: the same seed draws the same load and faults. Faults name roles; whom a role meant
      is decided when the fault fires, so once the builds part, the nodes hit may differ. A run counts as exercised when
      there was a moment in which a member of the ISR became follower while it held, at or above its own high watermark,
      a record acknowledged in an earlier epoch.
    </p>
    <h2>Every pair</h2>
    ${pairsTable(results)} ${example === null ? null : tellExample(example, results)}
    <h2>Again</h2>
    <pre><code>${results.command}</code></pre>
    ${configurationTable(results)}
  `;
  return page(`Tidemark: ${control.build} against ${candidate.build}`, body);
}

/** The pair to tell: where only the control broke, else any that broke. */
function exampleOf(results: ComparisonResults): PairResults | null {
  const broke = (run: PairedRun): boolean => run.violations > 0;
  return (
    results.pairs.find((pair) => broke(pair.candidate)) ??
    results.pairs.find((pair) => broke(pair.control) && (pair.candidate.exposures ?? 0) > 0) ??
    results.pairs.find((pair) => broke(pair.control)) ??
    results.pairs[0] ??
    null
  );
}

function ratesTable(...builds: readonly BuildResults[]): Markup {
  return html`<table>
    <thead>
      <tr>
        <th>build</th>
        <th class="number">runs</th>
        <th class="number">exercised</th>
        <th class="number">anomalous</th>
        <th class="number">unknown</th>
        <th class="number">rate</th>
        <th>95 %</th>
        <th>violations, in runs</th>
      </tr>
    </thead>
    <tbody>
      ${builds.map(
        (build) =>
          html`<tr>
            <td><b>${build.build}</b></td>
            <td class="number">${build.runs}</td>
            <td class="number">${build.exercised}</td>
            <td class="number">${build.anomalous}</td>
            <td class="number">${build.unknown}</td>
            <td class="number">
              ${percent(build.rate)}${build.unknown > 0 ? ` (${percent(build.bounds.allGood)} to ${percent(build.bounds.allBad)} with the unknown)` : null}
            </td>
            <td>
              ${build.interval.method === 'one-sided-zero' ? `at most ${percent(build.interval.high)} (one-sided)` : `${percent(build.interval.low)} to ${percent(build.interval.high)} (Wilson)`}
            </td>
            <td>
              ${
                Object.entries(build.kinds)
                  .map(([kind, runs]) => `${kind} ${runs}`)
                  .join(', ') || 'none'
              }
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function testsTable(results: ComparisonResults): Markup {
  return html`<table>
    <thead>
      <tr>
        <th>endpoint</th>
        <th>test</th>
        <th class="number">only ${results.control.build}</th>
        <th class="number">only ${results.candidate.build}</th>
        <th class="number">p</th>
        <th>note</th>
      </tr>
    </thead>
    <tbody>
      ${results.tests.map(
        (test) =>
          html`<tr>
            <td>${test.endpoint}</td>
            <td>exact McNemar, two-sided</td>
            <td class="number">${test.controlOnly}</td>
            <td class="number">${test.candidateOnly}</td>
            <td class="number">${pValue(test.adjustedP)}</td>
            <td>
              ${test.primary ? 'primary' : 'corrected by Holm'}${test.smallestP > 0.05 ? '; not significant at this n, whatever the outcome' : null}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function pairsTable(results: ComparisonResults): Markup {
  const side = (run: PairedRun): Markup =>
    html`<td>
      ${badge(run.valid)}
      ${run.completed ? html`<a href="${run.directory}/report.html">${run.violations} violations</a>` : run.error}
      <span class="ref">${run.exposures === null ? 'exposures unknown' : `${run.exposures} exposures`}</span>
    </td>`;
  return html`<table>
    <thead>
      <tr>
        <th class="number">seed</th>
        <th>${results.control.build}</th>
        <th>${results.candidate.build}</th>
        <th>ran first</th>
      </tr>
    </thead>
    <tbody>
      ${results.pairs.map(
        (pair) =>
          html`<tr>
            <td class="number">${pair.seed}</td>
            ${side(pair.control)}${side(pair.candidate)}
            <td>${pair.order[0] === 'control' ? results.control.build : results.candidate.build}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** One pair in pictures: the build that broke first, then what the other did with the same plan and partition. */
function tellExample({ pair, control, candidate }: Example, results: ComparisonResults): Markup | null {
  const candidateBroke = pair.candidate.violations > 0;
  const [broken, other] = candidateBroke ? [candidate, control] : [control, candidate];
  const [brokenName, otherName] = candidateBroke
    ? [results.candidate.build, results.control.build]
    : [results.control.build, results.candidate.build];
  if (broken === null) return null;
  const story = storyOf(broken.results);
  if (story === null) return null;
  return html`<h2>Seed ${pair.seed}: what ${brokenName} did</h2>
    ${faultsTable(broken.results.faults)} ${legend()} ${partitionStory(broken, story.key, story.focus)}
    <h3>The anomalies of this run</h3>
    ${anomalyCards(broken)}
    ${
      other === null
        ? null
        : html`<h2>The same plan under ${otherName}</h2>
            ${otherStory(other, story.key)}`
    }`;
}

function otherStory(files: RunFiles, key: string): Markup {
  const exposure = files.results.exposures?.find((each) => each.key === key) ?? files.results.exposures?.[0];
  const shown = exposure?.key ?? key;
  const focus = exposure === undefined ? [] : [...exposure.acknowledged];
  return html`<p>
      ${
        exposure === undefined
          ? 'It met no exposure under this plan.'
          : `Broker ${exposure.node} became follower in epoch ${exposure.leaderEpoch} while it held acknowledged records up to offset ${exposure.acknowledged[1]} above its high watermark ${exposure.highWatermark}.`
      }
    </p>
    ${faultsTable(files.results.faults)} ${partitionStory(files, shown, focus)}`;
}

function configurationTable(results: ComparisonResults): Markup {
  return html`<details>
    <summary>Configuration</summary>
    <table>
      <tbody>
        ${Object.entries(results.configuration).map(
          ([name, value]) =>
            html`<tr>
              <td><code>${name}</code></td>
              <td>${Array.isArray(value) ? value.join(', ') : String(value)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;
}

function percent(rate: number): string {
  return `${(100 * rate).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)} %`;
}

function pValue(p: number): string {
  return p < 0.001 ? p.toExponential(1) : p.toFixed(3);
}
