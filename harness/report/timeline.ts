/**
 * The timeline: faults, elections, roles and acknowledgements of one partition on one time axis.
 *
 * One row per fault kind that fired, one row per broker (who led, in which epoch; who was down), one row of
 * acknowledgements. It is drawn on the server, so that it can be read without scripts, and holds at most as many marks as
 * the eye can tell apart: acknowledgements are counted per column.
 */
import type { FaultSummary } from '../../checker/results.ts';
import type { TraceLine } from '../../nemesis/ports.ts';
import { html, type Content, type Markup } from './html.ts';
import { epochColour, seconds } from './lanes-svg.ts';

const WIDTH = 980;
const LEFT = 128;
const ROW = 22;
const COLUMNS = 280;

interface Axis {
  readonly start: number;
  readonly end: number;
  x(time: number): number;
}

/** Draws the timeline of one partition over the whole run. */
export function drawTimeline(
  key: string,
  trace: readonly TraceLine[],
  faults: readonly FaultSummary[],
  brokers: readonly number[],
): Markup {
  const axis = axisOf(trace, faults);
  const faultRows = faults.map((fault, index) => drawFault(axis, fault, 28 + index * ROW));
  const top = 28 + faults.length * ROW + 8;
  const lines = trace.filter((line) => line.partition === key);
  const brokerRows = brokers.map((broker, index) => drawBroker(axis, broker, trace, lines, top + index * ROW));
  const acksTop = top + brokers.length * ROW + 6;
  const height = acksTop + 44;
  return html`<svg
    viewBox="0 0 ${WIDTH} ${height}"
    width="${WIDTH}"
    height="${height}"
    role="img"
    aria-label="Faults, roles and acknowledgements of ${key} over time"
  >
    ${drawTicks(axis, height)} ${faultRows} ${brokerRows} ${drawElections(axis, lines, top, brokers.length * ROW)}
    ${drawAcks(axis, lines, acksTop)}
  </svg>`;
}

function axisOf(trace: readonly TraceLine[], faults: readonly FaultSummary[]): Axis {
  const times = [
    trace[0]?.time ?? 0,
    trace.at(-1)?.time ?? 1,
    ...faults.flatMap((fault) => [fault.startTime, fault.endTime ?? fault.startTime]),
  ];
  const start = Math.min(...times);
  const end = Math.max(start + 1, ...times);
  return { start, end, x: (time) => LEFT + ((time - start) / (end - start)) * (WIDTH - LEFT - 10) };
}

function drawTicks(axis: Axis, height: number): Content {
  const span = (axis.end - axis.start) / 1e9;
  const stepS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 600].find((step) => span / step <= 14) ?? 3600;
  const ticks: Markup[] = [];
  for (let second = Math.ceil(axis.start / 1e9 / stepS) * stepS; second * 1e9 <= axis.end; second += stepS) {
    const at = axis.x(second * 1e9);
    ticks.push(
      html`<line x1="${at}" x2="${at}" y1="18" y2="${height}" class="tick" /><text
          x="${at}"
          y="12"
          class="axis"
          text-anchor="middle"
          >${Number(second.toFixed(1))} s</text
        >`,
    );
  }
  return ticks;
}

function drawFault(axis: Axis, fault: FaultSummary, y: number): Markup {
  const from = axis.x(fault.startTime);
  const to = axis.x(fault.endTime ?? axis.end);
  const nodes = Object.entries(fault.nodes)
    .map(([role, node]) => `${role} ${Array.isArray(node) ? node.join('+') : String(node)}`)
    .join(', ');
  const label = `${fault.kind}${nodes === '' ? '' : `: ${nodes}`}${fault.effective ? '' : ' (no effect)'}`;
  return html`<g>
    <title>
      ${label}, ${seconds(fault.startTime)} to ${fault.endTime === null ? 'the end' : seconds(fault.endTime)}
    </title>
    <text x="4" y="${y + 12}" class="node">${fault.kind}</text>
    <rect
      x="${from}"
      y="${y}"
      width="${Math.max(2, to - from)}"
      height="${ROW - 7}"
      class="${fault.effective ? 'fault' : 'fault idle'}"
    />
    <text x="${Math.min(from + 4, WIDTH - 220)}" y="${y + 12}" class="fault-label"
      >${nodes}${fault.effective ? null : ' (no effect)'}</text
    ></g
  >`;
}

