/**
 * The nemesis's driver in the kernel: what `harness/run/faults.ts` and a runtime are on real machines.
 *
 * The pure conductor hears every trace line as it is written, and what it decides is performed a little later, as by a
 * harness that has to read the line first and then to call the system: links change after a millisecond, processes stop
 * after one or two, and a process that is started takes a while to come up, drawn from the stream `start:<node>`.
 *
 * Invariant: evidence says what is found, not what was wanted: what the cuts swallowed, and how the process stands after
 * the action.
 */
import type { FaultRecord } from '../../checker/history.ts';
import { conduct, createConductor, isFinished, nextDeadlineNs, takeQuietly } from '../../nemesis/conductor.ts';
import type { ConductorEvent, ConductorState } from '../../nemesis/conductor.ts';
import type { Action, Evidence, NodeName, TraceLine } from '../../nemesis/ports.ts';
import type { Schedule } from '../../nemesis/schedule.ts';
import { evidenceOfCall } from '../workload/written.ts';
import type { Random, RandomStream } from '../plan/random.ts';
import type { SimCluster } from './cluster.ts';
import type { SimAdmin } from './sim-admin.ts';
import type { SimLoad } from './sim-load.ts';

const NS_PER_MS = 1e6;
const LINKS_NS = 1 * NS_PER_MS;
const SIGNAL_NS = 1 * NS_PER_MS;
const KILL_NS = 2 * NS_PER_MS;
/** From the call to the first trace line of a process. */
const [START_FROM_MS, START_TO_MS] = [100, 300] as const;
/** A process that was asked to end in good order is killed after so long. */
const STOP_TIMEOUT_NS = 5_000 * NS_PER_MS;

export interface SimFaultsOptions {
  readonly schedule: Schedule;
  readonly partitions: readonly string[];
  readonly cluster: SimCluster;
  readonly admin: SimAdmin;
  readonly load: Pick<SimLoad, 'call'>;
  readonly random: Random;
  readonly record: (kind: string, value: FaultRecord) => void;
}

/** Starts a process after the time that it takes to come up. */
export class Starter {
  readonly #cluster: SimCluster;
  readonly #random: Random;
  readonly #streams = new Map<NodeName, RandomStream>();

  constructor(cluster: SimCluster, random: Random) {
    this.#cluster = cluster;
    this.#random = random;
  }

  start(node: NodeName, done: () => void = () => {}): void {
    const { kernel } = this.#cluster;
    let stream = this.#streams.get(node);
    if (stream === undefined) {
      stream = this.#random.stream(`start:${node}`);
      this.#streams.set(node, stream);
    }
    kernel.at(kernel.nowNs + stream.int(START_FROM_MS * NS_PER_MS, START_TO_MS * NS_PER_MS), `start ${node}`, () => {
      if (!kernel.node(node).running) kernel.node(node).start();
      done();
    });
  }
}

export class SimFaults {
  readonly #options: SimFaultsOptions;
  readonly #state: ConductorState;
  readonly #starter: Starter;
  #timerNs = Infinity;

  constructor(options: SimFaultsOptions, starter: Starter) {
    const { schedule, cluster, partitions } = options;
    this.#options = options;
    this.#starter = starter;
    this.#state = createConductor(schedule, { brokers: cluster.brokers, partitions });
  }

  /** The load begins now: the times of the schedule count from here. */
  start(): void {
    this.#feed({ type: 'start' });
  }

