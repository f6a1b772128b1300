/**
 * A cluster of brokers that others wrote, in pods: what a target says is started, and everything that can be heard and
 * seen of it is offered.
 *
 * Brokers start in the waves of their target and answer when this returns, or what kept them from it is told.
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type {
  Action,
  Address,
  Evidence,
  ExitListener,
  LinkProbe,
  NodeId,
  NodeName,
  TraceLine,
} from '../nemesis/ports.ts';
import type { SegmentEvent } from './agent/messages.ts';
import type { Engine } from './client.ts';
import { connectEngine, reason } from './client.ts';
import type { Place } from './cuts.ts';
import type { ForeignCluster, ForeignSpec, OutputListener } from './foreign.ts';
import { ensureImage } from './images.ts';
import type { Contents, Pods } from './pods.ts';
import { deployPods } from './pods.ts';
import type { Target } from './targets/target.ts';

/** What is kept while nobody listens: lines, and characters in them. */
const backlogMax = { lines: 100_000, characters: 32 << 20 };

/** Prepares the target and deploys a cluster of it. */
export async function deployForeign(spec: ForeignSpec): Promise<ForeignCluster> {
  await spec.target.prepare(await connectEngine(), spec.progress);
  spec.signal.throwIfAborted();
  const ear = new Ear();
  const contents = async (engine: Engine, addressOf: (place: Place) => string): Promise<Contents> => {
    const { brokers, settings } = spec;
    return {
      image: await ensureImage(engine, [], spec.progress),
      nodes: spec.target.nodes({ brokers, addressOf, settings }),
      trace: null,
      line: (node, text, companion) => ear.hear(node, text, companion),
    };
  };
  try {
    return new DockerForeignCluster(spec, await deployPods(spec, contents), ear);
  } catch (error) {
    keepLogs(spec, ear);
    throw error;
  }
}

/** Nobody listens to a cluster that did not come about, and it has most to say. */
function keepLogs({ directory, progress }: ForeignSpec, ear: Ear): void {
  try {
    mkdirSync(join(directory, 'logs'), { recursive: true });
    ear.listen((node, line, companion) => {
      const name = companion === undefined ? node : `${node}-${companion}`;
      appendFileSync(join(directory, 'logs', `${name}.log`), `${line}\n`);
    })();
  } catch (error) {
    progress(`cannot write ${join(directory, 'logs')}: ${reason(error)}`);
  }
}

/** Every line of every node, for whoever listens. */
class Ear {
  readonly #listeners = new Set<OutputListener>();
  /** Lines before the first call; null from then on. */
  #backlog: Parameters<OutputListener>[] | null = [];
  #characters = 0;

  hear(...heard: Parameters<OutputListener>): void {
    if (this.#backlog !== null) this.#keep(this.#backlog, heard);
    for (const listener of this.#listeners) listener(...heard);
  }

  listen(listener: OutputListener): () => void {
    for (const heard of this.#backlog ?? []) listener(...heard);
    this.#backlog = null;
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keep(backlog: Parameters<OutputListener>[], heard: Parameters<OutputListener>): void {
    this.#characters += heard[1].length;
    if (backlog.length < backlogMax.lines && this.#characters < backlogMax.characters) backlog.push(heard);
  }
}

class DockerForeignCluster implements ForeignCluster {
  readonly runtime = 'docker';
  readonly observed = true;
  readonly brokers: readonly NodeId[];
  readonly addresses: ReadonlyMap<NodeId, Address>;
  readonly kafkaAddresses: ReadonlyMap<NodeName, Address>;
  readonly target: Target;
  readonly zooKeeper?: NonNullable<ForeignCluster['zooKeeper']>;
  readonly #pods: Pods;
  readonly #ear: Ear;

  constructor(spec: ForeignSpec, pods: Pods, ear: Ear) {
    const places = pods.nodes.flatMap((node): [NodeName, Address][] => {
      const { port, logDirectory } = pods.plan(node);
      // A controller of KRaft speaks Kafka's protocol, but no Metadata.
      const answers = port !== null && (logDirectory !== null || port === pods.plan(spec.brokers[0]!).port);
      return answers ? [[node, { host: pods.address(node), port }]] : [];
    });
    this.brokers = [...spec.brokers];
    this.kafkaAddresses = new Map(places);
    this.addresses = new Map(places.filter((place): place is [NodeId, Address] => place[0] !== 'controller'));
    this.target = spec.target;
    for (const node of pods.nodes) {
      const { zooKeeper } = pods.plan(node);
      if (zooKeeper !== undefined) this.zooKeeper = { host: pods.address(node), ...zooKeeper };
    }
    this.#pods = pods;
    this.#ear = ear;
  }

  /** Such brokers tell no trace. */
  subscribe(_listener: (line: TraceLine) => void): void {}

  onOutput(listener: OutputListener): () => void {
    return this.#ear.listen(listener);
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

  async watchSegments(
    { topic, clockOriginNs }: { readonly topic: string; readonly clockOriginNs: bigint },
    listener: (node: NodeId, event: SegmentEvent | Error) => void,
  ): Promise<void> {
    await Promise.all(
      this.brokers.map(async (node) => {
        const { logDirectory, process } = this.#pods.plan(node);
        if (logDirectory === null) return;
        const directory = relative(process.dataDirectory, logDirectory) || '.';
        const request = { directory, topic, clockOriginNs: String(clockOriginNs) };
        await this.#pods.agent(node).watch(request, (event) => listener(node, event));
      }),
    );
  }

  async collectTopic(directory: string, topic: string): Promise<void> {
    await Promise.all(
      this.brokers.map(async (node) => {
        const { logDirectory } = this.#pods.plan(node);
        if (logDirectory === null) return;
        const target = join(directory, 'data', `${node}`);
        await this.#pods.copy(node, logDirectory, target, (path) => isOfTopic(path, topic));
      }),
    );
  }

  collect(): Promise<void> {
    throw new Error('of a cluster that serves several runs each copies its own topic');
  }

  close(): Promise<{ readonly residue: readonly string[] }> {
    return this.#pods.close();
  }
}

/** A file of the topic's partitions, or a checkpoint beside them. */
function isOfTopic(path: string, topic: string): boolean {
  const [folder = '', ...rest] = path.split('/');
  return rest.length === 0 || (folder.startsWith(`${topic}-`) && /^\d+$/.test(folder.slice(topic.length + 1)));
}
