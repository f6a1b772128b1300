/**
 * The pods of one cluster: made, started and removed. What they say is handed on as it comes.
 *
 * Links are shaped by the pods' agents (`pod-links.ts`), processes by the engine. A run marks all that it creates, holds a lease that its
 * reaper watches, and looks for residue at its end.
 *
 * Invariant: either a cluster is returned, or nothing of it is left; and once its removal has begun nothing is sent to
 * an address of it, since somebody else's machine might be found there. It leaves out the clients: whoever opened
 * connections to the brokers closes them before `close`.
 */
import { appendFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, DeploySpec, Evidence, ExitListener, LinkProbe, NodeName, TraceLine } from '../nemesis/ports.ts';
import { strangeAnswer, strangeAnswersMax } from './agent/heard.ts';
import { probe } from './agent/probe.ts';
import type { Agent } from './agent.ts';
import { unpack } from './archive.ts';
import { removeRun } from './cleanup.ts';
import type { Engine } from './client.ts';
import { connectEngine, reason } from './client.ts';
import type { Place } from './cuts.ts';
import type { Image } from './images.ts';
import { ownerLabel, runLabels } from './labels.ts';
import type { RunNetwork } from './network.ts';
import { brokersMax, createNetwork } from './network.ts';
import { NodeProcess } from './node-process.ts';
import type { Hearing } from './node-process.ts';
import type { Pod } from './pod.ts';
import { createPod } from './pod.ts';
import { PodLinks, reach } from './pod-links.ts';
import type { Lease } from './reaper.ts';
import { holdLease } from './reaper.ts';
import type { ContainerPlan, NodePlan } from './targets/target.ts';

/** What pods are deployed for, as far as it does not matter whose brokers they are. */
export type PodsSpec = Pick<DeploySpec, 'runId' | 'brokers' | 'directory' | 'progress' | 'signal'>;

/** What is to run in them: asked for when the addresses are known. */
export interface Contents {
  /** Of holders and agents. */
  readonly image: Image;
  readonly nodes: readonly NodePlan[];
  /** Where lines of the trace go, and the log goes to `logs/`. Null where there are none: all is told to `line`. */
  readonly trace: ((line: TraceLine) => void) | null;
  /** Where every line goes of a node that tells no trace, and of the companion with this role beside it. */
  readonly line: (node: NodeName, text: string, companion?: string) => void;
}

const readyTimeoutMs = 90_000;
/** No line by which a program says that it is ready is longer; somebody's may be endless. */
const readyLineMax = 4_000;
const collectAttempts = 3;
const askAgainMs = 50;
const probeTimeoutMs = 1_000;

/** Creates the pods and starts what is in them. What has a wave or a word for being ready has said so when this returns. */
export async function deployPods(
  spec: PodsSpec,
  contents: (engine: Engine, addressOf: (place: Place) => string) => Promise<Contents>,
): Promise<Pods> {
  if (!/^[a-z0-9][a-z0-9-]{0,47}$/.test(spec.runId)) throw new Error(`a run cannot be named \`${spec.runId}\``);
  if (spec.brokers.some((id) => id < 1 || id > brokersMax)) throw new Error(`broker ids go from 1 to ${brokersMax}`);
  const engine = await connectEngine();
  const lease = holdLease(spec.runId);
  try {
    const pods = await createPods(engine, spec, lease, contents);
    try {
      await pods.start();
    } catch (error) {
      pods.letGo();
      throw error;
    }
    return pods;
  } catch (error) {
    const residue = await removeRun(engine, spec.runId, ownerLabel()).catch((problem: unknown) => [reason(problem)]);
    if (residue.length === 0) lease.end();
    spec.signal.throwIfAborted();
    const left = residue.length === 0 ? '' : ` (left behind: ${residue.join(', ')})`;
    throw new Error(`the cluster could not be deployed: ${reason(error)}${left}`, { cause: error });
  }
}

async function createPods(
  engine: Engine,
  spec: PodsSpec,
  lease: Lease,
  contents: Parameters<typeof deployPods>[1],
): Promise<Pods> {
  const labels = runLabels(spec.runId);
  const network = await createNetwork(engine, `tidemark-${spec.runId}`, labels);
  const content = await contents(engine, (place) => addressOf(place, network));
  spec.signal.throwIfAborted();
  await Promise.all([
    mkdir(join(spec.directory, 'logs'), { recursive: true }),
    mkdir(join(spec.directory, 'data'), { recursive: true }),
  ]);
  // All settle before any failure is handled, so that nothing is created behind the back of the clean-up.
  const made = await Promise.allSettled(
    content.nodes.map((node) => {
      const address = addressOf(node.node, network);
      const foreign = content.trace === null;
      return createPod(engine, {
        runId: spec.runId,
        image: content.image,
        node,
        network,
        address,
        labels,
        watched: foreign && node.logDirectory !== null,
        hosts: foreign ? hostsOf(content.nodes, network) : {},
      });
    }),
  );
  const failed = made.find((result) => result.status === 'rejected');
  const pods = made.filter((result) => result.status === 'fulfilled').map((result) => result.value);
  if (failed || spec.signal.aborted) for (const pod of pods) pod.agent.close();
  if (failed) throw failed.reason;
  spec.signal.throwIfAborted();
  return new Pods(engine, spec, lease, network, pods, content);
}

