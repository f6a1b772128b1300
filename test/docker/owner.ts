/** Deploys a cluster of stand-ins under the name in its argument, cuts a link, says so, and stays: for tests that kill it. */
import { writeSync } from 'node:fs';
import { deploy, specOf } from './cluster.ts';

const stage = await deploy({ ...specOf(), runId: process.argv[2] ?? '' });
await stage.cluster.perform({ port: 'links', cuts: [{ from: 1, to: 2 }] });
writeSync(1, 'deployed\n');
setInterval(() => {}, 1_000);
