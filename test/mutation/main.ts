/**
 * `npm run mutation -- checker/excuse.ts checker/logs/*.ts`: mutation testing of these files, or of all of `checker/`.
 * Options of Stryker may follow, such as `--concurrency 2`.
 */
import { execFileSync } from 'node:child_process';

const given = process.argv.slice(2);
const firstOption = given.findIndex((argument) => argument.startsWith('-'));
const files = firstOption === -1 ? given : given.slice(0, firstOption);
const options = firstOption === -1 ? [] : given.slice(firstOption);
const mutate = files.length === 0 ? [] : ['--mutate', files.join(',')];

try {
  execFileSync('stryker', ['run', 'test/mutation/stryker.config.json', ...mutate, ...options], { stdio: 'inherit' });
} catch {
  // It has said what is wrong; below 95 % it fails.
  process.exitCode = 1;
}
