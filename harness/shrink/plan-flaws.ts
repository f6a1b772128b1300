/**
 * What is wrong with a stored plan whose parts each have the right shape: names that do not exist in its own run.
 *
 * What is played must be what stands in the files. So nothing is dropped in silence: not an operation of a thread that is
 * not there, nor a fault on a partition of another run. And what a verdict rests on must hold: values are unique per
 * key, and come back as they were sent.
 */
import { defects as knownDefects, isDefect } from '../../broker/core/defects.ts';
import { rolesOfComposite } from '../../nemesis/faults/index.ts';
import type { Fault, Schedule, Step } from '../../nemesis/schedule.ts';
import { keyOf } from '../client/operations.ts';
import type { RunConfig } from '../plan/config.ts';
import { jointFlawOf } from '../plan/joint-rules.ts';
import { excessInSimulator, excessOf } from '../plan/limits.ts';
import type { LoadPlan, PlannedOperation } from '../sim/simulation.ts';

/** In one clause with its place; null where the configuration contradicts nothing. */
export function flawOfConfig(config: RunConfig): string | null {
  const strange = config.defects.find((name) => !isDefect(name));
  if (strange !== undefined) {
    return `defects: there is no "${strange}"; known are ${Object.keys(knownDefects).join(', ')}`;
  }
  return jointFlawOf(config);
}

/** The same of the faults, in a run of that configuration. */
export function flawOfSchedule({ faults }: Schedule, config: RunConfig): string | null {
  const keys = keysOf(config);
  const seen = new Set<string>();
  for (const [index, fault] of faults.entries()) {
    if (seen.has(fault.id)) return `faults.${index}.id: ${fault.id} is the id of another fault too`;
    seen.add(fault.id);
    const flaw = flawOfNames(fault, keys, config.brokers) ?? flawOfRoles(fault);
    if (flaw !== null) return `faults.${index}.${flaw}`;
  }
  return null;
}

/** The same of the operations. */
export function flawOfLoad({ operations }: LoadPlan, config: RunConfig): string | null {
  const keys = keysOf(config);
  const sent = new Set<string>();
  const names = new Set<string>();
  for (const [index, planned] of operations.entries()) {
    const { called } = planned;
    if (called !== undefined && names.has(called))
      return `operations.${index}.called: ${shown(called)} is another's name`;
    if (called !== undefined) names.add(called);
    const flaw = flawOfOperation(planned, keys, config, sent);
    if (flaw !== null) return `operations.${index}.${flaw}`;
  }
  return null;
}

/** Whether the run would be more than the runtime can hold; a load that is written out counts as it stands. */
export function excessOfPlan(config: RunConfig, load: LoadPlan | undefined): string | null {
  if (load === undefined) return excessOf(config);
  return config.runtime === 'sim' ? excessInSimulator(load.operations.length, config) : null;
}

function keysOf({ topic, partitions }: RunConfig): ReadonlySet<string> {
  return new Set(Array.from({ length: partitions }, (_, partition) => keyOf(topic, partition)));
}

/** Wherever in a fault a partition or a node stands. */
function flawOfNames(fault: Fault, keys: ReadonlySet<string>, brokers: number): string | null {
  const here = (node: unknown): boolean => node === 'controller' || (node as number) <= brokers;
  let flaw: string | null = null;
  JSON.stringify(fault, (name: string, value: unknown): unknown => {
    if (name === 'partition' && !keys.has(String(value))) {
      flaw ??= `partition: ${shown(value)} is none of this run; they are ${named(keys)}`;
    }
    if (name === 'nodes' && typeof value === 'object' && value !== null) {
      const nodes: readonly unknown[] = Object.values(value);
      /* Of a set those are hit that are there; a role of a composite is one node. */
      const missing = Array.isArray(value) ? (nodes.some(here) ? [] : nodes) : nodes.filter((node) => !here(node));
      if (missing.length > 0) flaw ??= `nodes: ${shown(missing[0])} is none of this run, which has ${brokers} brokers`;
    }
    return value;
  });
  return flaw;
}

/** A step that names nobody would do nothing, and nobody would know. */
function flawOfRoles(fault: Fault): string | null {
  if (!('steps' in fault)) return null;
  const { kind, steps, nodes } = fault;
  const own = rolesOfComposite[kind];
  const roles = nodes === undefined ? own : [...Object.keys(nodes), ...own.filter((role) => alwaysThere.has(role))];
  for (const [index, step] of steps.entries()) {
    const strange = namesIn(step).find((name) => !roles.includes(name));
    if (strange !== undefined) {
      return `steps.${index}: ${shown(strange)} is no role of a ${kind}; they are ${roles.join(', ')}`;
    }
  }
  return null;
}

const alwaysThere: ReadonlySet<string> = new Set(['controller', 'clients']);

function namesIn(step: Step): string[] {
  switch (step.step) {
    case 'cut':
    case 'slow':
      return step.links.flatMap(({ from, to }) => [from, to]);
    case 'pause':
    case 'kill':
    case 'power-loss':
    case 'stop':
    case 'restore':
      return [step.node];
    case 'move':
      return [step.to];
    case 'await': {
      const { what } = step;
      return [
        ...('by' in what && typeof what.by === 'string' ? [what.by] : []),
        ...('node' in what ? [what.node] : []),
        ...('leader' in what ? [what.leader] : []),
      ];
    }
    case 'mend':
    case 'call':
    case 'wait':
      return [];
  }
}

function flawOfOperation(
  { thread, operation }: PlannedOperation,
  keys: ReadonlySet<string>,
  { concurrency }: RunConfig,
  sent: Set<string>,
): string | null {
  if (thread >= concurrency) return `thread: ${thread} is none of the ${concurrency}, which count from 0`;
  if (operation.f === 'poll') return null;
  const touched = operation.f === 'send' ? [operation.key] : [...operation.keys, ...seekKeys(operation.seek)];
  const strange = touched.find((key) => !keys.has(key));
  if (strange !== undefined) return `operation: ${shown(strange)} is no key of this run; they are ${named(keys)}`;
  if (operation.f === 'assign') return operation.keys.length === 0 ? 'operation.keys: name one at least' : null;
  const claim = `${operation.key} ${operation.value}`;
  if (sent.has(claim)) return `operation.value: ${shown(operation.value)} is sent to ${operation.key} before`;
  sent.add(claim);
  return null;
}

function seekKeys(seek: unknown): string[] {
  return typeof seek === 'object' && seek !== null ? Object.keys(seek) : [];
}

function named(keys: ReadonlySet<string>): string {
  const [first = '', ...rest] = keys;
  return rest.length === 0 ? `${first} alone` : `${first} to ${rest.at(-1)}`;
}

const MOST_SHOWN = 60;

/** A name from a file may be of any length. */
function shown(name: unknown): string {
  const text = String(name);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}
