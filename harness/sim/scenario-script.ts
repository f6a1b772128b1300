/**
 * What the lines of a scenario have named so far, known while it is read: brokers, partitions, values, readers, holds.
 *
 * A scenario has no branches, so a line that names what no line before it has made is a slip of the pen, whatever the
 * cluster does: it is told before anything is played. What depends on how things stand (does broker 2 run?) is the
 * play's to say.
 */
import { mostPartitions } from '../plan/limits.ts';
import { PlayError } from './play.ts';

/** Names that stand for somebody else. */
const reservedNames: ReadonlySet<string> = new Set(['controller', 'clients', 'admin']);

export class Script {
  /** By name, `fetches of 2 in tide-0`. */
  readonly holds = new Set<string>();
  readonly #brokers: number;
  readonly #topics = new Set<string>();
  readonly #partitions: string[] = [];
  readonly #values = new Set<string>();
  readonly #readers = new Set<string>();

  constructor(brokers: number) {
    this.#brokers = brokers;
  }

  /** Each of those that are numbers has to be a broker. */
  demandBrokers(...ids: readonly (string | undefined)[]): void {
    const strange = ids.find((id) => id !== undefined && /^\d+$/.test(id) && !this.#isBroker(Number(id)));
    if (strange !== undefined) throw new PlayError(`there is no broker ${strange}`);
  }

  demandPartition(name: string | null): void {
    if (this.#partitions.length === 0) throw new PlayError('there is no topic yet');
    if (name !== null && !this.#partitions.includes(name)) {
      throw new PlayError(`there is no ${name}; there are ${this.#partitions.join(', ')}`);
    }
  }

  demandValues(...values: readonly string[]): void {
    const strange = values.find((value) => !this.#values.has(value));
    if (strange !== undefined) throw new PlayError(`nobody produced ${strange}`);
  }

  demandReader(client: string): void {
    if (!this.#readers.has(client)) throw new PlayError(`${client} has read nothing yet`);
  }

  addTopic(topic: string, replicas: readonly (readonly number[])[]): void {
    if (this.#topics.has(topic)) throw new PlayError(`there is a topic ${topic} already`);
    if (replicas.length > mostPartitions) throw new PlayError(`a topic has ${mostPartitions} partitions at the most`);
    for (const list of replicas) {
      if (!list.every((id) => this.#isBroker(id))) {
        throw new PlayError(`a partition stands on brokers from 1 to ${this.#brokers}, apart by commas`);
      }
      if (new Set(list).size < list.length) throw new PlayError('a broker holds one replica of a partition');
    }
    this.#topics.add(topic);
    this.#partitions.push(...replicas.map((_, index) => `${topic}-${index}`));
  }

  addValues(client: string, values: readonly string[]): void {
    this.#demandClient(client);
    for (const value of values) {
      if (this.#values.has(value)) throw new PlayError(`${value} was produced before`);
      this.#values.add(value);
    }
  }

  addReader(client: string): void {
    this.#demandClient(client);
    this.#readers.add(client);
  }

  #demandClient(name: string): void {
    if (reservedNames.has(name)) throw new PlayError(`${name} is no name of a client`);
  }

  #isBroker(id: number): boolean {
    return Number.isInteger(id) && id >= 1 && id <= this.#brokers;
  }
}
