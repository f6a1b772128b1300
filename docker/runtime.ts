/**
 * The Docker runtime: a cluster of pods on a private network, behind the ports of the nemesis.
 *
 * One pod for the controller and one for each broker. The pods come up in parallel; then links are shaped by their
 * agents, processes by the engine, and every trace line arrives through an attached stream. A run marks all that it
 * creates, holds a lease that its reaper watches, and looks for residue at its end.
 *
 * Invariant: either a cluster is returned, or nothing of it is left. It leaves out the clients: whoever opened
 * connections to the brokers closes them before `close`.
 */
import { appendFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type {
  Action,
  Address,
  Cluster,
  Cut,
  DeploySpec,
  ExitListener,
  Evidence,
  LinkProbe,
  NodeId,
  NodeName,
  TraceLine,
} from '../nemesis/ports.ts';
import type { ProbeTarget } from './agent/messages.ts';
import { probe } from './agent/probe.ts';
import { unpack } from './archive.ts';
import { removeRun } from './cleanup.ts';
import type { Engine } from './client.ts';
import { connectEngine, reason } from './client.ts';
import type { Place } from './cuts.ts';
import { cutName, cutOf, dropsOf } from './cuts.ts';
import { ensureImage, inside } from './images.ts';
import { ownerLabel, runLabels } from './labels.ts';
import type { RunNetwork } from './network.ts';
import { brokersMax, createNetwork } from './network.ts';
import { NodeProcess } from './node-process.ts';
import type { Pod } from './pod.ts';
import { createPod } from './pod.ts';
import type { Lease } from './reaper.ts';
import { holdLease } from './reaper.ts';

const brokerPort = 9092;
const controllerPort = 9093;
const reachTimeoutMs = 3_000;
const collectAttempts = 3;

/** Deploys the cluster and starts its processes. They are up when this returns, not yet ready to serve. */
export async function deployDocker(spec: DeploySpec): Promise<Cluster> {
  if (!/^[a-z0-9][a-z0-9-]{0,47}$/.test(spec.runId)) throw new Error(`a run cannot be named \`${spec.runId}\``);
  if (spec.brokers.some((id) => id < 1 || id > brokersMax)) throw new Error(`broker ids go from 1 to ${brokersMax}`);
  const engine = await connectEngine();
  const lease = holdLease(spec.runId);
  try {
    const pods = await createPods(engine, spec);
    const cluster = new DockerCluster(engine, spec, lease, pods);
    try {
      await cluster.start();
    } catch (error) {
      cluster.letGo();
      throw error;
    }
    return cluster;
  } catch (error) {
    const residue = await removeRun(engine, spec.runId, ownerLabel()).catch((problem: unknown) => [reason(problem)]);
    if (residue.length === 0) lease.end();
    spec.signal.throwIfAborted();
    const left = residue.length === 0 ? '' : ` (left behind: ${residue.join(', ')})`;
    throw new Error(`the cluster could not be deployed: ${reason(error)}${left}`, { cause: error });
  }
}

interface Pods {
  readonly network: RunNetwork;
  readonly pods: readonly Pod[];
}

async function createPods(engine: Engine, spec: DeploySpec): Promise<Pods> {
  const labels = runLabels(spec.runId);
  const nodes: readonly NodeName[] = ['controller', ...spec.brokers];
  const network = await createNetwork(engine, `tidemark-${spec.runId}`, labels);
  const commands = new Map(nodes.map((node) => [node, spec.command(placeOf(node, network))]));
  const programs = [...commands.values()].map((command) => command[0] ?? '');
  const image = await ensureImage(engine, programs, spec.progress);
  spec.signal.throwIfAborted();
  await Promise.all([
    mkdir(join(spec.directory, 'logs'), { recursive: true }),
    mkdir(join(spec.directory, 'data'), { recursive: true }),
  ]);
  // All settle before any failure is handled, so that nothing is created behind the back of the clean-up.
  const made = await Promise.allSettled(
    nodes.map((node) => {
      const address = addressOf(node, network);
      const command = [...commands.get(node)!];
      return createPod(engine, { runId: spec.runId, node, image, network, address, labels, command });
    }),
  );
  const failed = made.find((result) => result.status === 'rejected');
  const pods = made.filter((result) => result.status === 'fulfilled').map((result) => result.value);
  if (failed || spec.signal.aborted) for (const pod of pods) pod.agent.close();
  if (failed) throw failed.reason;
  spec.signal.throwIfAborted();
  return { network, pods };
}

function placeOf(node: NodeName, network: RunNetwork): Parameters<DeploySpec['command']>[0] {
  const port = portOf(node);
  return {
    node,
    dataDirectory: inside.data,
    listen: { host: '0.0.0.0', port },
    advertised: { host: addressOf(node, network), port },
    controller: { host: addressOf('controller', network), port: controllerPort },
  };
}

function addressOf(place: Place, network: RunNetwork): string {
  if (place === 'clients') return network.gateway;
  return network.address(place === 'controller' ? 0 : place);
}

function portOf(node: NodeName): number {
  return node === 'controller' ? controllerPort : brokerPort;
}

class DockerCluster implements Cluster {
  readonly runtime = 'docker';
  readonly brokers: readonly NodeId[];
  readonly addresses: ReadonlyMap<NodeId, Address>;
  readonly #engine: Engine;
  readonly #spec: DeploySpec;
  readonly #lease: Lease;
  readonly #network: RunNetwork;
  readonly #pods: ReadonlyMap<NodeName, Pod>;
  readonly #processes: ReadonlyMap<NodeName, NodeProcess>;
  readonly #traceListeners: ((line: TraceLine) => void)[] = [];
  readonly #exitListeners: ExitListener[] = [];
  readonly #exits: Parameters<ExitListener>[] = [];
  /** Lines before the first subscription; null from then on. */
  #backlog: TraceLine[] | null = [];
  /** Packets that the cuts in force have swallowed so far, as far as their counters were read. */
  readonly #swallowed = new Map<string, number>();
  #logComplaint = false;
  #closed: Promise<{ residue: readonly string[] }> | null = null;

  constructor(engine: Engine, spec: DeploySpec, lease: Lease, { network, pods }: Pods) {
    this.#engine = engine;
    this.#spec = spec;
    this.#lease = lease;
    this.#network = network;
    this.brokers = [...spec.brokers];
    this.addresses = new Map(spec.brokers.map((id) => [id, { host: addressOf(id, network), port: brokerPort }]));
    this.#pods = new Map(pods.map((pod) => [pod.node, pod]));
    this.#processes = new Map(pods.map((pod) => [pod.node, this.#processOf(pod)]));
  }

  /** Starts all pods at once, and looks whether their addresses can be reached. */
  async start(): Promise<void> {
    const started = await Promise.allSettled([...this.#pods.values()].map((pod) => this.#startPod(pod)));
    const failed = started.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    this.#spec.signal.throwIfAborted();
  }

  subscribe(listener: (line: TraceLine) => void): void {
    this.#traceListeners.push(listener);
    const backlog = this.#backlog;
    if (backlog === null) return;
    for (const line of backlog) listener(line);
    // Whoever subscribes in the same breath still hears everything.
    setImmediate(() => (this.#backlog = null));
  }

  onUnexpectedExit(listener: ExitListener): void {
    this.#exitListeners.push(listener);
    // A process may have ended before anybody could ask.
    for (const exit of this.#exits) listener(...exit);
  }

  perform(action: Action): Promise<Evidence> {
    switch (action.port) {
      case 'links':
        if (action.slow !== undefined) throw new Error('containers have no slow links');
        return this.#shape(action.cuts);
      case 'process':
        return this.#process(action.node).perform(action.verb);
      case 'leadership':
        throw new Error('moving a leader is for the admin client of the harness');
    }
  }

  async probeLinks(timeoutMs: number): Promise<readonly LinkProbe[]> {
    const targets = [...this.#pods.values()].map((pod) => ({
      name: `${pod.node}`,
      host: pod.address,
      port: portOf(pod.node),
    }));
    const fromPods = [...this.#pods.values()].map((pod) =>
      this.#probeFrom(
        pod,
        targets.filter((target) => target.name !== `${pod.node}`),
        timeoutMs,
      ),
    );
    const fromHere = targets
      .filter((target) => target.name !== 'controller')
      .map(async (target) => linkProbe('clients', await probe(target, 'probe-clients', timeoutMs)));
    return [...(await Promise.all(fromPods)).flat(), ...(await Promise.all(fromHere))];
  }

  async collect(): Promise<void> {
    await Promise.all([...this.#pods.values()].map((pod) => this.#collectFrom(pod)));
  }

  close(): Promise<{ readonly residue: readonly string[] }> {
    return (this.#closed ??= this.#close());
  }

  /** Closes the streams: nothing is heard or reported from now on. */
  letGo(): void {
    for (const process of this.#processes.values()) process.close();
    for (const pod of this.#pods.values()) pod.agent.close();
  }

  async #startPod(pod: Pod): Promise<void> {
    await pod.holder.start();
    await Promise.all([
      pod.agent.start(),
      this.#process(pod.node).perform('start'),
      reach(pod.address, portOf(pod.node)),
    ]);
  }

  async #close(): Promise<{ residue: readonly string[] }> {
    this.letGo();
    try {
      const residue = await removeRun(this.#engine, this.#spec.runId, ownerLabel());
      if (residue.length === 0) this.#lease.end();
      return { residue };
    } catch (error) {
      return { residue: [`everything of the run ${this.#spec.runId}: ${reason(error)}`] };
    }
  }

  async #shape(cuts: readonly Cut[]): Promise<Evidence> {
    const drops = dropsOf(cuts, [...this.#pods.keys()], (place) => addressOf(place, this.#network));
    const startMs = performance.now();
    const answers = await Promise.all(
      [...this.#pods.values()].map(async (pod) => {
        const { dropped } = await pod.agent.ask({ do: 'drop', drops: drops.get(pod.node)! });
        return { pod, dropped };
      }),
    );
    const tookMs = performance.now() - startMs;
    for (const { pod, dropped } of answers) {
      for (const [name, counter] of Object.entries(dropped)) {
        const cut = cutName(cutOf(pod.node, name));
        this.#swallowed.set(cut, (this.#swallowed.get(cut) ?? 0) + counter.packets);
      }
    }
    return this.#evidenceOfLinks(cuts, tookMs);
  }

  /** The cuts just removed come with what they swallowed; those that go on keep counting. */
  #evidenceOfLinks(cuts: readonly Cut[], tookMs: number): Evidence {
    const inForce = new Set(cuts.map(cutName));
    const removed = [...this.#swallowed].filter(([cut]) => !inForce.has(cut));
    for (const [cut] of removed) this.#swallowed.delete(cut);
    for (const cut of inForce) if (!this.#swallowed.has(cut)) this.#swallowed.set(cut, 0);
    const healedAlone = [...this.#pods.values()].filter((pod) => pod.agent.tookOver()).map((pod) => pod.node);
    return {
      effective: healedAlone.length === 0,
      facts: {
        dropped: Object.fromEntries(removed),
        tookMs: Math.round(tookMs * 10) / 10,
        ...(healedAlone.length === 0 ? {} : { healedAlone }),
      },
    };
  }

  async #probeFrom(pod: Pod, targets: readonly ProbeTarget[], timeoutMs: number): Promise<LinkProbe[]> {
    const request = { do: 'probe', clientId: `probe-${pod.node}`, targets, timeoutMs } as const;
    const { probes } = await pod.agent.ask(request, timeoutMs + reachTimeoutMs);
    return probes.map((result) => linkProbe(pod.node, result));
  }

  /** A file that changes while the engine copies it spoils the archive: then it is copied once more. */
  async #collectFrom(pod: Pod): Promise<void> {
    const target = join(this.#spec.directory, 'data', `${pod.node}`);
    for (let attempt = 1; ; attempt++) {
      await rm(target, { recursive: true, force: true });
      try {
        await unpack(await pod.process.getArchive({ path: inside.data }), target);
        return;
      } catch (error) {
        if (attempt === collectAttempts) {
          throw new Error(`the data of node ${pod.node} could not be copied: ${reason(error)}`, { cause: error });
        }
      }
    }
  }

  #processOf(pod: Pod): NodeProcess {
    const logFile = join(this.#spec.directory, 'logs', `${pod.node}.log`);
    return new NodeProcess(pod.node, pod.process, {
      trace: (line) => this.#hear(line),
      log: (text) => this.#writeLog(logFile, text),
      unexpectedExit: (detail, blame) => {
        this.#exits.push([pod.node, detail, blame]);
        for (const listener of this.#exitListeners) listener(pod.node, detail, blame);
      },
    });
  }

  #hear(line: TraceLine): void {
    this.#backlog?.push(line);
    for (const listener of this.#traceListeners) listener(line);
  }

  /** A log that cannot be written is said once, and costs nothing else. */
  #writeLog(file: string, text: string): void {
    try {
      appendFileSync(file, text);
    } catch (error) {
      if (!this.#logComplaint) this.#spec.progress(`cannot write ${file}: ${reason(error)}`);
      this.#logComplaint = true;
    }
  }

  #process(node: NodeName): NodeProcess {
    const process = this.#processes.get(node);
    if (process === undefined) throw new Error(`node ${node} is not deployed`);
    return process;
  }
}

function linkProbe(
  from: Place,
  result: { name: string; ok: boolean; roundTripMs?: number; error?: string },
): LinkProbe {
  const { name, ...rest } = result;
  return { from, to: name === 'controller' ? name : Number(name), ...rest };
}

/** A connection, or its refusal: both are answers of the pod. Silence means that pods cannot be reached from here. */
function reach(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: reachTimeoutMs });
    const finish = (error?: Error): void => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(new Error(`addresses of containers cannot be reached from here (${host}: ${error.message})`));
    };
    socket.once('connect', () => finish());
    socket.once('timeout', () => finish(new Error(`no answer within ${reachTimeoutMs} ms`)));
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code === 'ECONNREFUSED' ? undefined : error));
  });
}
