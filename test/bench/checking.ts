/**
 * The checker on histories from ten thousand to a million operations (ten million when asked), and the report of one of
 * 100,000: the time, the time of the processor, the peak of memory.
 *
 * In each history one loss and one duplicate are planted, and the note says whether both, and nothing else, were found.
 * The histories hold no trace and no logs, so this measures how fast clients' words are judged. Each step is a process
 * of its own (`check-program.ts`), so that its peak is its own; starting Node is not counted.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultRunConfig } from '../../harness/plan/config.ts';
import { writeJson } from '../../harness/store.ts';
import { bigHistory } from '../checker/big-history.ts';
import type { Figure } from './figure.ts';

export interface Measured {
  readonly ms: number;
  /** Of the processor, which other work on the machine distorts less. */
  readonly cpuMs: number;
  readonly peakMb: number;
  /** The kinds of the anomalies. */
  readonly found: readonly string[];
}

const SIZES = [10_000, 100_000, 1_000_000];
const LARGE = 10_000_000;
const REPORTED = 100_000;

/** `large`: also ten million operations, which take a minute and 3 GB of disk. */
export function checkingFigures(large: boolean): Figure[] {
  return [...SIZES, ...(large ? [LARGE] : [])].flatMap(figuresOf);
}

function figuresOf(operations: number): Figure[] {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-bench-'));
  try {
    const lines = writeRun(directory, operations);
    const { ms, cpuMs, peakMb, found } = measure('check', directory);
    const many = operations.toLocaleString('en');
    const budgeted = operations === 1_000_000;
    const figures: Figure[] = [
      {
        what: `check ${many} operations`,
        value: ms,
        unit: 'ms',
        ...(budgeted ? { budget: 'under 3 s' } : {}),
        note: `${lines.toLocaleString('en')} lines; found: ${found.join(', ')}`,
      },
      { what: `check ${many} operations: time of the processor`, value: cpuMs, unit: 'ms' },
      {
        what: `check ${many} operations: peak memory of the process`,
        value: peakMb,
        unit: 'MB',
        ...(budgeted ? { budget: 'under 400 MB' } : {}),
      },
    ];
    return operations === REPORTED ? [...figures, ...reportFigures(directory)] : figures;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function reportFigures(directory: string): Figure[] {
  const report = measure('report', directory);
  const size = statSync(join(directory, 'report.html')).size;
  return [
    { what: 'report of that run', value: report.ms, unit: 'ms', budget: 'under 2 s' },
    { what: 'report: size', value: size / 1e6, unit: 'MB', budget: 'under 5 MB' },
  ];
}

/** A run's folder with a long history. Returns how many lines it has. */
function writeRun(directory: string, operations: number): number {
  const configuration = { ...defaultRunConfig, build: 'epoch', runtime: 'local', seed: 1 };
  writeJson(join(directory, 'run.json'), { schemaVersion: 1, name: 'bench', configuration, completed: true });
  const file = openSync(join(directory, 'history.jsonl'), 'wx');
  let count = 0;
  const chunk: string[] = [];
  const flush = (): void => void writeSync(file, chunk.splice(0).join(''));
  const planted = { lostAt: Math.floor(operations / 20), doubledAt: Math.floor(operations / 30) };
  for (const line of bigHistory({ operations, partitions: 8, processes: 8, planted })) {
    chunk.push(`${line}\n`);
    count += 1;
    if (chunk.length === 1_000) flush();
  }
  flush();
  closeSync(file);
  return count;
}

function measure(step: 'check' | 'report', directory: string): Measured {
  const program = fileURLToPath(new URL('check-program.ts', import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, step, directory], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${step} failed: ${stderr}`);
  return JSON.parse(stdout) as Measured;
}
