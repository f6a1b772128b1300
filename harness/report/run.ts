/**
 * The report of one run: `report.html`, one file that needs no network and no script.
 */
import { join } from 'node:path';
import type { RunResults } from '../../checker/results.ts';
import { writeWhole } from '../store.ts';
import { html, type Markup } from './html.ts';
import { readRunFiles, type RunFiles } from './run-files.ts';
import {
  anomalyCards,
  faultsTable,
  guaranteesTable,
  legend,
  moodOf,
  notes,
  page,
  partitionStory,
  storyOf,
} from './sections.ts';

/** Renders the run in `directory` again and returns the report's path. */
export function writeRunReport(directory: string): string {
  const path = join(directory, 'report.html');
  writeWhole(path, renderRun(readRunFiles(directory)));
  return path;
}

/** The page as text. */
export function renderRun(files: RunFiles): string {
  const { results } = files;
  const { run } = results;
  const story = storyOf(results);
  const body = html`
    <p class="kicker">Tidemark · build ${run.build} · ${run.runtime} · seed ${run.seed}</p>
    <h1 class="${moodOf(results.valid)}">${headline(results)}</h1>
    ${guaranteesTable(results)} ${notes(results)}
    <h2>What was broken on purpose</h2>
    ${faultsTable(results.faults)}
    <h2>Anomalies</h2>
    ${anomalyCards(files)} ${story === null ? null : storySection(files, story)}
    <h2>Figures</h2>
    ${measuresTable(results)}
    ${
      run.command === null
        ? null
        : html`<h2>Again</h2>
            <pre><code>${run.command}</code></pre>`
    }
  `;
  return page(`Tidemark: ${run.name}`, body);
}

/** One sentence about the whole run. */
export function headline(results: RunResults): string {
  const violations = results.anomalies.filter((anomaly) => anomaly.class === 'violation');
  if (violations.length > 0) {
    const counts = new Map<string, number>();
    for (const { kind } of violations) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
    return `${results.run.build} broke its promise: ${kinds}.`;
  }
  if (results.valid === 'unknown')
    return `Unknown: the evidence of this run does not suffice for a verdict on ${results.run.build}.`;
  const exposures = results.exposures?.length ?? 0;
  if (exposures === 0)
    return `${results.run.build} kept its promises, but never met a moment in which the flaw could bite.`;
  return `${results.run.build} kept its promises through ${exposures} moments in which the flaw could have bitten.`;
}

function storySection(files: RunFiles, story: { readonly key: string; readonly focus: readonly number[] }): Markup {
  return html`<h2>What happened to <code>${story.key}</code></h2>
    ${legend()} ${partitionStory(files, story.key, story.focus)}`;
}

function measuresTable(results: RunResults): Markup {
  return html`<table>
    <tbody>
      ${Object.entries(results.measures).map(
        ([name, value]) =>
          html`<tr>
            <td>${name}</td>
            <td class="number">${Number.isInteger(value) ? value : value.toFixed(3)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
