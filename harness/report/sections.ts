/**
 * The sections that reports of runs and of comparisons share: the frame of the page, anomalies with their evidence, the
 * story of a partition in lanes and timeline, what consumers saw.
 */
import type { Operation } from '../../checker/history.ts';
import type { Anomaly, FaultSummary, Reference, RunResults, Verdict } from '../../checker/results.ts';
import { constant, html, type Content, type Markup } from './html.ts';
import { film } from './lanes.ts';
import { drawFilm, seconds } from './lanes-svg.ts';
import type { RunFiles } from './run-files.ts';
import { style } from './style.ts';
import { drawTimeline } from './timeline.ts';

/** Anomalies shown in full; the rest is counted, and stands in `results.json`. */
const ANOMALIES_MAX = 12;
const REFERENCES_MAX = 8;

/** The whole page. */
export function page(title: string, body: Content): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${constant(style)}
        </style>
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html> `.text;
}

export function moodOf(verdict: Verdict): 'good' | 'bad' | 'unsure' {
  return verdict === true ? 'good' : verdict === false ? 'bad' : 'unsure';
}

export function badge(verdict: Verdict | 'not-checked'): Markup {
  const [mood, text] =
    verdict === true
      ? ['good', 'kept']
      : verdict === false
        ? ['bad', 'broken']
        : verdict === 'unknown'
          ? ['unsure', 'unknown']
          : ['', 'not checked'];
  return html`<span class="badge ${mood}">${text}</span>`;
}

/** Guarantee by guarantee. */
export function guaranteesTable(results: RunResults): Markup {
  return html`<table>
    <thead>
      <tr>
        <th>guarantee</th>
        <th>verdict</th>
      </tr>
    </thead>
    <tbody>
      ${Object.entries(results.guarantees).map(
        ([name, verdict]) =>
          html`<tr>
            <td>${name}</td>
            <td>${badge(verdict)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** All anomalies, the first of them in full. */
export function anomalyCards(files: RunFiles): Markup {
  const { anomalies } = files.results;
  if (anomalies.length === 0) return html`<p>None was found.</p>`;
  const ordered = [...anomalies].sort((a, b) => rank(a) - rank(b));
  return html`${ordered.slice(0, ANOMALIES_MAX).map((anomaly) => card(anomaly, files))}
  ${ordered.length > ANOMALIES_MAX ? html`<p class="note">${ordered.length - ANOMALIES_MAX} more stand in <code>results.json</code>.</p>` : null}`;
}

function rank(anomaly: Anomaly): number {
  return anomaly.class === 'violation' ? 0 : 1;
}

function card(anomaly: Anomaly, files: RunFiles): Markup {
  return html`<section class="card">
    <h3>
      <span class="${anomaly.class === 'violation' ? 'bad' : 'unsure'}">${anomaly.kind}</span>
      ${anomaly.key === null ? null : html`in <code>${anomaly.key}</code>`}
      ${anomaly.class === 'expected' ? html`<span class="badge unsure">expected with this configuration</span>` : null}
      ${anomaly.labels.map((label) => html`<span class="badge">${label}</span>`)}
    </h3>
    <p>${anomaly.summary}</p>
    ${whyList(anomaly)} ${consumersSaw(anomaly, files.operations)}
    ${anomaly.consequences.length === 0 ? null : html`<p class="note">What follows from it: ${anomaly.consequences.map((consequence) => `${consequence.count} ${consequence.kind} (${consequence.summary})`).join('; ')}</p>`}
    <p class="ref">Evidence: ${references(anomaly.evidence)}</p>
  </section>`;
}

/** Why it happened, step by step. */
export function whyList(anomaly: Anomaly): Markup | null {
  if (anomaly.why.length === 0) return null;
  return html`<ol class="why">
    ${anomaly.why.map(
      (step) =>
        html`<li>
          ${step.time === undefined ? null : html`<span class="at">${seconds(step.time)}</span> `}${step.text}
          <span class="ref">${references(step.references)}</span>
        </li>`,
    )}
  </ol>`;
}

function references(list: readonly Reference[]): string {
  const named = list.slice(0, REFERENCES_MAX).map((reference) => {
    if (reference.source === 'history') return `history ${reference.index}`;
    if (reference.source === 'trace') return `trace ${reference.node}.${reference.boot}#${reference.seq}`;
    return `log of ${reference.node} at ${reference.offset}${reference.epoch === null ? '' : `, epoch ${reference.epoch}`}`;
  });
  if (list.length > REFERENCES_MAX) named.push(`and ${list.length - REFERENCES_MAX} more`);
  return named.join(' · ');
}

