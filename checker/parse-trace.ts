/**
 * Lines of a trace (`docs/trace.md`) to columns and a few objects.
 *
 * The bulk (`append`, `ack`, `hw`) goes into columns; what decides fates and is rare (roles, truncations, recoveries,
 * elections) is kept as it is. Lines are ordered per node by boot and `seq`, whatever the order in which they arrived;
 * between nodes there is no order here, and nobody may assume one.
 *
 * Invariant: no input makes this throw. A line that cannot be read, or a hole in the `seq` of a boot, makes the trace
 * *damaged*: what it shows still counts, but nothing may be excused by what it does not show.
 */
import type { Key } from './history.ts';
import { Malformations } from './parse-history.ts';
import { Doubles, Ints } from './tables.ts';
import {
  isBatch,
  isCount,
  isElection,
  isNumbers,
  isRecover,
  isRole,
  isTruncation,
  isWhole,
  type ElectionLine,
  type Fields,
  type IsrLine,
  type RecoverLine,
  type RoleLine,
  type TruncationLine,
} from './trace-events.ts';

export type TraceNode = number | 'controller';

export const kind = {
  other: 0,
  append: 1,
  ack: 2,
  hw: 3,
  role: 4,
  truncation: 5,
  recover: 6,
  logStart: 7,
  delete: 8,
  start: 9,
  election: 10,
  isr: 11,
  create: 12,
} as const;

/** One line by its row. The numbers a, b, c depend on the kind. */
export interface TraceStore {
  readonly keys: readonly Key[];
  keyId(key: Key): number;
  /** The controller, then the brokers by their ids, in whatever order their lines came. */
  readonly nodes: readonly TraceNode[];
  /** Rows of each node, in the order of its boots and `seq`. */
  rowsOf(node: TraceNode): readonly number[];
  readonly rowCount: number;
  readonly kind: Ints;
  readonly key: Ints;
  readonly epoch: Ints;
  readonly boot: Ints;
  readonly seq: Ints;
  readonly time: Doubles;
  nodeOf(row: number): TraceNode;
  /** `append`: first and end row of its batches. `ack`: base and last. `hw`: from and to. `log-start`: from and to. */
  readonly a: Doubles;
  readonly b: Doubles;
  /** `ack`: acks. */
  readonly c: Ints;
  /** `ack` and `hw`: which of {@link isrs}; −1 when the line has none. */
  readonly isr: Ints;
  readonly isrs: readonly (readonly number[])[];
  /** Of the client's message that caused an `append` or `ack`; −1 for any other. */
  readonly client: Ints;
  readonly correlation: Doubles;
  readonly batches: BatchColumns;
  readonly roles: ReadonlyMap<number, RoleLine>;
  readonly truncations: ReadonlyMap<number, TruncationLine>;
  readonly recoveries: ReadonlyMap<number, RecoverLine>;
  readonly elections: ReadonlyMap<number, ElectionLine>;
  readonly isrChanges: ReadonlyMap<number, IsrLine>;
  readonly created: ReadonlyMap<number, readonly number[]>;
  /** Why a log start moved, by row. */
  readonly reasons: ReadonlyMap<number, string>;
  /** Lines that were read, sound or not. */
  readonly lines: number;
  /** What is wrong with the trace, in words; empty for a whole one. */
  readonly damage: readonly string[];
}

export interface BatchColumns {
  readonly base: Doubles;
  readonly last: Doubles;
  readonly epoch: Ints;
  readonly hash: Ints;
}

/** Reads a whole trace: its lines, or the objects that they would say. */
export function readTrace(lines: Iterable<string | object>): TraceStore {
  const builder = new TraceBuilder();
  const malformed = new Malformations();
  let line = 0;
  let held: string | null = null;
  for (const text of lines) {
    line += 1;
    if (held !== null) malformed.add(line - 1, held);
    held = null;
    if (text === '' || text === '\r') continue;
    let parsed: unknown;
    try {
      parsed = typeof text === 'string' ? JSON.parse(text) : text;
    } catch {
      held = 'not JSON';
      continue;
    }
    const flaw = builder.add(parsed);
    if (flaw !== null) malformed.add(line, flaw);
  }
  return builder.finish(malformed, line);
}

