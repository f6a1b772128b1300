/** `node check-program.ts check|report DIR`: does that one step on a run's folder, and prints what it took. */
import { join } from 'node:path';
import { checkRunDirectory } from '../../harness/check/load-run.ts';
import { writeRunReport } from '../../harness/report/run.ts';
import { writeJson } from '../../harness/store.ts';
import type { Measured } from './checking.ts';

const [step, directory = ''] = process.argv.slice(2);
const started = performance.now();
const cpuStarted = process.cpuUsage();
let found: string[] = [];
if (step === 'check') {
  const results = checkRunDirectory(directory);
  found = results.anomalies.map(({ kind }) => kind);
  writeJson(join(directory, 'results.json'), results);
} else writeRunReport(directory);
const { user, system } = process.cpuUsage(cpuStarted);
const measured: Measured = {
  ms: performance.now() - started,
  cpuMs: (user + system) / 1000,
  peakMb: process.resourceUsage().maxRSS / 1000,
  found,
};
process.stdout.write(JSON.stringify(measured));
