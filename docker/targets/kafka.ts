/**
 * Apache Kafka as a target: `kafka:<version>`, one release or several in one cluster.
 *
 * Up to 3.2 ZooKeeper keeps the metadata, and the controller is one of the brokers; so the pod `controller` holds
 * ZooKeeper and a broker without replicas, which starts before the others and becomes the controller. From 3.3 on the
 * pod holds a controller of its own kind. Several releases in one cluster speak as the oldest of them does.
 *
 * Left out: whatever Kafka itself says of its versions beyond what is here. A mix that Kafka refuses shows as a broker
 * that does not start.
 */
import { join } from 'node:path';
import type { NodeId, NodeName } from '../../nemesis/ports.ts';
import type { Engine } from '../client.ts';
import { isPresent } from '../image-store.ts';
import { brokerUser } from '../images.ts';
import type { JavaImage } from '../java-image.ts';
import { ensureJavaImage, insideJava } from '../java-image.ts';
import { capabilitiesWithout } from './capabilities.ts';
import type { CachedKafka } from './kafka-cache.ts';
import { cachedKafka, jarsOf, libraries } from './kafka-cache.ts';
import { classArchive, ensureClassArchive } from './kafka-classes.ts';
import { kafkaLogPatterns } from './kafka-logs.ts';
import {
  controllerId,
  kafkaInside,
  kafkaPorts,
  kraftBroker,
  kraftController,
  kraftMetaProperties,
  log4j2Settings,
  log4jSettings,
  zooKeeperBroker,
  zooKeeperSettings,
} from './kafka-settings.ts';
import type { KafkaVersion } from './kafka-versions.ts';
import { compareVersions, isBefore, keepsMetadataInZooKeeper, protocolVersion } from './kafka-versions.ts';
import type { ContainerPlan, Layout, LogPattern, NodePlan, Target } from './target.ts';

/** The release of each broker: all of them keep their metadata in ZooKeeper, or none. */
export function kafkaTarget(name: string, versions: ReadonlyMap<NodeId, KafkaVersion>): Target {
  return new KafkaTarget(name, versions);
}

class KafkaTarget implements Target {
  readonly name: string;
  readonly capabilities;
  readonly leaderMove;
  readonly #versions: ReadonlyMap<NodeId, KafkaVersion>;
  readonly #oldest: KafkaVersion;
  readonly #mixed: boolean;
  #java: JavaImage | null = null;

  constructor(name: string, versions: ReadonlyMap<NodeId, KafkaVersion>) {
    const all = [...versions.values()].toSorted(compareVersions);
    const [oldest, newest] = [all[0], all.at(-1)];
    if (oldest === undefined || newest === undefined) throw new Error('a cluster has brokers');
    this.name = name;
    this.#versions = versions;
    this.#oldest = oldest;
    this.#mixed = compareVersions(oldest, newest) !== 0;
    this.capabilities = capabilitiesWithout({ faults: {}, guarantees: {}, triggers: {}, exposures: null });
    // AlterPartitionReassignments came with 2.4; before, orders are written to ZooKeeper.
    this.leaderMove = isBefore(oldest, '2.4') ? ('zookeeper' as const) : ('reassign' as const);
  }

  logPatterns(node: NodeName): readonly LogPattern[] {
    return kafkaLogPatterns(node);
  }

