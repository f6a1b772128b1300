/**
 * Draws a timeline: phases, faults, the leaders, each broker, acknowledgements; all on one time axis.
 *
 * Faults are packed so that neither bars nor their labels overlap; what does not fit into the rows is counted. The
 * numbers on the axis are the acts of the film, so that pictures and times can be brought together.
 */
import { packBars, type Bar, type PlacedBar } from './fault-rows.ts';
import { html, type Content, type Markup } from './html.ts';
import { epochColour, textWidth } from './palette.ts';
import type { Act } from './picture.ts';
import type { BrokerLine, Timeline, TimedFault } from './timeline.ts';
import { duration, plain, rolesInWords, seconds, shortened } from './words.ts';

const WIDTH = 1130;
const LEFT = 116;
const PLOT = WIDTH - LEFT - 12;
const ROW = 19;
const BAR = 13;
const FAULT_ROWS_MAX = 8;
const FONT = 11;

/** Columns of the acknowledgements. */
export const timelineColumns = 250;

/** `acts` are marked on it; `zoom` is a part that is drawn larger elsewhere. */
export function drawTimeline(
  timeline: Timeline,
  acts: readonly Act[],
  zoom: readonly [from: number, to: number] | null,
): Markup {
  const x = (time: number): number =>
    LEFT +
    ((Math.min(Math.max(time, timeline.from), timeline.to) - timeline.from) / (timeline.to - timeline.from)) * PLOT;
  const packed = packBars(
    timeline.faults.map((timed) => faultBar(timed, x)),
    { left: LEFT, right: LEFT + PLOT, rowsMax: FAULT_ROWS_MAX },
  );
  let y = 52;
  const parts: Content[] = [drawZoom(x, zoom), drawAxis(timeline, x), drawPhases(timeline, x)];
  const labels: Content[] = [];
  const label = (text: string, at: number): void => {
    labels.push(html`<text x="0" y="${at + 10.5}" class="node">${text}</text>`);
  };
  if (packed.rows > 0) label('faults', y);
  parts.push(packed.placed.map((placed) => drawFault(placed, y)));
  y += packed.rows * ROW;
  if (packed.omitted > 0) {
    labels.push(
      html`<text x="${LEFT}" y="${y + 10.5}" class="axis">and ${packed.omitted} more faults: see the table</text>`,
    );
    y += ROW;
  }
  y += 5;
  label('leader', y);
  parts.push(timeline.reigns.map((reign) => drawReign(reign, x, y)));
  const top = y;
  y += ROW + 3;
  for (const broker of timeline.brokers) {
    label(`broker ${broker.node}`, y);
    parts.push(drawBroker(broker, x, y));
    y += ROW;
  }
  parts.push(
    timeline.reigns
      .filter(({ elected, from }) => elected && from > timeline.from)
      .map(
        (reign) =>
          html`<path
            d="M${round(x(reign.from))} ${top - 3}V${y - 4}"
            class="election${reign.clean === false ? ' unclean' : ''}"
          />`,
      ),
  );
  y += 6;
  label('acknowledged', y + 6);
  parts.push(drawCounts(timeline, y, 26));
  y += 34;
  const height = y + 4;
  return html`<svg
    viewBox="0 0 ${WIDTH} ${height}"
    width="${WIDTH}"
    height="${height}"
    role="img"
    aria-label="${describe(timeline)}"
  >
    ${parts}${labels}${drawActs(acts, timeline, x, height)}
  </svg>`;
}

type Scale = (time: number) => number;

function drawAxis(timeline: Timeline, x: Scale): Content {
  const spanS = (timeline.to - timeline.from) / 1e9;
  const steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
  const stepS = steps.find((step) => spanS / step <= 16) ?? spanS / 16;
  const digits = stepS < 0.1 ? 2 : stepS < 1 ? 1 : 0;
  const ticks: Markup[] = [];
  for (let at = Math.ceil(timeline.from / 1e9 / stepS) * stepS; at * 1e9 <= timeline.to; at += stepS) {
    const px = round(x(at * 1e9));
    ticks.push(
      html`<path d="M${px} 36V44" class="tick" /><text x="${px}" y="32" class="axis" text-anchor="middle"
          >${at.toFixed(digits)}</text
        >`,
    );
  }
  return [
    html`<text x="0" y="32" class="axis">seconds</text><path d="M${LEFT} 44H${LEFT + PLOT}" class="rule-line" />`,
    ticks,
  ];
}

function drawPhases(timeline: Timeline, x: Scale): Content {
  return timeline.phases.map(({ name, from, to }) => {
    const width = x(to) - x(from);
    return html`<g
      ><title>${name}: ${seconds(from)} to ${seconds(to)}</title
      ><rect
        x="${round(x(from))}"
        y="40"
        width="${round(Math.max(1, width))}"
        height="4"
        class="phase ${name.split(' ')[0]}"
    /></g>`;
  });
}