  trace(line: TraceLine): void {
    if (!takeQuietly(this.#state, line)) this.#feed({ type: 'trace', line });
  }

  /** Ends and heals every fault that is still on. */
  stop(): void {
    this.#feed({ type: 'stop' });
  }

  get finished(): boolean {
    return isFinished(this.#state);
  }

  #feed(event: ConductorEvent): void {
    const { kernel } = this.#options.cluster;
    const effects = conduct(this.#state, event, kernel.nowNs);
    for (const effect of effects) {
      if (effect.type === 'record') this.#options.record(effect.f, effect.value);
      else this.#act(effect.id, effect.action);
    }
    this.#arm();
  }

  #arm(): void {
    const { kernel } = this.#options.cluster;
    const deadlineNs = Math.max(nextDeadlineNs(this.#state), kernel.nowNs);
    if (deadlineNs === Infinity || deadlineNs >= this.#timerNs) return;
    this.#timerNs = deadlineNs;
    kernel.at(deadlineNs, 'nemesis', () => {
      if (this.#timerNs === deadlineNs) this.#timerNs = Infinity;
      this.#feed({ type: 'deadline' });
    });
  }

  #act(id: string, action: Action): void {
    const done = (evidence: Evidence): void => this.#feed({ type: 'acted', id, evidence });
    switch (action.port) {
      case 'links':
        this.#later(LINKS_NS, 'links', () => {
          const lifted = this.#options.cluster.kernel.setLinks(action.cuts, action.slow);
          done({ effective: true, facts: { ...lifted } });
        });
        return;
      case 'process':
        this.#performOn(action.node, action.verb, done);
        return;
      case 'leadership':
        this.#options.admin.moveLeader(action.partition, action.to, done);
        return;
      case 'load':
        this.#options.load.call(action.operation, (ended) => done(evidenceOfCall(ended)));
    }
  }

  #performOn(name: NodeName, verb: (Action & { port: 'process' })['verb'], done: (evidence: Evidence) => void): void {
    const node = this.#options.cluster.kernel.node(name);
    const found = (effective: boolean, note?: string): void => done(this.#evidence(name, effective, note));
    switch (verb) {
      case 'pause':
        this.#later(SIGNAL_NS, `pause ${name}`, () => {
          node.pause();
          found(node.paused, node.running ? undefined : 'it does not run');
        });
        return;
      case 'resume':
        this.#later(SIGNAL_NS, `resume ${name}`, () => {
          node.resume();
          found(node.running && !node.paused, node.running ? undefined : 'it does not run');
        });
        return;
      case 'kill':
      case 'power-loss':
        this.#later(KILL_NS, `${verb} ${name}`, () => {
          const ran = node.running;
          if (verb === 'kill') node.kill();
          else node.powerOff();
          found(ran && !node.running, ran ? undefined : 'it does not run');
        });
        return;
      case 'stop':
        this.#later(SIGNAL_NS, `stop ${name}`, () => this.#stop(name, done));
        return;
      case 'start':
        if (node.running) this.#later(SIGNAL_NS, `start ${name}`, () => found(false, 'it runs already'));
        else this.#starter.start(name, () => found(node.running));
    }
  }

  /** In good order; killed when that takes too long, as with a paused process, and that is no proof of a stop. */
  #stop(name: NodeName, done: (evidence: Evidence) => void): void {
    const { kernel } = this.#options.cluster;
    const node = kernel.node(name);
    if (!node.running) {
      done(this.#evidence(name, false, 'it does not run'));
      return;
    }
    if (!node.paused) node.tell({ type: 'stop' });
    const deadlineNs = kernel.nowNs + STOP_TIMEOUT_NS;
    const look = (): void => {
      if (node.running && kernel.nowNs < deadlineNs) {
        this.#later(SIGNAL_NS, `stop ${name}`, look);
        return;
      }
      if (node.running) node.kill();
      const { exited: orderly } = node;
      const { facts } = this.#evidence(name, orderly);
      done({ effective: orderly, facts: { ...facts, orderly } });
    };
    look();
  }

  #evidence(name: NodeName, effective: boolean, note?: string): Evidence {
    const node = this.#options.cluster.kernel.node(name);
    const state = node.paused ? 'paused' : node.running ? 'running' : 'gone';
    return { effective, facts: { boot: node.boot, state, ...(note === undefined ? {} : { note }) } };
  }

  #later(afterNs: number, what: string, act: () => void): void {
    const { kernel } = this.#options.cluster;
    kernel.at(kernel.nowNs + afterNs, what, act);
  }
}
