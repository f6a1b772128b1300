/** A harness that deploys stand-ins, says where, and then does nothing until it is killed. Arguments: run id, folder. */
import { writeSync } from 'node:fs';
import { deployLocal } from '../../../harness/local/runtime.ts';

const [, , runId = '', directory = ''] = process.argv;
const cluster = await deployLocal({
  runId,
  brokers: [1, 2],
  command: (place) => ['test/harness/local/stand-in.ts', JSON.stringify(place)],
  directory,
  progress: () => undefined,
  signal: new AbortController().signal,
});
await cluster.perform({ port: 'process', verb: 'pause', node: 1 });
writeSync(1, 'deployed\n');
setInterval(() => undefined, 60_000);