function drawZoom(x: Scale, zoom: readonly [number, number] | null): Markup | null {
  if (zoom === null) return null;
  const from = x(zoom[0]);
  return html`<rect
    x="${round(from)}"
    y="36"
    width="${round(Math.max(2, x(zoom[1]) - from))}"
    height="100%"
    class="zoom"
    ><title>shown larger: ${seconds(zoom[0])} to ${seconds(zoom[1])}</title></rect
  >`;
}

interface FaultBar extends Bar {
  readonly timed: TimedFault;
  readonly labels: readonly string[];
}

function faultBar(timed: TimedFault, x: Scale): FaultBar {
  const from = x(timed.from);
  const idle = timed.fault.effective === false ? ' · not as planned' : '';
  const name = `${timed.fault.fault} ${timed.fault.kind}`;
  const labels = [shortened(`${name}${hit(timed)}${idle}`, 60), shortened(`${name}${idle}`, 30)];
  const labelWidths = labels.map((label) => textWidth(label, FONT));
  return { timed, labels, labelWidths, from, to: Math.max(from + 3, x(timed.to)) };
}

function hit(timed: TimedFault): string {
  const roles = Object.entries(timed.fault.nodes);
  if (roles.length === 0) return '';
  const bare = (role: string, node: unknown): boolean => role === 'targets' || role === node;
  return ` · ${roles.map(([role, node]) => (bare(role, node) ? short(node) : `${role} ${short(node)}`)).join(', ')}`;
}

function short(node: unknown): string {
  const list: readonly unknown[] = Array.isArray(node) ? node : [node];
  return list.map((each) => (each === 'controller' ? 'controller' : `b${plain(each)}`)).join('+');
}

function drawFault({ bar, row, label }: PlacedBar<FaultBar>, top: number): Markup {
  const { timed } = bar;
  const { fault } = timed;
  const y = top + row * ROW;
  return html`<g
    ><title>
      ${fault.fault}: ${fault.kind}, ${rolesInWords(fault.nodes)}, ${seconds(timed.from)} to
      ${fault.endTime === null ? 'the end' : seconds(fault.endTime)}${fault.effective === false ? '; not proved to have gone as planned, it counts for nothing' : ''}</title
    ><rect
      x="${round(bar.from)}"
      y="${y}"
      width="${round(bar.to - bar.from)}"
      height="${BAR}"
      rx="2"
      class="fault${fault.effective === false ? ' idle' : ''}"
    />${label === null ? null : html`<text x="${round(label.x)}" y="${y + 10}" text-anchor="${label.anchor}" class="fault-label">${bar.labels[label.index]}</text>`}</g
  >`;
}

function drawReign(reign: Timeline['reigns'][number], x: Scale, y: number): Markup {
  const from = x(reign.from);
  const width = x(reign.to) - from;
  const leader = reign.leader === null ? 'nobody' : `broker ${reign.leader}`;
  const long = `e${reign.epoch} ${leader}`;
  const brief = `e${reign.epoch}`;
  const text = [long, brief].find((each) => textWidth(each, FONT) + 8 <= width);
  return html`<g
    ><title>
      epoch ${reign.epoch}: ${leader} ${reign.elected ? electedInWords(reign) : `stays (${reign.reason})`} at
      ${seconds(reign.from)}, for ${duration(reign.to - reign.from)}</title
    ><rect
      x="${round(from)}"
      y="${y}"
      width="${round(Math.max(1, width))}"
      height="${BAR}"
      ${reign.leader === null ? html`class="nobody"` : html`fill="${epochColour(reign.epoch)}"`}
    />${text === undefined ? null : html`<text x="${round(from + 4)}" y="${y + 10}" class="on-tint${reign.leader === null ? ' none' : ''}">${text}</text>`}</g
  >`;
}

function electedInWords({ clean, reason }: Timeline['reigns'][number]): string {
  const manner = [...(clean === null ? [] : [clean ? 'clean' : 'unclean']), ...(reason === '' ? [] : [reason])];
  return manner.length === 0 ? 'elected' : `elected (${manner.join(', ')})`;
}

