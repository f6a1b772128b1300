/**
 * Which replicas lie below the directories that a user names.
 *
 * A broker's directory holds partition directories, `<topic>-<partition>`, with segments in them, and the checkpoint
 * files beside. A directory may be given as one broker's, as a parent of several, or as a single partition's.
 * Directories that Kafka has renamed (`…-delete`, `…-future`, `…-stray`) are no replicas.
 *
 * Invariant: what is compared belongs to one cluster, as far as can be seen: no broker holds a partition twice.
 */
import { existsSync, readFileSync, readdirSync, statSync, type Dirent } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { EnvironmentError, UsageError, errorCode } from '../errors.ts';
import { shellWord } from '../report/words.ts';
import { shownPath } from '../shown-path.ts';

/** Where a replica of a partition lies. */
export interface CopyPlace {
  /** The broker's name: its directory's, with as much of the path as tells it from the others. */
  readonly name: string;
  readonly partition: string;
  readonly brokerDirectory: string;
  readonly directory: string;
}

/** All replicas below `directories`, by partition, in the order of names. */
export function findCopies(directories: readonly string[]): Map<string, CopyPlace[]> {
  const brokers: { directory: string; only: string | null }[] = [];
  for (const given of directories) brokers.push(...brokersIn(given));
  const names = namesOf(brokers.map(({ directory }) => directory));
  const byPartition = new Map<string, CopyPlace[]>();
  for (const [index, { directory, only }] of brokers.entries()) {
    for (const partition of only === null ? partitionsIn(directory) : [only]) {
      const place = {
        name: names[index] as string,
        partition,
        brokerDirectory: directory,
        directory: join(directory, partition),
      };
      byPartition.set(partition, [...(byPartition.get(partition) ?? []), place]);
    }
  }
  demandOneCluster(byPartition);
  return new Map([...byPartition].sort(([one], [other]) => inOrder(one, other)));
}

/** Copies of several runs would be compared as replicas of one partition, and differ. */
function demandOneCluster(byPartition: ReadonlyMap<string, readonly CopyPlace[]>): void {
  for (const [partition, places] of byPartition) {
    const byBroker = new Map<string, string>();
    for (const { brokerDirectory } of places) {
      const broker = idOf(brokerDirectory);
      if (broker === null) continue;
      const other = byBroker.get(broker);
      if (other !== undefined) {
        /* Side by side in one directory, that one would be refused as well. */
        const alone = dirname(other) === dirname(brokerDirectory) ? other : dirname(other);
        throw new UsageError(
          `${shownPath(other)} and ${shownPath(brokerDirectory)} are both broker ${broker} with a replica of ${partition}, so they are of several clusters, or of one at several times; give those of one alone, such as: verify-logs ${shellWord(shownPath(alone))}`,
        );
      }
      byBroker.set(broker, brokerDirectory);
    }
  }
}

/** The broker's id, by its own file, or where that was not copied by the name of the directory; null if neither tells. */
function idOf(brokerDirectory: string): string | null {
  const byName = /^(?:broker-?)?(\d+)$/.exec(basename(brokerDirectory))?.[1] ?? null;
  try {
    const properties = readFileSync(join(brokerDirectory, 'meta.properties'), 'utf8');
    return /^\s*(?:node|broker)\.id\s*[=:]\s*(\d+)\s*$/m.exec(properties)?.[1] ?? byName;
  } catch {
    return byName;
  }
}

const partitionName = /^(.+)-(\d+)$/;
const segmentName = /^\d{20}\.log$/;

function brokersIn(given: string): { directory: string; only: string | null }[] {
  const directory = resolve(given);
  const entries = entriesOf(directory, given);
  if (partitionName.test(basename(directory)) && entries.some(({ name }) => segmentName.test(name))) {
    return [{ directory: dirname(directory), only: basename(directory) }];
  }
  if (isBroker(directory, entries)) return [{ directory, only: null }];
  const brokers = entries
    .filter((entry) => isDirectory(directory, entry))
    .map(({ name }) => join(directory, name))
    .filter((child) => isBroker(child, entriesIfAny(child)))
    .sort(inOrder);
  if (brokers.length > 0) return brokers.map((child) => ({ directory: child, only: null }));
  const hint = existsSync(join(directory, 'data')) ? `; did you mean ${join(given, 'data')}?` : '';
  throw new UsageError(
    `${given} holds no log directory of a broker: none of its folders is <topic>-<partition> with segments in it${hint}`,
  );
}

function isBroker(directory: string, entries: readonly Dirent[]): boolean {
  return (
    entries.some(({ name }) => name === 'meta.properties' || name === 'replication-offset-checkpoint') ||
    partitionsAmong(directory, entries).length > 0
  );
}

function partitionsIn(directory: string): string[] {
  return partitionsAmong(directory, entriesOf(directory, directory)).sort(inOrder);
}

/** A folder of that name without any segment is no replica: `broker-1` may be one. */
function partitionsAmong(directory: string, entries: readonly Dirent[]): string[] {
  return entries
    .filter((entry) => partitionName.test(entry.name) && isDirectory(directory, entry))
    .map(({ name }) => name)
    .filter((name) => {
      const inside = entriesOf(join(directory, name), join(directory, name));
      return inside.some((entry) => segmentName.test(entry.name));
    });
}

/** Nothing where we may not look: a parent holds other folders too, such as `lost+found`. */
function entriesIfAny(directory: string): Dirent[] {
  try {
    return entriesOf(directory, directory);
  } catch (error) {
    if (error instanceof EnvironmentError) return [];
    throw error;
  }
}

/** Log directories are often mounted elsewhere and linked to. */
function isDirectory(parent: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  const path = join(parent, entry.name);
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    /* A broker whose disk is not mounted must not be left out in silence; any other link is none of ours. */
    if (!partitionName.test(entry.name)) return false;
    throw new EnvironmentError(
      `${path} is a link that cannot be followed (${errorCode(error) ?? String(error)}): mend or remove it`,
      { cause: error },
    );
  }
}

function entriesOf(directory: string, given: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') throw new UsageError(`${given}: there is no such directory`);
    if (code === 'ENOTDIR')
      throw new UsageError(`${given} is no directory; give a broker's log directory, or a parent`);
    throw new EnvironmentError(`${given} cannot be read: ${code ?? String(error)}`, { cause: error });
  }
}

/** The last parts of each path, as many as it takes to tell them apart. */
function namesOf(directories: readonly string[]): string[] {
  if (new Set(directories).size < directories.length) {
    throw new UsageError('the same log directory was given twice; give each broker once');
  }
  const parts = directories.map((directory) => directory.split(sep));
  for (let count = 1; count < 64; count += 1) {
    const names = parts.map((part) => part.slice(-count).join('/'));
    if (new Set(names).size === names.length) return names;
  }
  return directories.map((directory) => relative('.', directory));
}

/** Text, but with numbers in it by their size: `tide-10` after `tide-9`. */
function inOrder(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}
