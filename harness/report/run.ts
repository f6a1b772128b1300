/**
 * The report of one run: `report.html`, one file that needs no network and no script.
 *
 * It opens with one sentence, tells of each partition in which something happened, and ends with commands to paste.
 */
import { join } from 'node:path';
import type { Anomaly, FaultSummary, RunResults } from '../../checker/results.ts';
import { shownPath } from '../shown-path.ts';
import { writeWhole } from '../store.ts';
import { writeForCi } from './ci-files.ts';
import { headline } from './headline.ts';
import type { FaultSeen } from './history-events.ts';
import { html, type Content, type Markup } from './html.ts';
import { measureInWords } from './measure-words.ts';
import { badge, commands, configuration, figures, moodOf, opening, page, table } from './page.ts';
import { anomalyCard, drawFilm, drawTimelines, viewPartition, type PartitionView } from './partition.ts';
import { lifeOfRecord, linesFileOf, readRunFiles, type RunFiles } from './run-files.ts';
import { byGravity } from './story.ts';
import { targetSection } from './target.ts';
import {
  buildInWords,
  defectsOf,
  plain,
  referenceInWords,
  rolesInWords,
  seconds,
  shellWord,
  shortened,
  span,
} from './words.ts';

/** Anomalies shown in full; the rest is counted, and stands in `results.json`. */
const ANOMALIES_MAX = 12;
const EXPOSURES_MAX = 20;
const FAULTS_MAX = 300;
const NOTES_MAX = 40;

/** Renders the run in `directory` again, for people and for CI, and returns the path of `report.html`. */
export function writeRunReport(directory: string): string {
  const files = readRunFiles(directory);
  const path = join(directory, 'report.html');
  writeWhole(path, renderRun(files));
  writeForCi(directory, files.results);
  return path;
}

/** The page as text. */
export function renderRun(files: RunFiles): string {
  const { results } = files;
  const { run } = results;
  const views = files.keys.map((key) => viewPartition(files, key));
  const told = new Set(files.keys);
  const others = byGravity(results.anomalies.filter(({ key }) => key === null || !told.has(key)));
  const kicker = html`Tidemark · build <b>${buildInWords(run.build, defectsOf(run))}</b> ·
    ${run.runtime}${run.seed === null ? '' : ` · seed ${run.seed}`}`;
  const body = html`${opening(kicker, moodOf(results.valid), headline(results))} ${guarantees(results)}
    ${runFigures(results)} ${notes([...results.notes, ...files.notes])}
    ${views.map((view, index) => partitionSection(view, index === 0))}
    ${
      others.length === 0
        ? null
        : html`<section>
            <h2>Other anomalies</h2>
            ${cards(others, files, 3)}
          </section>`
    }
    <section>
      <h2>What was broken on purpose</h2>
      ${faultsTable(results.faults, files.history.faults)}
    </section>
    <section>
      <h2>Where the flaw could bite</h2>
      ${exposuresTable(results)}
    </section>
    ${targetSection(run.target)}
    <section>
      <h2>Figures</h2>
      ${measuresTable(results)} ${configuration(run.configuration)}
    </section>
    <section>
      <h2>Look for yourself</h2>
      ${runCommands(files)}
    </section>`;
  return page(`Tidemark: ${run.name}, ${run.build}`, body);
}

function guarantees(results: RunResults): Markup {
  return html`<ul class="guarantees">
    ${Object.entries(results.guarantees).map(([name, verdict]) => html`<li>${name} ${badge(verdict)}</li>`)}
  </ul>`;
}

function runFigures(results: RunResults): Markup {
  const { measures, faults, exposures } = results;
  const effective = faults.filter((fault) => fault.effective).length;
  const measure = (name: string): Content => {
    const value = measures[name] ?? measures[`${name}Seen`];
    return value === undefined ? 'unknown' : value.toLocaleString('en');
  };
  return figures([
    ['operations', measure('operations')],
    ['acknowledged', measure('acknowledged')],
    ['faults that went as planned', `${effective} of ${faults.length}`],
    ['elections', measure('elections')],
    ['truncations', measure('truncations')],
    [exposures?.length === 1 ? 'exposure' : 'exposures', exposures === null ? 'unknown' : exposures.length],
  ]);
}

