/**
 * Late messages: single ones that take longer than the network would have them take, whatever else happens.
 *
 * A run is a function of its request, so a message has the same name whenever the run is played up to it. To make one
 * late is the smallest change that there is: two things that happened in one order happen in the other. What is sent
 * after it on its connection waits behind it, as on any connection; nothing else is drawn anew.
 */
import { messageText } from '../../broker/protocol/index.ts';
import type { Connection, Lane, Message } from './network.ts';
import type { LateMessage } from './simulation.ts';

const NS_PER_MS = 1e6;

/** The late messages of one run. */
export class Lateness {
  readonly #byName: ReadonlyMap<string, number>;
  readonly #unsent: Set<string>;

  constructor(late: readonly LateMessage[]) {
    this.#byName = new Map(late.map(({ message, byMs }) => [message, Math.round(byMs * NS_PER_MS)]));
    this.#unsent = new Set(this.#byName.keys());
  }

  /** How much later than else a message is to arrive that is sent now. */
  of(lane: Lane, message: Named): number {
    const name = nameOfMessage(lane, message);
    const laterNs = this.#byName.get(name);
    if (laterNs === undefined) return 0;
    this.#unsent.delete(name);
    return laterNs;
  }

  /** Those that were not sent so far. */
  get unsent(): readonly string[] {
    return [...this.#unsent];
  }
}

type Named = Pick<Message, 'kind' | 'correlationId'>;

/** As traces name it, with its direction: `request broker-2.1#17`, `response controller.1#3`, `request client-0#5`. */
export function nameOfMessage({ connection }: Lane, { kind, correlationId }: Named): string {
  return `${kind} ${messageText(processOf(connection), correlationId)}`;
}

/** Nodes are numbers and the controller, and live more than once; everybody else is a client. */
function processOf({ requester: { name }, requesterBoot }: Connection): string {
  if (name === 'controller') return `${name}.${requesterBoot}`;
  return /^\d+$/.test(name) ? `broker-${name}.${requesterBoot}` : name;
}

const nameForm =
  /^(?:request|response) (?:broker-(\d+)\.[1-9]\d*|controller\.[1-9]\d*|client-[a-z0-9-]+)#(?:0|[1-9]\d*)$/;
const MOST_MS = 86_400_000;

/** Why a line that makes a message late would be passed over, or could not be played; null where nothing is wrong. */
export function flawOfLate(
  { message, byMs }: LateMessage,
  others: readonly LateMessage[],
  brokers: number,
): string | null {
  const match = nameForm.exec(message);
  if (match === null) {
    return `"${message}" is no name of a message, such as response broker-2.1#17, request controller.1#3 or request client-0#5`;
  }
  const [, node] = match;
  if (node !== undefined && (node.startsWith('0') || Number(node) > brokers)) {
    return `broker ${node} is none of this run, which has ${brokers} brokers`;
  }
  if (!(byMs <= MOST_MS)) return `no message can be so late: give a number of milliseconds, ${MOST_MS} at most`;
  return others.some((other) => other.message === message) ? `${message} is late already` : null;
}
