/**
 * Late messages: single ones that take longer than the network would have them take, whatever else happens.
 *
 * A run is a function of its request, so a message has the same name whenever the run is played up to it. To make one
 * late is the smallest change that there is: two things that happened in one order happen in the other. What is sent
 * after it on its connection waits behind it, as on any connection; nothing else is drawn anew.
 */
import type { Connection, Lane, Message } from './network.ts';
import type { LateMessage } from './simulation.ts';

const NS_PER_MS = 1e6;

/** How much later than else each message is to arrive, for the network. */
export function latenessOf(late: readonly LateMessage[]): (lane: Lane, message: Named) => number {
  const byName = new Map(late.map(({ message, byMs }) => [message, Math.round(byMs * NS_PER_MS)]));
  return (lane, message) => byName.get(nameOfMessage(lane, message)) ?? 0;
}

type Named = Pick<Message, 'kind' | 'correlationId'>;

/** As traces name it, with its direction: `request broker-2.1#17`, `response broker-2.1#17`. */
export function nameOfMessage({ connection }: Lane, { kind, correlationId }: Named): string {
  return `${kind} ${processOf(connection)}#${correlationId}`;
}

/** Nodes are numbers and the controller; everybody else is a client. */
function processOf({ requester: { name }, requesterBoot }: Connection): string {
  return /^\d+$/.test(name) ? `broker-${name}.${requesterBoot}` : `${name}.${requesterBoot}`;
}
