/**
 * Where fetched releases of Kafka lie: one folder for each, which is either whole or not there.
 *
 * `<cache>/kafka/<version>/` holds `entry.json`, the jars in `libs/`, and archives of loaded classes, which are made at a
 * first start. An entry is filled beside its place and renamed, so that whoever finds one can rely on it, and a fetch
 * that was killed leaves nothing but a folder with a strange name, which the next fetch removes. An entry that has lost
 * something since, a jar or a word, counts as not there: the next fetch of it takes its place.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** `entry.json` of one release. */
export interface CacheEntry {
  readonly schemaVersion: 1;
  readonly version: string;
  /** Jars that Maven brought, or an image that the engine holds. */
  readonly source: 'maven' | 'image';
  /** Of an image: its name. */
  readonly image?: string;
  readonly jars: number;
  readonly bytes: number;
}

export interface CachedKafka {
  readonly directory: string;
  readonly entry: CacheEntry;
}

export const entryFile = 'entry.json';
export const libraries = 'libs';
export const archiveSuffix = '.jsa';

/** `TIDEMARK_CACHE`, else `tidemark` in the user's cache; in it the folder of all releases. */
export function kafkaCache(environment: NodeJS.ProcessEnv = process.env): string {
  const own = environment['TIDEMARK_CACHE'];
  if (own !== undefined && own !== '') return join(own, 'kafka');
  const shared = environment['XDG_CACHE_HOME'];
  return join(shared === undefined || shared === '' ? join(homedir(), '.cache') : shared, 'tidemark', 'kafka');
}

/** What was fetched of a release, or null. */
export function cachedKafka(version: string, cache: string = kafkaCache()): CachedKafka | null {
  const directory = join(cache, version);
  try {
    const entry = JSON.parse(readFileSync(join(directory, entryFile), 'utf8')) as CacheEntry;
    return entry.version === version && isWhole(directory, entry) ? { directory, entry } : null;
  } catch {
    return null;
  }
}

/** Throws where the folder of the jars is gone. */
function isWhole(directory: string, { schemaVersion, source, image, jars, bytes }: CacheEntry): boolean {
  if (schemaVersion !== 1 || !Number.isSafeInteger(bytes)) return false;
  return source === 'image' ? typeof image === 'string' : source === 'maven' && jarsOf({ directory }).length === jars;
}

/** Every release that was fetched. */
export function cachedReleases(cache: string = kafkaCache()): CachedKafka[] {
  const names = existsSync(cache) ? readdirSync(cache).toSorted() : [];
  return names.map((name) => cachedKafka(name, cache)).filter((found) => found !== null);
}

/** The jars of an entry, by name and in one order: an archive of classes holds only for the very same class path. */
export function jarsOf({ directory }: Pick<CachedKafka, 'directory'>): string[] {
  return readdirSync(join(directory, libraries))
    .filter((name) => name.endsWith('.jar'))
    .toSorted();
}

/** Archives of loaded classes beside the jars: how many, and their bytes together. */
export function archivesOf({ directory }: Pick<CachedKafka, 'directory'>): {
  readonly count: number;
  readonly bytes: number;
} {
  const sizes = readdirSync(directory)
    .filter((name) => name.endsWith(archiveSuffix))
    .map((name) => statSync(join(directory, name)).size);
  return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