function hostsOf(nodes: readonly NodePlan[], network: RunNetwork): Record<string, string> {
  const places: readonly Place[] = [...nodes.map(({ node }) => node), 'clients'];
  return Object.fromEntries(
    places.map((place) => [typeof place === 'number' ? `broker-${place}` : place, addressOf(place, network)]),
  );
}

function addressOf(place: Place, network: RunNetwork): string {
  if (place === 'clients') return network.gateway;
  return network.address(place === 'controller' ? 0 : place);
}

export class Pods {
  readonly #engine: Engine;
  readonly #spec: PodsSpec;
  readonly #lease: Lease;
  readonly #links: PodLinks;
  readonly #pods: ReadonlyMap<NodeName, Pod>;
  readonly #processes: ReadonlyMap<NodeName, NodeProcess>;
  readonly #companions: ReadonlyMap<NodeName, readonly NodeProcess[]>;
  readonly #exitListeners: ExitListener[] = [];
  readonly #exits: Parameters<ExitListener>[] = [];
  /** Who waits for a line of a container. */
  readonly #waiting = new Map<NodeProcess, (text: string) => void>();
  /** Who has to know that a container ended while it was starting. */
  readonly #endings = new Map<NodeProcess, (detail: string) => void>();
  #logComplaint = false;
  #closed: Promise<{ residue: readonly string[] }> | null = null;

  constructor(
    engine: Engine,
    spec: PodsSpec,
    lease: Lease,
    network: RunNetwork,
    pods: readonly Pod[],
    contents: Contents,
  ) {
    this.#engine = engine;
    this.#spec = spec;
    this.#lease = lease;
    this.#links = new PodLinks(pods, (place) => addressOf(place, network));
    this.#pods = new Map(pods.map((pod) => [pod.node, pod]));
    this.#processes = new Map(pods.map((pod) => [pod.node, this.#processOf(pod, contents)]));
    this.#companions = new Map(pods.map((pod) => [pod.node, this.#companionsOf(pod, contents)]));
  }