class TraceBuilder {
  readonly #keys: Key[] = [];
  readonly #keyIds = new Map<Key, number>();
  readonly #rowsByNode = new Map<TraceNode, number[]>();
  readonly #unsorted = new Set<TraceNode>();
  readonly #node = new Ints();
  readonly #kind = new Ints();
  readonly #key = new Ints();
  readonly #epoch = new Ints();
  readonly #boot = new Ints();
  readonly #seq = new Ints();
  readonly #time = new Doubles();
  readonly #a = new Doubles();
  readonly #b = new Doubles();
  readonly #c = new Ints();
  readonly #isr = new Ints();
  readonly #client = new Ints();
  readonly #correlation = new Doubles();
  readonly #isrs: (readonly number[])[] = [];
  readonly #isrIds = new Map<string, number>();
  readonly #batches = { base: new Doubles(), last: new Doubles(), epoch: new Ints(), hash: new Ints() };
  readonly #roles = new Map<number, RoleLine>();
  readonly #truncations = new Map<number, TruncationLine>();
  readonly #recoveries = new Map<number, RecoverLine>();
  readonly #elections = new Map<number, ElectionLine>();
  readonly #isrChanges = new Map<number, IsrLine>();
  readonly #created = new Map<number, readonly number[]>();
  readonly #reasons = new Map<number, string>();

  /** Takes one parsed line; answers with what is wrong with it. */
  add(parsed: unknown): string | null {
    if (typeof parsed !== 'object' || parsed === null) return 'not an object';
    const fields = parsed as Fields;
    const { seq, time, node, boot, event } = fields;
    if (!isCount(seq) || !isTime(time) || !isCount(boot) || typeof event !== 'string') {
      return 'it needs seq, time, node, boot and event';
    }
    if (node !== 'controller' && !isCount(node)) return 'node is neither a broker id nor "controller"';
    const row = this.#pushRow(node, boot, seq, time, fields);
    return this.#addEvent(row, event, fields);
  }

  #pushRow(node: TraceNode, boot: number, seq: number, time: number, fields: Fields): number {
    const rows = this.#rowsByNode.get(node) ?? [];
    const previous = rows.at(-1);
    if (previous === undefined) this.#rowsByNode.set(node, rows);
    else {
      const lastBoot = this.#boot.get(previous);
      if (boot < lastBoot || (boot === lastBoot && seq < this.#seq.get(previous))) this.#unsorted.add(node);
    }
    const { partition, leaderEpoch, msg } = fields;
    this.#node.push(node === 'controller' ? -1 : node);
    this.#boot.push(boot);
    this.#seq.push(seq);
    this.#time.push(time);
    this.#kind.push(kind.other);
    this.#key.push(typeof partition === 'string' ? this.#keyId(partition) : -1);
    this.#epoch.push(isWhole(leaderEpoch) ? leaderEpoch : -1);
    this.#a.push(-1);
    this.#b.push(-1);
    this.#c.push(0);
    this.#isr.push(-1);
    const client = clientMessage(msg);
    this.#client.push(client === null ? -1 : client[0]);
    const row = this.#correlation.push(client === null ? -1 : client[1]);
    rows.push(row);
    return row;
  }

  #addEvent(row: number, event: string, fields: Fields): string | null {
    const partitioned = this.#key.get(row) !== -1;
    switch (event) {
      case 'append':
        return this.#addAppend(row, fields);
      case 'ack': {
        const { base, last, acks, isr } = fields;
        if (!partitioned || !isCount(base) || !isCount(last) || !isWhole(acks)) return 'a broken ack';
        return this.#setRange(row, kind.ack, base, last, acks, isr);
      }
      case 'hw': {
        const { from, to, isr } = fields;
        if (!partitioned || !isCount(from) || !isCount(to)) return 'a broken hw';
        return this.#setRange(row, kind.hw, from, to, 0, isr);
      }
      case 'log-start': {
        const { from, to, reason } = fields;
        if (!partitioned || !isCount(from) || !isCount(to)) return 'a broken log-start';
        if (typeof reason === 'string') this.#reasons.set(row, reason);
        return this.#setRange(row, kind.logStart, from, to, 0, undefined);
      }
      case 'role':
        return this.#keep(row, kind.role, partitioned && isRole(fields), fields, this.#roles);
      case 'truncation':
        return this.#keep(row, kind.truncation, partitioned && isTruncation(fields), fields, this.#truncations);
      case 'recover':
        return this.#keep(row, kind.recover, partitioned && isRecover(fields), fields, this.#recoveries);
      case 'election':
        return this.#keep(row, kind.election, partitioned && isElection(fields), fields, this.#elections);
      case 'isr':
        return this.#keep(row, kind.isr, partitioned && isNumbers(fields['to']), fields, this.#isrChanges);
      case 'create': {
        const { replicas } = fields;
        if (!partitioned || !isNumbers(replicas)) return 'a broken create';
        this.#kind.set(row, kind.create);
        this.#created.set(this.#key.get(row), replicas);
        return null;
      }
      case 'delete':
        this.#kind.set(row, kind.delete);
        return partitioned ? null : 'a broken delete';
      case 'start':
        this.#kind.set(row, kind.start);
        return null;
      default:
        // Other events, and those of later versions, decide nothing here.
        return null;
    }
  }

