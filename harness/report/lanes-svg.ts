/**
 * Draws the stills of a film: offsets across, one lane per replica.
 *
 * A cell is a record: its value, the epoch of the leader that wrote it (as colour and as number), a filled dot once it
 * was acknowledged. A bar under the cells, the tide, reaches as far as the replica takes records for committed: its end
 * is the high watermark. A truncation is an arrow from the old end to the new one that names its rule. A lost record is
 * crossed out; a record that another replica has otherwise has a heavy outline; what a replica once held at an offset and
 * no longer does stays as a ghost above it.
 *
 * Invariant: no two labels overlap. The log end, which is never left of the high watermark, is named to its right; the
 * high watermark to its left, or one row deeper where there is no room. The arrow and its rule have rows of their own.
 */
import { unknownRule, type Act, type Cut, type Film, type Lane, type LaneCell, type Still } from './picture.ts';
import { html, type Content, type Markup } from './html.ts';
import { heading, type Level } from './page.ts';
import type { Column } from './offset-axis.ts';
import { epochColour, textWidth } from './palette.ts';
import { seconds, shortened } from './words.ts';

const CELL = 37;
const LEFT = 108;
const RIGHT = 84;
const HEADER = 20;
const GHOST = 13;
const BOX = 30;
const TIDE = 5;
const LABEL_ROW = 13;
const CUT = 30;
const GAP = 6;
const FONT = 11;

/** One act: its heading, and its stills side by side where there is room. */
export function drawAct(film: Film, act: Act, level: Level): Markup {
  const title = html`<span class="mark" aria-hidden="true">${act.number}</span>
    <span class="at">${seconds(act.time)}</span> ${act.title}`;
  return html`<section class="act">
    ${heading(level, title)} ${act.detail === '' ? null : html`<p class="detail">${act.detail}</p>`}
    <div class="stills">
      ${act.stills.map(
        (still) =>
          html`<figure>
            ${act.stills.length > 1 ? html`<figcaption>${still.when === 'before' ? 'just before' : 'just after'}</figcaption>` : null}
            ${drawStill(film, act, still)}
          </figure>`,
      )}
    </div>
  </section>`;
}

function drawStill(film: Film, act: Act, still: Still): Markup {
  const width = LEFT + film.axis.width * CELL + RIGHT;
  let top = HEADER;
  const lanes: Markup[] = [];
  for (const lane of still.lanes) {
    const cut = still.cut !== null && still.cut.node === lane.node ? still.cut : null;
    if (cut !== null) {
      lanes.push(drawCut(film, cut, top, width));
      top += CUT;
    }
    lanes.push(drawLane(film, lane, top + GHOST, width));
    top += GHOST + BOX + TIDE + LABEL_ROW + (sinks(film, lane) ? LABEL_ROW : 0) + GAP;
  }
  return html`<svg
    viewBox="0 0 ${round(width)} ${top}"
    width="${round(width)}"
    height="${top}"
    role="img"
    aria-label="${describe(film, act, still)}"
  >
    ${drawHeader(film)}${lanes}
  </svg>`;
}

function drawHeader(film: Film): Content {
  return [
    html`<text x="${LEFT - 10}" y="13" class="axis" text-anchor="end">offset</text>`,
    ...film.axis.columns.map((column) => {
      const middle = LEFT + (column.x + column.width / 2) * CELL;
      return html`<text x="${round(middle)}" y="13" class="axis" text-anchor="middle"
        >${column.kind === 'offset' ? shortened(String(column.offset), 6) : '⋯'}</text
      >`;
    }),
  ];
}

function drawLane(film: Film, lane: Lane, top: number, width: number): Markup {
  const { columns } = film.axis;
  return html`<g class="lane ${lane.role}">
    ${drawLaneHead(lane, top)}
    <rect x="${LEFT}" y="${top}" width="${round(film.axis.width * CELL)}" height="${BOX}" class="bed" />
    ${columns.map((column, index) => [
      column.kind === 'gap' ? drawGap(lane, column, top) : null,
      drawGhost(lane.ghosts[index] ?? null, lane.cells[index] ?? null, column, top),
      drawCell(lane.cells[index] ?? null, column, top),
    ])}
    ${drawTide(film, lane, top + BOX, width)}
  </g>`;
}

