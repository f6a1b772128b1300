/**
 * A tiny cluster told by hand: each call is one thing that happens, and leaves the lines and the log bytes that a real
 * run would leave. It checks nothing and decides nothing; a story may be as wrong as its author wants it to be.
 *
 * One partition, brokers counted from 1, one client process for each value.
 */
import { encodeBatch } from '../../broker/protocol/index.ts';
import { checkRun, type CheckInput } from '../../checker/check.ts';
import type { ReplicaFiles } from '../../checker/final-logs.ts';
import type { RunResults } from '../../checker/results.ts';

export interface StoryOptions {
  readonly brokers?: number;
  readonly minInsyncReplicas?: number;
  readonly uncleanElection?: boolean;
  readonly acks?: 'all' | 0 | 1;
  readonly build?: string;
}

interface StoredBatch {
  readonly base: number;
  readonly epoch: number;
  readonly value: number;
  readonly hash: string;
}

interface Node {
  boot: number;
  seq: number;
  hw: number;
  log: StoredBatch[];
}

export const key = 'tide-0';

export class Story {
  readonly history: string[] = [];
  readonly trace: string[] = [];
  readonly #options: Required<StoryOptions>;
  readonly #nodes = new Map<number | 'controller', Node>();
  readonly #correlations = new Map<number, string>();
  readonly #offsets = new Map<number, number>();
  #time = 0;
  #index = 0;
  #epoch = -1;
  #leader: number | null = null;
  #isr: readonly number[] = [];

