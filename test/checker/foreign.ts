/**
 * A run of brokers that tell no trace, told by hand: what clients saw, what was observed, and the log bytes that were
 * copied in the end. It checks nothing; a story may be as wrong as its author wants it to be.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeBatch } from '../../broker/protocol/index.ts';
import { checkRun, type CheckInput } from '../../checker/check.ts';
import type { RunDescription } from '../../checker/evidence.ts';
import type { ReplicaFiles } from '../../checker/final-logs.ts';
import type { RunResults } from '../../checker/results.ts';

export class Foreign {
  readonly key: string;
  readonly history: string[] = [];
  readonly observations: string[] = [];
  readonly files: ReplicaFiles[] = [];
  run: Partial<RunDescription> = {};
  promises: CheckInput['promises'] = { acks: 'all', minInsyncReplicas: 2, uncleanElection: false };
  readonly #seqs = new Map<string, number>();
  #time = 0;
  #index = 0;

  constructor(key: string, replicas: readonly number[] = [1, 2, 3]) {
    this.key = key;
    this.see('controller', 'metadata', { event: 'create', replicas });
  }

  /** Time goes on. */
  pass(ms: number): void {
    this.#time += ms * 1e6;
  }

  /** Any observation, a millisecond after the one before. */
  see(node: number | 'controller', source: string, fields: Readonly<Record<string, unknown>>, boot = 1): void {
    this.pass(1);
    const name = `${node}.${boot}`;
    const seq = this.#seqs.get(name) ?? 0;
    this.#seqs.set(name, seq + 1);
    this.observations.push(
      JSON.stringify({ seq, time: this.#time, node, boot, source, partition: this.key, ...fields }),
    );
  }

  elect(leader: number | null, isr: readonly number[], leaderEpoch: number): void {
    this.see('controller', 'metadata', { event: 'election', leaderEpoch, leader, isr, clean: null });
  }

  role(node: number, leader: number | null, leaderEpoch: number, boot = 1): void {
    const role = node === leader ? 'leader' : 'follower';
    this.see(node, 'metadata', { event: 'role', leaderEpoch, role, leader }, boot);
  }

  append(node: number, base: number, epoch = -1): void {
    this.see(node, 'segments', { event: 'append', batches: [{ base, last: base, epoch }] });
  }

  cut(node: number, from: number, to: number, words: string | null = null): void {
    if (words !== null) this.see(node, 'log', { event: 'truncation', to, rule: null, words });
    this.see(node, 'segments', { event: 'truncation', from, to, rule: null });
  }

  hw(node: number, to: number, boot = 1): void {
    this.see(node, 'log', { event: 'hw', to }, boot);
  }

  /** The send by this process was acknowledged. */
  ack(node: number, offset: number, isr: readonly number[], leaderEpoch: number, process?: number): void {
    const msg = process === undefined ? {} : { msg: `client-${process}#1` };
    this.see(node, 'client', { event: 'ack', base: offset, last: offset, acks: -1, isr, leaderEpoch, ...msg });
  }

  operation(fields: Readonly<Record<string, unknown>>): void {
    this.pass(1);
    this.history.push(JSON.stringify({ index: this.#index, time: this.#time, ...fields }));
    this.#index += 1;
  }

  /** A client sends `value` and is told that it stands at `offset`. */
  sent(process: number, value: number | string, offset: number, acks: 'all' | 0 | 1 = 'all'): void {
    const { key } = this;
    this.operation({ process, type: 'invoke', f: 'send', value: [['send', key, value]], acks });
    const msg = `client-${process}#1`;
    this.operation({ process, type: 'ok', f: 'send', value: [['send', key, [offset, value]]], acks, msg });
  }

  poll(process: number, records: readonly (readonly [number, number | string])[], final = true): void {
    this.operation({ process, type: 'invoke', f: 'poll', value: [['poll']], ...(final ? { final } : {}) });
    this.operation({ process, type: 'ok', f: 'poll', value: [['poll', { [this.key]: records }]] });
  }

  /** The replica's log as batches of one value each, from offset 0. */
  log(node: number, values: readonly (number | string)[], epochs: readonly number[] = []): void {
    const parts = values.map((value, base) =>
      encodeBatch({ baseOffset: base, leaderEpoch: epochs[base] ?? 0, records: [{ key: null, value: String(value) }] }),
    );
    this.bytes(node, Uint8Array.from(parts.flatMap((part) => [...part])));
  }

  bytes(node: number, bytes: Uint8Array, key = this.key): void {
    this.files.push({ node, key, segments: [{ baseOffset: 0, bytes }], logStart: null });
  }

  input(): CheckInput {
    return {
      source: 'run',
      run: {
        name: 'foreign',
        command: null,
        configuration: { build: 'kafka:0.10.2.2', runtime: 'docker', seed: 1 },
        settled: true,
        healed: true,
        settleMs: 5,
        residual: [],
        finalLeaders: { [this.key]: 2 },
        finalReadComplete: true,
        logsCollected: true,
        completed: true,
        error: null,
        recordedLines: null,
        traced: false,
        target: { name: 'kafka:0.10.2.2', capabilities: null },
        ...this.run,
      },
      promises: this.promises,
      history: this.history,
      trace: null,
      observations: this.observations,
      logs: { nodes: [1, 2, 3], files: this.files },
      decompressors: {},
    };
  }

  check(changes: Partial<CheckInput> = {}): RunResults {
    return checkRun({ ...this.input(), ...changes });
  }
}

/**
 * S1a, leaders paused, as Apache Kafka 0.10.2.2 went through it: the logs are the ones that it left. Brokers 1, 2 and 3
 * are C, B and A: C acknowledges the last record and is paused, A follows B and truncates to its high watermark, B is
 * paused, A is elected and puts another record there.
 */
export function s1aOnKafka(): Foreign {
  const run = new Foreign('pause1-0', [1, 2, 3]);
  const epoch = { epochSeen: false };
  run.see('controller', 'metadata', { event: 'election', leaderEpoch: 0, ...epoch, leader: 1, isr: [1, 2, 3] });
  for (const node of [1, 2, 3]) run.role(node, 1, 0);
  for (const offset of [0, 1, 2]) {
    run.append(1, offset);
    run.append(2, offset);
    run.append(3, offset);
    run.ack(1, offset, [1, 2, 3], 0, offset);
    run.sent(offset, `m${offset}`, offset);
  }
  for (const node of [2, 3]) run.hw(node, 3);
  run.pass(1200);
  for (const node of [1, 2, 3]) run.append(node, 3);
  run.ack(1, 3, [1, 2, 3], 0, 3);
  run.sent(3, 'LAST-ACKED', 3);
  run.pass(2000);
  run.elect(2, [2, 3], 1);
  run.cut(3, 4, 3, 'Truncating log pause1-0 to offset 3. (kafka.log.Log)');
  run.role(2, 2, 1);
  run.role(3, 2, 1);
  run.pass(2000);
  run.elect(3, [3], 2);
  run.role(3, 3, 2);
  run.append(3, 3);
  run.ack(3, 3, [3], 2, 4);
  run.sent(4, 'AFTER.try2', 3);
  run.pass(1000);
  run.cut(2, 4, 3);
  run.append(2, 3);
  run.role(2, 3, 2);
  run.role(1, 3, 2);
  run.see('controller', 'metadata', { event: 'isr', leaderEpoch: 2, from: [3], to: [3, 2, 1] });
  run.poll(5, [
    [0, 'm0'],
    [1, 'm1'],
    [2, 'm2'],
    [3, 'AFTER.try2'],
  ]);
  for (const node of [1, 2, 3]) {
    const folder = `test/fixtures/kafka-logs/0.10.2.2-s1a-diverged/broker-${node}/pause1-0`;
    run.bytes(node, new Uint8Array(readFileSync(join(folder, '00000000000000000000.log'))));
  }
  run.run = { finalLeaders: { 'pause1-0': 3 } };
  return run;
}