function drawLaneHead(lane: Lane, top: number): Markup {
  const leads = lane.role === 'leader';
  const role =
    lane.role === 'down' || lane.role === 'paused' || lane.role === 'stopped'
      ? lane.role
      : `${lane.role}${lane.leaderEpoch >= 0 ? ` e${lane.leaderEpoch}` : ''}`;
  return html`<text x="14" y="${top + 9}" class="node">broker ${lane.node}</text
    ><text x="14" y="${top + 24}" class="role">${role}</text
    ><text x="14" y="${top + 38}" class="role">${lane.inIsr ? 'in the ISR' : 'not in the ISR'}</text
    >${leads ? html`<rect x="2" y="${top - 2}" width="5" height="${BOX + 12}" rx="2" fill="${epochColour(lane.leaderEpoch)}" class="leads" />` : null}`;
}

/** Records that are held but not shown. */
function drawGap(lane: Lane, column: Column & { readonly kind: 'gap' }, top: number): Markup | null {
  if (lane.leo <= column.from) return null;
  const x = LEFT + column.x * CELL;
  return html`<rect
    x="${round(x + 2)}"
    y="${top + 10}"
    width="${round(column.width * CELL - 5)}"
    height="10"
    rx="3"
    class="held"
    ><title>offsets ${column.from} to ${Math.min(column.to, lane.leo) - 1}, not shown</title></rect
  >`;
}

function drawCell(cell: LaneCell | null, column: Column, top: number): Markup | null {
  if (cell === null) return null;
  const x = LEFT + column.x * CELL;
  return html`<g
    ><title>${sayCell(cell)}</title
    ><rect
      x="${round(x + 1)}"
      y="${top}"
      width="${CELL - 2}"
      height="${BOX}"
      rx="3"
      fill="${epochColour(cell.epoch)}"
      class="cell${cell.diverged ? ' diverged' : ''}" />${
      cell.lost
        ? html`<path
            d="M${round(x + 3)} ${top + 2}L${round(x + CELL - 3)} ${top + BOX - 2}M${round(x + CELL - 3)} ${top + 2}L${round(x + 3)} ${top + BOX - 2}"
            class="lost"
          />`
        : null
    }<text x="${round(x + CELL / 2)}" y="${top + 13}" class="value" text-anchor="middle"
      >${cell.value === null ? '·' : shortened(cell.value, 5)}</text
    ><text x="${round(x + 6)}" y="${top + 25}" class="epoch">e${cell.epoch}</text
    ><circle
      cx="${round(x + CELL - 8)}"
      cy="${top + 22}"
      r="3"
      class="${cell.acknowledged ? 'acknowledged' : 'pending'}"
  /></g>`;
}

/** What was there: a dashed box where nothing is now, a tab above what took its place. */
function drawGhost(ghost: LaneCell | null, now: LaneCell | null, column: Column, top: number): Markup | null {
  if (ghost === null) return null;
  const x = LEFT + column.x * CELL;
  const middle = round(x + CELL / 2);
  const value = ghost.value === null ? `e${ghost.epoch}` : shortened(ghost.value, 5);
  if (now === null) {
    return html`<g class="ghost"
      ><title>once here: ${sayCell(ghost)}</title
      ><rect x="${round(x + 1.5)}" y="${top + 0.5}" width="${CELL - 3}" height="${BOX - 1}" rx="3" /><text
        x="${middle}"
        y="${top + 13}"
        text-anchor="middle"
        >${value}</text
      ><text x="${middle}" y="${top + 25}" text-anchor="middle" class="small">gone</text></g
    >`;
  }
  return html`<g class="ghost"
    ><title>once here: ${sayCell(ghost)}</title
    ><path d="M${round(x + 4)} ${top}v-9q0 -3 3 -3h${CELL - 14}q3 0 3 3v9" /><text
      x="${middle}"
      y="${top - 2.5}"
      text-anchor="middle"
      class="small"
      >${value}</text
    ></g
  >`;
}

