/**
 * Abstract states: what a partition looks like once everything is left out that makes two situations differ without
 * mattering. The guided search keeps plans that reach new ones.
 *
 * A state is, for each assigned replica: running and its role; its epoch, its LEO and its HW as ranks among those of all
 * replicas; whether it leads, as the controller has it, or is in the ISR; and how its log stands to the leader's (equal, a
 * prefix, longer, parted). Which replica is which does not matter.
 * The states of a run are taken where something was decided: at elections, roles, truncations, recoveries and ISR
 * changes. This is the reducer of ModelFuzz with a model of our own.
 *
 * Invariant: a state is one 32-bit number, and the same trace gives the same numbers.
 */
import type { NodeId, TraceLine } from '../../nemesis/ports.ts';
import {
  createPartitionPicture,
  epochAt,
  foldTraceLine,
  type PartitionPicture,
  type ReplicaPicture,
} from './replica-picture.ts';

const decisive: ReadonlySet<string> = new Set(['election', 'isr', 'role', 'truncation', 'recover']);

/** Every abstract state that a run was in, each once, in order of first sight. */
export function statesOf(trace: Iterable<TraceLine>): readonly number[] {
  const partitions = new Map<string, PartitionPicture>();
  const states = new Set<number>();
  for (const line of trace) {
    if (line.partition === undefined) continue;
    let picture = partitions.get(line.partition);
    if (picture === undefined) {
      picture = createPartitionPicture();
      partitions.set(line.partition, picture);
    }
    foldTraceLine(picture, line);
    if (decisive.has(line.event)) states.add(stateOf(picture));
  }
  return [...states];
}

function stateOf(picture: PartitionPicture): number {
  const replicas = picture.assigned.map((node) => picture.replicas.get(node));
  const known = replicas.filter((replica) => replica !== undefined);
  const epochs = ranks([picture.epoch, ...known.map(({ epoch }) => epoch)]);
  const ends = ranks(known.map(({ leo }) => leo));
  const marks = ranks(known.map(({ hw }) => hw));
  const leader = picture.leader === null ? undefined : picture.replicas.get(picture.leader);
  const parts = replicas.map((replica, index) => {
    const node = picture.assigned[index] as NodeId;
    let part = fold(FNV_BASIS, (picture.leader === node ? 2 : 0) + (picture.isr.includes(node) ? 1 : 0));
    if (replica === undefined) return part;
    part = fold(part, replica.role === null ? 0 : replica.role === 'leader' ? 1 : 2);
    part = fold(part, epochs.get(replica.epoch) ?? 0);
    part = fold(part, ends.get(replica.leo) ?? 0);
    part = fold(part, marks.get(replica.hw) ?? 0);
    return fold(part, leader === undefined ? 0 : standing(replica, leader));
  });
  return parts.sort((x, y) => x - y).reduce(fold, fold(FNV_BASIS, epochs.get(picture.epoch) ?? 0));
}

/** How one log stands to another: 1 equal, 2 a prefix, 3 longer, 4 parted. */
function standing(replica: ReplicaPicture, leader: ReplicaPicture): number {
  const end = Math.min(replica.leo, leader.leo);
  if (end > 0 && epochAt(replica, end - 1) !== epochAt(leader, end - 1)) return 4;
  return replica.leo === leader.leo ? 1 : replica.leo < leader.leo ? 2 : 3;
}

/** Each value's place among the distinct ones. */
function ranks(values: readonly number[]): ReadonlyMap<number, number> {
  const sorted = [...new Set(values)].sort((x, y) => x - y);
  return new Map(sorted.map((value, rank) => [value, rank]));
}

const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a, one small number at a time. */
function fold(hash: number, value: number): number {
  return Math.imul(hash ^ value, FNV_PRIME) >>> 0;
}
