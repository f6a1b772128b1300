/**
 * `verify-logs` over replicas that agree: how many bytes a second, of all copies together, from a warm cache, with every
 * checksum known to be right.
 *
 * The logs are those of three brokers, two partitions each, in segments of 64 MB; each batch holds records of random
 * text. One copy alone is measured too: there nothing can be compared, so every byte goes through a checksum.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeBatch } from '../../broker/protocol/index.ts';
import { median, spread, type Figure } from './figure.ts';

const brokers = 3;
const partitions = 2;
const segmentBytes = 64 << 20;
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
  const template = batchOf(recordBytes, recordsPerBatch);
  const perWrite = Math.max(1, Math.floor((1 << 20) / template.length));
  const block = Buffer.alloc(perWrite * template.length);
  for (let at = 0; at < perWrite; at += 1) block.set(template, at * template.length);
  for (let partition = 0; partition < partitions; partition += 1) {
    for (let broker = 1; broker <= brokers; broker += 1) {
      mkdirSync(join(directory, `broker-${broker}`, `load-${partition}`), { recursive: true });
    }
    let offset = 0;
    for (let segment = 0; segment < segments; segment += 1) {
      const name = `load-${partition}/${String(offset).padStart(20, '0')}.log`;
      const files = Array.from({ length: brokers }, (_, index) =>
        openSync(join(directory, `broker-${index + 1}`, name), 'w'),
      );
      for (let written = 0; written < segmentBytes; written += block.length) {
        // Base offsets stand outside of the checksum.
        for (let at = 0; at < block.length; at += template.length) {
          block.writeBigInt64BE(BigInt(offset), at);
          offset += recordsPerBatch;
        }
        for (const file of files) writeSync(file, block);
      }
      files.forEach(closeSync);
    }
  }
}

function batchOf(recordBytes: number, count: number): Uint8Array {
  let state = 1;
  const letter = (): string => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return String.fromCharCode(97 + ((state >>> 16) % 26));
  };
  const records = Array.from({ length: count }, () => ({
    key: null,
    value: Array.from({ length: recordBytes }, letter).join(''),
  }));
  return encodeBatch({ baseOffset: 0, leaderEpoch: 0, records });
}
