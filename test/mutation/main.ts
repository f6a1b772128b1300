/**
 * `npm run mutation -- checker/excuse.ts checker/logs/*.ts`: mutation testing of these files, or of all of `checker/`.
 *
 * It ends with what lives without a reason, in the form of the files of reasons (`reasons.ts`), and with reasons that no
 * longer hold. `--reasons` says this of the last report without a run; `--report FILE` keeps the report elsewhere, so that
 * two runs do not meet; `--incremental` runs again only what may have changed since that report, by Stryker's rules: mutants
 * of changed lines, and what lived where there are new tests. `--quick` leaves out the tests that take most of the time: for
 * a source with tests of its own its score is hardly lower then, and never higher. `--concurrency N` is Stryker's.
 */
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { disagreement, measure, parseReport, readReasons, type Report } from './reasons.ts';

const goal = 0.95;

const { values, positionals } = flags();

if (!values.reasons) {
  if (values.quick) process.env['MUTATION_QUICK'] = '1';
  await new Stryker({
    configFile: 'test/mutation/stryker.config.json',
    jsonReporter: { fileName: values.report },
    incremental: values.incremental,
    incrementalFile: values.report.replace(/\.json$/, '.incremental.json'),
    concurrency: Number(values.concurrency),
    ...(positionals.length === 0 ? {} : { mutate: positionals }),
  }).runMutationTest();
}
judge(reportIn(values.report));

function flags() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        reasons: { type: 'boolean', default: false },
        report: { type: 'string', default: 'store/mutation/report.json' },
        quick: { type: 'boolean', default: false },
        incremental: { type: 'boolean', default: false },
        concurrency: { type: 'string', default: '1' },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function reportIn(path: string): Report {
  if (!existsSync(path))
    return refuse(`${path}: there is no report yet; run it without --reasons, or name one with --report`);
  const report = parseReport(readFileSync(path, 'utf8'));
  return report ?? refuse(`${path} is no whole report; make it anew: run it without --reasons`);
}

function refuse(what: string): never {
  console.error(`mutation: ${what}`);
  process.exit(254);
}

function judge(report: Report): void {
  const rows: string[] = [];
  const all = { mutants: 0, killed: 0 };
  for (const [file, measuredFile] of Object.entries(report.files)) {
    const { mutants, killed, living } = measure(measuredFile);
    const reasonsFile = `test/mutation/survivors/${file.replace(/\.ts$/, '.txt')}`;
    const reasons = existsSync(reasonsFile) ? readReasons(readFileSync(reasonsFile, 'utf8')) : [];
    const { unreasoned, stale } = disagreement(living, reasons);
    const score = mutants === 0 ? 1 : killed / mutants;
    rows.push(
      `| \`${file}\` | ${mutants} | ${killed} | ${(100 * score).toFixed(1)} % | ${mutants - killed - unreasoned.length} |`,
    );
    if (unreasoned.length > 0) console.log(`${reasonsFile}: these live without a reason:\n${unreasoned.join('\n')}\n`);
    if (stale.length > 0) console.log(`${reasonsFile}: these have a reason, and do not live:\n${stale.join('\n')}\n`);
    if (unreasoned.length > 0 || stale.length > 0) process.exitCode = 1;
    all.mutants += mutants;
    all.killed += killed;
  }
  if (all.killed < goal * all.mutants) process.exitCode = 1;
  const score = all.mutants === 0 ? 1 : all.killed / all.mutants;
  rows.push(`| together | ${all.mutants} | ${all.killed} | ${(100 * score).toFixed(1)} % | |`);
  console.log(
    ['| file | mutants | killed | score | live with a reason |', '| --- | --- | --- | --- | --- |', ...rows].join('\n'),
  );
}
