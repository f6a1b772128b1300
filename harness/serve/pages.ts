/**
 * The pages of `tidemark serve`: the store, newest first, and what a folder holds. They look like the reports.
 *
 * Every list is shown in pieces, so that a page stays small however much there is.
 */
import type { Verdict } from '../../checker/results.ts';
import { html, type Markup } from '../report/html.ts';
import { badge, page, table } from '../report/page.ts';
import { bytesInWords, counted, shortened } from '../report/words.ts';
import type { EntryState, StoreEntry } from './catalogue.ts';

/** Where the files of the store are found; the pages themselves stand before it. */
export const filesAt = '/files/';

/** A piece of a list: the `number`th of `count`, from 1. */
export interface Piece<Item> {
  readonly items: readonly Item[];
  readonly number: number;
  readonly count: number;
  readonly total: number;
}

/** The piece that is asked for, or the nearest that there is. */
export function pieceOf<Item>(all: readonly Item[], wanted: number, size: number): Piece<Item> {
  const count = Math.max(1, Math.ceil(all.length / size));
  const number = Math.min(Math.max(1, Number.isSafeInteger(wanted) ? wanted : 1), count);
  return { items: all.slice((number - 1) * size, number * size), number, count, total: all.length };
}

export interface DescribedEntry extends StoreEntry, EntryState {}

/** The store. */
export function indexPage(store: string, piece: Piece<DescribedEntry>): string {
  const sentence =
    piece.total === 0
      ? 'The store is empty: tidemark run and npm start fill it.'
      : `${counted(piece.total, 'folder')} in the store, the newest first`;
  const body = html`${header(html`Tidemark · <b>${store}</b>`, sentence)}
    <section>
      ${piece.total === 0 ? null : table(['begun (UTC)', 'what', 'verdict', 'in a sentence', 'open'], piece.items.map(entryRow))}
      ${turning(piece)}
    </section>`;
  return page('Tidemark: the store', body);
}

function header(kicker: Markup, title: string): Markup {
  return html`<header>
    <p class="kicker">${kicker}</p>
    <h1>${title}</h1>
  </header>`;
}

function entryRow(entry: DescribedEntry): Markup {
  const { name, timeMs, sentence, files } = entry;
  const folder = `${filesAt}${pathOf(name)}/`;
  return html`<tr>
    <td class="number">${momentInWords(timeMs)}</td>
    <td class="number"><code>${shortened(name, 80)}</code></td>
    <td>${entryBadge(entry)}</td>
    <td>${shortened(sentence, 400)}</td>
    <td>${files.map((file) => html`<a href="${folder}${file}">${file}</a> `)} <a href="${folder}">files</a></td>
  </tr>`;
}

function entryBadge({
  state,
  verdict,
}: {
  readonly state: EntryState['state'];
  readonly verdict: Verdict | null;
}): Markup {
  switch (state) {
    case 'done':
      return badge(verdict ?? 'unknown');
    case 'in-progress':
      // What it has found so far is found.
      return verdict === false ? badge(verdict) : html`<span class="badge none">in progress</span>`;
    case 'no-verdict':
      return html`<span class="badge unsure">no verdict</span>`;
    case 'damaged':
      return html`<span class="badge unsure">damaged</span>`;
    case 'folder':
      return html`<span class="badge none">other</span>`;
  }
}

export interface FolderItem {
  readonly name: string;
  /** Null: nothing that can be opened. */
  readonly kind: 'folder' | 'file' | null;
  readonly bytes: number;
}

/** One folder; `name` is its own below the store. */
export function folderPage(name: string, piece: Piece<FolderItem>): string {
  const parts = name.split('/').filter((part) => part !== '');
  const above = parts.length <= 1 ? '/' : '../';
  const body = html`${header(html`Tidemark · <a href="/">the store</a>`, name === '' ? 'The store' : name)}
    <section>
      <p><a href="${parts.length === 0 ? '/' : above}">up</a></p>
      ${table(
        ['name', 'size'],
        piece.items.map(
          (item) =>
            html`<tr>
              <td>${itemLink(item)}</td>
              <td class="number">${item.kind === 'file' ? bytesInWords(item.bytes) : null}</td>
            </tr>`,
        ),
      )}
      ${turning(piece)}
    </section>`;
  return page(`Tidemark: ${name}`, body);
}

function itemLink({ name, kind }: FolderItem): Markup {
  if (kind === null) return html`${shortened(name, 200)} <span class="note">(leads nowhere within the store)</span>`;
  const slash = kind === 'folder' ? '/' : '';
  return html`<a href="./${encodeURIComponent(name)}${slash}">${shortened(name, 200)}${slash}</a>`;
}

/** Links to the pieces before and after. */
function turning({ number, count }: Piece<unknown>): Markup | null {
  if (count === 1) return null;
  return html`<p>
    ${number > 1 ? html`<a href="?page=1">first</a> <a href="?page=${number - 1}">before</a>` : null} page ${number} of
    ${count} ${number < count ? html`<a href="?page=${number + 1}">next</a> <a href="?page=${count}">last</a>` : null}
  </p>`;
}

function pathOf(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/');
}

/** UTC, as the folders are named. */
function momentInWords(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ');
}
