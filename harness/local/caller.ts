/**
 * Who calls: read from the first frame of a connection, since on loopback every address is the same.
 *
 * Every request of Kafka's protocol names its sender by a client id in its header. Nodes of the cluster call themselves
 * `broker-<node>.<boot>` and `controller.<boot>`, probes `probe-<node>`; everybody else is a client.
 */
import type { Cut } from '../../nemesis/ports.ts';

export type Place = Cut['from'];

/** Longest part of a first frame that is needed to know the caller: the longest client id there can be. */
const HEADER_BYTES_MAX = 14 + 32_767;

/** The caller, or null while too little of the first frame has arrived. */
export function callerOf(firstBytes: Buffer): Place | null {
  /* Size (4), API key (2), API version (2), correlation id (4), length of the client id (2), client id. */
  if (firstBytes.length < 14) return null;
  const length = firstBytes.readInt16BE(12);
  if (length < 0) return 'clients';
  if (firstBytes.length < 14 + length && firstBytes.length < HEADER_BYTES_MAX) return null;
  return placeOf(firstBytes.toString('utf8', 14, 14 + length));
}

function placeOf(clientId: string): Place {
  const node = /^(?:broker-(\d+)\.\d+|probe-(\d+))$/.exec(clientId);
  if (node !== null) return Number(node[1] ?? node[2]);
  return /^(?:controller\.\d+|probe-controller)$/.test(clientId) ? 'controller' : 'clients';
}
