/**
 * `npm run defects`: searches for each defect as `tidemark explore` does, and writes down where it was found.
 *
 * A defect counts as found in the first run that shows what its row in the table says, while under the same plan the
 * build without the defect, and `epoch`, keep every promise. `docs/defects.md` and the seeds that the test replays
 * (`test/harness/explore/defect-finds.json`) are written anew. `--only` searches for some and keeps what is known of the
 * others; a defect that is not found within `--runs` is told, and fails the command.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { defects, isDefect, type DefectName } from '../../broker/core/defects.ts';
import type { AnomalyKind } from '../../checker/results.ts';
import type { Pins } from '../../harness/explore/draws.ts';
import { planOfJob, runJob, type SearchJob, type SearchResult } from '../../harness/explore/one-run.ts';
import { runJobs } from '../../harness/explore/pool.ts';
import { defectTable, isShownBy, jobOf, letters, type DefectFinds } from '../harness/explore/defect-table.ts';

const findsFile = 'test/harness/explore/defect-finds.json';
const page = 'docs/defects.md';
const MOST_RUNS = 20_000;

const flags = flagsFrom(process.argv.slice(2));
const mostRuns = Number(flags.runs ?? MOST_RUNS);
const only = flags.only?.split(',') ?? Object.keys(defects);
const unknown = only.find((name) => !isDefect(name));
if (unknown !== undefined) refuse(`--only: there is no defect ${unknown}; ${page} lists them`);
if (!Number.isSafeInteger(mostRuns) || mostRuns < 1) refuse('--runs takes a whole number from 1');

const known = JSON.parse(readFileSync(findsFile, 'utf8')) as DefectFinds;
const finds: Record<string, DefectFinds[string]> = {};
const missing: string[] = [];
for (const name of Object.keys(defects).filter(isDefect)) {
  const before = known[name];
  const isSought = only.includes(name);
  const find = isSought ? await seek(name) : before;
  if (find !== undefined) finds[name] = find;
  else if (isSought) missing.push(name);
}
writeFileSync(findsFile, linesOf(finds));
writeFileSync(page, pageOf(finds));
for (const name of missing) console.error(`${name}: not found`);
process.exitCode = missing.length > 0 ? 1 : 0;

function flagsFrom(argv: string[]): { readonly runs?: string; readonly only?: string } {
  try {
    return parseArgs({ args: argv, options: { runs: { type: 'string' }, only: { type: 'string' } } }).values;
  } catch {
    return refuse('usage: npm run defects -- [--runs <n>] [--only <defect>,<defect>]');
  }
}

function refuse(why: string): never {
  console.error(why);
  process.exit(254);
}

async function seek(name: DefectName): Promise<DefectFinds[string] | undefined> {
  const startMs = performance.now();
  const jobs = Array.from({ length: mostRuns }, (_, index) => jobOf(name, index + 1));
  const results = runJobs<SearchJob, SearchResult>(jobs, {
    module: new URL('../../harness/explore/one-run.ts', import.meta.url),
    load: () => import('../../harness/explore/one-run.ts'),
    threads: availableParallelism(),
    signal: new AbortController().signal,
  });
  let runs = 0;
  for await (const result of results) {
    runs += 1;
    if (!isShownBy(name, result) || !isCleanWithout(name, runs)) continue;
    const seconds = Math.round((performance.now() - startMs) / 100) / 10;
    const kinds = [...new Set(result.violations.map(({ kind }) => kind))];
    console.error(`${name}: ${kinds.join(', ')} in run ${runs}, after ${seconds} s`);
    return { seed: runs, seconds, kinds };
  }
  console.error(`${name}: nothing in ${runs} runs`);
  return undefined;
}

/** Nobody but the defect is to blame. That `epoch` breaks a promise without it would be a find of its own. */
function isCleanWithout(name: DefectName, seed: number): boolean {
  const { config, schedule } = planOfJob(jobOf(name, seed));
  const without = (build: string) => runJob({ config: { ...config, build, defects: [] }, schedule }).valid;
  const epoch = without('epoch');
  if (epoch !== true) console.error(`epoch is ${epoch} under the plan of run ${seed} for ${name}`);
  return epoch === true && (config.build === 'epoch' || without(config.build) === true);
}