export function notes(list: readonly string[]): Markup | null {
  if (list.length === 0) return null;
  return html`<ul class="notes">
    ${list.slice(0, NOTES_MAX).map((note) => html`<li>${note}</li>`)}
    ${list.length > NOTES_MAX ? html`<li>and ${list.length - NOTES_MAX} more, in <code>results.json</code></li>` : null}
  </ul>`;
}

/** A partition in full; all but the first are folded away. */
function partitionSection(view: PartitionView, first: boolean): Markup {
  const { story, files } = view;
  const key = shortened(story.key, 60);
  const title =
    story.anomalies.length > 0 ? html`What happened in <code>${key}</code>` : html`The life of <code>${key}</code>`;
  const body = html`<div class="told${story.anomalies.length > 0 ? '' : ' alone'}">
      ${drawFilm(view, 3)}
      ${story.anomalies.length > 0 ? html`<div class="beside">${cards(story.anomalies, files, 3)}</div>` : null}
    </div>
    ${drawTimelines(view)}`;
  return first
    ? html`<section>
        <h2>${title}</h2>
        ${body}
      </section>`
    : html`<details class="partition">
        <summary><h2>${title}</h2></summary>
        ${body}
      </details>`;
}

export function cards(anomalies: readonly Anomaly[], files: RunFiles, level: 3 | 4): Markup {
  const shown = anomalies.slice(0, ANOMALIES_MAX);
  const told = new Set<string>();
  return html`${shown.map((anomaly) => anomalyCard(anomaly, files, level, told))}
  ${anomalies.length > shown.length ? html`<p class="note">${anomalies.length - shown.length} more stand in <code>results.json</code>.</p>` : null}`;
}

/** Every fault, whom it hit, when, and what proves it. */
export function faultsTable(faults: readonly FaultSummary[], seen: readonly FaultSeen[]): Markup {
  if (faults.length === 0) return html`<p>Nothing: no fault was injected.</p>`;
  const byName = new Map(seen.map((fault) => [fault.fault, fault]));
  return html`${table(
    ['fault', 'kind', 'whom it hit', 'from', 'to', 'proof that it took effect'],
    faults.slice(0, FAULTS_MAX).map(
      (fault) =>
        html`<tr${fault.effective ? null : html` class="idle"`}>
        <td>${shortened(fault.fault, 30)}</td>
        <td>${shortened(fault.kind, 40)}</td>
        <td>${rolesInWords(fault.nodes) || 'nobody'}</td>
        <td class="number">${seconds(fault.startTime)}</td>
        <td class="number">${fault.endTime === null ? 'the end' : seconds(fault.endTime)}</td>
        <td>${fault.effective ? proof(byName.get(fault.fault)) : unproved(byName.get(fault.fault))}</td>
      </tr>`,
    ),
  )}
  ${faults.length > FAULTS_MAX ? html`<p class="note">${faults.length - FAULTS_MAX} more stand in <code>results.json</code>.</p>` : null}`;
}

/** What the system says of a process: the letters of /proc. */
const stateWords: Readonly<Record<string, string>> = {
  T: 'stopped',
  t: 'stopped',
  R: 'running',
  S: 'running',
  D: 'running',
  Z: 'ended',
};

/** What happened of a fault that is not proved in full: it may well have done harm, but not what was planned. */
function unproved(fault: FaultSeen | undefined): Markup {
  if (fault?.evidence.some(({ effective }) => effective === true) !== true)
    return html`<b>none: it had no effect, and counts for nothing</b>`;
  const missed = fault.steps.filter(({ came }) => came === false).map(({ step }) => step.replace(/^await /, ''));
  const waited = missed.length === 0 ? '' : `; did not come: ${missed.map((step) => shortened(step, 80)).join(', ')}`;
  return html`<b>in part: it did not go as planned, and counts for nothing.</b> ${proof(fault)}${waited}`;
}

