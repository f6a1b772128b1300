/**
 * Nothing outlives its run: the run's folder of live data, its lease, and how all of it is removed.
 *
 * Every run has a folder in the system's directory for temporary files, with the data directories of its nodes and a
 * lease that says which harness it belongs to. The harness removes it at the end; if the harness dies, its watchdog
 * does; if that dies too, `collectLocalGarbage` (`tidemark gc`) does. All three call the same function.
 *
 * Invariant: only folders below our own, and only processes that carry the run's mark, are ever touched; a run whose
 * harness lives, or may live, is left alone.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ownerState, thisProcess } from '../../docker/labels.ts';
import type { Owner } from '../../docker/labels.ts';
import { processesOfRun } from './proc.ts';

const KILL_TIMEOUT_MS = 3_000;
const KILL_POLL_MS = 5;
/** A folder without a readable lease is being made, or was left in the making. */
const UNLEASED_MS = 60_000;

interface Lease {
  readonly schemaVersion: 1;
  readonly runId: string;
  /** The harness. From within a container, say, its pid means nothing: then nobody can tell whether it lives. */
  readonly owner: Owner;
}

/** Makes the folder of a run, leased to this process. */
export function leaseFolder(runId: string): string {
  const folder = folderOf(runId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lease: Lease = { schemaVersion: 1, runId, owner: thisProcess() };
  writeFileSync(join(folder, 'lease.json'), `${JSON.stringify(lease)}\n`);
  return folder;
}

/** Kills every process of the run and removes its folder. Returns what could not be removed, by name. */
export async function removeRun(runId: string): Promise<string[]> {
  const residue = await killProcesses(runId);
  const folder = folderOf(runId);
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    residue.push(`${folder} (${error instanceof Error ? error.message : String(error)})`);
  }
  return residue;
}

/** Removes what dead runs left on this machine. Names what it removed; live runs are not touched. */
export async function collectLocalGarbage(): Promise<{ readonly removed: string[] }> {
  const removed: string[] = [];
  for (const runId of readdirOrEmpty(root())) {
    if (isInUse(runId)) continue;
    const pids = processesOfRun(runId);
    const residue = await removeRun(runId);
    if (residue.length > 0) continue;
    removed.push(...pids.map((pid) => `process ${pid} of the run ${runId}`), folderOf(runId));
  }
  return { removed };
}

function isInUse(runId: string): boolean {
  const folder = folderOf(runId);
  try {
    const lease = JSON.parse(readFileSync(join(folder, 'lease.json'), 'utf8')) as Lease;
    return ownerState(lease.owner) !== 'dead';
  } catch {
    return Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) < UNLEASED_MS;
  }
}

async function killProcesses(runId: string): Promise<string[]> {
  const deadlineMs = performance.now() + KILL_TIMEOUT_MS;
  for (;;) {
    const pids = processesOfRun(runId);
    if (pids.length === 0) return [];
    if (performance.now() > deadlineMs) return pids.map((pid) => `process ${pid}`);
    for (const pid of pids) kill(pid);
    await new Promise((resolve) => setTimeout(resolve, KILL_POLL_MS));
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    /* Gone in the meantime; the next look tells. */
  }
}

function folderOf(runId: string): string {
  return join(root(), runId);
}

function root(): string {
  return join(tmpdir(), `tidemark-local-${userInfo().uid}`);
}

function readdirOrEmpty(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
