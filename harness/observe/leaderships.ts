/**
 * Who led a partition, one leadership after the other, and at which of them each broker has arrived.
 *
 * Leader epochs order everything, and old brokers do not tell them by Metadata. Then leaderships are counted: a broker
 * that names another leader than it did before has either arrived at a leadership that is known already, or tells of
 * a new one. Where an epoch is told (by Metadata from version 7 on, by a log line) it takes the place of the count. So
 * roles of brokers and elections share one numbering, whatever it is made of. An epoch that rises under the same leader
 * by word of a log raises the leadership itself, since not every broker's log need tell of it.
 *
 * Invariant: epochs rise from one leadership to the next, and no broker goes back to an earlier one within one boot.
 * What it cannot know: that one leader followed upon itself, where no epoch is told.
 */
import type { NodeId, NodeName } from '../../nemesis/ports.ts';

export interface Leadership {
  /** Null: nobody led. */
  readonly leader: NodeId | null;
  epoch: number;
  /** Whether a broker told the epoch; else it is counted. */
  told: boolean;
}

/** What one broker says of one partition. */
export interface Word {
  readonly by: NodeName;
  readonly leader: NodeId | null;
  /** Undefined where the broker does not tell it. */
  readonly epoch?: number | undefined;
  /** The broker was not heard for a while: it may still be catching up, and is no witness of anything new. */
  readonly late?: boolean;
}

export interface Heard {
  /** The leadership that the word is about. */
  readonly leadership: Leadership;
  /** Nobody had told of it before. */
  readonly isNew: boolean;
  /** It was known by a count, or under a lower epoch; it has a higher one now. */
  readonly raised: boolean;
}

export class Leaderships {
  readonly #known: Leadership[] = [];
  /** Where each broker was when it last spoke through one source. */
  readonly #at = new Map<string, Leadership>();

  get newest(): Leadership | null {
    return this.#known.at(-1) ?? null;
  }

  /** Takes a word in. Null where it says nothing that can be placed, or nothing new of this broker by this source. */
  hear(source: string, word: Word): Heard | null {
    const place = `${source} ${word.by}`;
    const before = this.#upToDate(place, word);
    const heard =
      word.epoch === undefined
        ? this.#placeByLeader(word, before)
        : this.#placeByEpoch(word, word.epoch, source === 'log', before);
    if (heard === null) return null;
    const { leadership, isNew, raised } = heard;
    this.#at.set(place, leadership);
    return leadership === before && !isNew && !raised ? null : heard;
  }

  /** A process that ended remembers nothing that it said. */
  forget(node: NodeName): void {
    for (const place of this.#at.keys()) if (place.endsWith(` ${node}`)) this.#at.delete(place);
  }

  /**
   * Where the broker was by this source; if it names the same leader still, and another source has it further on under
   * that very leader, then there.
   */
  #upToDate(place: string, { by, leader }: Word): Leadership | null {
    const before = this.#at.get(place) ?? null;
    if (before === null || before.leader !== leader) return before;
    const places = [...this.#at].filter(([each]) => each.endsWith(` ${by}`)).map(([, at]) => at);
    const furthest = places.reduce((one, other) => (other.epoch > one.epoch ? other : one), before);
    if (furthest.leader !== leader) return before;
    this.#at.set(place, furthest);
    return furthest;
  }

  #placeByLeader({ leader, late }: Word, before: Leadership | null): Heard | null {
    // A broker that knows no leader for the moment says nothing of a leadership.
    if (leader === null || leader === before?.leader) return null;
    const later = this.#known.findLast(
      (known) => known.leader === leader && (before === null || known.epoch > before.epoch),
    );
    if (later !== undefined) return { leadership: later, isNew: false, raised: false };
    return late === true ? null : this.#begin(leader, (this.newest?.epoch ?? -1) + 1, false);
  }

  #placeByEpoch(word: Word, epoch: number, raises: boolean, before: Leadership | null): Heard | null {
    const { leader } = word;
    const same = this.#known.find((known) => known.told && known.epoch === epoch);
    if (same !== undefined) return same.leader === leader ? { leadership: same, isNew: false, raised: false } : null;
    const newest = this.newest;
    if (newest !== null && (!newest.told || raises) && newest.leader === leader && epoch >= newest.epoch) {
      newest.epoch = epoch;
      newest.told = true;
      return { leadership: newest, isNew: false, raised: true };
    }
    if (newest === null || epoch > newest.epoch) return this.#begin(leader, epoch, true);
    // Older than what was counted since: only the leader's name places it.
    return this.#placeByLeader(word, before);
  }

  #begin(leader: NodeId | null, epoch: number, told: boolean): Heard {
    const leadership = { leader, epoch, told };
    this.#known.push(leadership);
    return { leadership, isNew: true, raised: false };
  }
}