  lacks(): string | null {
    const missing = [...this.#releases()].filter((version) => cachedKafka(version.text) === null);
    if (missing.length === 0) return null;
    const names = missing.map((version) => `kafka:${version.text}`);
    return `${names.join(' and ')} ${names.length === 1 ? 'was' : 'were'} not fetched yet: type \`npm run tidemark -- fetch ${names.join(' ')}\``;
  }

  async prepare(engine: Engine, progress: (line: string) => void): Promise<void> {
    const releases = [...this.#releases()].map((version) => ({ version, release: this.#release(version) }));
    for (const { image } of releases.map(({ release }) => release.entry)) {
      if (image === undefined || (await isPresent(engine, image))) continue;
      throw new Error(`the engine holds no image ${image} any more: type \`docker pull ${image}\``);
    }
    const fromJars = releases.filter(({ release }) => release.entry.source === 'maven');
    if (fromJars.length === 0) return;
    const java = (this.#java = await ensureJavaImage(engine, progress));
    for (const { version, release } of fromJars) {
      const alone = new KafkaTarget(`kafka:${version.text}`, new Map([[1, version]]));
      alone.#java = java;
      await ensureClassArchive(engine, release, java, (layout) => alone.nodes(layout), progress);
    }
  }

  nodes(layout: Layout): readonly NodePlan[] {
    const inZooKeeper = keepsMetadataInZooKeeper(this.#oldest);
    const brokers = layout.brokers.map((id) => (inZooKeeper ? this.#oldBroker(id, layout) : this.#broker(id, layout)));
    return [inZooKeeper ? this.#zooKeeper(layout) : this.#controller(layout), ...brokers];
  }

  /** Each once. */
  #releases(): Iterable<KafkaVersion> {
    return new Map([...this.#versions.values()].map((version) => [version.text, version])).values();
  }

  #versionOf(node: NodeName): KafkaVersion {
    return node === 'controller' ? this.#oldest : (this.#versions.get(node) ?? this.#oldest);
  }

  /** ZooKeeper, and the broker that is to be the controller: it is ready when it is. */
  #zooKeeper(layout: Layout): NodePlan {
    const version = this.#oldest;
    const settings = zooKeeperBroker(controllerId, layout.addressOf('controller'), layout, this.#pins());
    const zooKeeper = this.#container('zookeeper', version, {
      main: ['org.apache.zookeeper.server.quorum.QuorumPeerMain', `${kafkaInside.run}/zoo.cfg`],
      files: { [`${kafkaInside.run}/zoo.cfg`]: zooKeeperSettings(layout) },
      heapMb: 64,
      ready: /binding to port/,
    });
    const ready = /\b100 successfully elected as (the controller|leader)/;
    return {
      node: 'controller',
      wave: 0,
      port: kafkaPorts.broker,
      process: this.#kafka(version, { settings, ready }),
      companions: [zooKeeper],
      zooKeeper: { port: kafkaPorts.zookeeper, controllerId },
      logDirectory: null,
    };
  }

  #controller(layout: Layout): NodePlan {
    const meta = kraftMetaProperties(controllerId);
    return {
      node: 'controller',
      // Brokers wait for it by themselves.
      wave: 0,
      port: kafkaPorts.controller,
      process: this.#kafka(this.#oldest, { settings: kraftController(layout), files: meta }),
      companions: [],
      logDirectory: null,
    };
  }

  #oldBroker(id: NodeId, layout: Layout): NodePlan {
    const settings = zooKeeperBroker(id, layout.addressOf(id), layout, this.#pins());
    return this.#node(id, 1, this.#kafka(this.#versionOf(id), { settings }));
  }

  #broker(id: NodeId, layout: Layout): NodePlan {
    const settings = kraftBroker(id, layout.addressOf(id), layout);
    const meta = kraftMetaProperties(id);
    return this.#node(id, 0, this.#kafka(this.#versionOf(id), { settings, files: meta }));
  }

  #node(id: NodeId, wave: number, process: ContainerPlan): NodePlan {
    return { node: id, wave, port: kafkaPorts.broker, process, companions: [], logDirectory: kafkaInside.logs };
  }

  /** Several releases: all speak, and write, as the oldest does. In KRaft the controller, the oldest too, sees to it. */
  #pins(): Readonly<Record<string, string>> {
    if (!this.#mixed) return {};
    const version = protocolVersion(this.#oldest);
    return {
      'inter.broker.protocol.version': version,
      ...(isBefore(this.#oldest, '3.0') ? { 'log.message.format.version': version } : {}),
    };
  }

  #kafka(
    version: KafkaVersion,
    about: { settings: string; files?: Readonly<Record<string, string>>; ready?: RegExp },
  ): ContainerPlan {
    const settings = `${kafkaInside.run}/server.properties`;
    return this.#container('node', version, {
      main: ['kafka.Kafka', settings],
      files: { [settings]: about.settings, ...about.files },
      heapMb: isBefore(version, '3.0') ? 128 : 192,
      ready: about.ready ?? null,
    });
  }

  #container(
    role: string,
    version: KafkaVersion,
    about: {
      main: readonly string[];
      files: Readonly<Record<string, string>>;
      heapMb: number;
      ready: RegExp | null;
    },
  ): ContainerPlan {
    const release = this.#release(version);
    const place = release.entry.source === 'image' ? inPulledImage(release) : inJavaImage(release, this.#java, role);
    return {
      role,
      image: place.image,
      command: [place.java, ...javaFlags(about.heapMb), ...archiveFlags(place.archive), ...about.main],
      environment: { CLASSPATH: place.classPath },
      files: {
        ...about.files,
        [`${kafkaInside.run}/log4j.properties`]: log4jSettings(),
        [`${kafkaInside.run}/log4j2.properties`]: log4j2Settings(),
      },
      dataDirectory: kafkaInside.data,
      readOnly: place.readOnly,
      user: brokerUser,
      memoryMb: 700,
      pidsMax: 400,
      ready: about.ready,
      exits: javaExits,
    };
  }

  #release(version: KafkaVersion): CachedKafka {
    const release = cachedKafka(version.text);
    if (release === null) throw new Error(this.lacks() ?? `kafka:${version.text} went away from the cache`);
    return release;
  }
}

/** Where an entry of the cache is mounted. */
const inCache = '/kafka';

/** Where Java and the jars are in a container. */
interface Place {
  readonly image: string;
  readonly java: string;
  readonly classPath: string;
  readonly readOnly: Readonly<Record<string, string>>;
  readonly archive: string | null;
}

function inJavaImage(release: CachedKafka, java: JavaImage | null, role: string): Place {
  if (java === null) throw new Error('the target is to be prepared first');
  return {
    image: java.name,
    java: insideJava.java,
    classPath: jarsOf(release)
      .map((name) => join(inCache, libraries, name))
      .join(':'),
    readOnly: { [inCache]: release.directory },
    archive: classArchive(release, java, role),
  };
}

/** The layout of the images that the project publishes. */
function inPulledImage({ entry }: CachedKafka): Place {
  return {
    image: entry.image ?? '',
    java: '/opt/java/openjdk/bin/java',
    classPath: '/opt/kafka/libs/*',
    readOnly: {},
    archive: null,
  };
}

/**
 * How Java ends: 143 is SIGTERM, which is an order when it is ours and the doing of somebody else when it is not. 3 is
 * what ExitOnOutOfMemoryError makes: the heap that we gave did not suffice.
 */
const javaExits = { orderly: [0, 143], environment: [3, 143] } as const;

function javaFlags(heapMb: number): string[] {
  return [
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-XX:-UsePerfData',
    '-XX:+ExitOnOutOfMemoryError',
    '-Xss512k',
    `-Xmx${heapMb}m`,
    `-Djava.io.tmpdir=${kafkaInside.run}`,
    '-Djava.awt.headless=true',
    `-Dlog4j.configuration=file:${kafkaInside.run}/log4j.properties`,
    `-Dlog4j2.configurationFile=${kafkaInside.run}/log4j2.properties`,
    // ZooKeeper 3.4 dies without a word where the successor of log4j has no such beans.
    '-Dzookeeper.jmx.log4j.disable=true',
  ];
}

function archiveFlags(archive: string | null): string[] {
  return archive === null ? [] : ['-Xshare:auto', `-XX:SharedArchiveFile=${join(inCache, archive)}`];
}
