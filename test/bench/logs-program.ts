/** `node logs-program.ts DIR…`: verifies those logs as the command does, and prints what it took. */
import { verifyDirectories } from '../../harness/verify/verify.ts';

const started = performance.now();
const used = process.cpuUsage();
const document = await verifyDirectories(process.argv.slice(2), []);
const ms = performance.now() - started;
const { user, system } = process.cpuUsage(used);
if (document.exit !== 0) throw new Error('the logs are not as they were written');
const bytes = Object.values(document.brokers)
  .flatMap((partitions) => Object.values(partitions))
  .reduce((sum, copy) => sum + copy.bytes, 0);
process.stdout.write(
  JSON.stringify({ ms, cpuMs: (user + system) / 1000, peakMb: process.resourceUsage().maxRSS / 1000, bytes }),
);
