/** Probes the engine that its argument names, and prints the outcome: for tests that probe from somewhere else. */
import { writeSync } from 'node:fs';
import { probeEngine } from '../../docker/engine.ts';

writeSync(1, JSON.stringify(await probeEngine({ dockerHost: process.argv[2] ?? '' })));
