/**
 * The few statistics that a comparison stands on, exact and without a library.
 *
 * The unit is the run. A rate gets Wilson's interval; a rate of zero gets the one bound that zero can give,
 * 1 − 0.05^(1/n). Two builds under the same seeds are compared by the exact McNemar test: under "no difference" each
 * discordant pair falls to either side like a coin. Fisher's exact test is for runs that are not paired. All tests are
 * two-sided. Numbers are computed through logarithms of factorials, so that no count overflows.
 *
 * Left out: sequential tests and effect sizes over time; nothing here may be looked at before the last run is in.
 */

export interface Interval {
  readonly method: 'wilson' | 'one-sided-zero';
  readonly low: number;
  readonly high: number;
}

/** p-values up to here are called significant. */
export const SIGNIFICANCE = 0.05;

/** 97.5 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/** 95 % interval of a rate of `count` in `runs` (Wilson 1927); at zero the one-sided bound. */
export function rateInterval(count: number, runs: number): Interval {
  if (runs === 0) return { method: 'wilson', low: 0, high: 1 };
  if (count === 0) return { method: 'one-sided-zero', low: 0, high: 1 - 0.05 ** (1 / runs) };
  const rate = count / runs;
  const z2 = Z * Z;
  const centre = (rate + z2 / (2 * runs)) / (1 + z2 / runs);
  const half = (Z / (1 + z2 / runs)) * Math.sqrt((rate * (1 - rate)) / runs + z2 / (4 * runs * runs));
  return { method: 'wilson', low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** Exact two-sided McNemar (sign) test over the discordant pairs `b` and `c`. 1 when there are none. */
export function mcnemarExact(b: number, c: number): number {
  const n = b + c;
  if (n === 0) return 1;
  let tail = 0;
  for (let k = 0; k <= Math.min(b, c); k += 1) tail += Math.exp(logChoose(n, k) - n * Math.LN2);
  return Math.min(1, 2 * tail);
}

/** Smallest p that `pairs` pairs can show: all discordant, all to one side. */
export function smallestMcnemar(pairs: number): number {
  return pairs === 0 ? 1 : Math.min(1, 2 * 0.5 ** pairs);
}

/** Fisher's exact test, two-sided (sum of all tables as improbable as the observed), for `a` of `n` against `b` of `m`. */
export function fisherExact(a: number, n: number, b: number, m: number): number {
  const hits = a + b;
  const total = n + m;
  if (total === 0) return 1;
  const logProbability = (x: number): number => logChoose(n, x) + logChoose(m, hits - x) - logChoose(total, hits);
  const observed = logProbability(a);
  let sum = 0;
  for (let x = Math.max(0, hits - m); x <= Math.min(n, hits); x += 1) {
    const candidate = logProbability(x);
    // A relative tolerance, as tables that are equally probable differ in the last bits.
    if (candidate <= observed + 1e-9) sum += Math.exp(candidate);
  }
  return Math.min(1, sum);
}

/** Holm's step-down correction: adjusted p values in the order given. */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((p, index) => ({ p, index })).sort((x, y) => x.p - y.p);
  const adjusted = Array.from<number>({ length: pValues.length }).fill(1);
  let running = 0;
  for (const [rank, { p, index }] of order.entries()) {
    running = Math.max(running, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = running;
  }
  return adjusted;
}

/** ln(n choose k). */
function logChoose(n: number, k: number): number {
  if (k < 0 || k > n) return -Infinity;
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

const logFactorials: number[] = [0];

function logFactorial(n: number): number {
  for (let i = logFactorials.length; i <= n; i += 1) logFactorials.push((logFactorials[i - 1] ?? 0) + Math.log(i));
  return logFactorials[n] ?? 0;
}