/** The bar of what counts as committed, and the two ends with their names. */
function drawTide(film: Film, lane: Lane, top: number, width: number): Content {
  const leo = LEFT + film.axis.edge(lane.leo) * CELL;
  const y = top + TIDE;
  if (lane.hw === null) return caret('leo', leo, y, `LEO ${sayEnd(film, lane.leo)}`, 'start', BOX + TIDE);
  const hw = LEFT + film.axis.edge(lane.hw) * CELL;
  const bar =
    lane.hw > 0 && hw > LEFT
      ? html`<rect x="${LEFT}" y="${top + 1}" width="${round(hw - LEFT)}" height="${TIDE - 1}" class="tide" />`
      : null;
  if (lane.hw === lane.leo) {
    const text = `HW = LEO ${sayEnd(film, lane.leo)}`;
    const anchor = leo + 8 + textWidth(text, FONT) <= width ? 'start' : 'end';
    return [bar, caret('hw', leo, y, text, anchor, TIDE)];
  }
  const sunk = sinks(film, lane);
  return [
    bar,
    caret(
      'hw',
      hw,
      sunk ? y + LABEL_ROW : y,
      `HW ${sayEnd(film, lane.hw)}`,
      sunk ? 'start' : 'end',
      sunk ? LABEL_ROW + TIDE : TIDE,
    ),
    caret('leo', leo, y, `LEO ${sayEnd(film, lane.leo)}`, 'start', BOX + TIDE),
  ];
}

/** The name of the high watermark goes one row deeper when there is no room to its left. */
function sinks(film: Film, lane: Lane): boolean {
  if (lane.hw === null) return false;
  const room = film.axis.edge(lane.hw) * CELL - 8;
  return lane.hw !== lane.leo && textWidth(`HW ${sayEnd(film, lane.hw)}`, FONT) > room;
}

/** An end offset; an arrow when it lies beyond what is shown. */
function sayEnd(film: Film, offset: number): string {
  return `${shortened(String(offset), 7)}${offset > film.axis.end ? ' →' : ''}`;
}

function caret(kind: 'hw' | 'leo', x: number, y: number, text: string, anchor: 'start' | 'end', stem: number): Markup {
  return html`<g class="caret ${kind}"
    ><path d="M${round(x)} ${y + 2 - stem}V${y + 3}" class="stem" /><path d="M${round(x)} ${y + 2}l-4 7h8z" /><text
      x="${round(anchor === 'start' ? x + 7 : x - 7)}"
      y="${y + 10}"
      text-anchor="${anchor}"
      >${text}</text
    ></g
  >`;
}

/** The arrow of a truncation, or the line where a log was kept, with the rule above it. */
function drawCut(film: Film, cut: Cut, top: number, width: number): Markup {
  const to = LEFT + film.axis.edge(cut.to) * CELL;
  const from = LEFT + film.axis.edge(cut.from) * CELL;
  const cuts = cut.to < cut.from;
  const rule =
    cut.rule === unknownRule ? (cut.because === '' ? 'rule not told' : 'rule in its log') : `rule ${cut.rule}`;
  const label = `${shortened(rule, 37)}: ${cuts ? `cut to ${cut.to}` : 'keep all'}`;
  const labelWidth = textWidth(label, 11.5);
  const x = Math.max(LEFT, Math.min(to, width - labelWidth - 4));
  const y = top + 24;
  return html`<g class="${cuts ? 'cut' : 'keep'}"
    ><text x="${round(x)}" y="${top + 12}">${label}</text>${
      cuts
        ? html`<path d="M${round(Math.max(from, to + 14))} ${y}H${round(to + 9)}" class="shaft" /><path
              d="M${round(to)} ${y}l10 -5.5v11z"
              class="head"
            /><path d="M${round(to)} ${y}V${top + CUT + GHOST + BOX}" class="edge" />`
        : html`<path d="M${round(to)} ${y - 6}V${top + CUT + GHOST + BOX}" class="edge" /><path
              d="M${round(to - 10)} ${y - 1}l4 5l7 -9"
              class="shaft"
            />`
    }</g
  >`;
}

function sayCell(cell: LaneCell): string {
  return [
    `${cell.value === null ? 'a record' : `record ${cell.value}`} at offset ${cell.offset}, epoch ${cell.epoch}`,
    cell.acknowledged ? 'acknowledged' : 'not acknowledged yet',
    ...(cell.lost ? ['lost in the end'] : []),
    ...(cell.diverged ? ['another replica holds another record here in the end'] : []),
  ].join(', ');
}

function describe(film: Film, act: Act, still: Still): string {
  const lanes = still.lanes.map(
    (lane) => `broker ${lane.node}, ${lane.role}: log end ${lane.leo}, high watermark ${lane.hw ?? 'not seen'}`,
  );
  const when = still.when === 'then' ? '' : `, just ${still.when}`;
  return `Replicas of ${film.key} at ${seconds(act.time)}${when}: ${act.title}. ${lanes.join('; ')}.`;
}

/** Half pixels are enough, and keep the file small. */
function round(x: number): number {
  return Math.round(x * 2) / 2;
}