  /** Starts wave after wave, the pods of one side by side, and looks whether their addresses can be reached. */
  async start(): Promise<void> {
    const waves = [...new Set([...this.#pods.values()].map((pod) => pod.plan.wave))].toSorted((a, b) => a - b);
    for (const [index, wave] of waves.entries()) {
      const pods = [...this.#pods.values()].filter((pod) => pod.plan.wave === wave);
      const last = index === waves.length - 1;
      const started = await Promise.allSettled(pods.map((pod) => this.#startPod(pod, last)));
      const failed = started.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      this.#spec.signal.throwIfAborted();
    }
  }

  onUnexpectedExit(listener: ExitListener): void {
    this.#exitListeners.push(listener);
    // A process may have ended before anybody could ask.
    for (const exit of this.#exits) listener(...exit);
  }

  perform(action: Action): Promise<Evidence> {
    this.#refuseWhenClosed();
    switch (action.port) {
      case 'links':
        if (action.slow !== undefined) throw new Error('containers have no slow links');
        return this.#links.shape(action.cuts);
      case 'process':
        return this.#process(action.node).perform(action.verb);
      case 'leadership':
        throw new Error('moving a leader is for the admin client of the harness');
      case 'load':
        throw new Error('an operation is for the load of the harness');
    }
  }

  async probeLinks(timeoutMs: number): Promise<readonly LinkProbe[]> {
    this.#refuseWhenClosed();
    return this.#links.probe(timeoutMs);
  }

  /**
   * Copies a folder of a node's container, as it stands, or what `wanted` says of it. A file that changes while the
   * engine copies it spoils the archive: then everything is copied once more.
   */
  async copy(node: NodeName, path: string, target: string, wanted?: (path: string) => boolean): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await rm(target, { recursive: true, force: true });
      try {
        await unpack(await this.#pod(node).process.getArchive({ path }), target, wanted);
        return;
      } catch (error) {
        if (attempt === collectAttempts) {
          throw new Error(`the data of node ${node} could not be copied: ${reason(error)}`, { cause: error });
        }
      }
    }
  }

  agent(node: NodeName): Agent {
    return this.#pod(node).agent;
  }

  plan(node: NodeName): NodePlan {
    return this.#pod(node).plan;
  }

  address(node: NodeName): string {
    return this.#pod(node).address;
  }

  get nodes(): readonly NodeName[] {
    return [...this.#pods.keys()];
  }

  close(): Promise<{ readonly residue: readonly string[] }> {
    return (this.#closed ??= this.#close());
  }

  /** Closes the streams: nothing is heard or reported from now on. */
  letGo(): void {
    for (const process of [...this.#processes.values(), ...[...this.#companions.values()].flat()]) process.close();
    for (const pod of this.#pods.values()) pod.agent.close();
  }

  /** The companions first, one after the other; the last wave is waited for by whoever uses the cluster. */
  async #startPod(pod: Pod, last: boolean): Promise<void> {
    await pod.holder.start();
    const agent = pod.agent.start();
    const reached = pod.plan.port === null ? undefined : reach(pod.address, pod.plan.port);
    const node = this.#process(pod.node);
    const work = async (): Promise<void> => {
      for (const [index, companion] of this.#companions.get(pod.node)!.entries()) {
        await this.#startAndAwait(companion, pod, pod.plan.companions[index]!);
      }
      if (last && pod.plan.process.ready === null) await node.perform('start');
      else await this.#startAndAwait(node, pod, pod.plan.process);
    };
    await Promise.all([agent, work(), reached]);
  }

  /** Starts a container, and waits until it is ready; an end of it before that is told as what it was. */
  async #startAndAwait(process: NodeProcess, pod: Pod, plan: ContainerPlan): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const name = `node ${pod.node}${plan === pod.plan.process ? '' : ` (${plan.role})`}`;
    const late = setTimeout(
      () => reject(new Error(`${name} was not ready within ${readyTimeoutMs} ms`)),
      readyTimeoutMs,
    );
    const abort = (): void => reject(new Error('interrupted'));
    this.#spec.signal.addEventListener('abort', abort);
    const waiting = new AbortController();
    this.#endings.set(process, (detail) => reject(new Error(`${name} ended before it was ready: ${detail}`)));
    this.#waiting.set(process, (text) => {
      if (plan.ready?.test(text.slice(0, readyLineMax)) === true) resolve();
    });
    const ask = async (port: number): Promise<void> => {
      let strange = 0;
      while (!waiting.signal.aborted) {
        const answer = await probe({ name, host: pod.address, port }, 'probe-clients', probeTimeoutMs);
        if (answer.ok) return resolve();
        strange = answer.heard === undefined ? 0 : strange + 1;
        if (strange === strangeAnswersMax) {
          return reject(new Error(strangeAnswer(name, `${pod.address}:${port}`, answer.heard ?? '')));
        }
        await sleep(askAgainMs);
      }
    };
    try {
      await process.perform('start');
      if (plan.ready === null && pod.plan.port !== null) void ask(pod.plan.port);
      else if (plan.ready === null) resolve();
      await promise;
    } finally {
      waiting.abort();
      clearTimeout(late);
      this.#spec.signal.removeEventListener('abort', abort);
      this.#waiting.delete(process);
      this.#endings.delete(process);
    }
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

  #processOf(pod: Pod, contents: Contents): NodeProcess {
    const logFile = join(this.#spec.directory, 'logs', `${pod.node}.log`);
    const { logDirectory, process: plan } = pod.plan;
    const hearing: Hearing = {
      trace: contents.trace,
      log: (text) => {
        if (contents.trace !== null) this.#writeLog(logFile, text);
      },
      line: (text) => {
        this.#waiting.get(process)?.(text);
        contents.line(pod.node, text);
      },
      unexpectedExit: (detail, blame) => this.#tellExit(process, pod.node, detail, blame),
    };
    const logs = logDirectory === null ? null : { path: logDirectory, owner: plan.user };
    const process = new NodeProcess(pod.node, pod.process, plan.exits, hearing, logs);
    return process;
  }

  /** What stands beside a node is not under test: its end is the environment's failure. */
  #companionsOf(pod: Pod, contents: Contents): NodeProcess[] {
    return pod.companions.map((container, index) => {
      const plan = pod.plan.companions[index]!;
      const process: NodeProcess = new NodeProcess(pod.node, container, plan.exits, {
        trace: null,
        log: () => {},
        line: (text) => {
          this.#waiting.get(process)?.(text);
          contents.line(pod.node, text, plan.role);
        },
        unexpectedExit: (detail) => this.#tellExit(process, pod.node, `${plan.role}: ${detail}`, 'environment'),
      });
      return process;
    });
  }

  #tellExit(process: NodeProcess, node: NodeName, detail: string, blame: 'environment' | 'node'): void {
    this.#endings.get(process)?.(detail);
    this.#exits.push([node, detail, blame]);
    for (const listener of this.#exitListeners) listener(node, detail, blame);
  }

  #refuseWhenClosed(): void {
    if (this.#closed !== null) throw new Error('the cluster is gone, and nothing may be sent to its addresses');
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

  #pod(node: NodeName): Pod {
    const pod = this.#pods.get(node);
    if (pod === undefined) throw new Error(`node ${node} is not deployed`);
    return pod;
  }
}
