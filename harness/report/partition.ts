/**
 * Everything about one partition: its film, its timelines, what was broken in it and why, what clients saw.
 */
import type { Anomaly } from '../../checker/results.ts';
import { drawAct } from './lanes-svg.ts';
import { makeFilm } from './film.ts';
import type { Film } from './picture.ts';
import { html, type Content, type Markup } from './html.ts';
import { heading, type Level } from './page.ts';
import { outagesOf, type Outage } from './outages.ts';
import { epochColour } from './palette.ts';
import type { RunFiles } from './run-files.ts';
import { acknowledgedSends, sightingsAt, type Sighting } from './sightings.ts';
import { storyOf, type Story } from './story.ts';
import type { TraceEvent } from './trace-events.ts';
import { observedInWords } from './target.ts';
import { drawTimeline, timelineColumns } from './timeline-svg.ts';
import { extentOf, makeTimeline } from './timeline.ts';
import { counted, listInWords, referenceInWords, seconds, shortened } from './words.ts';

export interface PartitionView {
  readonly files: RunFiles;
  /** Of this partition, and of the cluster. */
  readonly trace: readonly TraceEvent[];
  readonly story: Story;
  readonly film: Film;
  readonly outages: readonly Outage[];
}

const REFERENCES_MAX = 6;
/** Offsets of one anomaly of which it is told what clients saw. */
const OFFSETS_MAX = 3;
/** The larger timeline shows the acts with so much around them. */
const ZOOM_MARGIN = 0.12;

/** Looks at one partition of a run. */
export function viewPartition(files: RunFiles, key: string): PartitionView {
  const story = storyOf(files.results, key);
  const { history } = files;
  const trace = files.trace.filter(({ partition }) => partition === null || partition === key);
  const outages = outagesOf(history.faults, history.end ?? trace.at(-1)?.time ?? 0);
  const values = new Map(
    history.sent.flatMap((sent) => (sent.key === key && sent.msg !== null ? [[sent.msg, sent.value] as const] : [])),
  );
  const found = new Set(story.anomalies.map(({ kind }) => kind));
  const film = makeFilm({
    key,
    trace,
    focus: story.focus,
    exposures: story.exposures,
    lossFound: found.has('lost-acked-write') || found.has('lost-write'),
    divergenceFound: found.has('replica-divergence'),
    outages,
    values,
  });
  return { files, trace, story, film, outages };
}

/** The pictures, one below the other, with their legend. */
export function drawFilm({ film, files }: PartitionView, level: Level): Markup {
  if (film.acts.length === 0) {
    const lacking = files.observed === null ? 'is no trace' : 'are no observations';
    return html`<p class="note">There ${lacking} of this partition, so nothing can be drawn.</p>`;
  }
  return html`<div class="film">
    ${legend(film)} ${film.acts.map((act) => drawAct(film, act, level))}
    ${film.omitted > 0 ? html`<p class="note">${counted(film.omitted, 'other truncation')} of this partition, away from what is told here, ${film.omitted === 1 ? 'is' : 'are'} not shown.</p>` : null}
    ${files.observed === null ? null : html`<p class="note">${observedInWords(files.observed)}</p>`}
  </div>`;
}

/** How to read the pictures; colours of the epochs that appear. */
function legend(film: Film): Markup {
  return html`<ul class="legend">
    ${film.epochs.map(
      ({ epoch, leader }) =>
        html`<li>
          <svg width="14" height="14" aria-hidden="true">
            <rect width="14" height="14" rx="3" fill="${epochColour(epoch)}" />
          </svg>
          epoch ${epoch}${leader === null ? '' : `, led by broker ${leader}`}
        </li>`,
    )}
    <li>
      <svg width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="3" class="acknowledged" /></svg>
      acknowledged
    </li>
    <li>
      <svg width="14" height="14" aria-hidden="true"><path d="M2 2L12 12M12 2L2 12" class="lost" /></svg> lost in the
      end
    </li>
    <li>
      <svg width="16" height="14" aria-hidden="true">
        <rect x="2" y="2" width="12" height="10" rx="2" class="cell diverged" fill="none" />
      </svg>
      replicas differ in the end
    </li>
    <li>
      <svg width="16" height="14" class="ghost-key" aria-hidden="true">
        <g class="ghost"><rect x="1" y="1" width="14" height="12" rx="2" /></g>
      </svg>
      once here
    </li>
    <li>
      <svg width="20" height="6" aria-hidden="true"><rect width="20" height="4" y="1" class="tide" /></svg> committed,
      up to the high watermark (HW)
    </li>
    <li>LEO: log end offset</li>
  </ul>`;
}

