/**
 * One partition as it is seen from outside: its replicas, its ISR, who leads, and which role each broker has taken.
 *
 * Words of brokers come in from whatever source; sightings come out, each only when something is new. The role of a broker
 * is taken from the latest leadership that the broker itself has named, by either source.
 *
 * Invariant: the epoch of a role line is that of an election or ISR line told before it.
 */
import type { NodeId, NodeName } from '../../nemesis/ports.ts';
import { Leaderships, type Leadership, type Word } from './leaderships.ts';
import type { Sighting, Source } from './lines.ts';

interface RoleTold {
  leadership: Leadership;
  epoch: number;
}

export class ObservedPartition {
  readonly key: string;
  replicas: readonly NodeId[] = [];
  isr: readonly NodeId[] = [];
  /** Since when, by the clock that is handed in. */
  isrSinceMs = 0;
  readonly #known: readonly NodeId[];
  readonly #nowMs: () => number;
  readonly #leaderships = new Leaderships();
  readonly #roles = new Map<NodeId, RoleTold>();

  /** `known`: its replicas in the order of elections, where the harness itself has said so; else they are heard of. */
  constructor(key: string, nowMs: () => number, known: readonly NodeId[] = []) {
    this.key = key;
    this.#known = known;
    this.#nowMs = nowMs;
  }

  get leader(): NodeId | null {
    return this.#leaderships.newest?.leader ?? null;
  }

  /** Of the newest leadership, in the words of a line; nothing where none is known. */
  get epochFields(): { leaderEpoch?: number; epochSeen?: false } {
    const { newest } = this.#leaderships;
    return newest === null ? {} : epochFields(newest);
  }

  /** The epoch under which the broker's role was last told. */
  roleEpochOf(node: NodeName): number | undefined {
    return node === 'controller' ? undefined : this.#roles.get(node)?.epoch;
  }

  /** Whether the node is the newest leader, and knows it. */
  isLed(node: NodeName): boolean {
    const { newest } = this.#leaderships;
    return newest !== null && newest.leader === node && this.roleEpochOf(node) === newest.epoch;
  }

  /** Takes the replicas in, the first time that anybody names them: old brokers do so in any order. */
  assigned(source: Source, told: readonly NodeId[]): Sighting[] {
    if (this.replicas.length > 0 || told.length === 0) return [];
    this.replicas = sameSet(told, this.#known) ? this.#known : told;
    return [this.#controllerLine(source, 'create', { replicas: this.replicas })];
  }

  /** A broker says who leads, as far as it knows; `isr` as it knows it. `more` goes with the role line. */
  leads(
    source: Source,
    word: Word,
    isr: readonly NodeId[] = this.isr,
    more: Readonly<Record<string, unknown>> = {},
  ): Sighting[] {
    const previous = this.#leaderships.newest;
    const previousLeader = previous?.leader ?? null;
    const heard = this.#leaderships.hear(source, word);
    if (heard === null) return [];
    const { leadership, isNew, raised } = heard;
    // It exists, since somebody leads it.
    const sightings = this.assigned(source, this.#known);
    if (isNew && (previous === null || leadership.leader !== previousLeader)) {
      this.isr = isr;
      this.isrSinceMs = this.#nowMs();
      sightings.push(
        this.#controllerLine(source, 'election', {
          ...epochFields(leadership),
          leader: leadership.leader,
          previousLeader,
          isr,
          clean: null,
        }),
      );
    } else if (isNew || raised) {
      sightings.push(...this.#isrLine(source, leadership, isNew ? isr : this.isr));
    }
    if (raised) for (const node of this.#roles.keys()) sightings.push(...this.#tellRole(source, node, leadership));
    if (word.by !== 'controller' && this.replicas.includes(word.by)) {
      sightings.push(...this.#takeRole(source, word.by, leadership, more));
    }
    return sightings;
  }

  /** A witness says who is in sync. */
  inSync(source: Source, isr: readonly NodeId[]): Sighting[] {
    const { newest } = this.#leaderships;
    if (newest === null || sameSet(isr, this.isr)) return [];
    return this.#isrLine(source, newest, isr);
  }

  /** A process that ended, or begins, has no role. */
  forget(node: NodeName): void {
    this.#leaderships.forget(node);
    if (node !== 'controller') this.#roles.delete(node);
  }

  #isrLine(source: Source, leadership: Leadership, isr: readonly NodeId[]): Sighting[] {
    const from = this.isr;
    this.isr = isr;
    this.isrSinceMs = this.#nowMs();
    return [this.#controllerLine(source, 'isr', { ...epochFields(leadership), from, to: isr })];
  }

  /** A broker never goes back to an earlier leadership, whichever source is the slower one. */
  #takeRole(source: Source, node: NodeId, leadership: Leadership, more: Readonly<Record<string, unknown>>): Sighting[] {
    const told = this.#roles.get(node);
    if (told !== undefined && told.epoch >= leadership.epoch) return [];
    this.#roles.set(node, { leadership, epoch: leadership.epoch });
    return [this.#roleLine(source, node, leadership, more)];
  }

  /** Once more, under the epoch that the leadership has now. */
  #tellRole(source: Source, node: NodeId, leadership: Leadership): Sighting[] {
    const told = this.#roles.get(node);
    if (told === undefined || told.leadership !== leadership || told.epoch === leadership.epoch) return [];
    told.epoch = leadership.epoch;
    return [this.#roleLine(source, node, leadership, {})];
  }

  #roleLine(source: Source, node: NodeId, leadership: Leadership, more: Readonly<Record<string, unknown>>): Sighting {
    const { leader } = leadership;
    const role = leader === node ? 'leader' : 'follower';
    return { node, event: 'role', source, partition: this.key, ...epochFields(leadership), role, leader, ...more };
  }

  #controllerLine(source: Source, event: string, fields: Readonly<Record<string, unknown>>): Sighting {
    return { node: 'controller', event, source, partition: this.key, ...fields };
  }
}

function epochFields({ epoch, told }: Leadership): { leaderEpoch: number; epochSeen?: false } {
  return told ? { leaderEpoch: epoch } : { leaderEpoch: epoch, epochSeen: false };
}

function sameSet(one: readonly NodeId[], other: readonly NodeId[]): boolean {
  return one.length === other.length && one.every((node) => other.includes(node));
}