  #keep<T>(row: number, code: number, sound: boolean, fields: Fields, into: Map<number, T>): string | null {
    if (!sound) return `a broken ${String(fields['event'])}`;
    this.#kind.set(row, code);
    into.set(row, fields as T);
    return null;
  }

  #setRange(row: number, code: number, a: number, b: number, c: number, isr: unknown): null {
    this.#kind.set(row, code);
    this.#a.set(row, a);
    this.#b.set(row, b);
    this.#c.set(row, c);
    if (isNumbers(isr)) this.#isr.set(row, this.#isrId(isr));
    return null;
  }

  #addAppend(row: number, fields: Fields): string | null {
    const list = fields['batches'];
    if (!Array.isArray(list) || this.#key.get(row) === -1) return 'a broken append';
    const { base, last, epoch, hash } = this.#batches;
    const first = base.length;
    for (const batch of list as readonly unknown[]) {
      if (!isBatch(batch)) return 'a broken batch in an append';
      base.push(batch.base);
      last.push(batch.last);
      epoch.push(batch.epoch);
      hash.push(Number.parseInt(batch.hash, 16) | 0);
    }
    return this.#setRange(row, kind.append, first, base.length, 0, undefined);
  }

  #keyId(key: Key): number {
    let id = this.#keyIds.get(key);
    if (id === undefined) {
      id = this.#keys.push(key) - 1;
      this.#keyIds.set(key, id);
    }
    return id;
  }

  #isrId(isr: readonly number[]): number {
    const name = isr.join(',');
    let id = this.#isrIds.get(name);
    if (id === undefined) {
      id = this.#isrs.push(isr) - 1;
      this.#isrIds.set(name, id);
    }
    return id;
  }

  finish(malformed: Malformations, lines: number): TraceStore {
    for (const node of this.#unsorted) {
      this.#rowsByNode
        .get(node)
        ?.sort((x, y) => this.#boot.get(x) - this.#boot.get(y) || this.#seq.get(x) - this.#seq.get(y));
    }
    return {
      keys: this.#keys,
      keyId: (key) => this.#keyIds.get(key) ?? -1,
      nodes: [...this.#rowsByNode.keys()].sort((x, y) => rankOf(x) - rankOf(y)),
      rowsOf: (node) => this.#rowsByNode.get(node) ?? [],
      rowCount: this.#kind.length,
      kind: this.#kind,
      key: this.#key,
      epoch: this.#epoch,
      boot: this.#boot,
      seq: this.#seq,
      time: this.#time,
      nodeOf: (row) => (this.#node.get(row) === -1 ? 'controller' : this.#node.get(row)),
      a: this.#a,
      b: this.#b,
      c: this.#c,
      isr: this.#isr,
      isrs: this.#isrs,
      client: this.#client,
      correlation: this.#correlation,
      batches: this.#batches,
      roles: this.#roles,
      truncations: this.#truncations,
      recoveries: this.#recoveries,
      elections: this.#elections,
      isrChanges: this.#isrChanges,
      created: this.#created,
      reasons: this.#reasons,
      lines,
      damage: [...this.#malformedLines(malformed), ...this.#holes()],
    };
  }

  #malformedLines(malformed: Malformations): string[] {
    const lines = malformed.named.map(({ line, detail }) => `trace line ${line} cannot be read: ${detail}`);
    const more = malformed.count - malformed.named.length;
    return more > 0 ? [...lines, `${more} more trace lines cannot be read`] : lines;
  }

  /** `seq` counts from 0 within each boot: anything else means that lines are missing, or stand twice. */
  #holes(): string[] {
    const found: string[] = [];
    for (const [node, rows] of this.#rowsByNode) {
      let boot = -1;
      let expected = 0;
      for (const row of rows) {
        if (this.#boot.get(row) !== boot) {
          boot = this.#boot.get(row);
          expected = 0;
        }
        const seq = this.#seq.get(row);
        if (seq !== expected) {
          found.push(`the trace of ${nodeName(node)}, boot ${boot}, goes from seq ${expected - 1} to ${seq}`);
          if (found.length === 20) return found;
        }
        expected = seq + 1;
      }
    }
    return found;
  }
}

export function nodeName(node: TraceNode): string {
  return node === 'controller' ? 'the controller' : `broker ${node}`;
}

function rankOf(node: TraceNode): number {
  return node === 'controller' ? -1 : node;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function clientMessage(msg: unknown): readonly [process: number, correlation: number] | null {
  if (typeof msg !== 'string' || !msg.startsWith('client-')) return null;
  const hash = msg.indexOf('#');
  const process = Number(msg.slice(7, hash));
  const correlation = Number(msg.slice(hash + 1));
  return hash !== -1 && isCount(process) && isCount(correlation) ? [process, correlation] : null;
}
