/**
 * The local runtime: one process per node on this machine, a fault proxy before each, everything on loopback.
 *
 * It needs neither root nor containers. Links are cut by the proxies, processes are stopped and killed by signals, and
 * every action is proved by what the system says. Live data directories stand in the system's temporary directory and
 * are copied into the run's folder when they are collected.
 *
 * Invariant: after `close`, or after the harness died in any way, no process and no folder of the run is left but its
 * results. What it leaves out: moving leaders is the admin client's, and clocks and disks are not broken here.
 */
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeName } from '../../checker/parse-trace.ts';
import { probe } from '../../docker/agent/probe.ts';
import type {
  Action,
  Address,
  Cluster,
  Cut,
  DeploySpec,
  Evidence,
  ExitListener,
  LinkProbe,
  NodeId,
  NodeName,
  TraceLine,
} from '../../nemesis/ports.ts';
import { nameOfCut } from '../../nemesis/topologies.ts';
import { EnvironmentError, environmentErrorFrom, errorCode, isSystemError } from '../errors.ts';
import type { Place } from './caller.ts';
import { leaseFolder, removeRun } from './leftovers.ts';
import { LOOPBACK, findFreePorts } from './ports.ts';
import { hasProc } from './proc.ts';
import { NodeProcess, startWatchdog } from './process.ts';
import type { Watchdog } from './process.ts';
import { FaultProxy } from './proxy.ts';

export { collectLocalGarbage } from './leftovers.ts';

const COPY_ATTEMPTS = 5;

/** Deploys the cluster and starts its processes. They listen when this returns; the cluster need not be ready. */
export async function deployLocal(spec: DeploySpec): Promise<Cluster> {
  if (!/^[a-z0-9-]+$/.test(spec.runId)) throw new Error(`a run cannot be named '${spec.runId}'`);
  if (!hasProc()) throw new EnvironmentError('local processes need Linux: /proc is not there; use --runtime docker');
  spec.signal.throwIfAborted();
  let cluster: LocalCluster | null = null;
  try {
    const folder = leaseFolder(spec.runId);
    const watchdog = startWatchdog(fileURLToPath(new URL('watchdog.ts', import.meta.url)), spec.runId);
    cluster = new LocalCluster(spec, watchdog);
    await cluster.start(folder);
    spec.signal.throwIfAborted();
    return cluster;
  } catch (cause) {
    const residue = cluster === null ? await removeRun(spec.runId) : (await cluster.close()).residue;
    spec.signal.throwIfAborted();
    if (residue.length > 0) spec.progress(`left behind: ${residue.join(', ')}; try tidemark gc`);
    throw isSystemError(cause) ? environmentErrorFrom(cause, 'the brokers could not be started') : cause;
  }
}

interface LocalNode {
  readonly name: NodeName;
  readonly dataDirectory: string;
  readonly proxy: FaultProxy;
  readonly process: NodeProcess;
}

class LocalCluster implements Cluster {
  readonly runtime = 'local';
  readonly brokers: readonly NodeId[];
  readonly addresses = new Map<NodeId, Address>();
  readonly #spec: DeploySpec;
  readonly #watchdog: Watchdog;
  readonly #nodes = new Map<NodeName, LocalNode>();
  #cuts: readonly Cut[] = [];
  /** Lines that nobody has heard yet; null once somebody has. */
  #backlog: TraceLine[] | null = [];
  readonly #lineListeners: ((line: TraceLine) => void)[] = [];
  readonly #exitListeners: ExitListener[] = [];
  #closed: Promise<{ readonly residue: readonly string[] }> | null = null;

  constructor(spec: DeploySpec, watchdog: Watchdog) {
    this.#spec = spec;
    this.#watchdog = watchdog;
    this.brokers = [...spec.brokers];
  }

