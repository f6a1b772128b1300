/**
 * Looks at this machine for `doctor`: what is there, and what each way of running brokers would still need.
 *
 * Everything is only looked at: nothing is fetched, built or started, but for the one network that the probe of the engine
 * makes and removes. What cannot be looked at is said to be unknown; nothing here throws for what a machine lacks.
 */
import { readFileSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { connectEngine } from '../../docker/client.ts';
import { probeEngine, type EngineProbe } from '../../docker/engine.ts';
import { findTool } from '../../docker/host.ts';
import { imageLabel } from '../../docker/image-store.ts';
import { findJava } from '../../docker/java-image.ts';
import { cachedReleases, kafkaCache } from '../../docker/targets/kafka-cache.ts';
import { shownPath } from '../shown-path.ts';
import type { Check, Runnable } from './document.ts';

/** Two clusters of Apache Kafka side by side, and a harness that checks a long run. */
const enoughMemory = 3 * 2 ** 30;
/** Some runs with their logs, and a release of Kafka. */
const enoughDisk = 2 * 2 ** 30;

export interface Examination {
  readonly checks: readonly Check[];
  readonly runs: readonly Runnable[];
}

export async function examine(): Promise<Examination> {
  const probe = await probeEngine();
  const checks = [
    node(),
    memory(),
    disk(),
    ...engineChecks(probe),
    await images(probe),
    await java(),
    maven(),
    kafka(),
  ];
  return { checks, runs: runnables(checks) };
}

function node(): Check {
  return { name: 'node', state: 'ok', found: `Node ${process.versions.node}`, remedy: null };
}

function memory(): Check {
  const free = availableMemory();
  const state = free < enoughMemory ? 'low' : 'ok';
  const remedy =
    state === 'ok'
      ? null
      : 'two clusters of Apache Kafka side by side take 1.5 GB: leave them, or run one build at a time';
  return { name: 'memory', state, found: `${gigabytes(free)} free`, remedy };
}

/** What can be had without swapping; `freemem` leaves out what the page cache would give back. */
function availableMemory(): number {
  try {
    const [, kilobytes] = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
    return kilobytes === undefined ? freemem() : Number(kilobytes) * 1024;
  } catch {
    return freemem();
  }
}

function disk(): Check {
  try {
    const { bavail, bsize } = statfsSync('.');
    const free = bavail * bsize;
    const state = free < enoughDisk ? 'low' : 'ok';
    const remedy = state === 'ok' ? null : 'free some space, or keep runs elsewhere with --store';
    return { name: 'disk', state, found: `${gigabytes(free)} free in this folder`, remedy };
  } catch (error) {
    return { name: 'disk', state: 'unknown', found: `it cannot be looked at: ${lineOf(error)}`, remedy: null };
  }
}

/** The engine, the tool that cuts its pods apart, and the way from here to its containers: each for itself. */
function engineChecks(probe: EngineProbe): Check[] {
  const answers = probe.ok || ['no-nft', 'inside-container', 'unreachable'].includes(probe.problem);
  const version = probe.ok ? `Docker engine ${probe.version}` : 'a Docker engine answers';
  const engine: Check = answers
    ? { name: 'engine', state: 'ok', found: version, remedy: null }
    : {
        name: 'engine',
        state: 'missing',
        found: probe.line,
        remedy: 'install Docker and start its engine; brokers run as local processes meanwhile',
      };
  const nft = findTool('nft');
  const tool: Check =
    nft === null
      ? { name: 'nft', state: 'missing', found: 'no nft on this machine', remedy: 'install the package nftables' }
      : { name: 'nft', state: 'ok', found: nft, remedy: null };
  return [engine, tool, containers(probe, answers)];
}

function containers(probe: EngineProbe, answers: boolean): Check {
  if (probe.ok)
    return { name: 'containers', state: 'ok', found: 'their addresses can be reached from here', remedy: null };
  if (!answers || probe.problem === 'no-nft')
    return { name: 'containers', state: 'unknown', found: 'not looked at, for want of the above', remedy: null };
  return {
    name: 'containers',
    state: 'missing',
    found: probe.line,
    remedy: 'run tidemark where the engine runs; brokers run as local processes meanwhile',
  };
}

async function images(probe: EngineProbe): Promise<Check> {
  if (!probe.ok) return { name: 'images', state: 'unknown', found: 'not looked at, without an engine', remedy: null };
  try {
    const { docker } = await connectEngine();
    const found = await docker.listImages({ filters: JSON.stringify({ label: [imageLabel] }) });
    const names = found.flatMap(({ RepoTags }) => RepoTags ?? []).map((name) => name.split(':')[0] ?? name);
    const counts = [...Map.groupBy(names, (name) => name)].map(([name, all]) => `${all.length} of ${name}`);
    const what = counts.length === 0 ? 'none yet' : counts.toSorted().join(', ');
    return { name: 'images', state: 'ok', found: `${what}; missing ones are built at the first run`, remedy: null };
  } catch (error) {
    return { name: 'images', state: 'unknown', found: `they cannot be listed: ${lineOf(error)}`, remedy: null };
  }
}

async function java(): Promise<Check> {
  try {
    const { home, release, links } = await findJava();
    const version = /^JAVA_VERSION="([^"]+)"/m.exec(release)?.[1];
    const how = links ? 'from which a small runtime is linked' : 'which is copied as it is, for want of jlink';
    return {
      name: 'java',
      state: 'ok',
      found: `Java${version === undefined ? '' : ` ${version}`} in ${home}, ${how}`,
      remedy: null,
    };
  } catch (error) {
    const [what = '', remedy] = lineOf(error).split(': ');
    return { name: 'java', state: 'missing', found: what, remedy: remedy ?? null };
  }
}

function maven(): Check {
  const path = findTool('mvn');
  if (path !== null) return { name: 'maven', state: 'ok', found: path, remedy: null };
  return {
    name: 'maven',
    state: 'missing',
    found: 'no mvn on this machine, which fetches releases of Kafka',
    remedy: 'install the package maven',
  };
}

function kafka(): Check {
  const releases = cachedReleases().map(({ entry }) => entry.version);
  const where = shownPath(kafkaCache());
  if (releases.length > 0)
    return { name: 'kafka', state: 'ok', found: `${releases.join(', ')} in ${where}`, remedy: null };
  return {
    name: 'kafka',
    state: 'missing',
    found: `no release of Kafka in ${where}`,
    remedy: 'fetch one: npm run tidemark -- fetch kafka:4.4.0',
  };
}

/** What can be run, from what was found. */
export function runnables(checks: readonly Check[]): Runnable[] {
  const lacking = (...names: readonly Check['name'][]): string[] =>
    checks.filter(({ name, state }) => names.includes(name) && state === 'missing').map(({ found }) => found);
  const pods = lacking('engine', 'nft', 'containers');
  const jars = [...pods, ...lacking('java', 'kafka')];
  return [
    { name: 'sim', able: true, line: 'our brokers, simulated' },
    { name: 'local', able: true, line: 'our brokers, as local processes' },
    {
      name: 'docker',
      able: pods.length === 0,
      line: pods.length === 0 ? 'our brokers, in containers' : pods.join('; '),
    },
    {
      name: 'kafka',
      able: jars.length === 0,
      line: jars.length === 0 ? 'Apache Kafka, and anybody’s image, in containers' : jars.join('; '),
    },
  ];
}

function gigabytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GB`;
}

function lineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
