/**
 * `verify-logs` over replicas that agree: how many bytes a second, of all copies together, from a warm cache, with every
 * checksum known to be right.
 *
 * The logs are those of three brokers, two partitions each, in segments of 64 MB; each batch holds records of random
 * text. One copy alone is measured too: there nothing can be compared, so every byte goes through a checksum.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, spread, type Figure } from './figure.ts';
import { writeLog } from './log-files.ts';

const brokers = 3;
const partitions = 2;
const segments = 2;
const rounds = 5;

/** Records a batch and bytes a value: what producers send under load, and one at a time. */
const shapes = [
  { what: '1 kB records, 16 a batch', recordBytes: 1000, recordsPerBatch: 16, goal: '800 MB/s' },
  { what: '1 kB records, one a batch', recordBytes: 1000, recordsPerBatch: 1, goal: '800 MB/s' },
  { what: '60-byte records, 250 a batch', recordBytes: 60, recordsPerBatch: 250 },
  { what: '60-byte records, one a batch', recordBytes: 60, recordsPerBatch: 1 },
];

interface Run {
  readonly ms: number;
  /** Of the processor: what other work on this machine does not change. */
  readonly cpuMs: number;
  readonly peakMb: number;
  readonly bytes: number;
}

export function logFigures(): Figure[] {
  return shapes.flatMap((shape) => {
    const directory = mkdtempSync(join(tmpdir(), 'tidemark-bench-logs-'));
    try {
      writeLogs(directory, shape.recordBytes, shape.recordsPerBatch);
      const all = measure([directory]);
      const one = measure([join(directory, 'broker-1')]);
      const three: Figure = {
        what: `verify-logs: three copies of ${shape.what}`,
        value: median(all.map(speed)),
        unit: 'MB/s',
        note: `${noteOf(all)}; ${Math.round(Math.max(...all.map(({ peakMb }) => peakMb)))} MB at the peak`,
      };
      return [
        shape.goal === undefined ? three : { ...three, budget: `goal ${shape.goal}` },
        {
          what: `verify-logs: one copy of ${shape.what}`,
          value: median(one.map(speed)),
          unit: 'MB/s',
          note: noteOf(one),
        },
      ];
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
}

function speed({ bytes, ms }: Run): number {
  return bytes / ms / 1000;
}

function noteOf(runs: readonly Run[]): string {
  const perCpu = median(runs.map(({ bytes, cpuMs }) => bytes / cpuMs / 1000));
  return `${spread(runs.map(speed))}; ${Math.round(perCpu)} MB a second of the processor`;
}

function measure(directories: readonly string[]): Run[] {
  const program = fileURLToPath(new URL('logs-program.ts', import.meta.url));
  // The first round warms the cache.
  return Array.from({ length: rounds + 1 }, () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...directories], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`verify-logs failed: ${stderr}`);
    return JSON.parse(stdout) as Run;
  }).slice(1);
}

function writeLogs(directory: string, recordBytes: number, recordsPerBatch: number): void {
  for (let partition = 0; partition < partitions; partition += 1) {
    const copies = Array.from({ length: brokers }, (_, index) =>
      join(directory, `broker-${index + 1}`, `load-${partition}`),
    );
    writeLog(copies, { recordBytes, recordsPerBatch }, segments);
  }
}
