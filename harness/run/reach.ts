/**
 * Whom a run may speak to: the addresses of its own cluster, and nobody else.
 *
 * Brokers name addresses in their answers to Metadata: each other's, and the controller's. One that others wrote, or that
 * is described wrongly, may name any: of this machine, or, through the default route, of other people's. So every address
 * that was named, and not given by the runtime, is judged here before anything is sent to it.
 *
 * Invariant: names are not looked up; an address is known only if it is written as the runtime writes it.
 */
import type { Address } from '../../nemesis/ports.ts';

/** Null where the address may be spoken to; else why not, in one line. */
export type Reach = (address: Address) => string | null;

/** Only these. */
export function reachOf(addresses: Iterable<Address>): Reach {
  const known = new Set([...addresses].map(written));
  return (address) =>
    known.has(written(address))
      ? null
      : `${written(address)} is no address of this cluster (${[...known].join(', ')}): nothing is sent to it`;
}

function written({ host, port }: Address): string {
  return `${host}:${port}`;
}
