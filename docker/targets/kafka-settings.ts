/**
 * How a cluster of Apache Kafka is set up: the configuration files of every kind of node, as text.
 *
 * Timing is made for short faults: sessions of seconds, quick retries, one group coordinator. What a run is about (when
 * a follower truncates, when the high watermark is written, when data is flushed) is left as Kafka ships it, or as the
 * run's settings say. Files of indexes are small, since every replica's folder is copied at the end of a run.
 */
import type { NodeId } from '../../nemesis/ports.ts';
import type { Layout } from './target.ts';

/** Where things are in the container of a node. */
export const kafkaInside = {
  /** Its data volume. */
  data: '/data',
  /** Configuration, and what Java unpacks: it must be allowed to execute, as a volume's files are. */
  run: '/data/run',
  logs: '/data/kafka-logs',
  /** What KRaft keeps: apart from the replicas, since it grows at every moment and could not be copied with them. */
  metadata: '/data/metadata',
  zookeeper: '/data/zookeeper',
} as const;

export const kafkaPorts = { broker: 9092, controller: 9093, zookeeper: 2181 } as const;

/** The node that decides without keeping replicas: beyond the ids that brokers of a run may have. */
export const controllerId = 100;

/** 16 bytes in base64url, as Kafka writes its ids. */
const clusterId = idOf('tidemark-cluster');

type Properties = Readonly<Record<string, string | number | boolean>>;

/** `server.properties` of a broker whose metadata ZooKeeper keeps. */
export function zooKeeperBroker(id: NodeId, address: string, layout: Layout, pins: Properties): string {
  return propertiesText({
    'broker.id': id,
    ...brokerSettings(address, layout),
    ...promises(layout),
    'zookeeper.connect': `${layout.addressOf('controller')}:${kafkaPorts.zookeeper}`,
    'zookeeper.session.timeout.ms': layout.settings.brokerSessionTimeoutMs,
    // A machine that starts five of them at once may keep each of them waiting.
    'zookeeper.connection.timeout.ms': 30_000,
    'auto.leader.rebalance.enable': false,
    ...pins,
  });
}

/** `server.properties` of a broker that asks a controller of its own kind. */
export function kraftBroker(id: NodeId, address: string, layout: Layout): string {
  return propertiesText({
    'process.roles': 'broker',
    'node.id': id,
    ...brokerSettings(address, layout),
    ...promisesOfPartitions(layout),
    ...quorum(layout),
    'inter.broker.listener.name': 'PLAINTEXT',
    'broker.heartbeat.interval.ms': layout.settings.heartbeatIntervalMs,
    'broker.session.timeout.ms': layout.settings.brokerSessionTimeoutMs,
    'initial.broker.registration.timeout.ms': 60_000,
    'log.initial.task.delay.ms': 100,
  });
}

/** `server.properties` of the controller in KRaft. */
export function kraftController(layout: Layout): string {
  return propertiesText({
    'process.roles': 'controller',
    'node.id': controllerId,
    listeners: `CONTROLLER://0.0.0.0:${kafkaPorts.controller}`,
    'log.dirs': kafkaInside.logs,
    ...quorum(layout),
    ...promises(layout),
    'broker.heartbeat.interval.ms': layout.settings.heartbeatIntervalMs,
    'broker.session.timeout.ms': layout.settings.brokerSessionTimeoutMs,
    'auto.leader.rebalance.enable': false,
    'log.initial.task.delay.ms': 100,
  });
}

/** What `kafka-storage format` would write, path to text: so no formatting is needed. Each folder has an id of its own. */
export function kraftMetaProperties(id: NodeId): Readonly<Record<string, string>> {
  const folders = [kafkaInside.logs, kafkaInside.metadata];
  return Object.fromEntries(
    folders.map((folder, index) => [
      `${folder}/meta.properties`,
      propertiesText({
        version: 1,
        'cluster.id': clusterId,
        'node.id': id,
        'directory.id': idOf(`tidemark-${index}-d${`${id}`.padStart(4, '0')}`),
      }),
    ]),
  );
}

