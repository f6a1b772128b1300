/**
 * What Linux says of processes, read from /proc: the only witness that the local runtime believes.
 *
 * A pid alone names no process, since pids are used again; a pid with its start time does. The processes of a run are
 * found by a variable in their environment, which they inherit and nobody else has, so that none is missed even if the
 * harness died between starting one and writing it down. Without root only the own processes can be read, which are
 * also the only ones that may be killed.
 */
import { processStat } from '../../docker/labels.ts';
import { existsSync, readFileSync, readdirSync } from 'node:fs';

/** Set in the environment of every node's process, to the run's id. */
export const RUN_VARIABLE = 'TIDEMARK_LOCAL_RUN';

export interface ProcessStatus {
  /** `R`, `S`, `T` (stopped), `Z` (dead, not yet collected) and so on. */
  readonly state: string;
  /** Clock ticks since boot: with the pid it names a process for ever. */
  readonly startTime: number;
}

/** Null when there is no such process. */
export function statusOf(pid: number): ProcessStatus | null {
  const stat = processStat(pid);
  return stat && { state: stat.state, startTime: Number(stat.startTicks) };
}

/** The living processes of a run, by the mark in their environment. */
export function processesOfRun(runId: string): number[] {
  const mark = `${RUN_VARIABLE}=${runId}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const environment = readOrNull(`/proc/${pid}/environ`);
      return environment?.split('\0').includes(mark) === true && statusOf(pid)?.state !== 'Z';
    });
}

export function hasProc(): boolean {
  return existsSync('/proc/self/stat');
}

/** Ports from here on may be taken by any outgoing connection at any moment. */
export function firstEphemeralPort(): number {
  return Number(readOrNull('/proc/sys/net/ipv4/ip_local_port_range')?.split(/\s+/)[0] ?? 32_768);
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
