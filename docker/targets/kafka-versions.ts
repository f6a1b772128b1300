/**
 * Which releases of Apache Kafka can be put under test, and in what they differ before they are even started.
 *
 * One table, by range of versions: the Scala of the artifact, what its jars need beside them on a Java of today, and
 * whether ZooKeeper or a quorum of controllers (KRaft) keeps the metadata. Everything here was found by starting them.
 */

/** Numbers of a release, greatest first: `0.10.2.2` is [0, 10, 2, 2]. */
export interface KafkaVersion {
  readonly text: string;
  readonly numbers: readonly number[];
}

/** A release, or null for what is none: `2.8`, `2.8.2-rc1`, `latest`. Before 1.0 they have four numbers, then three. */
export function parseKafkaVersion(text: string): KafkaVersion | null {
  if (!/^(?:0\.\d{1,2}\.\d{1,2}\.\d{1,2}|[1-9]\d?\.\d{1,2}\.\d{1,2})$/.test(text)) return null;
  return { text, numbers: text.split('.').map(Number) };
}

/** Below zero if `one` is the older. */
export function compareVersions(one: KafkaVersion, other: KafkaVersion): number {
  for (let place = 0; place < 4; place += 1) {
    const difference = (one.numbers[place] ?? 0) - (other.numbers[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

export function isBefore(version: KafkaVersion, limit: string): boolean {
  return compareVersions(version, { text: limit, numbers: limit.split('.').map(Number) }) < 0;
}

/** From 3.3 on KRaft is for production, and from 4.0 on there is nothing else. */
export function keepsMetadataInZooKeeper(version: KafkaVersion): boolean {
  return isBefore(version, '3.3');
}

/** `inter.broker.protocol.version` and `log.message.format.version` take the first numbers of a release. */
export function protocolVersion({ numbers }: KafkaVersion): string {
  return numbers.slice(0, numbers[0] === 0 ? 3 : 2).join('.');
}

/** The release that `kafka:<version>` names; null for any other build. A sentence where it names none. */
export function kafkaVersionOf(build: string): KafkaVersion | string | null {
  if (!build.startsWith('kafka:')) return null;
  const text = build.slice('kafka:'.length);
  const version = parseKafkaVersion(text);
  if (version === null) return `"${text}" is no release of Kafka: write one such as kafka:0.10.2.2 or kafka:3.9.2`;
  if (isBefore(version, '0.10.1'))
    return `kafka:${text} is too old: before 0.10.1.0 a client could neither make a topic nor ask where a partition ends as this one does`;
  return version;
}

/**
 * The release of each broker, or a sentence that says why they make no cluster: those that keep their metadata in ZooKeeper
 * and those that do not have nobody in common to ask.
 */
export function kafkaByNode<Node>(builds: ReadonlyMap<Node, string>): ReadonlyMap<Node, KafkaVersion> | string {
  const versions = new Map<Node, KafkaVersion>();
  for (const [node, build] of builds) {
    const version = kafkaVersionOf(build);
    if (version === null) return `${build} cannot be in one cluster with a kafka:<version>`;
    if (typeof version === 'string') return version;
    versions.set(node, version);
  }
  const all = [...versions.values()].toSorted(compareVersions);
  const [oldest, newest] = [all[0], all.at(-1)];
  if (
    oldest !== undefined &&
    newest !== undefined &&
    keepsMetadataInZooKeeper(oldest) !== keepsMetadataInZooKeeper(newest)
  ) {
    return `kafka:${oldest.text} keeps its metadata in ZooKeeper and kafka:${newest.text} does not: they cannot be in one cluster`;
  }
  return versions;
}

/** A Maven artifact: group, name, version. */
export type Artifact = readonly [group: string, name: string, version: string];

interface Extras {
  /** This row holds for versions before it. */
  readonly before: string;
  readonly scala: string;
  readonly beside: (version: string) => readonly Artifact[];
}

const jaxb: Artifact = ['javax.xml.bind', 'jaxb-api', '2.3.1'];
const reload4j: Artifact = ['org.slf4j', 'slf4j-reload4j', '1.7.36'];
const tools = (version: string): Artifact => ['org.apache.kafka', 'kafka-tools', version];

/** The first row that holds is the one. */
const extras: readonly Extras[] = [
  // Up to 0.11 the cluster's id is printed by a class that left Java with version 11.
  { before: '1.0', scala: '2.12', beside: () => [jaxb] },
  // From 1.0 on the artifact comes without anything that writes its logs.
  { before: '2.0', scala: '2.12', beside: () => [reload4j] },
  // The ZooKeeper client 3.4.13 cannot parse an address on Java 14 or later.
  { before: '2.4', scala: '2.12', beside: () => [reload4j, ['org.apache.zookeeper', 'zookeeper', '3.4.12']] },
  { before: '3.0', scala: '2.13', beside: () => [reload4j] },
  // DumpLogSegments moved there.
  { before: '4.0', scala: '2.13', beside: (version) => [tools(version)] },
  { before: '100.0', scala: '2.13', beside: (version) => [tools(version), reload4j] },
];

/** Everything that Maven is to bring for a release; what these need comes with them. */
export function artifactsOf(version: KafkaVersion): readonly Artifact[] {
  const row = extras.find((each) => isBefore(version, each.before))!;
  return [['org.apache.kafka', `kafka_${row.scala}`, version.text], ...row.beside(version.text)];
}

/** A project for Maven that depends on just these. */
export function pomOf(version: KafkaVersion): string {
  const dependencies = artifactsOf(version).map(([group, name, number]) =>
    [
      '    <dependency>',
      `<groupId>${group}</groupId><artifactId>${name}</artifactId><version>${number}</version>`,
      '</dependency>',
    ].join(''),
  );
  return [
    '<project>',
    '  <modelVersion>4.0.0</modelVersion>',
    `  <groupId>tidemark</groupId><artifactId>kafka</artifactId><version>${version.text}</version>`,
    '  <dependencies>',
    ...dependencies,
    '  </dependencies>',
    '</project>',
    '',
  ].join('\n');
}
