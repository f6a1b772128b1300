/**
 * From the wanted cuts of a cluster to what each pod has to drop.
 *
 * A cut A→B is made where its packets arrive: B drops what comes from A (Jepsen's convention). Only the harness's own
 * side cannot drop anything, so a cut towards `clients` is made where the packets leave. `clients` are the host's
 * address in the network of the run: nobody else uses it.
 */
import type { Cut, NodeName } from '../nemesis/ports.ts';
import type { Drop } from './agent/ruleset.ts';

export type Place = NodeName | 'clients';

/** `1→2`: how evidence names a cut. */
export function cutName(cut: Cut): string {
  return `${cut.from}→${cut.to}`;
}

/** The drops of every pod, and for each the cut that it makes. A pod without cuts has an empty list. */
export function dropsOf(
  cuts: readonly Cut[],
  pods: readonly NodeName[],
  address: (place: Place) => string,
): Map<NodeName, Drop[]> {
  const drops = new Map<NodeName, Drop[]>(pods.map((pod) => [pod, []]));
  for (const cut of cuts) {
    if (cut.from === cut.to) continue;
    const drop: Drop =
      cut.to === 'clients'
        ? { name: 'to_clients', to: address('clients') }
        : { name: `from_${cut.from}`, from: address(cut.from) };
    const list = drops.get(podOf(cut));
    if (list === undefined) throw new Error(`a cut names a node that is not deployed: ${cutName(cut)}`);
    if (!list.some((other) => other.name === drop.name)) list.push(drop);
  }
  // In one order, whatever order they were wished in: an unchanged wish is to be seen as one.
  for (const list of drops.values()) list.sort((one, other) => (one.name < other.name ? -1 : 1));
  return drops;
}

/** The cut that a counter of a pod counts. */
export function cutOf(pod: NodeName, dropName: string): Cut {
  if (dropName === 'to_clients') return { from: pod, to: 'clients' };
  const from = dropName.slice('from_'.length);
  return { from: from === 'controller' || from === 'clients' ? from : Number(from), to: pod };
}

function podOf(cut: Cut): NodeName {
  if (cut.to !== 'clients') return cut.to;
  if (cut.from === 'clients') throw new Error('a cut from clients to clients means nothing');
  return cut.from;
}
