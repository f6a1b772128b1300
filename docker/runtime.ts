/**
 * The Docker runtime: a cluster of our own brokers in pods on a private network, behind the ports of the nemesis.
 *
 * One pod for the controller and one for each broker, all started side by side. Every trace line arrives through an
 * attached stream; `pods.ts` does all the rest.
 */
import { join } from 'node:path';
import type {
  Action,
  Address,
  Cluster,
  DeploySpec,
  Evidence,
  ExitListener,
  LinkProbe,
  NodeId,
  NodeName,
  TraceLine,
} from '../nemesis/ports.ts';
import { ENVIRONMENT_EXIT_CODE } from '../nemesis/ports.ts';
import type { Engine } from './client.ts';
import type { Place } from './cuts.ts';
import type { Image } from './images.ts';
import { brokerUser, ensureImage, inside } from './images.ts';
import type { Contents, Pods } from './pods.ts';
import { deployPods } from './pods.ts';
import type { NodePlan } from './targets/target.ts';

const brokerPort = 9092;
const controllerPort = 9093;

/** Deploys the cluster and starts its processes. They are up when this returns, not yet ready to serve. */
export async function deployDocker(spec: DeploySpec): Promise<Cluster> {
  const ear = new TraceEar();
  const contents = async (engine: Engine, addressOf: (place: Place) => string): Promise<Contents> => {
    const nodes: readonly NodeName[] = ['controller', ...spec.brokers];
    const commands = new Map(nodes.map((node) => [node, spec.command(placeOf(node, addressOf))]));
    const programs = [...commands.values()].map((command) => command[0] ?? '');
    const image = await ensureImage(engine, programs, spec.progress);
    return {
      image,
      nodes: nodes.map((node) => ownNode(node, image, commands.get(node)!)),
      trace: (line) => ear.hear(line),
      line: () => {},
    };
  };
  return new DockerCluster(spec, await deployPods(spec, contents), ear);
}

/** Our own broker or controller: no target is needed, since it takes its orders by an argument. */
function ownNode(node: NodeName, image: Image, command: readonly string[]): NodePlan {
  return {
    node,
    wave: 0,
    port: portOf(node),
    companions: [],
    logDirectory: inside.data,
    process: {
      role: 'node',
      image: image.name,
      command: [inside.node, ...command],
      environment: {},
      files: {},
      dataDirectory: inside.data,
      readOnly: {},
      user: brokerUser,
      memoryMb: 512,
      pidsMax: 64,
      ready: null,
      exits: { orderly: [0], environment: [ENVIRONMENT_EXIT_CODE] },
    },
  };
}

function placeOf(node: NodeName, addressOf: (place: Place) => string): Parameters<DeploySpec['command']>[0] {
  const port = portOf(node);
  return {
    node,
    dataDirectory: inside.data,
    listen: { host: '0.0.0.0', port },
    advertised: { host: addressOf(node), port },
    controller: { host: addressOf('controller'), port: controllerPort },
  };
}

function portOf(node: NodeName): number {
  return node === 'controller' ? controllerPort : brokerPort;
}

/** Every trace line, for whoever listens. */
class TraceEar {
  readonly #listeners: ((line: TraceLine) => void)[] = [];
  /** Lines before the first subscription; null from then on. */
  #backlog: TraceLine[] | null = [];

  hear(line: TraceLine): void {
    this.#backlog?.push(line);
    for (const listener of this.#listeners) listener(line);
  }

  subscribe(listener: (line: TraceLine) => void): void {
    this.#listeners.push(listener);
    const backlog = this.#backlog;
    if (backlog === null) return;
    for (const line of backlog) listener(line);
    // Whoever subscribes in the same breath still hears everything.
    setImmediate(() => (this.#backlog = null));
  }
}

class DockerCluster implements Cluster {
  readonly runtime = 'docker';
  readonly brokers: readonly NodeId[];
  readonly addresses: ReadonlyMap<NodeId, Address>;
  readonly #directory: string;
  readonly #pods: Pods;
  readonly #ear: TraceEar;

  constructor(spec: DeploySpec, pods: Pods, ear: TraceEar) {
    this.brokers = [...spec.brokers];
    this.addresses = new Map(spec.brokers.map((id) => [id, { host: pods.address(id), port: brokerPort }]));
    this.#directory = spec.directory;
    this.#pods = pods;
    this.#ear = ear;
  }

  subscribe(listener: (line: TraceLine) => void): void {
    this.#ear.subscribe(listener);
  }

  onUnexpectedExit(listener: ExitListener): void {
    this.#pods.onUnexpectedExit(listener);
  }

  perform(action: Action): Promise<Evidence> {
    return this.#pods.perform(action);
  }

  probeLinks(timeoutMs: number): Promise<readonly LinkProbe[]> {
    return this.#pods.probeLinks(timeoutMs);
  }

  async collect(): Promise<void> {
    const target = (node: NodeName): string => join(this.#directory, 'data', `${node}`);
    await Promise.all(this.#pods.nodes.map((node) => this.#pods.copy(node, inside.data, target(node))));
  }

  close(): Promise<{ readonly residue: readonly string[] }> {
    return this.#pods.close();
  }
}
