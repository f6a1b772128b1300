/**
 * The frame of a report, and the small parts that all sections share.
 *
 * Invariant: the page needs no network and runs no script. Its content security policy says so to the browser, so that
 * not even a mistake of ours could load or run anything.
 */
import type { Verdict } from '../../checker/results.ts';
import { constant, html, type Content, type Markup } from './html.ts';
import { style } from './style.ts';

export type Mood = 'good' | 'bad' | 'unsure';

/** The whole page as text. */
export function page(title: string, body: Content): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
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

export function moodOf(verdict: Verdict): Mood {
  return verdict === true ? 'good' : verdict === false ? 'bad' : 'unsure';
}

const verdictWords = { good: 'kept', bad: 'broken', unsure: 'unknown' } as const;

/** A verdict as a word in its colour. */
export function badge(verdict: Verdict | 'not-checked'): Markup {
  if (verdict === 'not-checked') return html`<span class="badge none">not checked</span>`;
  const mood = moodOf(verdict);
  return html`<span class="badge ${mood}">${verdictWords[mood]}</span>`;
}

/** What the report opens with. */
export function opening(kicker: Content, mood: Mood, sentence: string): Markup {
  return html`<header class="opening ${mood}">
    <p class="kicker">${kicker}</p>
    <h1>${sentence.replaceAll(' %', '\u00A0%')}</h1>
  </header>`;
}

export type Level = 3 | 4 | 5;

/** A heading of a level that depends on where it stands. */
export function heading(level: Level, content: Content): Markup {
  switch (level) {
    case 3:
      return html`<h3>${content}</h3>`;
    case 4:
      return html`<h4>${content}</h4>`;
    case 5:
      return html`<h5>${content}</h5>`;
  }
}

/** Figures with a name each, in one row. */
export function figures(list: readonly (readonly [name: string, value: Content])[]): Markup {
  return html`<dl class="figures">
    ${list.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

/** Commands to paste, each with what it does. */
export function commands(list: readonly (readonly [what: string, command: string])[]): Markup {
  return html`<dl class="commands">
    ${list.map(
      ([what, command]) =>
        html`<dt>${what}</dt>
          <dd>
            <pre tabindex="0"><code>${command}</code></pre>
          </dd>`,
    )}
  </dl>`;
}

/** A table that scrolls by itself where the screen is too narrow for it. */
export function table(heads: readonly (string | Markup)[], rows: readonly Markup[]): Markup {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="table">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => (typeof head === 'string' ? html`<th scope="col">${head}</th>` : head))}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** Names and values of a configuration. */
export function configuration(values: Readonly<Record<string, unknown>>): Markup {
  return html`<details>
    <summary>Configuration</summary>
    ${table(
      ['setting', 'value'],
      Object.entries(values).map(
        ([name, value]) =>
          html`<tr>
            <td><code>${name}</code></td>
            <td>${sayValue(value)}</td>
          </tr>`,
      ),
    )}
  </details>`;
}

function sayValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(sayValue).join(', ');
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
