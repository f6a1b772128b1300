/**
 * `npm run bench`: figures about Tidemark on this machine. `docs/benchmarks.md` says what each means.
 *
 * Nothing is asserted: a figure beside its budget is for people to judge. `--json` prints one document on standard
 * output and nothing else there; progress goes to standard error. Parts that are named are measured alone.
 */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { probeEngine } from '../../docker/engine.ts';
import { chooseRuntime } from '../../harness/run/runtimes.ts';
import { checkingFigures } from './checking.ts';
import { clusterFigures, sendFigures } from './clusters.ts';
import { markdownTable } from './figure.ts';
import type { Figure } from './figure.ts';
import { toolFigures } from './kafka-tools.ts';
import { logFigures } from './logs.ts';
import { shrinkingFigures } from './shrinking.ts';
import { simulatorFigures } from './simulator.ts';

const CONCURRENCIES = [1, 8, 32, 128];

const parts = ['simulator', 'shrinking', 'checking', 'logs', 'kafka-tools', 'local', 'containers'] as const;
const flags = process.argv.slice(2);
const named = parts.filter((part) => flags.includes(part));
if (flags.some((flag) => flag !== '--json' && flag !== '--large' && !named.some((part) => part === flag))) {
  console.error(
    `usage: npm run bench -- [--json] [--large] [PART…], where a part is ${parts.join(', ')}; all, when none is named`,
  );
  process.exit(254);
}
const wanted = (part: (typeof parts)[number]): boolean => named.length === 0 || named.includes(part);
// Before our own: what else keeps this machine busy.
const load = loadavg()[0] ?? 0;
const figures: Figure[] = [];
const notes: string[] = [];

function doing(what: string): void {
  process.stderr.write(`measuring: ${what}\n`);
}

if (wanted('simulator')) {
  doing('the simulator');
  figures.push(...simulatorFigures());
}
if (wanted('shrinking')) {
  doing('shrinking');
  const shrinking = await shrinkingFigures(doing);
  figures.push(...shrinking.figures);
  notes.push(shrinking.table);
}
if (wanted('checking')) {
  doing('check and report');
  figures.push(...checkingFigures(flags.includes('--large')));
}
if (wanted('logs')) {
  doing('verify-logs');
  figures.push(...logFigures());
}
if (wanted('kafka-tools')) {
  doing("verify-logs beside Kafka's own tool");
  const measured = toolFigures();
  if (typeof measured === 'string') notes.push(measured);
  else figures.push(...measured);
}
if (wanted('local')) {
  doing('local processes');
  const local = await chooseRuntime('local');
  figures.push(...(await clusterFigures(local)), ...(await sendFigures(local, CONCURRENCIES)));
}
const probe = await probeEngine();
if (wanted('containers') && probe.ok) {
  doing('containers');
  figures.push(...(await clusterFigures(await chooseRuntime('docker'))));
} else if (wanted('containers') && !probe.ok) {
  notes.push(`containers were not measured: ${probe.line}`);
}

const machine = {
  processor: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  load,
  memoryGb: Math.round(totalmem() / 1e9),
  node: process.versions.node,
  engine: probe.ok ? probe.version : null,
};
const date = new Date().toISOString().slice(0, 10);
if (flags.includes('--json')) {
  process.stdout.write(
    `${JSON.stringify({ schemaVersion: 1, type: 'bench', date, machine, figures, notes }, null, 2)}\n`,
  );
} else {
  process.stdout.write(`${table()}\n`);
}
// An idle keep-alive socket of the engine may not keep this process.
process.exit();

/** The machine and the figures, then what there is to say of them. */
function table(): string {
  const { processor, cores, memoryGb, node, engine } = machine;
  const busy = `load ${load.toFixed(1)} before`;
  const head = `${date} · ${processor}, ${cores} cores, ${memoryGb} GB · ${busy} · Node ${node}${engine === null ? '' : ` · Docker ${engine}`}`;
  const rows = figures.map(({ what, value, unit, budget = '', note = '' }) => [
    what,
    `${written(value)} ${unit}`.trimEnd(),
    budget,
    note,
  ]);
  const lines = markdownTable([['what', 'figure', 'budget', ''], ...rows]);
  return [head, '', ...lines, ...notes.flatMap((note) => ['', note])].join('\n');
}

function written(value: number): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