/** The whole run, and the time of the pictures larger. */
export function drawTimelines(view: PartitionView): Markup {
  const { files, film, outages, story } = view;
  const [from, to] = extentOf(files.trace, files.history);
  const request = { key: story.key, trace: view.trace, history: files.history, outages, columns: timelineColumns };
  const zoom = zoomOf(film, from, to);
  return html`<figure class="time">
    <figcaption>
      The whole run, seen from <code>${story.key}</code>. Times count from the start of the run, deployment included;
      numbers are the pictures.
    </figcaption>
    <div class="scroll" tabindex="0" role="group" aria-label="timeline of the whole run">
      ${drawTimeline(makeTimeline({ ...request, from, to }), zoom === null ? film.acts : [], zoom)}
    </div>
    ${
      zoom === null
        ? null
        : html`<figcaption>The shaded part, larger</figcaption>
            <div class="scroll" tabindex="0" role="group" aria-label="timeline of the shaded part">
              ${drawTimeline(makeTimeline({ ...request, from: zoom[0], to: zoom[1] }), film.acts, null)}
            </div>`
    }
    <ul class="legend">
      <li>
        <svg width="18" height="12" aria-hidden="true"><rect width="18" height="10" class="fault" /></svg> fault
      </li>
      <li>
        <svg width="18" height="12" aria-hidden="true"><rect width="18" height="10" class="fault idle" /></svg> fault
        that did not go as planned
      </li>
      <li>
        <svg width="18" height="12" aria-hidden="true"><rect width="18" height="10" class="outage down" /></svg> not
        running
      </li>
      <li>
        <svg width="18" height="12" aria-hidden="true"><rect width="18" height="2" y="5" class="fenced" /></svg> fenced
        by the controller
      </li>
      <li>
        <svg width="10" height="12" aria-hidden="true"><path d="M0 6l9 -5.5v11z" class="cut-mark" /></svg> truncation
      </li>
      <li>vertical line: election</li>
      <li>thick: leads; thin: follows; colour: epoch</li>
      <li>
        <svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" class="fails" /></svg> send failed
        or without an answer
      </li>
    </ul>
  </figure>`;
}

/** From the first to the last act but the end, with a margin; null when that is most of the run anyway. */
function zoomOf(film: Film, from: number, to: number): readonly [number, number] | null {
  const times = film.acts.filter(({ kind }) => kind !== 'end').map(({ time }) => time);
  if (times.length === 0) return null;
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const margin = Math.max((last - first) * ZOOM_MARGIN, (to - from) / 60);
  const zoom = [Math.max(from, first - margin), Math.min(to, last + margin)] as const;
  return zoom[1] - zoom[0] > (to - from) * 0.6 ? null : zoom;
}

/** One anomaly: what, why step by step, what clients saw, what follows. `told` are the offsets already told of. */
export function anomalyCard(anomaly: Anomaly, files: RunFiles, level: 3 | 4, told: Set<string>): Markup {
  const inner: Level = level === 3 ? 4 : 5;
  const title = html`<span class="kind ${anomaly.class === 'violation' ? 'bad' : 'unsure'}">${anomaly.kind}</span>
    ${anomaly.key === null ? null : html`in <code>${shortened(anomaly.key, 60)}</code>`}`;
  return html`<article class="card">
    ${heading(level, title)}
    <p class="labels">
      ${anomaly.class === 'expected' ? html`<span class="badge unsure">the configuration allows it</span>` : null}
      ${anomaly.labels.map((label) => html`<span class="badge none">${label}</span>`)}
    </p>
    <p>${sentence(anomaly.summary)}</p>
    ${whyList(anomaly, inner)} ${clientsSaw(anomaly, files, told, inner)} ${consequences(anomaly, inner)}
    ${anomaly.why.length > 0 || anomaly.evidence.length === 0 ? null : html`<p class="ref">Evidence: ${references(anomaly.evidence)}</p>`}
  </article>`;
}

