/** Fetching with a Maven of our own making: what it leaves, and what is said when it cannot. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cachedKafka, cachedReleases, jarsOf, kafkaCache } from '../../../docker/targets/kafka-cache.ts';
import { fetchKafka, mavenProblem, noteImage } from '../../../docker/targets/kafka-fetch.ts';
import { parseKafkaVersion } from '../../../docker/targets/kafka-versions.ts';

const version = parseKafkaVersion('1.1.1')!;
let folder = '';
let cache = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kafka-fetch-'));
  cache = join(folder, 'kafka');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program in the place of Maven; `$out` is where the jars are to go. */
function maven(script: string): (tool: string) => string {
  const path = join(folder, 'mvn');
  writeFileSync(
    path,
    `#!/bin/sh\nfor each in "$@"; do case $each in -DoutputDirectory=*) out=\${each#*=};; esac; done\n${script}\n`,
  );
  chmodSync(path, 0o755);
  return () => path;
}

describe('fetching a release', () => {
  it('leaves a whole entry, and does not ask again for what is there', async () => {
    const find = maven('mkdir -p "$out"; printf abc > "$out/b.jar"; printf d > "$out/a.jar"');
    const { release, already } = await fetchKafka(version, { cache, find });
    expect(already).toBe(false);
    expect(release.entry).toMatchObject({ version: '1.1.1', source: 'maven', jars: 2, bytes: 4 });
    expect(jarsOf(release)).toEqual(['a.jar', 'b.jar']);
    expect(cachedReleases(cache).map(({ entry }) => entry.version)).toEqual(['1.1.1']);
    const again = await fetchKafka(version, { cache, find: () => null });
    expect(again).toEqual({ release, already: true });
  });

  it('leaves nothing of a fetch that failed or was interrupted', async () => {
    await expect(fetchKafka(version, { cache, find: maven('mkdir -p "$out"; echo no; exit 1') })).rejects.toThrow('no');
    expect(readdirSync(cache)).toEqual([]);
    const interrupt = new AbortController();
    const fetching = fetchKafka(version, {
      cache,
      find: maven('mkdir -p "$out"; exec sleep 60'),
      signal: interrupt.signal,
    });
    interrupt.abort();
    await expect(fetching).rejects.toThrow('aborted');
    expect(readdirSync(cache)).toEqual([]);
  });

  it('removes what a killed fetch left, and nothing of one that goes on', async () => {
    mkdirSync(join(cache, '.fetching-2.8.2-4194999'), { recursive: true });
    mkdirSync(join(cache, `.fetching-2.8.1-${process.ppid}`));
    await fetchKafka(version, { cache, find: maven('mkdir -p "$out"; touch "$out/a.jar"') });
    expect(readdirSync(cache).toSorted()).toEqual([`.fetching-2.8.1-${process.ppid}`, '1.1.1']);
  });

  it('takes the place of an entry that lost a word or a jar', async () => {
    const find = maven('mkdir -p "$out"; touch "$out/a.jar" "$out/b.jar"');
    await fetchKafka(version, { cache, find });
    for (const spoil of [
      () => writeFileSync(join(cache, '1.1.1/entry.json'), '{"schemaVersion":1,"version":"1.1.1"}'),
      () => rmSync(join(cache, '1.1.1/libs/a.jar')),
      () => rmSync(join(cache, '1.1.1/libs'), { recursive: true }),
    ]) {
      spoil();
      expect(cachedKafka('1.1.1', cache)).toBeNull();
      const { release, already } = await fetchKafka(version, { cache, find });
      expect(already).toBe(false);
      expect(jarsOf(release)).toEqual(['a.jar', 'b.jar']);
      expect(readdirSync(cache)).toEqual(['1.1.1']);
    }
  });

  it('is not done when Maven brought nothing', async () => {
    const find = maven('mkdir -p "$out"');
    await expect(fetchKafka(version, { cache, find })).rejects.toThrow('Maven brought no jars of kafka:1.1.1');
    expect(cachedReleases(cache)).toEqual([]);
  });

  it('says where the cache cannot be', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expect(fetchKafka(version, { cache: join(file, 'kafka'), find: () => file })).rejects.toThrow(
      `the cache ${file}/kafka cannot be written (ENOTDIR): name another place in TIDEMARK_CACHE`,
    );
  });

  it('says in one line what to do where there is no Maven', async () => {
    await expect(fetchKafka(version, { cache, find: () => null })).rejects.toThrow(
      /no `mvn` on this machine: install it/,
    );
  });

  it.each([
    [
      '[ERROR] Could not find artifact org.apache.kafka:kafka_2.13:jar:9.9.9 in central',
      'there is no Apache Kafka 9.9.9',
    ],
    [
      '[ERROR] The following artifacts could not be resolved: org.apache.kafka:kafka_2.13:jar:9.9.9: org.apache.kafka:kafka_2.13:jar:9.9.9 was not found in https://example.org during a previous attempt. This failure was cached in the local repository',
      'there is no Apache Kafka 9.9.9',
    ],
    ['[ERROR] Could not transfer artifact x from/to y: UnknownHostException', 'Maven cannot reach its repository'],
    ['[ERROR] Connect to a:443 failed: Connection refused', 'Maven cannot reach its repository'],
    [
      '[INFO] x\n[ERROR] \u001B[1mSomething\u001B[m is wrong\n[ERROR] more',
      'could not fetch kafka:9.9.9: Something is wrong',
    ],
    ['[ERROR] Error copying artifact from a to b: No space left on device', 'there is no space for kafka:9.9.9'],
    ["[ERROR] No plugin found for prefix 'dependency' in the current project", 'Maven cannot reach its repository'],
    ['', 'it was ended without a word'],
  ])('reads what Maven complains of: %j', (output, line) => {
    expect(mavenProblem('9.9.9', output)).toContain(line);
    expect(mavenProblem('9.9.9', output)).not.toContain('\n');
  });
});

describe('the cache', () => {
  it('is where the user says, else where caches are', () => {
    expect(kafkaCache({ TIDEMARK_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a/kafka');
    expect(kafkaCache({ XDG_CACHE_HOME: '/b' })).toBe('/b/tidemark/kafka');
    expect(kafkaCache({})).toMatch(/\/\.cache\/tidemark\/kafka$/);
  });

  it('holds no entry that is half there', () => {
    mkdirSync(join(cache, '1.1.1/libs'), { recursive: true });
    expect(cachedKafka('1.1.1', cache)).toBeNull();
    writeFileSync(join(cache, '1.1.1/entry.json'), '{"schemaVersion":1,"version":"2');
    expect(cachedKafka('1.1.1', cache)).toBeNull();
  });

  it('notes an image instead of jars', () => {
    const release = noteImage(parseKafkaVersion('3.9.2')!, 'apache/kafka:3.9.2', 7_000, cache);
    expect(cachedKafka('3.9.2', cache)).toEqual(release);
    expect(release.entry).toMatchObject({ source: 'image', image: 'apache/kafka:3.9.2', bytes: 7_000 });
    expect(existsSync(join(cache, '3.9.2/libs'))).toBe(true);
  });
});
