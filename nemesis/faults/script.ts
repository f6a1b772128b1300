/**
 * Script: steps that somebody wrote down, for a schedule that is known by name (`harness/fidelity`); never drawn.
 *
 * Where the drawn composites aim at whatever the load is doing, a script calls the operations of a written load itself,
 * each between two steps. Its roles are the replicas in the order in which they will lead: `first` leads when the script
 * begins, `second` is the next that would be elected, `third` the one after.
 *
 * What proves it: every single step. Each ending, each return and each move took effect, each cut swallowed something,
 * each operation that was called was acknowledged, and no wait that the script cannot do without failed. A script that
 * went otherwise says nothing about the broker.
 */
import type { NodeId, NodeName } from '../ports.ts';
import type { ScriptFault, Step } from '../schedule.ts';
import { inElectionOrder } from '../targets.ts';
import type { ClusterView, PartitionView } from '../view.ts';
import { groupsOf } from './program.ts';
import type { EvidenceEntry, Program } from './program.ts';

const roleNames = ['first', 'second', 'third', 'fourth', 'fifth'] as const;

export function scriptProgram(fault: ScriptFault, view: ClusterView, brokers: readonly NodeId[]): Program | null {
  const groups = groupsOf(fault, view, brokers, rolesOf);
  return (
    groups && {
      roles: Object.fromEntries(Object.keys(groups).map((role) => [role, fault.partition])),
      groups: { ...groups, controller: ['controller'], clients: ['clients'] },
      steps: fault.steps,
      isProven: (evidence, gaveUp, done) => done && !gaveUp && areProven(fault.steps, evidence),
    }
  );
}

/** Null while nobody leads. */
function rolesOf(partition: PartitionView | undefined): Record<string, NodeName[]> | null {
  const leader = partition?.leader ?? null;
  if (leader === null) return null;
  const order = [leader, ...inElectionOrder(partition).filter((node) => node !== leader)];
  return Object.fromEntries(roleNames.slice(0, order.length).map((role, index) => [role, [order[index] as NodeId]]));
}

/** What proves each step that acts; of `mend` nothing is told, and of a move to the leader there is nothing to tell. */
const proofs: Readonly<Partial<Record<Step['step'], readonly EvidenceEntry['action'][]>>> = {
  cut: ['cut'],
  slow: ['slow'],
  pause: ['pause'],
  kill: ['kill'],
  'power-loss': ['power-loss'],
  stop: ['stop'],
  restore: ['start', 'resume'],
  call: ['call'],
};

function areProven(steps: readonly Step[], evidence: readonly EvidenceEntry[]): boolean {
  if (!evidence.every(({ effective }) => effective)) return false;
  return steps.every(({ step }) => {
    const proof = proofs[step];
    if (proof === undefined) return true;
    /* All cuts of a fault are proven by one entry, and so are all slow links. */
    const times = step === 'cut' || step === 'slow' ? 1 : steps.filter((other) => other.step === step).length;
    return evidence.filter(({ action }) => proof.includes(action)).length >= times;
  });
}