function pageOf(found: DefectFinds): string {
  const rows = Object.entries(defects).map(([name, { does, after }]) => {
    const { build, shows } = defectTable[name as DefectName];
    const find = found[name];
    const where = find === undefined ? 'not found | | ' : `${find.kinds.join(', ')} | ${find.seed} | ${find.seconds}`;
    return `| \`${name}\` | ${does}${after === null ? '' : ` (${after})`} | ${build} | ${shows.join(', ')} | ${where} |`;
  });
  return `# Defects

\`--defect NAME\` starts a cluster with a bug on top of its build: one that a real broker had, or one that it might have.
Each is one switch in the broker or in the controller. They exist to see that the checker finds what is there: a
checker that was never seen to be red proves nothing by being green.

This page is written by \`npm run defects\`, which searches for every one of them as [\`tidemark explore\`](exploring.md)
does, run by run from seed 1. A defect counts as found in the first run that shows what it has to, while under the same
plan the build without it, and \`epoch\`, keep every promise.

| letter | means | kinds of anomaly |
| --- | --- | --- |
${Object.entries(letters)
  .map(([letter, { means, kinds }]) => `| ${letter} | ${means} | ${kindsOf(kinds)} |`)
  .join('\n')}

Found on ${cpus()[0]?.model ?? 'an unknown processor'}, ${availableParallelism()} threads; the seconds are wall time from the first run on.

| defect | the broker, or the controller | on | has to show | found | run and seed | seconds |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

## Not here

Three bugs of real brokers have a place in the core as well, and are no defects, since no run could be blamed on them alone:

- A follower out of its leader's range begins anew at the leader's start, where the leader has grown past it by the time that
  it asks (KAFKA-2143). A follower is out of range only after its log has parted from the leader's, and what the leader has
  written there since is something else. So the broker without the bug, which keeps its records, breaks a promise too; and
  on \`epoch\` no follower is ever out of range, since it asks for the epoch first.
- The high watermark is not looked at when the ISR shrinks (KAFKA-13091, Liftbridge 35e7cd3). The next record or the next
  fetch moves it; until then producers wait, and may wait in vain, which is no promise broken: they were told nothing.
- A follower serves consumers without asking whether they know the epoch (KAFKA-9004, KAFKA-14255). It gives them what lies
  below its high watermark, which is committed. They read late, and how late is no promise.

## See one

What the search pins stands in these commands; where nothing is pinned the whole of it is
\`npm run tidemark -- explore --build BUILD --defect NAME --seed 1 --until-fail\`.

\`\`\`
${Object.entries(defectTable)
  .filter(([, { pins }]) => Object.keys(pins).length > 0)
  .map(
    ([name, { build, pins }]) =>
      `npm run tidemark -- explore --build ${build} --defect ${name} ${flagsOf(pins)} --seed 1 --until-fail`,
  )
  .join('\n')}
\`\`\`
`;
}

/** One line for each defect, as the formatter of the house wants it. */
function linesOf(found: DefectFinds): string {
  const lines = Object.entries(found).map(([name, { seed, seconds, kinds }]) => {
    const listed = kinds.map((kind) => `"${kind}"`).join(', ');
    return `  "${name}": { "seed": ${seed}, "seconds": ${seconds}, "kinds": [${listed}] }`;
  });
  return `{\n${lines.join(',\n')}\n}\n`;
}

function kindsOf(kinds: readonly AnomalyKind[]): string {
  return kinds.map((kind) => `\`${kind}\``).join(', ');
}

function flagsOf(pins: Pins): string {
  const { nemesis } = pins;
  const flagFor = (flag: string, value: number | undefined, unit = '') =>
    value === undefined ? [] : [`${flag} ${value}${unit}`];
  return [
    ...flagFor('--nodes', pins.brokers),
    ...flagFor('--partitions', pins.partitions),
    ...flagFor('--min-insync', pins.minInsyncReplicas),
    ...(nemesis === undefined ? [] : [`--nemesis ${nemesis.join(',')}`]),
    ...flagFor('--nemesis-interval', pins.nemesisIntervalMs, 'ms'),
    ...flagFor('--time-limit', pins.timeLimitMs, 'ms'),
    ...flagFor('--replica-lag-time', pins.replicaLagTimeMaxMs, 'ms'),
    ...flagFor('--fetch-wait', pins.fetchMaxWaitMs, 'ms'),
    ...flagFor('--session-timeout', pins.brokerSessionTimeoutMs, 'ms'),
    ...flagFor('--hw-checkpoint-interval', pins.highWatermarkCheckpointIntervalMs, 'ms'),
  ].join(' ');
}
