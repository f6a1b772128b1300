/**
 * Anybody's Kafka-compatible broker as a target: `image:<ref>`, with a description of how its nodes are started and read.
 *
 * The description is data from a file: commands, environment and configuration with placeholders for what only the
 * runtime knows. The image has to be on this machine already. Nothing is known of such a broker but what its description
 * says; what that leaves out is not tried.
 */
import type { NodeName } from '../../nemesis/ports.ts';
import type { Engine } from '../client.ts';
import { isPresent } from '../image-store.ts';
import type { Lacks } from './capabilities.ts';
import { capabilitiesWithout } from './capabilities.ts';
import { linearExpression } from './linear-expression.ts';
import type { ContainerPlan, Layout, LeaderMove, LogPattern, NodePlan, Target } from './target.ts';

/** What a description file says, after it was checked. */
export interface ImageDescription {
  readonly broker: NodeDescription & { readonly port: number; readonly logDirectory: string };
  /** A node of its own that decides, in the pod `controller`. Null: the brokers decide among themselves. */
  readonly controller: NodeDescription | null;
  readonly leaderMove: Exclude<LeaderMove, 'zookeeper'>;
  readonly logPatterns: readonly { readonly shows: LogPattern['shows']; readonly pattern: string }[];
  readonly cannot: Lacks;
}

export interface NodeDescription {
  readonly port: number | null;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Path in the container, within the data directory, to lines of text. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  readonly dataDirectory: string;
  readonly user: number;
  readonly memoryMb: number;
  readonly pidsMax: number;
  /** A regular expression for a line of its output; null: an answer on its port. */
  readonly ready: string | null;
  readonly orderlyExits: readonly number[];
  readonly environmentExits: readonly number[];
}

/** What may stand in braces after a dollar, and what it becomes for a node. */
const placeholders = {
  node: (node) => `${idOf(node)}`,
  address: (node, layout) => layout.addressOf(node),
  'controller.node': () => `${idOf('controller')}`,
  'controller.address': (_, layout) => layout.addressOf('controller'),
  /** `host:port,host:port` of all brokers. */
  brokers: (_, layout, port) => layout.brokers.map((id) => `${layout.addressOf(id)}:${port}`).join(','),
  /** 22 characters of base64url: two of a node, and those of the cluster. */
  'node.uuid': (node) => uuidOf(`node-${`${idOf(node)}`.padStart(11, '0')}`),
  'node.uuid.2': (node) => uuidOf(`disk-${`${idOf(node)}`.padStart(11, '0')}`),
  'cluster.uuid': () => uuidOf('tidemark-cluster'),
  replicationFactor: (_, { settings }) => `${settings.replicationFactor}`,
  minInsyncReplicas: (_, { settings }) => `${settings.minInsyncReplicas}`,
  uncleanElection: (_, { settings }) => `${settings.uncleanElection}`,
  replicaLagTimeMaxMs: (_, { settings }) => `${settings.replicaLagTimeMaxMs}`,
  brokerSessionTimeoutMs: (_, { settings }) => `${settings.brokerSessionTimeoutMs}`,
  heartbeatIntervalMs: (_, { settings }) => `${settings.heartbeatIntervalMs}`,
  fetchMaxWaitMs: (_, { settings }) => `${settings.fetchMaxWaitMs}`,
  highWatermarkCheckpointIntervalMs: (_, { settings }) => `${settings.highWatermarkCheckpointIntervalMs}`,
} as const satisfies Record<string, (node: NodeName, layout: Layout, port: number) => string>;

export const placeholderNames: readonly string[] = Object.keys(placeholders);

/** The first placeholder in a text that there is none of; null if all are known. */
export function strangePlaceholder(text: string): string | null {
  for (const [, name = ''] of text.matchAll(placeholderPattern)) {
    if (!placeholderNames.includes(name)) return name;
  }
  return null;
}

export function imageTarget(name: string, image: string, description: ImageDescription): Target {
  const { broker, controller, cannot } = description;
  const patterns = description.logPatterns.map(({ shows, pattern }) => ({ shows, pattern: linearExpression(pattern) }));
  const nodeOf = (node: NodeName, each: NodeDescription, logDirectory: string | null, layout: Layout): NodePlan => ({
    node,
    wave: node === 'controller' || (controller?.ready ?? null) === null ? 0 : 1,
    port: each.port,
    process: {
      ...containerOf(image, each, (text) => filled(text, node, layout, broker.port)),
      // Whose the top of the volume is, the image decides.
      folders: logDirectory === null || logDirectory === each.dataDirectory ? [] : [logDirectory],
    },
    companions: [],
    logDirectory,
  });
  return {
    name,
    leaderMove: description.leaderMove,
    capabilities: capabilitiesWithout({
      ...cannot,
      // A handover may be done by a planned move, but need not: so it stays.
      faults: description.leaderMove === 'none' ? { ...noMoves, ...cannot.faults } : cannot.faults,
    }),
    logPatterns: () => patterns,
    lacks: () => null,
    async prepare(engine: Engine) {
      if (await isPresent(engine, image)) return;
      throw new Error(
        `there is no image ${image} on this machine: type \`docker pull ${image}\`, or load it from a file`,
      );
    },
    nodes: (layout) => [
      ...(controller === null ? [] : [nodeOf('controller', controller, null, layout)]),
      ...layout.brokers.map((id) => nodeOf(id, broker, broker.logDirectory, layout)),
    ],
  };
}

const placeholderPattern = /\$\{([^}]*)\}/g;

function filled(text: string, node: NodeName, layout: Layout, port: number): string {
  return text.replaceAll(placeholderPattern, (_, name: keyof typeof placeholders) =>
    placeholders[name](node, layout, port),
  );
}

function containerOf(image: string, node: NodeDescription, fill: (text: string) => string): ContainerPlan {
  const files = Object.entries(node.files).map(([path, lines]) => [
    path,
    fill(lines.map((line) => `${line}\n`).join('')),
  ]);
  const environment = Object.entries(node.environment).map(([name, value]) => [name, fill(value)]);
  return {
    role: 'node',
    image,
    command: node.command.map(fill),
    environment: Object.fromEntries(environment) as Record<string, string>,
    files: Object.fromEntries(files) as Record<string, string>,
    dataDirectory: node.dataDirectory,
    readOnly: {},
    user: node.user,
    memoryMb: node.memoryMb,
    pidsMax: node.pidsMax,
    ready: node.ready === null ? null : linearExpression(node.ready),
    exits: { orderly: node.orderlyExits, environment: node.environmentExits },
  };
}

const noMoves = {
  'leader-move': 'its description names no way to move a leader',
  'leader-burst': 'its description names no way to move a leader',
};

/** A controller has an id beyond those of brokers. */
function idOf(node: NodeName): number {
  return node === 'controller' ? 100 : node;
}

function uuidOf(sixteenCharacters: string): string {
  return Buffer.from(sixteenCharacters, 'latin1').toString('base64url');
}