export function zooKeeperSettings({ settings }: Layout): string {
  return propertiesText({
    tickTime: 500,
    // Both are given: some releases compare them before they fill in what is missing.
    minSessionTimeout: Math.min(1_000, settings.brokerSessionTimeoutMs),
    maxSessionTimeout: 60_000,
    dataDir: kafkaInside.zookeeper,
    clientPort: kafkaPorts.zookeeper,
    maxClientCnxns: 0,
    'admin.enableServer': false,
    '4lw.commands.whitelist': '*',
  });
}

/**
 * `log4j.properties`: every line on standard output in the one format that Kafka itself uses, so that one set of patterns
 * reads a cluster of ours and anybody's. State changes are told in full, and followers say their high watermark.
 */
export function log4jSettings(): string {
  return propertiesText({
    'log4j.rootLogger': 'INFO, out',
    'log4j.appender.out': 'org.apache.log4j.ConsoleAppender',
    'log4j.appender.out.layout': 'org.apache.log4j.PatternLayout',
    'log4j.appender.out.layout.ConversionPattern': '[%d{ISO8601}] %p %m (%c)%n',
    ...Object.fromEntries(Object.entries(levels).map(([logger, level]) => [`log4j.logger.${logger}`, level])),
  });
}

/** The same for log4j 2, which images of Kafka 4 have. */
export function log4j2Settings(): string {
  const loggers = Object.entries(levels).map(([logger, level], index): Properties => ({
    [`logger.l${index}.name`]: logger,
    [`logger.l${index}.level`]: level,
  }));
  return propertiesText({
    'appender.out.type': 'Console',
    'appender.out.name': 'out',
    'appender.out.layout.type': 'PatternLayout',
    'appender.out.layout.pattern': '[%d] %p %m (%c)%n',
    'rootLogger.level': 'INFO',
    'rootLogger.appenderRef.out.ref': 'out',
    ...Object.assign({}, ...loggers),
  });
}

const levels: Readonly<Record<string, string>> = {
  'kafka.server.ReplicaFetcherThread': 'TRACE',
  'state.change.logger': 'TRACE',
  // The whole configuration, at every start.
  'kafka.server.KafkaConfig': 'WARN',
  'org.apache.zookeeper': 'WARN',
  // It says when ZooKeeper listens.
  'org.apache.zookeeper.server.NIOServerCnxnFactory': 'INFO',
};

function brokerSettings(address: string, layout: Layout): Properties {
  const { settings, brokers } = layout;
  const copies = Math.min(3, brokers.length);
  return {
    listeners: `PLAINTEXT://0.0.0.0:${kafkaPorts.broker}`,
    'advertised.listeners': `PLAINTEXT://${address}:${kafkaPorts.broker}`,
    'log.dirs': kafkaInside.logs,
    'replica.lag.time.max.ms': settings.replicaLagTimeMaxMs,
    'replica.fetch.wait.max.ms': settings.fetchMaxWaitMs,
    'replica.high.watermark.checkpoint.interval.ms': settings.highWatermarkCheckpointIntervalMs,
    'replica.fetch.backoff.ms': 200,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.replication.factor': copies,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': Math.min(2, copies),
    'group.initial.rebalance.delay.ms': 0,
    'controlled.shutdown.enable': false,
    'log.cleaner.dedupe.buffer.size': 2_097_152,
    // Enough for some 50 MB in a segment; by default every index of every partition is copied as 10 MB.
    'log.index.size.max.bytes': 131_072,
    'controller.socket.timeout.ms': 3_000,
    'request.timeout.ms': 3_000,
  };
}

/** What topics promise: the business of whoever creates them, so of the controller in KRaft. */
function promises(layout: Layout): Properties {
  return {
    'auto.create.topics.enable': false,
    'default.replication.factor': layout.settings.replicationFactor,
    ...promisesOfPartitions(layout),
  };
}

function promisesOfPartitions({ settings }: Layout): Properties {
  return {
    'min.insync.replicas': settings.minInsyncReplicas,
    'unclean.leader.election.enable': settings.uncleanElection,
  };
}

function quorum(layout: Layout): Properties {
  return {
    'controller.quorum.voters': `${controllerId}@${layout.addressOf('controller')}:${kafkaPorts.controller}`,
    'controller.listener.names': 'CONTROLLER',
    'metadata.log.dir': kafkaInside.metadata,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
  };
}

function idOf(sixteenCharacters: string): string {
  return Buffer.from(sixteenCharacters, 'latin1').toString('base64url');
}

function propertiesText(properties: Properties): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
