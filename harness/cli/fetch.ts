/**
 * `tidemark fetch kafka:<version> …`: gets releases of Apache Kafka to put under test, and makes ready what they start with.
 *
 * Each step is one line with what it brought and how long it took. What is there already is said to be.
 */
import type { Command } from 'commander';
import type { CachedKafka } from '../../docker/targets/kafka-cache.ts';
import type { KafkaVersion } from '../../docker/targets/kafka-versions.ts';
import { isBefore, kafkaVersionOf } from '../../docker/targets/kafka-versions.ts';
import { aligned } from '../aligned.ts';
import { EnvironmentError, InterruptedError, UsageError, environmentErrorFrom } from '../errors.ts';
import { createProgress, type Progress } from '../progress.ts';
import { counted } from '../report/words.ts';
import { onInterrupt } from './interrupt.ts';

interface FetchFlags {
  readonly list: boolean;
  readonly pulled: boolean;
}

export function registerFetch(program: Command): void {
  program
    .command('fetch')
    .description('get releases of Apache Kafka to put under test: their jars by Maven, into a cache')
    .argument('[kafka:version...]', 'such as kafka:0.10.2.2 kafka:4.4.0')
    .option('--list', 'print what is there, one release a line: its name, its size, and what it is made of', false)
    .option(
      '--pulled',
      'use the image apache/kafka:<version> instead of jars (3.7.0 and later), pulled by the engine if it lacks it',
      false,
    )
    .action(fetchReleases);
}

async function fetchReleases(builds: readonly string[], flags: FetchFlags): Promise<void> {
  if (flags.list) return list();
  if (builds.length === 0) throw new UsageError('fetch: name a release, such as kafka:0.10.2.2 (or --list)');
  const versions = builds.map(versionFrom);
  if (flags.pulled) for (const version of versions) refuseUnlessPublished(version);
  const progress = createProgress();
  const signal = onInterrupt(progress, 'removing what was not complete');
  try {
    for (const version of versions) await (flags.pulled ? pull(version, progress) : bring(version, progress, signal));
    if (!flags.pulled) await makeReady(versions, progress);
  } catch (error) {
    if (signal.aborted) throw new InterruptedError();
    throw environmentErrorFrom(error, 'fetch');
  }
}

function versionFrom(build: string): KafkaVersion {
  const version = kafkaVersionOf(build);
  if (version === null)
    throw new UsageError(`fetch ${build}: only kafka:<version> can be fetched, such as kafka:0.10.2.2`);
  if (typeof version === 'string') throw new UsageError(version);
  return version;
}

/** Images of releases are published from this one on. */
const firstPublished = '3.7.0';

function refuseUnlessPublished(version: KafkaVersion): void {
  if (isBefore(version, firstPublished)) {
    throw new UsageError(
      `--pulled: there are images from kafka:${firstPublished} on; leave the flag out for kafka:${version.text}`,
    );
  }
}

async function bring(version: KafkaVersion, progress: Progress, signal: AbortSignal): Promise<void> {
  const { fetchKafka } = await import('../../docker/targets/kafka-fetch.ts');
  const startMs = performance.now();
  const { release, already } = await fetchKafka(version, { signal });
  progress.line(
    already
      ? `${inWords(release)}: already there`
      : `${inWords(release)} in ${secondsSince(startMs)} · ${release.directory}`,
  );
}

async function pull(version: KafkaVersion, progress: Progress): Promise<void> {
  const { cachedKafka } = await import('../../docker/targets/kafka-cache.ts');
  const present = cachedKafka(version.text);
  if (present !== null) return progress.line(`${inWords(present)}: already there`);
  const { probeEngine } = await import('../../docker/engine.ts');
  const { connectEngine } = await import('../../docker/client.ts');
  const answer = await probeEngine();
  if (!answer.ok) throw new EnvironmentError(`--pulled: ${answer.line}; leave the flag out for jars`);
  const engine = await connectEngine();
  const { pullImage } = await import('../../docker/image-store.ts');
  const { noteImage } = await import('../../docker/targets/kafka-fetch.ts');
  const startMs = performance.now();
  const image = `apache/kafka:${version.text}`;
  progress.step(`pulling ${image}`);
  const bytes = await pullImage(engine, image);
  progress.line(`${inWords(noteImage(version, image, bytes))} in ${secondsSince(startMs)}`);
}

/** Image and archives of classes are made now, so that no run has to wait for them; or it is said that they will be. */
async function makeReady(versions: readonly KafkaVersion[], progress: Progress): Promise<void> {
  const engine = await engineOrNull(progress);
  if (engine === null) return;
  const { kafkaTarget } = await import('../../docker/targets/kafka.ts');
  const startMs = performance.now();
  let made = false;
  for (const version of versions) {
    await kafkaTarget(`kafka:${version.text}`, new Map([[1, version]])).prepare(engine, (line) => {
      made = true;
      progress.step(line);
    });
  }
  progress.line(made ? `ready to start in ${secondsSince(startMs)}` : 'ready to start');
}

/** Null, and a line, where containers cannot run. */
async function engineOrNull(progress: Progress) {
  const { probeEngine } = await import('../../docker/engine.ts');
  const { connectEngine } = await import('../../docker/client.ts');
  const answer = await probeEngine();
  if (answer.ok) return connectEngine();
  progress.line(`not ready to start yet: ${answer.line}; the Java image will be made at the first use`);
  return null;
}

async function list(): Promise<void> {
  const { archivesOf, cachedReleases, kafkaCache } = await import('../../docker/targets/kafka-cache.ts');
  const releases = cachedReleases();
  const rows = releases.map((release) => {
    const { entry } = release;
    const archives = archivesOf(release);
    const more =
      archives.count === 0 ? '' : `, ${counted(archives.count, 'archive')} of classes (${megabytes(archives.bytes)})`;
    return [`kafka:${entry.version}`, megabytes(entry.bytes + archives.bytes), `${partsInWords(entry)}${more}`];
  });
  for (const line of aligned(rows, '', [1])) console.log(line);
  if (releases.length === 0) console.error(`nothing was fetched yet: ${kafkaCache()} holds no release`);
}

function inWords({ entry }: CachedKafka): string {
  return `kafka:${entry.version}  ${partsInWords(entry)}, ${megabytes(entry.bytes)}`;
}

function partsInWords(entry: CachedKafka['entry']): string {
  return entry.source === 'maven' ? counted(entry.jars, 'jar') : `the image ${entry.image}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function secondsSince(startMs: number): string {
  return `${((performance.now() - startMs) / 1_000).toFixed(1)} s`;
}
