/**
 * The replicas that one broker holds, found by their key or by topic and index.
 *
 * Every request names partitions by topic and index. To build a key from the two, only to look it up, costs more than
 * all else that is done with most of them.
 */
import type { Partition } from './partition.ts';

export class Replicas {
  readonly #byKey = new Map<string, Partition>();
  /** By topic, each at its index. */
  readonly #byTopic = new Map<string, (Partition | undefined)[]>();

  constructor(partitions: Iterable<Partition> = []) {
    for (const partition of partitions) this.add(partition);
  }

  /** By `<topic>-<partition>`. */
  get(key: string): Partition | undefined {
    return this.#byKey.get(key);
  }

  find(topic: string, index: number): Partition | undefined {
    return this.#byTopic.get(topic)?.[index];
  }

  /** In the order in which they came. */
  values(): IterableIterator<Partition> {
    return this.#byKey.values();
  }

  keys(): IterableIterator<string> {
    return this.#byKey.keys();
  }

  add(partition: Partition): void {
    this.#byKey.set(partition.key, partition);
    const inTopic = this.#byTopic.get(partition.topic) ?? [];
    inTopic[partition.index] = partition;
    this.#byTopic.set(partition.topic, inTopic);
  }

  remove(partition: Partition): void {
    const { key, topic, index } = partition;
    partition.deleted = true;
    this.#byKey.delete(key);
    const inTopic = this.#byTopic.get(topic);
    if (inTopic === undefined) return;
    inTopic[index] = undefined;
    if (inTopic.every((each) => each === undefined)) this.#byTopic.delete(topic);
  }
}
