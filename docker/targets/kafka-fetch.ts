/**
 * Getting a release of Kafka: Maven copies its jars, and Maven's own settings decide where it asks for them.
 *
 * Maven works in a folder beside the cache's entry, which is renamed into place when everything is there. What can go
 * wrong on a machine (no Maven, no network, no such release) is told in one line with its remedy.
 *
 * Invariant: an entry is whole or absent; one that is whole is never touched, and one that is not is replaced.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { findTool, runTool } from '../host.ts';
import type { CachedKafka, CacheEntry } from './kafka-cache.ts';
import { cachedKafka, entryFile, jarsOf, kafkaCache, libraries } from './kafka-cache.ts';
import type { KafkaVersion } from './kafka-versions.ts';
import { pomOf } from './kafka-versions.ts';

export interface FetchOptions {
  readonly cache?: string;
  readonly signal?: AbortSignal;
  /** Finds a program on this machine. */
  readonly find?: (tool: string) => string | null;
}

export interface Fetched {
  readonly release: CachedKafka;
  /** It was there before. */
  readonly already: boolean;
}

/** A release is some 60 MB, and a slow line may take its time. */
const fetchTimeoutMs = 30 * 60_000;
const temporaryMark = '.fetching-';

/** Fills the cache's entry of a release, if it is not there. */
export async function fetchKafka(version: KafkaVersion, options: FetchOptions = {}): Promise<Fetched> {
  const cache = options.cache ?? kafkaCache();
  const present = cachedKafka(version.text, cache);
  if (present !== null) return { release: present, already: true };
  const maven = (options.find ?? findTool)('mvn');
  if (maven === null) {
    throw new Error(
      'Maven brings the jars of Kafka, and there is no `mvn` on this machine: install it (package maven) and try again',
    );
  }
  const folder = freshFolder(cache, version.text);
  try {
    writeFileSync(join(folder, 'pom.xml'), pomOf(version));
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime'];
    const outcome = await runTool(
      maven,
      ['-q', '-B', '-f', join(folder, 'pom.xml'), ...goal, `-DoutputDirectory=${join(folder, libraries)}`],
      { cwd: folder, timeoutMs: fetchTimeoutMs, ...(options.signal === undefined ? {} : { signal: options.signal }) },
    );
    options.signal?.throwIfAborted();
    if (outcome.failed) throw new Error(mavenProblem(version.text, outcome.output));
    if (jarsOf({ directory: folder }).length === 0) throw new Error(`Maven brought no jars of kafka:${version.text}`);
    return { release: complete(version.text, folder, cache, { source: 'maven' }), already: false };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Notes that an image of the engine is to be used for a release, instead of jars. */
export function noteImage(version: KafkaVersion, image: string, bytes: number, cache = kafkaCache()): CachedKafka {
  const folder = freshFolder(cache, version.text);
  mkdirSync(join(folder, libraries));
  return complete(version.text, folder, cache, { source: 'image', image, bytes });
}

/** What Maven's complaint means for its user, in one line. */
export function mavenProblem(version: string, output: string): string {
  // Asked again, Maven answers from its own memory, and in other words.
  if (
    /(Could not|Failure to) find artifact org\.apache\.kafka:kafka_|org\.apache\.kafka:kafka_\S* was not found in /.test(
      output,
    )
  ) {
    return `there is no Apache Kafka ${version} where Maven looks: see https://kafka.apache.org/downloads for the releases`;
  }
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return `there is no space for kafka:${version}: it takes some 60 MB in the cache (TIDEMARK_CACHE), and as many for Maven's own`;
  }
  // A Maven that has never been used says that there is no such plugin where it cannot ask for it.
  if (
    /UnknownHost|Connection refused|Connect timed out|Network is unreachable|No route to host|offline mode|No plugin found for prefix/i.test(
      output,
    )
  ) {
    return `Maven cannot reach its repository for kafka:${version}: connect this machine, or name a mirror in ~/.m2/settings.xml`;
  }
  const complaint =
    output.split('\n').find((line) => line.includes('[ERROR]')) ?? output.trim().split('\n').at(-1) ?? '';
  // oxlint-disable-next-line no-control-regex -- Maven paints its output
  const plain = complaint.replaceAll(/\u001B\[[\d;]*m/g, '').replace('[ERROR] ', '');
  return `Maven could not fetch kafka:${version}: ${plain === '' ? 'it was ended without a word' : plain.slice(0, 300)}`;
}

/** A new folder beside the entry's place, after those of fetches that were killed are gone. */
function freshFolder(cache: string, version: string): string {
  try {
    mkdirSync(cache, { recursive: true });
    accessSync(cache, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`the cache ${cache} cannot be written (${code}): name another place in TIDEMARK_CACHE`, {
      cause: error,
    });
  }
  for (const name of readdirSync(cache)) {
    const owner = Number(new RegExp(`^${temporaryMark.replace('.', '\\.')}.*-(\\d+)$`).exec(name)?.[1] ?? Number.NaN);
    if (!Number.isNaN(owner) && !isAlive(owner)) rmSync(join(cache, name), { recursive: true, force: true });
  }
  const folder = join(cache, `${temporaryMark}${version}-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  return folder;
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/** Makes the folder readable for the brokers' user, writes its entry, and moves it into place. */
function complete(
  version: string,
  folder: string,
  cache: string,
  about: Pick<CacheEntry, 'source' | 'image'> & { readonly bytes?: number },
): CachedKafka {
  const jars = jarsOf({ directory: folder });
  let bytes = about.bytes ?? 0;
  for (const name of jars) {
    const path = join(folder, libraries, name);
    chmodSync(path, 0o644);
    bytes += statSync(path).size;
  }
  chmodSync(join(folder, libraries), 0o755);
  chmodSync(folder, 0o755);
  const entry: CacheEntry = { schemaVersion: 1, version, ...about, jars: jars.length, bytes };
  writeFileSync(join(folder, entryFile), `${JSON.stringify(entry, null, 2)}\n`);
  const place = join(cache, version);
  if (cachedKafka(version, cache) === null) rmSync(place, { recursive: true, force: true });
  try {
    renameSync(folder, place);
  } catch (error) {
    // Somebody else was quicker; what they brought is the same.
    if (cachedKafka(version, cache) === null) throw error;
  }
  return { directory: place, entry };
}