function whyList(anomaly: Anomaly, level: Level): Markup | null {
  if (anomaly.why.length === 0) return null;
  const why = anomaly.kind === 'replica-divergence' ? 'Why the replicas differ' : 'Why';
  return html`${heading(level, `${why}, step by step`)}
    <ol class="why">
      ${anomaly.why.map(
        (step) =>
          html`<li${step.text.startsWith('Fault ') ? html` class="fault-step"` : null}>
          ${step.time === undefined ? null : html`<span class="at">${seconds(step.time)}</span>`}
          ${step.text} <span class="ref">${references(step.references)}</span>
        </li>`,
      )}
    </ol>`;
}

function references(list: Anomaly['evidence']): string {
  const named = list.slice(0, REFERENCES_MAX).map(referenceInWords);
  if (list.length > REFERENCES_MAX) named.push(`and ${list.length - REFERENCES_MAX} more`);
  return named.join(' · ');
}

/** What clients saw at the offsets of an anomaly, before and after. */
function clientsSaw(anomaly: Anomaly, { history }: RunFiles, told: Set<string>, level: Level): Content {
  const { key, offset } = anomaly;
  if (key === null) return null;
  const sends = acknowledgedSends(history, key, new Set(anomaly.values.map(String)));
  const offsets = [...new Set([...(offset === null ? [] : [offset]), ...sends.map((sent) => sent.offset ?? 0)])];
  const untold = offsets.slice(0, OFFSETS_MAX).filter((at) => !told.has(`${key} ${at}`));
  for (const at of untold) told.add(`${key} ${at}`);
  return sightingsAt(history, key, untold).map(({ offset: at, shown, omitted }) => {
    if (shown.length === 0) return html`<p class="note">No client read offset ${at} or was told of it.</p>`;
    return html`${heading(level, `What clients saw at offset ${at}`)}
      <ol class="saw">
        ${shown.map((sighting) => html`<li><span class="at">${seconds(sighting.time)}</span> ${saySighting(sighting)}</li>`)}
      </ol>
      ${omitted > 0 ? html`<p class="note">${counted(omitted, 'sighting')} between are left out.</p>` : null}`;
  });
}

function saySighting({ kind, value, times, processes, nodes, until }: Sighting): Markup {
  const by = `process${processes.length === 1 ? '' : 'es'} ${listInWords(processes.slice(0, 6))}${processes.length > 6 ? ' and others' : ''}`;
  const from =
    nodes.length === 0 ? '' : ` from broker${nodes.length === 1 ? '' : 's'} ${listInWords(nodes.map(String))}`;
  const often = times === 1 ? '' : ` (${times} times, the last at ${seconds(until)})`;
  const record = html`<b>${shortened(value, 40)}</b>`;
  switch (kind) {
    case 'acknowledged':
      return html`${by} was told that ${record} is
      committed${nodes.length === 0 ? '' : `, by broker ${listInWords(nodes.map(String))}`}`;
    case 'read':
      return html`${by} read ${record}${from}${often}`;
    case 'final-read':
      return html`<span class="after">after settling</span> ${by} read ${record}${from}${often}`;
    case 'error':
      return html`${by} got OFFSET_OUT_OF_RANGE${from}${often}: the log ended before where this consumer had been`;
  }
}

function consequences(anomaly: Anomaly, level: Level): Markup | null {
  if (anomaly.consequences.length === 0) return null;
  return html`${heading(level, 'What follows from it')}
    <ul class="follows">
      ${anomaly.consequences.map(({ kind, count, summary }) => html`<li><b>${kind}</b>${count > 1 ? ` (${count} times)` : ''}: ${sentence(summary)}</li>`)}
    </ul>`;
}

/** Begins with a capital and ends with a stop. */
function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
