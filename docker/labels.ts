/**
 * What marks an object of the engine as ours, and whose it is.
 *
 * Every container, network and volume carries the name of its run and the process that owns the run. A process is
 * named by more than its pid, for pids come again: by its start time, the boot of the machine and the namespace in
 * which the pid means something. So whether an owner is dead is known, or it is not known and the object is left alone.
 *
 * Invariant: nothing without our label is ever removed, and nothing whose owner may still live.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export const label = {
  run: 'tidemark.run',
  created: 'tidemark.created',
  owner: 'tidemark.owner',
  node: 'tidemark.node',
  role: 'tidemark.role',
} as const;

/** A process of some machine, named so that no other process is ever taken for it. */
export interface Owner {
  readonly machine: string;
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly pid: number;
  /** Field 22 of `/proc/<pid>/stat`: clock ticks between the machine's boot and the start of the process. */
  readonly startTicks: string;
}

/** `elsewhere`: a process of another machine, or of another pid namespace, of which nothing can be known here. */
export type OwnerState = 'alive' | 'dead' | 'elsewhere';

export function thisProcess(): Owner {
  const startTicks = startTicksOf(process.pid);
  if (startTicks === null) throw new Error('cannot read /proc/self/stat: is /proc mounted?');
  return { ...here(), pid: process.pid, startTicks };
}

export function ownerState(owner: Owner): OwnerState {
  const { machine, bootId, pidNamespace } = here();
  if (owner.machine !== machine) return 'elsewhere';
  if (owner.bootId !== bootId) return 'dead';
  if (owner.pidNamespace !== pidNamespace) return 'elsewhere';
  return startTicksOf(owner.pid) === owner.startTicks ? 'alive' : 'dead';
}

/** The label's value for what this process owns. */
export function ownerLabel(): string {
  return JSON.stringify(thisProcess());
}

/** The labels of everything that a run creates. */
export function runLabels(runId: string): Record<string, string> {
  return {
    [label.run]: runId,
    [label.created]: new Date().toISOString(),
    [label.owner]: ownerLabel(),
  };
}

/** The owner that a label names, or null for a label that we did not write. */
export function parseOwner(text: string | undefined): Owner | null {
  if (text === undefined) return null;
  try {
    const value = JSON.parse(text) as Partial<Owner> | null;
    if (typeof value?.pid !== 'number' || typeof value.startTicks !== 'string') return null;
    if (typeof value.machine !== 'string' || typeof value.bootId !== 'string') return null;
    return typeof value.pidNamespace === 'string' ? (value as Owner) : null;
  } catch {
    return null;
  }
}

function here(): Pick<Owner, 'machine' | 'bootId' | 'pidNamespace'> {
  return {
    machine: firstLine('/etc/machine-id') ?? hostname(),
    bootId: firstLine('/proc/sys/kernel/random/boot_id') ?? 'unknown',
    pidNamespace: readlinkSync('/proc/self/ns/pid'),
  };
}

function firstLine(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** Null when there is no such process; one that has ended and waits to be collected by its parent counts as gone. */
function startTicksOf(pid: number): string | null {
  const stat = processStat(pid);
  return stat === null || stat.state === 'Z' || stat.state === 'X' ? null : stat.startTicks;
}

/** What the system says of a process now; null when there is none of that pid. */
export function processStat(pid: number): { readonly state: string; readonly startTicks: string } | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The second field is the command in brackets and may hold anything, so count from behind its last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTicks = fields[19];
  return startTicks === undefined ? null : { state: fields[0] ?? '?', startTicks };
}