function drawBroker(broker: BrokerLine, x: Scale, y: number): Content {
  const spans = broker.spans.map((span) => {
    const from = x(span.from);
    const width = round(Math.max(1, x(span.to) - from));
    const leads = span.role === 'leader';
    return html`<rect
      x="${round(from)}"
      y="${leads ? y : y + 4}"
      width="${width}"
      height="${leads ? BAR : 5}"
      class="span ${span.role}"
      fill="${epochColour(span.epoch)}"
      ><title>
        broker ${broker.node}: ${span.role}, epoch ${span.epoch}, ${seconds(span.from)} to ${seconds(span.to)}
      </title></rect
    >`;
  });
  const fenced = broker.fenced.map(
    ({ from, to }) =>
      html`<rect
        x="${round(x(from))}"
        y="${y + BAR}"
        width="${round(Math.max(1, x(to) - x(from)))}"
        height="2"
        class="fenced"
        ><title>broker ${broker.node} is fenced, ${seconds(from)} to ${seconds(to)}</title></rect
      >`,
  );
  // Two faults may hit one process at a time; then only the first is named in the bar.
  let named = Number.NEGATIVE_INFINITY;
  const outages = [...broker.outages]
    .sort((a, b) => a.from - b.from)
    .map(({ kind, from, to }) => {
      const width = x(to) - x(from);
      const fits = x(from) >= named && width > textWidth(kind, FONT) + 8;
      named = Math.max(named, x(to));
      return html`<g
        ><title>broker ${broker.node} is ${kind}, ${seconds(from)} to ${seconds(to)}</title
        ><rect
          x="${round(x(from))}"
          y="${y}"
          width="${round(Math.max(2, width))}"
          height="${BAR}"
          class="outage ${kind}"
        />${fits ? html`<text x="${round(x(from) + 4)}" y="${y + 10}" class="outage-label">${kind}</text>` : null}</g
      >`;
    });
  const cuts = broker.truncations.map(
    (event) =>
      html`<path d="M${round(x(event.time))} ${y + 6.5}l9 -5.5v11z" class="cut-mark"
        ><title>
          broker ${broker.node} truncates from ${event.from} to ${event.to} by ${event.rule}, ${seconds(event.time)}
        </title></path
      >`,
  );
  return [spans, outages, fenced, cuts];
}

function drawCounts(timeline: Timeline, top: number, height: number): Content {
  const most = Math.max(1, ...timeline.acknowledged, ...timeline.failed);
  const width = PLOT / timeline.acknowledged.length;
  const total = timeline.acknowledged.reduce((sum, count) => sum + count, 0);
  const failed = timeline.failed.reduce((sum, count) => sum + count, 0);
  const path = (counts: readonly number[]): string =>
    counts
      .map((count, index) => {
        if (count === 0) return '';
        const tall = Math.max(1.5, (count / most) * height);
        return `M${round(LEFT + index * width)} ${top + height}v-${round(tall)}h${Math.max(1, round(width - 1))}v${round(tall)}z`;
      })
      .join('');
  return html`<g
    ><title>${total} acknowledgements; ${failed} sends failed or stayed without an answer</title
    ><path d="${path(timeline.acknowledged)}" class="acks" /><path d="${path(timeline.failed)}" class="fails" /><path
      d="M${LEFT} ${top + height + 0.5}H${LEFT + PLOT}"
      class="rule-line"
  /></g>`;
}

/** The numbers of the acts, side by side where they would meet. */
function drawActs(acts: readonly Act[], timeline: Timeline, x: Scale, height: number): Content {
  const shown = acts.filter((act) => act.time >= timeline.from && act.time <= timeline.to);
  let last = Number.NEGATIVE_INFINITY;
  return shown.map((act, index) => {
    const at = x(act.time);
    const room = WIDTH - 9 - (shown.length - 1 - index) * 17;
    const badge = Math.min(Math.max(at, last + 17), room);
    last = badge;
    return html`<g class="act-mark"
      ><title>picture ${act.number}: ${act.title}, ${seconds(act.time)}</title
      ><path d="M${round(at)} ${height}V22L${round(badge)} 16" /><circle cx="${round(badge)}" cy="10" r="8" /><text
        x="${round(badge)}"
        y="14"
        text-anchor="middle"
        >${act.number}</text
      ></g
    >`;
  });
}

function describe(timeline: Timeline): string {
  const faults = timeline.faults.map(({ fault }) => `${fault.kind} at ${seconds(fault.startTime)}`).slice(0, 20);
  const reigns = timeline.reigns
    .slice(0, 20)
    .map(
      ({ epoch, leader, from }) =>
        `epoch ${epoch}: ${leader === null ? 'nobody' : `broker ${leader}`} from ${seconds(from)}`,
    );
  return `Timeline of ${timeline.key}, ${seconds(timeline.from)} to ${seconds(timeline.to)}. Faults: ${faults.join(', ') || 'none'}. Leaders: ${reigns.join(', ')}.`;
}

function round(x: number): number {
  return Math.round(x * 2) / 2;
}
