/** `node check-program.ts check|report DIR`: does that one step on a run's folder, and prints what it took. */
import { join } from 'node:path';
import { checkRunDirectory } from '../../harness/check/load-run.ts';
import { writeRunReport } from '../../harness/report/run.ts';
import { writeJson } from '../../harness/store.ts';
import type { Measured } from './checking.ts';

const [step, directory = ''] = process.argv.slice(2);
const started = performance.now();
if (step === 'check') writeJson(join(directory, 'results.json'), checkRunDirectory(directory));
else writeRunReport(directory);
const measured: Measured = { ms: performance.now() - started, peakMb: process.resourceUsage().maxRSS / 1000 };
process.stdout.write(JSON.stringify(measured));
