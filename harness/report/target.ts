/**
 * What a report says of brokers that others wrote: by whom what it shows was seen, and what can be done to them and known
 * of them.
 */
import type { Able, Capabilities, TargetSummary } from '../../checker/results.ts';
import { uncheckedWithoutTrace } from '../../checker/untraced.ts';
import { completeCapabilities } from './capabilities.ts';
import { html, type Markup } from './html.ts';
import type { ObservedFrom } from './observed-lines.ts';
import { table } from './page.ts';
import { listInWords, seconds, shortened } from './words.ts';

/** Under the pictures: what was observed, and by which source. */
export function observedInWords({ sources, epochsCounted, controllers }: ObservedFrom): string {
  const parts = seenBy.filter(([source]) => (sources[source] ?? 0) > 0).map(([, what]) => what);
  if (parts.length === 0) return 'These brokers tell no trace, and nothing was observed of them.';
  const epochs = epochsCounted
    ? ' Leader epochs that no broker had told by then are counted, one for each leader that was seen.'
    : '';
  const blind =
    sources['log'] === undefined ? ' No high watermark and no rule was seen: no broker’s log told one.' : '';
  return `These brokers tell no trace. What is drawn was seen from outside: ${listInWords(parts)}. A moment is the one at which something was seen.${epochs}${blind}${controllersInWords(controllers)}`;
}

/** So many changes are told one by one. */
const controllersMax = 6;

function controllersInWords(controllers: ObservedFrom['controllers']): string {
  const [first, ...later] = controllers.slice(0, controllersMax);
  if (first === undefined) return '';
  const who = ({ controller }: typeof first): string => (controller === null ? 'nobody' : `node ${controller}`);
  const changes = later.map((each, index) => {
    const again = controllers[index]?.controller === each.controller ? ' again' : '';
    return `, from ${seconds(each.time)} on ${who(each)}${again}`;
  });
  const more = controllers.length > controllersMax ? ', and so on' : '';
  return ` The active controller was ${who(first)}${changes.join('')}${more}.`;
}

const seenBy: readonly (readonly [source: string, what: string])[] = [
  ['segments', 'the ends of logs and truncations in their segment files'],
  ['metadata', 'roles, elections and the ISR in the brokers’ answers to Metadata, up to a poll late'],
  ['log', 'high watermarks, roles and reasons in the brokers’ own log lines'],
  ['client', 'acknowledgements by the clients that got them'],
];

/** What can be done to brokers that others wrote, and known of them; nothing of our own. */
export function targetSection(target: TargetSummary | undefined): Markup | null {
  if (target === undefined) return null;
  return html`<section>
    <h2>What can be done to ${shortened(target.name, 60)}, and known of it</h2>
    ${capabilityTable(target)}
  </section>`;
}

/** The matrix of one target: what it can do and show, and why not. */
function capabilityTable({ name, versions, capabilities }: TargetSummary): Markup {
  const each = Object.entries(versions ?? {});
  const [first, ...others] = new Set(each.map(([, version]) => version));
  const told =
    others.length === 0 && each.length > 1
      ? [`every broker is ${first}`]
      : each.map(([node, version]) => `broker ${node} is ${version}`);
  const who = told.length === 0 ? null : html`<p class="note">${listInWords(told)}.</p>`;
  if (capabilities === null)
    return html`${who}
      <p class="note">What ${name} can do and show was not noted.</p>`;
  const rows = capabilityRows(completeCapabilities(capabilities));
  return html`${who}${table(
    ['what', 'in full', 'in part', 'not at all'],
    rows.map(
      ({ what, able, partly, unable }) =>
        html`<tr>
          <th scope="row">${what}</th>
          <td>${able.length === 0 ? 'nothing' : able.join(', ')}</td>
          <td>${reasons(partly)}</td>
          <td>${reasons(unable)}</td>
        </tr>`,
    ),
  )}`;
}

type Reasons = readonly (readonly [name: string, why: string])[];

function reasons(all: Reasons): Markup | readonly Markup[] {
  return all.length === 0 ? html`nothing` : all.map(([name, why]) => html`<div><b>${name}</b>: ${why}</div>`);
}

interface CapabilityRow {
  readonly what: string;
  readonly able: readonly string[];
  /** What of it cannot be known, as the notes of the run name it. */
  readonly partly: Reasons;
  readonly unable: Reasons;
}

function capabilityRows({ faults, guarantees, triggers, exposures }: Capabilities): CapabilityRow[] {
  const row = (
    what: string,
    all: Readonly<Record<string, Able>>,
    lacking: Readonly<Record<string, string>> = {},
  ): CapabilityRow => {
    const able = Object.entries(all).flatMap(([name, each]) => (each === true ? [name] : []));
    return {
      what,
      able: able.filter((name) => lacking[name] === undefined),
      partly: able.flatMap((name) => {
        const part = lacking[name];
        return part === undefined ? [] : [[name, `not checked: ${part}`] as const];
      }),
      unable: Object.entries(all).flatMap(([name, each]) => (each === true ? [] : [[name, each.not] as const])),
    };
  };
  return [
    row('faults', faults),
    row('guarantees', guarantees, uncheckedWithoutTrace),
    row('what a plan can wait for', triggers),
    row('exposures', { counted: exposures }),
  ];
}
