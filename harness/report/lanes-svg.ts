/**
 * Draws a film of replica lanes: offsets across, one lane per replica, one picture below the other.
 *
 * A cell's colour is the leader epoch of its record, from a palette that colour-blind readers can tell apart; its
 * pattern never carries meaning alone, the epoch is written in it. LEO and HW are carets below and above the lane, a
 * truncation is an arrow from the old end to the new one that names its rule, a lost record is crossed out, a
 * record that differs between replicas has a heavy outline.
 */
import { html, type Content, type Markup } from './html.ts';
import type { Cut, Film, Lane, Picture } from './lanes.ts';

const CELL = 30;
const LANE = 58;
const LEFT = 128;
const HEAD = 40;

/** All pictures of a film, as figures. */
export function drawFilm(film: Film): Markup {
  return html`<div class="film">
    ${film.pictures.map((picture) => drawPicture(film, picture))}
    ${film.omitted > 0 ? html`<p class="note">${film.omitted} more truncations are not shown.</p>` : null}
  </div>`;
}

/** Okabe and Ito's palette, in an order in which neighbours differ most; it repeats after eight epochs. */
const palette = ['#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#f0e442', '#d55e00', '#0072b2', '#999999'] as const;

export function epochColour(epoch: number): string {
  return palette[((epoch % palette.length) + palette.length) % palette.length] ?? '#999999';
}

function drawPicture(film: Film, picture: Picture): Markup {
  const [first, end] = film.window;
  const width = LEFT + (end - first) * CELL + 20;
  const height = HEAD + picture.lanes.length * LANE + 4;
  const offsets = Array.from({ length: end - first }, (_, index) => first + index);
  return html`<figure>
    <figcaption>
      <b>${seconds(picture.time)}</b>
      ${picture.title}${picture.cut === null ? null : html` <span class="rule">${sayCut(picture.cut)}</span>`}
    </figcaption>
    <svg
      viewBox="0 0 ${width} ${height}"
      width="${width}"
      height="${height}"
      role="img"
      aria-label="${describe(film, picture)}"
    >
      <text x="${LEFT - 8}" y="16" class="axis" text-anchor="end">offset</text>
      ${offsets.map((offset) => html`<text x="${x(first, offset) + CELL / 2}" y="16" class="axis" text-anchor="middle">${offset}</text>`)}
      ${picture.lanes.map((lane, index) => drawLane(film, lane, HEAD + index * LANE, picture.cut))}
    </svg>
  </figure>`;
}

function drawLane(film: Film, lane: Lane, top: number, cut: Cut | null): Markup {
  const [first, end] = film.window;
  const middle = top + 13;
  return html`<g class="lane ${lane.role}">
    <text x="4" y="${middle}" class="node">broker ${lane.node}</text>
    <text x="4" y="${middle + 14}" class="role"
      >${lane.role}${lane.leaderEpoch >= 0 ? `, epoch ${lane.leaderEpoch}` : ''}</text
    >
    <line x1="${LEFT}" x2="${x(first, end)}" y1="${top + 24}" y2="${top + 24}" class="ground" />
    ${lane.cells.map((cell) => drawCell(film, cell.offset, cell.epoch, cell.hash, top))}
    ${caret(film, lane.hw, top - 2, 'HW', 'down')} ${caret(film, lane.leo, top + 26, 'LEO', 'up')}
    ${cut !== null && cut.node === lane.node ? drawCut(film, cut, top) : null}
  </g>`;
}

function drawCell(film: Film, offset: number, epoch: number, hash: string, top: number): Markup {
  const left = x(film.window[0], offset);
  const acknowledged = film.acknowledged.has(offset);
  const lost = film.lost.has(offset);
  const marks: Content[] = [];
  if (film.diverged.has(offset))
    marks.push(html`<rect x="${left + 1}" y="${top + 1}" width="${CELL - 3}" height="22" class="diverged" />`);
  if (lost) {
    marks.push(
      html`<path
        d="M${left + 4} ${top + 4}L${left + CELL - 5} ${top + 20}M${left + CELL - 5} ${top + 4}L${left + 4} ${top + 20}"
        class="lost"
      />`,
    );
  }
  return html`<g
    ><title>
      offset ${offset}, epoch ${epoch}, batch
      ${hash}${acknowledged ? ', acknowledged' : ''}${lost ? ', lost in the end' : ''}</title
    ><rect x="${left}" y="${top}" width="${CELL - 1}" height="24" fill="${epochColour(epoch)}" class="cell" /><text
      x="${left + 9}"
      y="${top + 16}"
      class="epoch"
      >${epoch}</text
    >${acknowledged ? html`<circle cx="${left + CELL - 8}" cy="${top + 7}" r="2.5" class="acknowledged" />` : null}${marks}</g
  >`;
}

/** A caret at an end offset, or an arrow at the edge when it lies outside of the window. */
function caret(film: Film, offset: number, y: number, name: string, direction: 'up' | 'down'): Markup {
  const [first, end] = film.window;
  const at = x(first, Math.min(Math.max(offset, first), end));
  const path = direction === 'down' ? `M${at} ${y + 2}l-4 -7h8z` : `M${at} ${y}l-4 7h8z`;
  const outside = offset < first ? '← ' : offset > end ? '→ ' : '';
  return html`<path d="${path}" class="caret ${name.toLowerCase()}" /><text
      x="${at + 6}"
      y="${direction === 'down' ? y + 1 : y + 8}"
      class="caret-name"
      >${outside}${name} ${offset}</text
    >`;
}

function drawCut(film: Film, cut: Cut, top: number): Markup | null {
  const [first, end] = film.window;
  const to = x(first, Math.min(Math.max(cut.to, first), end));
  if (cut.to >= cut.from) return html`<path d="M${to} ${top - 6}V${top + 30}" class="kept" />`;
  const from = x(first, Math.min(Math.max(cut.from, first), end));
  return html`<path d="M${from} ${top + 12}H${to + 5}" class="cut" /><path
      d="M${to} ${top + 12}l9 -5v10z"
      class="cut-head"
    />`;
}

/** One truncation in words. */
export function sayCut(cut: Cut): string {
  const what = cut.to < cut.from ? `drops offsets ${cut.to} to ${cut.from - 1}` : 'keeps everything';
  return `${what} by the rule ${cut.rule}${cut.because === '' ? '' : `: ${cut.because}`}`;
}

function describe(film: Film, picture: Picture): string {
  const lanes = picture.lanes.map(
    (lane) => `broker ${lane.node} (${lane.role}): log end ${lane.leo}, high watermark ${lane.hw}`,
  );
  return `Replicas of ${film.key} at ${seconds(picture.time)}. ${lanes.join('. ')}.`;
}

function x(first: number, offset: number): number {
  return LEFT + (offset - first) * CELL;
}

/** A moment of the run's clock, in seconds. */
export function seconds(timeNs: number): string {
  return `${(timeNs / 1e9).toFixed(3)} s`;
}