interface Span {
  readonly from: number;
  to: number;
  readonly state: 'leader' | 'follower' | 'down';
  readonly epoch: number;
}

function drawBroker(
  axis: Axis,
  broker: number,
  trace: readonly TraceLine[],
  lines: readonly TraceLine[],
  y: number,
): Markup {
  const spans = spansOf(broker, trace, lines, axis.end);
  const truncations = lines.filter(
    (line) => line.node === broker && line.event === 'truncation' && (line['to'] as number) < (line['from'] as number),
  );
  return html`<g>
    <text x="4" y="${y + 12}" class="node">broker ${broker}</text>
    ${spans.map((span) => {
      const from = axis.x(span.from);
      const width = Math.max(1, axis.x(span.to) - from);
      return html`<g
        ><title>
          broker ${broker}: ${span.state}${span.state === 'down' ? '' : `, epoch ${span.epoch}`}, ${seconds(span.from)}
          to ${seconds(span.to)}</title
        ><rect
          x="${from}"
          y="${y}"
          width="${width}"
          height="${ROW - 7}"
          class="span ${span.state}"
          ${span.state === 'leader' ? html`fill="${epochColour(span.epoch)}"` : null}
        />${
          span.state === 'leader' && width > 26
            ? html`<text x="${from + 4}" y="${y + 12}" class="epoch">e${span.epoch}</text>`
            : null
        }</g
      >`;
    })}
    ${truncations.map((line) => html`<path d="M${axis.x(line.time)} ${y + 8}l8 -5v10z" class="cut-head"><title>truncation from ${line['from'] as number} to ${line['to'] as number} by ${String(line['rule'])} at ${seconds(line.time)}</title></path>`)}
  </g>`;
}

/** Who a broker was, and when: from its own lines, and from the controller's word that it is gone. */
function spansOf(broker: number, trace: readonly TraceLine[], lines: readonly TraceLine[], end: number): Span[] {
  const own = [
    ...lines.filter((line) => line.node === broker && line.event === 'role'),
    ...trace.filter(
      (line) =>
        (line.node === 'controller' && line['broker'] === broker && line.event === 'fence') ||
        (line.node === broker && (line.event === 'stop' || line.event === 'start')),
    ),
  ].sort((a, b) => a.time - b.time);
  const spans: Span[] = [];
  for (const line of own) {
    const last = spans.at(-1);
    if (last !== undefined) last.to = line.time;
    if (line.event === 'start') continue;
    const state = line.event === 'role' ? (line['role'] as 'leader' | 'follower') : 'down';
    spans.push({ from: line.time, to: end, state, epoch: line.leaderEpoch ?? -1 });
  }
  return spans;
}

function drawElections(axis: Axis, lines: readonly TraceLine[], top: number, height: number): Markup[] {
  return lines
    .filter((line) => line.event === 'election')
    .map((line) => {
      const at = axis.x(line.time);
      const leader = line['leader'] === null ? 'nobody leads' : `broker ${String(line['leader'])} leads`;
      return html`<line x1="${at}" x2="${at}" y1="${top - 4}" y2="${top + height}" class="election"
        ><title>
          election at ${seconds(line.time)}: ${leader} in epoch
          ${line.leaderEpoch ?? -1}${line['clean'] === false ? ', unclean' : ''}
        </title></line
      >`;
    });
}

function drawAcks(axis: Axis, lines: readonly TraceLine[], y: number): Markup {
  const counts = Array.from<number>({ length: COLUMNS }).fill(0);
  let total = 0;
  for (const line of lines) {
    if (line.event !== 'ack') continue;
    total += 1;
    const column = Math.min(COLUMNS - 1, Math.floor(((line.time - axis.start) / (axis.end - axis.start)) * COLUMNS));
    counts[column] = (counts[column] ?? 0) + 1;
  }
  const max = Math.max(1, ...counts);
  const width = (WIDTH - LEFT - 10) / COLUMNS;
  return html`<g>
    <title>${total} acknowledgements</title>
    <text x="4" y="${y + 24}" class="node">acknowledged</text>
    ${counts.map((count, index) => {
      const height = (count / max) * 30;
      return count === 0
        ? null
        : html`<rect
            x="${LEFT + index * width}"
            y="${y + 32 - height}"
            width="${Math.max(1, width - 0.5)}"
            height="${height}"
            class="acks"
          />`;
    })}
  </g>`;
}
