/**
 * The checker and the report on a healthy history of 100,000 operations: the time, the peak of memory, the size.
 *
 * The history holds no trace and no logs, so this measures how fast clients' words are judged. Each step is a process
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
  readonly peakMb: number;
}

const OPERATIONS = 100_000;

export function checkingFigures(): Figure[] {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-bench-'));
  try {
    const lines = writeRun(directory);
    const check = measure('check', directory);
    const report = measure('report', directory);
    const size = statSync(join(directory, 'report.html')).size;
    return [
      {
        what: `check ${OPERATIONS.toLocaleString('en')} operations`,
        value: check.ms,
        unit: 'ms',
        note: `${lines} lines`,
      },
      { what: 'check: peak memory of the process', value: check.peakMb, unit: 'MB' },
      { what: 'report of that run', value: report.ms, unit: 'ms', budget: 'under 2 s' },
      { what: 'report: size', value: size / 1e6, unit: 'MB', budget: 'under 5 MB' },
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A run's folder with a long history. Returns how many lines it has. */
function writeRun(directory: string): number {
  const configuration = { ...defaultRunConfig, build: 'epoch', runtime: 'local', seed: 1 };
  writeJson(join(directory, 'run.json'), { schemaVersion: 1, name: 'bench', configuration, completed: true });
  const file = openSync(join(directory, 'history.jsonl'), 'wx');
  let count = 0;
  const chunk: string[] = [];
  const flush = (): void => void writeSync(file, chunk.splice(0).join(''));
  for (const line of bigHistory({ operations: OPERATIONS, partitions: 8, processes: 8 })) {
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
