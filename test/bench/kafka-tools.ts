/**
 * `verify-logs` beside Kafka's own DumpLogSegments, on the same 200 MB, in the same minute, from a warm cache.
 *
 * The two do not do the same: DumpLogSegments decodes and prints every record of one log and leaves the judging to its
 * reader (its output goes nowhere here); `verify-logs` judges, and takes records out of their batches only where copies
 * differ. What they share is that every byte is read and every checksum computed. One copy is given to both, and the
 * start of either process is not counted. The two take turns, so that other work on the machine hits both alike.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedReleases, libraries, type CachedKafka } from '../../docker/targets/kafka-cache.ts';
import { findTool } from '../../docker/host.ts';
import { median, spread, type Figure } from './figure.ts';
import { writeLog } from './log-files.ts';

const segments = 3;
const rounds = 3;
const shapes = [
  { what: '1 kB records', recordBytes: 1000, recordsPerBatch: 16 },
  { what: '60-byte records', recordBytes: 60, recordsPerBatch: 250 },
];

/** The figures, or why there are none. */
export function toolFigures(): Figure[] | string {
  const java = findTool('java');
  if (java === null) return 'DumpLogSegments was not measured: there is no `java` on this machine';
  const kafka = cachedReleases().findLast(({ entry }) => entry.source === 'maven');
  if (kafka === undefined) return 'DumpLogSegments was not measured: type npm run tidemark -- fetch kafka:4.4.0';
  return shapes.flatMap((shape) => figuresOf(shape, java, kafka));
}

function figuresOf(shape: (typeof shapes)[number], java: string, kafka: CachedKafka): Figure[] {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-bench-tools-'));
  try {
    const replica = join(directory, 'broker-1', 'load-0');
    const files = writeLog([replica], shape, segments).map((name) => join(replica, name));
    const empty = join(directory, '00000000000000000000.log');
    writeFileSync(empty, '');
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const own = verifyLogs(join(directory, 'broker-1'));
      const startMs = dumpLogs(java, kafka, [empty]);
      const workMs = dumpLogs(java, kafka, files) - startMs;
      // The first round warms the cache.
      if (round === 0) continue;
      ours.push(own.speed);
      theirs.push(own.bytes / workMs / 1000);
    }
    const ratio = median(ours) / median(theirs);
    return [
      {
        what: `verify-logs, 200 MB of ${shape.what}`,
        value: median(ours),
        unit: 'MB/s',
        budget: 'five times the other',
        note: `${spread(ours)}; ${ratio.toFixed(1)} times the next line`,
      },
      {
        what: `DumpLogSegments of Kafka ${kafka.entry.version}, the same files`,
        value: median(theirs),
        unit: 'MB/s',
        note: `${spread(theirs)}; with --deep-iteration; the time that it takes for an empty segment is taken off`,
      },
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Megabytes a second, without the start of the process. */
function verifyLogs(directory: string): { readonly speed: number; readonly bytes: number } {
  const program = fileURLToPath(new URL('logs-program.ts', import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, directory], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`verify-logs failed: ${stderr}`);
  const { ms, bytes } = JSON.parse(stdout) as { readonly ms: number; readonly bytes: number };
  return { speed: bytes / ms / 1000, bytes };
}

/** Milliseconds. The tool moved from `kafka.tools` to `org.apache.kafka.tools` after 4.2. */
function dumpLogs(java: string, kafka: CachedKafka, files: readonly string[]): number {
  const failures: string[] = [];
  for (const tool of ['org.apache.kafka.tools.DumpLogSegments', 'kafka.tools.DumpLogSegments']) {
    const started = performance.now();
    const jars = join(kafka.directory, libraries, '*');
    const flags = ['-cp', jars, tool, '--deep-iteration', '--files', files.join(',')];
    const { status, stderr } = spawnSync(java, flags, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
    if (status === 0) return performance.now() - started;
    failures.push(stderr);
  }
  throw new Error(`DumpLogSegments failed: ${failures.join('; ')}`);
}
