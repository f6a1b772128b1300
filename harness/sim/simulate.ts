/**
 * A whole run in virtual time: deploy, load and break, heal, settle, read back; as a function.
 *
 * Everything that decides is what decides in every other runtime: the cores, the client, the workload, the conductor,
 * the rule of settling, the lines of the history. What is simulated is what lies between them: time, the network, the
 * disks and the processes. The phases are those of `harness/run/run.ts`, in the same order.
 *
 * Invariant: the same request gives the same simulation, to the byte: all chance comes from named streams of the seed.
 * Left out: files, and the verdict.
 */
import { buildNames } from '../../broker/core/builds.ts';
import type { WrittenLine } from '../../broker/core/trace.ts';
import type { Key, Operation } from '../../checker/history.ts';
import type { NodeName, TraceLine } from '../../nemesis/ports.ts';
import { endsOf, isChange, leadersOf, unrest } from '../../nemesis/rest.ts';
import { createView, foldLine, isFullySynced } from '../../nemesis/view.ts';
import type { ClusterView } from '../../nemesis/view.ts';
import { HistoryLines } from '../client/history-lines.ts';
import { keyOf } from '../client/operations.ts';
import { buildsByNode } from '../plan/builds-by-node.ts';
import { clusterSettingsOf } from '../plan/cluster-settings.ts';
import { finalReadTimeoutMs, healTimeoutMs, readyTimeoutMs, restMs } from '../plan/patience.ts';
import { createRandom } from '../plan/random.ts';
import type { Random } from '../plan/random.ts';
import { SimCluster } from './cluster.ts';
import type { KernelEvent } from './journal.ts';
import { KeptTrace } from './kept-trace.ts';
import { Lateness } from './late.ts';
import type { Lane, Message } from './network.ts';
import { proveHealed } from './prove-healed.ts';
import { replicasOn } from './replicas.ts';
import { SimAdmin } from './sim-admin.ts';
import { SimFaults, Starter } from './sim-faults.ts';
import { SimLoad } from './sim-load.ts';
import type { Simulation, SimulationFacts, SimulationRequest, Trace } from './simulation.ts';

const NS_PER_MS = 1e6;
const SECOND_MS = 1_000;
/** So much virtual time passes between two steps of the load. */
const STEP_MS = 100;
/** Every action of the nemesis is answered long before, and every operation of a client over. */
const STOP_TIMEOUT_NS = 600_000 * NS_PER_MS;

/** Who looks on while it happens. What they are told changes nothing. */
export interface Onlooker {
  /** Told every event, with the hash so far. */
  readonly onEvent?: (event: KernelEvent) => void;
  /** Told every message that is taken in, just before. */
  readonly onMessage?: (lane: Lane, message: Message, nowNs: number) => void;
  /** Told about once every virtual second of the load. */
  readonly onSecond?: (loadMs: number) => void;
}

