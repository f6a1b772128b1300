/**
 * Two rates with their intervals on one scale from 0 to 100 %: how often each build broke a promise.
 */
import type { BuildResults } from '../../checker/results.ts';
import { html, type Markup } from './html.ts';
import { percent, shortened } from './words.ts';

const WIDTH = 760;
const LEFT = 120;
const PLOT = WIDTH - LEFT - 150;
const ROW = 34;

export function drawRates(control: BuildResults, candidate: BuildResults): Markup {
  const x = (rate: number): number => Math.round(LEFT + Math.min(1, Math.max(0, rate)) * PLOT);
  const rows = [control, candidate].map((build, index) => {
    const y = 22 + index * ROW;
    const { low, high } = build.interval;
    const mood = build.anomalous > 0 ? 'bad' : 'good';
    return html`<g
      ><title>
        ${build.build}: ${build.anomalous} of ${build.runs} runs, ${percent(low)} to ${percent(high)} with 95 %
        confidence</title
      ><text x="${LEFT - 12}" y="${y + 4}" text-anchor="end" class="node">${shortened(build.build, 16)}</text
      ><path d="M${LEFT} ${y}H${LEFT + PLOT}" class="rule-line" /><path
        d="M${x(low)} ${y}H${x(high)}"
        class="interval ${mood}"
      /><circle cx="${x(build.rate)}" cy="${y}" r="6" class="rate ${mood}" /><text x="${LEFT + PLOT + 14}" y="${y + 4}"
        >${build.anomalous} of ${build.runs} runs</text
      ></g
    >`;
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (rate) =>
      html`<path d="M${x(rate)} 8V${2 * ROW + 4}" class="tick" /><text
          x="${x(rate)}"
          y="${2 * ROW + 18}"
          text-anchor="middle"
          class="axis"
          >${percent(rate)}</text
        >`,
  );
  return html`<figure>
    <div class="scroll" tabindex="0" role="group" aria-label="rates">
      <svg
        viewBox="0 0 ${WIDTH} ${2 * ROW + 26}"
        width="${WIDTH}"
        height="${2 * ROW + 26}"
        role="img"
        aria-label="Share of runs that broke a promise: ${control.build} ${percent(control.rate)}, ${candidate.build} ${percent(candidate.rate)}"
      >
        ${ticks}${rows}
      </svg>
    </div>
    <figcaption>Share of runs that broke a promise, with 95 % intervals</figcaption>
  </figure>`;
}