  constructor(options: StoryOptions = {}) {
    this.#options = { brokers: 3, minInsyncReplicas: 2, uncleanElection: false, acks: 'all', build: 'hw', ...options };
    const all = Array.from({ length: this.#options.brokers }, (_, at) => at + 1);
    for (const node of ['controller' as const, ...all]) {
      this.#nodes.set(node, { boot: 1, seq: 0, hw: 0, log: [] });
      this.line(node, { event: 'start', port: 9000, build: this.#options.build, defects: [] });
    }
    this.line('controller', { event: 'create', partition: key, replicas: all });
  }

  /** Any trace line. */
  line(node: number | 'controller', fields: Readonly<Record<string, unknown>>): void {
    const state = this.#node(node);
    this.#time += 1_000_000;
    this.trace.push(JSON.stringify({ seq: state.seq, time: this.#time, node, boot: state.boot, ...fields }));
    state.seq += 1;
  }

  /** The controller elects; nobody has heard of it yet. */
  elect(leader: number | null, isr: readonly number[], how: { clean?: boolean; reason?: string } = {}): void {
    const previousLeader = this.#leader;
    this.#epoch += 1;
    this.#leader = leader;
    this.#isr = isr;
    const { clean = true, reason = 'test' } = how;
    this.line('controller', { event: 'election', ...this.#where(), leader, previousLeader, isr, clean, reason });
  }

  isr(to: readonly number[]): void {
    this.line('controller', { event: 'isr', ...this.#where(), from: this.#isr, to, reason: 'lag' });
    this.#isr = to;
  }

  /** The elected leader and the given followers take their roles in the newest epoch. */
  lead(): void {
    this.#role(this.#leader as number, 'leader');
  }

  follow(...nodes: number[]): void {
    for (const node of nodes) this.#role(node, 'follower');
  }

  /** Elects, and everybody named in `isr` takes the role at once. */
  begin(leader: number, isr: readonly number[], how: { clean?: boolean; reason?: string } = {}): void {
    this.elect(leader, isr, how);
    this.lead();
    this.follow(...isr.filter((node) => node !== leader));
  }

  /** A client sends `value`, and the leader appends it. */
  send(value: number, leader: number = this.#leader as number, acks: 'all' | 0 | 1 = this.#options.acks): void {
    this.invoke(value, acks);
    const batch = this.#store(leader, value, this.end(leader), this.#epoch);
    this.line(leader, {
      event: 'append',
      ...this.#where(),
      msg: this.#correlations.get(value),
      batches: [traced(batch)],
    });
  }

  /** A client sends `value`, and nobody has it yet. */
  invoke(value: number, acks: 'all' | 0 | 1 = this.#options.acks): void {
    this.#correlations.set(value, `client-${value}#7`);
    this.operation({ process: value, type: 'invoke', f: 'send', value: [['send', key, value]], acks });
  }

  /** Followers fetch what they lack from `leader`. */
  copy(leader: number, ...followers: number[]): void {
    for (const follower of followers) {
      const missing = this.#node(leader).log.filter(({ base }) => base >= this.end(follower));
      if (missing.length === 0) continue;
      this.#node(follower).log.push(...missing);
      this.line(follower, { event: 'append', ...this.#where(), batches: missing.map(traced) });
    }
  }

  /** The high watermark of nodes moves; a leader says over which ISR. */
  hw(to: number, ...nodes: number[]): void {
    for (const node of nodes) {
      const from = this.#node(node).hw;
      this.#node(node).hw = to;
      const isr = node === this.#leader ? { isr: this.#isr } : {};
      this.line(node, { event: 'hw', ...this.#where(), from, to, ...isr });
    }
  }

  /** The leader acknowledges; `isr` as it knows it. */
  ack(value: number, leader: number = this.#leader as number, isr: readonly number[] = this.#isr): void {
    const offset = this.#offsets.get(value) as number;
    const acks = this.#options.acks === 'all' ? -1 : this.#options.acks;
    const msg = this.#correlations.get(value);
    this.line(leader, { event: 'ack', ...this.#where(), base: offset, last: offset, acks, isr, msg });
    this.acked(value, offset);
  }

  /** The client sees an acknowledgement, whatever the brokers did. */
  acked(value: number, offset: number | null): void {
    const msg = this.#correlations.get(value);
    this.operation({ process: value, type: 'ok', f: 'send', value: [['send', key, [offset, value]]], msg });
  }

  unanswered(value: number, type: 'info' | 'fail' = 'info'): void {
    const msg = this.#correlations.get(value);
    this.operation({ process: value, type, f: 'send', value: [['send', key, value]], error: 'timeout', msg });
  }

  /** Sends, copies, moves the high watermark everywhere and acknowledges. */
  commit(value: number): void {
    const leader = this.#leader as number;
    const followers = this.#isr.filter((node) => node !== leader);
    this.send(value);
    this.copy(leader, ...followers);
    this.hw(this.end(leader), leader);
    this.ack(value);
    this.hw(this.end(leader), ...followers);
  }

  truncate(node: number, to: number, rule: string, evidence: Readonly<Record<string, unknown>>): void {
    const from = this.end(node);
    const state = this.#node(node);
    state.log = state.log.filter(({ base }) => base < to);
    this.line(node, { event: 'truncation', ...this.#where(), from, to, rule, evidence });
  }

  truncateToHw(node: number): void {
    const { hw } = this.#node(node);
    this.truncate(node, Math.min(hw, this.end(node)), 'high-watermark', { highWatermark: hw });
  }

  truncateByEpoch(node: number, to: number, leader: number, question: number, answer: number): void {
    const evidence = { leader, question: { epoch: question }, answer: { epoch: answer, endOffset: to } };
    this.truncate(node, to, 'leader-epoch', evidence);
  }

  /** A node starts again, with the high watermark of its checkpoint, and what power loss left of its log. */
  restart(node: number, hw: number, lost: { flushed: number } | null = null): void {
    const state = this.#node(node);
    state.boot += 1;
    state.seq = 0;
    const from = this.end(node);
    if (lost !== null) state.log = state.log.filter(({ base }) => base < lost.flushed);
    const to = this.end(node);
    state.hw = Math.min(hw, to);
    this.line(node, { event: 'start', port: 9000, build: this.#options.build, defects: [] });
    const cut = lost === null ? 'none' : 'power-loss';
    const flushed = lost?.flushed ?? from;
    this.line(node, {
      event: 'recover',
      partition: key,
      logStart: 0,
      flushed,
      from,
      to,
      cut,
      hw: state.hw,
      epochs: [],
    });
  }

  /** One poll by a process of its own. */
  poll(process: number, records: readonly (readonly [number, number])[], fields: Record<string, unknown> = {}): void {
    this.operation({ process, type: 'invoke', f: 'poll', value: [['poll']], ...fields });
    const value = records.length === 0 ? [['poll', {}]] : [['poll', { [key]: records }]];
    this.operation({ process, type: 'ok', f: 'poll', value });
  }

  fault(fault: string, kind: string, nodes: Readonly<Record<string, number>>, phase: 'start' | 'end' = 'start'): void {
    const value = { fault, phase, roles: nodes, nodes, ...(phase === 'end' ? { effective: true, evidence: [] } : {}) };
    this.operation({ process: 'nemesis', type: 'info', f: kind, value });
  }

  operation(fields: Readonly<Record<string, unknown>>): void {
    this.#time += 1_000_000;
    this.history.push(JSON.stringify({ index: this.#index, time: this.#time, ...fields }));
    this.#index += 1;
  }

  /** All follow the leader's log to its end, and everything comes to rest. `by` truncates a follower first. */
  settle(by: (node: number) => void = () => {}): void {
    const leader = this.#leader as number;
    const all = this.#brokers();
    for (const node of all.filter((each) => each !== leader)) {
      by(node);
      this.copy(leader, node);
    }
    if (this.#isr.length < all.length) this.isr(all);
    for (const node of all) if (this.#node(node).hw !== this.end(leader)) this.hw(this.end(leader), node);
  }

  end(node: number): number {
    const last = this.#node(node).log.at(-1);
    return last === undefined ? 0 : last.base + 1;
  }

  /** Offsets and values in the log of a node. */
  records(node: number): (readonly [offset: number, value: number])[] {
    return this.#node(node).log.map(({ base, value }) => [base, value] as const);
  }

  /** Up to where two logs hold the same. */
  commonEnd(node: number, other: number): number {
    const theirs = this.#node(other).log;
    const differs = this.#node(node).log.findIndex(({ hash }, at) => theirs[at]?.hash !== hash);
    return differs === -1 ? Math.min(this.end(node), this.end(other)) : (this.#node(node).log[differs]?.base ?? 0);
  }

  /** A record in a log that no line told of. */
  plant(node: number, value: number, offset: number, epoch: number): void {
    this.#store(node, value, offset, epoch);
  }

  /** What a broker's log file holds in the end. */
  files(): ReplicaFiles[] {
    return this.#brokers().map((node) => ({
      node,
      key,
      segments: [{ baseOffset: 0, bytes: joined(this.#node(node).log.map(bytesOf)) }],
      logStart: null,
    }));
  }

  input(changes: Partial<CheckInput> = {}): CheckInput {
    const { brokers: _, ...promises } = this.#options;
    return {
      source: 'run',
      run: {
        name: 'story',
        command: null,
        configuration: { ...promises, runtime: 'test', seed: 1 },
        settled: true,
        healed: true,
        settleMs: 5,
        residual: [],
        finalReadComplete: null,
        logsCollected: null,
        finalLeaders: {},
        completed: true,
        error: null,
        recordedLines: null,
      },
      promises,
      history: this.history,
      trace: this.trace,
      logs: { nodes: this.#brokers(), files: this.files() },
      decompressors: {},
      ...changes,
    };
  }

  check(changes: Partial<CheckInput> = {}): RunResults {
    return checkRun(this.input(changes));
  }

  #brokers(): number[] {
    return [...this.#nodes.keys()].filter((node) => node !== 'controller');
  }

  #node(node: number | 'controller'): Node {
    const state = this.#nodes.get(node);
    if (state === undefined) throw new Error(`the story has no broker ${node}`);
    return state;
  }

  #where(): { partition: string; leaderEpoch: number } {
    return { partition: key, leaderEpoch: this.#epoch };
  }

  #role(node: number, role: 'leader' | 'follower'): void {
    const { hw } = this.#node(node);
    const leo = this.end(node);
    this.line(node, { event: 'role', ...this.#where(), role, leader: this.#leader, leo, hw, isr: this.#isr });
  }

  #store(node: number, value: number, base: number, epoch: number): StoredBatch {
    const bytes = bytesOf({ base, epoch, value, hash: '' });
    const crc = new DataView(bytes.buffer, bytes.byteOffset).getUint32(17);
    const batch = { base, epoch, value, hash: crc.toString(16).padStart(8, '0') };
    this.#node(node).log.push(batch);
    this.#offsets.set(value, base);
    return batch;
  }
}

function traced({ base, epoch, hash }: StoredBatch): Record<string, unknown> {
  return { base, last: base, epoch, hash };
}

function bytesOf({ base, epoch, value }: StoredBatch): Uint8Array {
  return encodeBatch({ baseOffset: base, leaderEpoch: epoch, records: [{ key: null, value: String(value) }] });
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Three brokers, `count` records committed everywhere, all at rest. */
export function quiet(count: number, options: StoryOptions = {}): Story {
  const story = new Story(options);
  story.begin(3, [1, 2, 3]);
  for (let value = 1; value <= count; value += 1) story.commit(value);
  return story;
}

/** Kinds of the anomalies of one class, in their order. */
export function kinds(results: RunResults, className: 'violation' | 'expected' = 'violation'): string[] {
  return results.anomalies.filter((anomaly) => anomaly.class === className).map(({ kind }) => kind);
}

/** A history alone as input. */
export function historyInput(lines: Iterable<string>, changes: Partial<CheckInput> = {}): CheckInput {
  return {
    source: 'history',
    run: {
      name: 'history',
      command: null,
      configuration: {},
      settled: null,
      healed: null,
      settleMs: null,
      residual: [],
      finalReadComplete: null,
      logsCollected: null,
      finalLeaders: {},
      completed: null,
      error: null,
      recordedLines: null,
    },
    promises: { acks: 'all', minInsyncReplicas: 2, uncleanElection: false },
    history: lines,
    trace: null,
    logs: null,
    decompressors: {},
    ...changes,
  };
}
