/**
 * Watches the segments of one topic in a broker's data directory, and tells what is written and what is cut.
 *
 * The system says which file has changed (inotify); then its new headers are walked, some milliseconds after the broker
 * wrote them. A slow look at everything comes beside it, since a system may lose events, and becomes a fast one where it
 * gives none at all. Brokers do not notice: nothing here writes or locks.
 *
 * Invariant: reads only `<topic>-<partition>/*.log`, and of those only headers; bounded in partitions, and in what one
 * turn reads. Each partition is told of once when it is found, empty or not; from when on nothing can be seen is told too.
 */
import { closeSync, fstatSync, openSync, readSync, readdirSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { join } from 'node:path';
import type { SegmentEvent } from './messages.ts';
import { createWalk, look, type LogWalk, type SegmentFile } from './segment-walk.ts';

export interface WatchOptions {
  /** Where `<topic>-<partition>/` folders lie; it need not be there yet. */
  readonly directory: string;
  readonly topic: string;
  readonly clockOriginNs: bigint;
  readonly onSegments: (event: SegmentEvent) => void;
  /** Told at most once, and nothing after it. */
  readonly onBlind: (reason: string) => void;
}

export interface SegmentWatch {
  close(): void;
}

const partitionsMax = 1_000;
const slowLookMs = 500;
const fastLookMs = 25;
const offsetDigits = 20;

/** Begins with a look at what is there, so that everything told later comes on top of it. */
export function watchSegments(options: WatchOptions): SegmentWatch {
  const watching = new Watching(options);
  watching.lookAtAll();
  return watching;
}

interface WatchedPartition {
  readonly name: string;
  readonly path: string;
  readonly walk: LogWalk;
  readonly watcher: FSWatcher | null;
  /** It was told that it is there. */
  told: boolean;
  /** A look is already due. */
  due: boolean;
}

class Watching implements SegmentWatch {
  readonly #options: WatchOptions;
  readonly #partitions = new Map<string, WatchedPartition>();
  #folder: FSWatcher | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the system tells of changes. */
  #told = true;
  #closed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#folder?.close();
    for (const { watcher } of this.#partitions.values()) watcher?.close();
    this.#partitions.clear();
  }

  lookAtAll(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#attempt(() => {
      this.#findPartitions();
      for (const partition of this.#partitions.values()) this.#look(partition);
    });
    if (!this.#closed) this.#timer = setTimeout(() => this.lookAtAll(), this.#told ? slowLookMs : fastLookMs);
  }

  /** What cannot be read ends the watch. */
  #attempt(look: () => void): void {
    try {
      look();
    } catch (error) {
      this.close();
      this.#options.onBlind(error instanceof Error ? error.message : String(error));
    }
  }

  #findPartitions(): void {
    const { directory, topic } = this.#options;
    this.#folder ??= this.#watch(directory, () => this.lookAtAll());
    const names = unlessGone(() => readdirSync(directory));
    if (names === null && this.#partitions.size > 0) throw new Error(`${directory} is gone`);
    const found = new Set((names ?? []).filter((name) => isPartitionOf(topic, name)));
    if (found.size > partitionsMax) throw new Error(`${topic} has more than ${partitionsMax} partitions`);
    for (const [name, { watcher }] of this.#partitions) {
      if (found.has(name)) continue;
      watcher?.close();
      this.#partitions.delete(name);
    }
    for (const name of found) {
      if (this.#partitions.has(name)) continue;
      const path = join(directory, name);
      const watcher = this.#watch(path, (file) => {
        if (file === null || file.endsWith('.log') || file.endsWith('.deleted')) this.#lookSoon(name);
      });
      this.#partitions.set(name, { name, path, walk: createWalk(), watcher, told: false, due: false });
    }
  }

  /** Null where the folder is not there, or the system has no watches left. */
  #watch(path: string, onChange: (file: string | null) => void): FSWatcher | null {
    try {
      const watcher = watch(path, { persistent: false }, (_, file) => onChange(file));
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch (error) {
      if (!isGone(error)) this.#told = false;
      return null;
    }
  }

  /** Several changes that are told in one turn are one look. */
  #lookSoon(name: string): void {
    const partition = this.#partitions.get(name);
    if (partition === undefined || partition.due) return;
    partition.due = true;
    setImmediate(() => {
      partition.due = false;
      if (this.#partitions.get(name) === partition) this.#attempt(() => this.#look(partition));
    });
  }

  #look(partition: WatchedPartition): void {
    const { name, path, walk } = partition;
    const names = unlessGone(() => readdirSync(path));
    if (names === null) return;
    const files = openSegments(path, names);
    try {
      const { more, batches, ...cut } = look(walk, files);
      if (batches.length > 0 || cut.truncation !== undefined || !partition.told) {
        partition.told = true;
        const time = Number(process.hrtime.bigint() - this.#options.clockOriginNs);
        this.#options.onSegments({ event: 'segments', partition: name, time, ...cut, batches });
      }
      if (more) this.#lookSoon(name);
    } finally {
      for (const file of files) closeSync(file.descriptor);
    }
  }
}

function isPartitionOf(topic: string, name: string): boolean {
  return name.startsWith(`${topic}-`) && /^\d+$/.test(name.slice(topic.length + 1));
}

interface OpenSegment extends SegmentFile {
  readonly descriptor: number;
}

/** In the order of their offsets. One that is gone before it is opened is left out. */
function openSegments(path: string, names: readonly string[]): OpenSegment[] {
  const logs = names.filter((name) => name.endsWith('.log') && name.length === offsetDigits + '.log'.length);
  return logs.toSorted().flatMap((name) => {
    const descriptor = unlessGone(() => openSync(join(path, name), 'r'));
    return descriptor === null ? [] : [openSegment(descriptor, Number(name.slice(0, offsetDigits)))];
  });
}

function openSegment(descriptor: number, base: number): OpenSegment {
  return {
    descriptor,
    base,
    size: fstatSync(descriptor).size,
    read(position, length) {
      const bytes = Buffer.allocUnsafe(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
    },
  };
}

/** Null where the file went away meanwhile. */
function unlessGone<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