/** The evidence of a fault, in short. */
function proof(fault: FaultSeen | undefined): string {
  if (fault === undefined || fault.evidence.length === 0) return 'recorded as effective';
  const parts = fault.evidence.slice(0, 8).map((evidence) => {
    const { action, node, dropped } = evidence;
    const what = `${plain(action)}${node === undefined ? '' : ` ${plain(node)}`}`;
    if (typeof dropped === 'object' && dropped !== null) {
      const links = Object.entries(dropped).map(([link, count]) => `${link} ${plain(count)}`);
      return `${what}: dropped ${links.join(', ')}`;
    }
    const state = evidence['end'] ?? evidence['state'];
    if (state !== undefined) return `${what}: ${stateWords[plain(state)] ?? plain(state)}`;
    const { partition, to } = evidence;
    return partition === undefined || to === undefined ? what : `${what} ${plain(partition)} to broker ${plain(to)}`;
  });
  return shortened(parts.join('; '), 240);
}

function exposuresTable({ exposures, exposuresUnknown = 'there is no trace' }: RunResults): Markup {
  const meaning = html`<p class="note">
    An exposure is a moment at which the high watermark flaw could bite: a member of the ISR becomes follower while it
    holds, at or above its own high watermark, a record that was acknowledged in an earlier epoch.
  </p>`;
  if (exposures === null)
    return html`${meaning}
      <p>Whether there was one is not known: ${exposuresUnknown}.</p>`;
  if (exposures.length === 0)
    return html`${meaning}
      <p>There was none: this run did not exercise the high watermark flaw.</p>`;
  return html`${meaning}${table(
    ['partition', 'who became follower', 'in epoch', 'its HW', 'its LEO', 'acknowledged offsets at risk', 'where'],
    exposures.slice(0, EXPOSURES_MAX).map(
      (exposure) =>
        html`<tr>
          <td><code>${shortened(exposure.key, 60)}</code></td>
          <td>broker ${exposure.node}</td>
          <td class="number">${exposure.leaderEpoch}</td>
          <td class="number">${exposure.highWatermark}</td>
          <td class="number">${exposure.endOffset}</td>
          <td>${span(...exposure.acknowledged)}</td>
          <td class="ref">${referenceInWords(exposure.reference)}</td>
        </tr>`,
    ),
  )}
  ${exposures.length > EXPOSURES_MAX ? html`<p class="note">${exposures.length - EXPOSURES_MAX} more stand in <code>results.json</code>.</p>` : null}`;
}

function measuresTable(results: RunResults): Markup {
  return html`<details>
    <summary>All figures</summary>
    ${table(
      ['figure', 'value'],
      Object.entries(results.measures).map(
        ([name, value]) =>
          html`<tr>
            <td>${measureInWords(name)}</td>
            <td class="number">${Number.isInteger(value) ? value : value.toFixed(3)}</td>
          </tr>`,
      ),
    )}
  </details>`;
}

function runCommands(files: RunFiles): Markup {
  const { directory, results, keys } = files;
  const folder = shellWord(shownPath(directory));
  const trace = shellWord(shownPath(join(directory, linesFileOf(results))));
  const isObserved = results.run.target !== undefined;
  const [key] = keys;
  return commands([
    ...(results.run.command === null ? [] : [['run it again, with the same seed', results.run.command] as const]),
    ['judge its files again', `npm run tidemark -- check ${folder}`],
    ['draw this report again', `npm run tidemark -- report ${folder}`],
    ...lifeOfRecord(files),
    ...(key === undefined
      ? []
      : [
          [
            isObserved
              ? 'the life of the partition, as it was seen from outside'
              : 'the life of the partition, as its brokers and the controller told it',
            `grep -F ${shellWord(`"partition":${JSON.stringify(key)}`)} ${trace}`,
          ] as const,
        ]),
    [
      `the line that a reference names: ${isObserved ? 'seen' : 'trace'} 2.1:40 is node 2, boot 1, seq 40`,
      `grep -E '^\\{"seq":40,.*"node":2,"boot":1,' ${trace}`,
    ],
  ]);
}