  /** Lays everything out in `folder`, and starts all nodes at once. */
  async start(folder: string): Promise<void> {
    const names: readonly NodeName[] = ['controller', ...this.brokers];
    const ports = await findFreePorts(2 * names.length);
    const addresses = ports.map((port): Address => ({ host: LOOPBACK, port }));
    const controller = addresses[0] as Address;
    for (const [index, name] of names.entries()) {
      const advertised = addresses[index] as Address;
      const listen = addresses[names.length + index] as Address;
      this.#nodes.set(name, this.#layOut(name, join(folder, 'data', `${name}`), { advertised, listen, controller }));
      if (name !== 'controller') this.addresses.set(name, advertised);
    }
    await Promise.all([...this.#nodes.values()].map(({ proxy }) => proxy.open()));
    const started = await Promise.all([...this.#nodes.values()].map(({ process }) => process.start()));
    const silent = [...this.#nodes.values()].find((_, index) => started[index]?.effective !== true);
    if (silent !== undefined) {
      throw new EnvironmentError(`${nodeName(silent.name)} did not start: ${silent.process.lastWords()}`);
    }
  }

  subscribe(listener: (line: TraceLine) => void): void {
    this.#lineListeners.push(listener);
    if (this.#backlog === null) return;
    for (const line of this.#backlog) listener(line);
    // Whoever subscribes in the same breath still hears everything.
    setImmediate(() => (this.#backlog = null));
  }

  onUnexpectedExit(listener: ExitListener): void {
    this.#exitListeners.push(listener);
  }

  async perform(action: Action): Promise<Evidence> {
    switch (action.port) {
      case 'links':
        if (action.slow !== undefined) throw new Error('local processes have no slow links');
        return this.#setCuts(action.cuts);
      case 'process':
        return this.#performOn(this.#node(action.node), action.verb);
      case 'leadership':
        throw new Error('moving a leader is for the admin client of the harness');
      case 'load':
        throw new Error('an operation is for the load of the harness');
    }
  }

  async probeLinks(timeoutMs: number): Promise<readonly LinkProbe[]> {
    const places: readonly Place[] = [...this.#nodes.keys(), 'clients'];
    const links = places.flatMap((from) => [...this.#nodes.values()].map((to) => ({ from, to })));
    return Promise.all(
      links
        .filter(({ from, to }) => from !== to.name && !(from === 'clients' && to.name === 'controller'))
        .map(async ({ from, to }): Promise<LinkProbe> => {
          const target = { name: `${to.name}`, ...to.proxy.address };
          const { ok, roundTripMs, error } = await probe(target, `probe-${from}`, timeoutMs);
          return {
            from,
            to: to.name,
            ok,
            ...(roundTripMs === undefined ? {} : { roundTripMs }),
            ...(error === undefined ? {} : { error }),
          };
        }),
    );
  }

  async collect(): Promise<void> {
    await Promise.all(
      [...this.#nodes.values()].map(({ name, dataDirectory }) =>
        copyLive(dataDirectory, join(this.#spec.directory, 'data', `${name}`)),
      ),
    );
  }

  close(): Promise<{ readonly residue: readonly string[] }> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<{ readonly residue: readonly string[] }> {
    const residue: string[] = [];
    try {
      for (const { proxy } of this.#nodes.values()) proxy.close();
      await Promise.all([...this.#nodes.values()].map(({ process }) => process.kill()));
    } catch (error) {
      residue.push(error instanceof Error ? error.message : String(error));
    }
    /* Whatever the orderly way has missed. */
    residue.push(...(await removeRun(this.#spec.runId)));
    this.#watchdog.dismiss();
    return { residue };
  }

  #layOut(
    node: NodeName,
    dataDirectory: string,
    addresses: { readonly advertised: Address; readonly listen: Address; readonly controller: Address },
  ): LocalNode {
    const spec = this.#spec;
    return {
      name: node,
      dataDirectory,
      proxy: new FaultProxy(node, addresses.advertised, addresses.listen),
      process: new NodeProcess({
        node,
        runId: spec.runId,
        command: spec.command({ node, dataDirectory, ...addresses }),
        dataDirectory,
        logFile: join(spec.directory, 'logs', `${node}.log`),
        onLine: (line) => this.#takeLine(line),
        onUnexpectedExit: (detail, blame) => {
          this.#nodes.get(node)?.proxy.shut();
          for (const listener of this.#exitListeners) listener(node, detail, blame);
        },
      }),
    };
  }

  #takeLine(line: TraceLine): void {
    this.#backlog?.push(line);
    for (const listener of this.#lineListeners) listener(line);
  }

  /** The whole wanted network, and what the cuts that are lifted had swallowed. */
  #setCuts(cuts: readonly Cut[]): Evidence {
    const before = performance.now();
    const proxies = [...this.#nodes.values()].map(({ proxy }) => proxy);
    for (const proxy of proxies) proxy.setCuts(cuts);
    const tookMs = performance.now() - before;
    const names = new Set(cuts.map(nameOfCut));
    const lifted = this.#cuts.map(nameOfCut).filter((name) => !names.has(name));
    const dropped = Object.fromEntries(
      lifted.map((name) => [name, proxies.reduce((sum, proxy) => sum + proxy.takeSwallowed(name), 0)]),
    );
    this.#cuts = cuts;
    return { effective: true, facts: { dropped, tookMs: Math.round(tookMs * 10) / 10 } };
  }

  async #performOn({ process, proxy }: LocalNode, verb: (Action & { port: 'process' })['verb']): Promise<Evidence> {
    switch (verb) {
      case 'pause':
        return process.pause();
      case 'resume':
        return process.resume();
      case 'kill':
      case 'power-loss':
        proxy.shut();
        return verb === 'kill' ? process.kill() : process.losePower();
      case 'stop': {
        /* The port stays open: a broker that stops still talks to the others. */
        const evidence = await process.stop();
        proxy.shut();
        return evidence;
      }
      case 'start': {
        const evidence = await process.start();
        if (evidence.effective) await proxy.open();
        return evidence;
      }
    }
  }

  #node(name: NodeName): LocalNode {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    return node;
  }
}

/** Copies a directory in which a broker may be renaming files; what vanishes meanwhile makes it start over. */
async function copyLive(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await rm(to, { recursive: true, force: true });
    await mkdir(to, { recursive: true });
    try {
      await cp(from, to, { recursive: true, preserveTimestamps: true });
      return;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || attempt === COPY_ATTEMPTS) throw error;
    }
  }
}