/** What consumers read at the offset of an anomaly, in order: each value when it was first seen there. */
export function consumersSaw(anomaly: Anomaly, operations: readonly Operation[]): Markup | null {
  const { key, offset } = anomaly;
  if (key === null || offset === null) return null;
  const seen = new Map<string, { readonly first: Operation; count: number }>();
  for (const operation of operations) {
    if (operation.f !== 'poll' || operation.type === 'invoke' || !Array.isArray(operation.value)) continue;
    for (const micro of operation.value) {
      if (!Array.isArray(micro) || micro[0] !== 'poll' || typeof micro[1] !== 'object' || micro[1] === null) continue;
      const records = (micro[1] as Readonly<Record<string, readonly (readonly [number, unknown])[]>>)[key] ?? [];
      for (const [at, value] of records) {
        if (at !== offset) continue;
        const known = seen.get(String(value));
        if (known === undefined) seen.set(String(value), { first: operation, count: 1 });
        else known.count += 1;
      }
    }
  }
  if (seen.size === 0) return html`<p class="note">No consumer read offset ${offset}.</p>`;
  return html`<p class="note">
    Consumers saw at offset ${offset}:
    ${[...seen]
      .map(
        ([value, { first, count }]) =>
          `value ${value} (${count} times, first at ${seconds(first.time)} by process ${String(first.process)})`,
      )
      .join(', then ')}.
  </p>`;
}

/** The story of one partition: its faults and roles over time, and its replicas before and after each truncation. */
export function partitionStory(files: RunFiles, key: string, focus: readonly number[], truncationsMax = 4): Markup {
  const pictures = film({ key, trace: files.trace, anomalies: files.results.anomalies, focus, truncationsMax });
  const brokers = [...new Set(files.trace.map((line) => line.node))]
    .filter((node): node is number => node !== 'controller')
    .sort((a, b) => a - b);
  return html`<figure>
      <figcaption>Faults, roles and acknowledgements of <code>${key}</code></figcaption>
      ${drawTimeline(key, files.trace, files.results.faults, brokers)}
    </figure>
    ${drawFilm(pictures)}`;
}

/** How to read the pictures. */
export function legend(): Markup {
  return html`<ul class="legend">
    <li>colour and number of a cell: the leader epoch of the record</li>
    <li>● acknowledged</li>
    <li>✕ lost in the end</li>
    <li><span class="bad">red frame</span>: replicas differ</li>
    <li>▼ HW, ▲ LEO (the first offset beyond)</li>
    <li><span class="bad">◀ red arrow</span>: truncation</li>
    <li><span class="good">green line</span>: asked, and kept everything</li>
  </ul>`;
}

/** The partition to tell of, and the offsets where its story happens: a loss or divergence, else an exposure. */
export function storyOf(results: RunResults): { readonly key: string; readonly focus: readonly number[] } | null {
  const roots = results.anomalies.filter(
    (anomaly) =>
      anomaly.key !== null &&
      anomaly.offset !== null &&
      (anomaly.kind === 'lost-acked-write' || anomaly.kind === 'replica-divergence'),
  );
  const root = roots.find((anomaly) => anomaly.class === 'violation') ?? roots[0];
  if (root?.key != null) {
    const own = roots.filter((anomaly) => anomaly.key === root.key).map((anomaly) => anomaly.offset ?? 0);
    return { key: root.key, focus: own.slice(0, 20) };
  }
  const exposure = results.exposures?.[0];
  return exposure === undefined ? null : { key: exposure.key, focus: [...exposure.acknowledged] };
}

export function faultsTable(faults: readonly FaultSummary[]): Markup {
  if (faults.length === 0) return html`<p>No fault was injected.</p>`;
  return html`<table>
    <thead>
      <tr>
        <th>fault</th>
        <th>hit</th>
        <th class="number">from</th>
        <th class="number">to</th>
        <th>evidence</th>
      </tr>
    </thead>
    <tbody>
      ${faults.map(
        (fault) =>
          html`<tr>
            <td>${fault.kind}</td>
            <td>
              ${Object.entries(fault.nodes)
                .map(([role, node]) => `${role} ${Array.isArray(node) ? node.join(', ') : String(node)}`)
                .join('; ')}
            </td>
            <td class="number">${seconds(fault.startTime)}</td>
            <td class="number">${fault.endTime === null ? 'the end' : seconds(fault.endTime)}</td>
            <td>${fault.effective ? 'took effect' : 'no effect was proved; it counts for nothing'}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

export function notes(results: RunResults): Markup | null {
  if (results.notes.length === 0) return null;
  return html`<ul>
    ${results.notes.map((note) => html`<li>${note}</li>`)}
  </ul>`;
}