/** Runs it. */
export function simulate(request: SimulationRequest, onlooker: Onlooker = {}): Simulation {
  const steps = simulateInSteps(request, onlooker);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same, for who has to look up now and then: between two steps nothing is under way, and what he does changes nothing. */
export function simulateInSteps(
  request: SimulationRequest,
  onlooker: Onlooker = {},
): Generator<void, Simulation, undefined> {
  return new SimulatedRun(request, onlooker).execute();
}

class SimulatedRun {
  readonly #request: SimulationRequest;
  readonly #onlooker: Onlooker;
  readonly #keys: readonly Key[];
  readonly #random: Random;
  readonly #cluster: SimCluster;
  readonly #view: ClusterView;
  readonly #lateness: Lateness;
  readonly #lines = new HistoryLines();
  readonly #history: Operation[] = [];
  readonly #trace = new KeptTrace();
  readonly #faults: SimFaults;
  readonly #starter: Starter;
  readonly #admin: SimAdmin;
  readonly #load: SimLoad;
  /** Nodes that ended by a fault of their own. */
  readonly #crashed = new Set<NodeName>();
  /** Lines that tell of a change, and when the last of them came. */
  #changes = 0;
  #changedNs = 0;
  #loadStartNs: number | null = null;
  readonly #facts: { -readonly [K in keyof SimulationFacts]: SimulationFacts[K] } = {
    healed: false,
    healMs: 0,
    settled: false,
    settleMs: 0,
    residual: [],
    finalLeaders: {},
    finalReadComplete: false,
  };

  constructor(request: SimulationRequest, onlooker: Onlooker) {
    const { config, schedule, load, codec, late = [] } = request;
    const { topic, partitions, brokers, defects } = config;
    this.#request = request;
    this.#onlooker = onlooker;
    this.#keys = Array.from({ length: partitions }, (_, partition) => keyOf(topic, partition));
    this.#random = createRandom(config.seed);
    this.#view = createView(this.#keys);
    const builds = buildsByNode(config.build, brokers, buildNames);
    if (typeof builds === 'string') throw new Error(builds);
    this.#cluster = new SimCluster({
      builds,
      defects,
      settings: clusterSettingsOf(config),
      random: this.#random,
      onTrace: (line) => this.#take(line),
      onCrash: (node, message) => {
        this.#crashed.add(node);
        this.#remain([`${node === 'controller' ? 'the controller' : `broker ${node}`} ended by itself: ${message}`]);
      },
      ...(codec === undefined ? {} : { codec }),
      ...(onlooker.onEvent === undefined ? {} : { onEvent: onlooker.onEvent }),
      ...(onlooker.onMessage === undefined ? {} : { onMessage: (lane, message) => this.#taken(lane, message) }),
    });
    this.#lateness = new Lateness(late);
    if (late.length > 0) {
      this.#cluster.kernel.network.lateness = (lane, message) => this.#lateness.of(lane, message);
    }
    this.#starter = new Starter(this.#cluster, this.#random);
    this.#admin = new SimAdmin(this.#cluster, config.clientTimeoutMs);
    const { kernel } = this.#cluster;
    const now = (): number => kernel.nowNs;
    this.#faults = new SimFaults(
      {
        schedule,
        partitions: this.#keys,
        cluster: this.#cluster,
        admin: this.#admin,
        load: { call: (name, answer) => this.#load.call(name, answer) },
        random: this.#random,
        record: (kind, value) => this.#history.push(this.#lines.nemesis(now(), kind, value)),
      },
      this.#starter,
    );
    this.#load = new SimLoad({
      cluster: this.#cluster,
      config,
      keys: this.#keys,
      random: this.#random,
      plan: load ?? null,
      invoked: (process, operation, final) =>
        this.#history.push(this.#lines.invoke(now(), process, operation, config.acks, final)),
      completed: (process, completion) => this.#history.push(this.#lines.complete(now(), process, completion)),
    });
  }

  *execute(): Generator<void, Simulation, undefined> {
    const { kernel } = this.#cluster;
    this.#starter.start('controller');
    for (const node of this.#cluster.brokers) this.#starter.start(node);
    const failure = this.#getReady();
    if (failure === null) yield* this.#test();
    else this.#facts.error = failure;
    return {
      history: this.#history,
      trace: this.#trace as Iterable<unknown> as Trace,
      facts: this.#facts,
      replicas: this.#cluster.brokers.flatMap((node) => replicasOn(kernel.node(node).disk, node)),
      hash: kernel.hash,
      events: kernel.events,
      virtualNs: kernel.nowNs,
      loadStartNs: this.#loadStartNs,
      unsent: this.#lateness.unsent,
    };
  }

  *#test(): Generator<void, void, undefined> {
    const { timeLimitMs } = this.#request.config;
    const { kernel } = this.#cluster;
    this.#loadStartNs = kernel.nowNs;
    this.#load.start();
    this.#faults.start();
    for (let passedMs = 0; passedMs < timeLimitMs; passedMs += STEP_MS) {
      yield;
      kernel.runFor(Math.min(STEP_MS, timeLimitMs - passedMs) * NS_PER_MS);
      const endMs = passedMs + STEP_MS;
      if (endMs % SECOND_MS === 0 || endMs >= timeLimitMs) this.#onlooker.onSecond?.(endMs);
    }
    this.#faults.stop();
    this.#end('the nemesis', () => this.#faults.finished);
    this.#proveHealed();
    this.#load.stop();
    this.#end('the load', () => this.#load.ended);
    yield;
    this.#settle();
    yield;
    const rested = this.#changes;
    this.#facts.finalReadComplete = this.#load.finalRead(endsOf(this.#view), finalReadTimeoutMs);
    /* What a client that is gone had sent may arrive late: TCP sends it again long after its link has healed. */
    if (this.#facts.settled && this.#changes !== rested) this.#settle();
    this.#facts.finalLeaders = leadersOf(this.#view);
  }

  /** Lets time pass until it has ended. It must: nothing may be concluded from a run in which somebody is still at work. */
  #end(who: string, ended: () => boolean): void {
    const { kernel } = this.#cluster;
    if (!kernel.runUntil(ended, STOP_TIMEOUT_NS)) throw new Error(`${who} came to no end by ${kernel.nowNs} ns`);
  }

  /** The topic is there, and every replica in its role; else what is missing. */
  #getReady(): string | null {
    const { topic, partitions, replicationFactor } = this.#request.config;
    const missing = this.#admin.createTopic(topic, partitions, replicationFactor, readyTimeoutMs);
    if (missing !== null) return missing;
    const ready = this.#untilTrace(() => isFullySynced(this.#view), readyTimeoutMs * NS_PER_MS);
    return ready ? null : `the cluster did not get ready within ${readyTimeoutMs / 1000} s`;
  }

  #proveHealed(): void {
    const startNs = this.#cluster.kernel.nowNs;
    // A node that crashed does not answer, whatever its links are like.
    const deaf = proveHealed(this.#cluster, (node) => this.#crashed.has(node), healTimeoutMs);
    this.#facts.healed = deaf.length === 0;
    this.#facts.healMs = this.#msSince(startNs);
    this.#remain(deaf.map((probe) => `no round trip from ${probe.from} to ${probe.to}: ${probe.error ?? 'no answer'}`));
  }

  /** The rule of `harness/run/settle.ts`: at rest, and no change for longer than a follower's fetch can wait. */
  #settle(): void {
    const { config } = this.#request;
    const { kernel } = this.#cluster;
    const restNs = restMs(config) * NS_PER_MS;
    const startNs = kernel.nowNs;
    const deadlineNs = startNs + config.settleTimeoutMs * NS_PER_MS;
    let settled = false;
    while (!settled && kernel.nowNs < deadlineNs) {
      if (!this.#untilTrace(() => unrest(this.#view).length === 0, deadlineNs - kernel.nowNs)) break;
      const before = this.#changes;
      const restedNs = Math.max(kernel.nowNs + NS_PER_MS, this.#changedNs + restNs);
      settled = !kernel.runUntil(() => this.#changes !== before, restedNs - kernel.nowNs);
      if (settled) kernel.runFor(restedNs - kernel.nowNs);
    }
    this.#facts.settled = settled && this.#facts.healed;
    this.#facts.settleMs += this.#msSince(startNs);
    if (settled) return;
    const residual = unrest(this.#view);
    this.#remain(residual.length > 0 ? residual : ['the replicas kept changing']);
  }

  /** Looks at the condition after each trace line; false when it does not hold in time. */
  #untilTrace(condition: () => boolean, limitNs: number): boolean {
    if (condition()) return true;
    let seen = this.#trace.length;
    const look = (): boolean => {
      if (this.#trace.length === seen) return false;
      seen = this.#trace.length;
      return condition();
    };
    return this.#cluster.kernel.runUntil(look, limitNs);
  }

  #taken(lane: Lane, message: Message): void {
    this.#onlooker.onMessage?.(lane, message, this.#cluster.kernel.nowNs);
  }

  #take(written: WrittenLine): void {
    this.#trace.push(written);
    /* Neither the view nor the conductor asks for what is no text yet: the message behind a line, a batch's checksum. */
    const line = written as unknown as TraceLine;
    foldLine(this.#view, line);
    if (isChange(line)) {
      this.#changes += 1;
      this.#changedNs = line.time;
    }
    this.#faults.trace(line);
  }

  #remain(residual: readonly string[]): void {
    this.#facts.residual = [...this.#facts.residual, ...residual];
  }

  #msSince(startNs: number): number {
    return Math.round((this.#cluster.kernel.nowNs - startNs) / NS_PER_MS);
  }
}
