/**
 * How the report says numbers, moments and references, so that one thing is said in one way everywhere.
 */
import type { BuildResults, ComparisonResults, Reference, RunResults } from '../../checker/results.ts';

/** A moment of the run's clock, in seconds since the run began. */
export function seconds(timeNs: number): string {
  return `${(timeNs / 1e9).toFixed(3)} s`;
}

/** A length of time, in the unit that reads best. */
export function duration(ns: number): string {
  const ms = ns / 1e6;
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** A size, in the unit that reads best: powers of 1000, as file managers say them. */
export function bytesInWords(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, 'byte');
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

export function percent(rate: number): string {
  return `${(100 * rate).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)} %`;
}

export function pValue(p: number): string {
  return p < 0.001 ? p.toExponential(1) : p.toFixed(3);
}

/** The 95 % interval of a rate, with its method. */
export function intervalInWords({ interval }: Pick<BuildResults, 'interval'>): string {
  return interval.method === 'one-sided-zero'
    ? `at most ${percent(interval.high)} (one-sided)`
    : `${percent(interval.low)} to ${percent(interval.high)} (Wilson)`;
}

/** The rate; where runs are unknown also what it would be if all of them were good, or bad. */
export function rateInWords({ rate, unknown, bounds }: Pick<BuildResults, 'rate' | 'unknown' | 'bounds'>): string {
  if (unknown === 0) return percent(rate);
  return `${percent(rate)} (${percent(bounds.allGood)} to ${percent(bounds.allBad)}, with the unknown)`;
}

/** How many runs met the dangerous moment, and of how many nobody knows. */
export function exercisedInWords({
  exercised,
  exercisedUnknown: dark = 0,
}: Pick<BuildResults, 'exercised' | 'exercisedUnknown'>): string {
  return dark === 0 ? String(exercised) : `${exercised} (${dark} not known)`;
}

/** `lost-acked-write 12, replica-divergence 3`: violations by kind, in how many runs. */
export function kindsInWords({ kinds }: Pick<BuildResults, 'kinds'>): string {
  const told = Object.entries(kinds).map(([kind, runs]) => `${kind} ${runs}`);
  return told.join(', ') || 'none';
}

export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** `1 run`, `3 runs`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `epoch`, or `epoch with ack-at-leo` where bugs are switched on beside it. */
export function buildInWords(build: string, defects: readonly string[]): string {
  return defects.length === 0 ? build : `${build} with ${listInWords(defects)}`;
}

/** The bugs that a run had switched on. */
export function defectsOf({ configuration }: RunResults['run']): readonly string[] {
  const { defects } = configuration;
  return Array.isArray(defects) ? defects.filter((name) => typeof name === 'string') : [];
}

/** `a`, `a and b`, `a, b and c`. */
export function listInWords(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** `7`, or `7 to 9`. */
export function span(first: number, last: number): string {
  return first === last ? String(first) : `${first} to ${last}`;
}

/** Which seeds were declared, and which of them are at hand: `7 to 12`, `7 to 12, shard 1 of 3`. */
export function seedsInWords({
  seeds: own,
  shard,
  notRun = [],
}: Pick<ComparisonResults, 'seeds' | 'shard' | 'notRun'>): string {
  const seeds = shard?.seeds ?? own;
  const [first, last] = [seeds[0], seeds.at(-1)];
  if (first === undefined || last === undefined) return 'none';
  const ofShard = shard === undefined ? '' : `, shard ${shard.index} of ${shard.count}`;
  return `${span(first, last)}${ofShard}${notRun.length === 0 ? '' : `, of which nobody ran ${notRun.length}`}`;
}

/** `broker 2`, `brokers 1 and 3`, `the controller`. */
function nodesInWords(nodes: unknown): string {
  const list: readonly unknown[] = Array.isArray(nodes) ? nodes : [nodes];
  const brokers = list.filter((node) => node !== 'controller').map(plain);
  const parts = [
    ...(brokers.length === 0 ? [] : [`${brokers.length === 1 ? 'broker' : 'brokers'} ${listInWords(brokers)}`]),
    ...(list.includes('controller') ? ['the controller'] : []),
  ];
  return parts.length === 0 ? 'nobody' : listInWords(parts);
}

/** Whom a fault hit, role by role. */
export function rolesInWords(nodes: Readonly<Record<string, unknown>>): string {
  return Object.entries(nodes)
    .map(([role, hit]) => (role === 'targets' || role === hit ? nodesInWords(hit) : `${role}: ${nodesInWords(hit)}`))
    .join('; ');
}

/**
 * `history 12`, `trace 2.1:40` and `seen 2.1:40` (node, boot, seq), `log 2@7` (node, offset): as `tidemark check` prints
 * them.
 */
export function referenceInWords(reference: Reference): string {
  switch (reference.source) {
    case 'history':
      return `history ${reference.index}`;
    case 'trace':
      return `trace ${reference.node}.${reference.boot}:${reference.seq}`;
    case 'observation':
      return `seen ${reference.node}.${reference.boot}:${reference.seq}`;
    case 'log':
      return `log ${reference.node}@${reference.offset}`;
  }
}

/** The evidence of a truncation. */
export function becauseOf(evidence: Readonly<Record<string, unknown>>): string {
  const { highWatermark, leader, question, answer, leaderStart, leaderEnd, words } = evidence;
  if (words !== undefined) return `as its log said: ${plain(words)}`;
  if (highWatermark !== undefined) return `its own high watermark is ${plain(highWatermark)}`;
  if (isFields(question) && isFields(answer)) {
    return `it asked broker ${plain(leader)} where epoch ${plain(question['epoch'])} ends, and was told that epoch ${plain(answer['epoch'])} ends at ${plain(answer['endOffset'])}`;
  }
  if (leaderEnd === undefined) return '';
  return `its leader, broker ${plain(leader)}, holds only offsets ${plain(leaderStart)} to ${plain(leaderEnd)}`;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** A word for a POSIX shell: plain words stay as they are, everything else is quoted. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Text of what ought to be a string or a number; anything else is shown as JSON. */
export function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : (JSON.stringify(value) ?? 'nothing');
}

/** Shortens from the middle, so that both ends stay readable. */
export function shortened(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const head = Math.ceil((charactersMax - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (charactersMax - 1 - head))}`;
}
