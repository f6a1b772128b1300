/**
 * Operations that belong together: `precommitted-read`, `G1c`, `G1c-process`, `G1c-realtime`, and the measures `G0…`.
 *
 * `precommitted-read`: an operation polled a value that it sent itself. `G1c`: operations that read from each other in a
 * circle. `G1c-process` and `G1c-realtime`: a circle of reads together with the order of one process, or with what was
 * over before something else began; of single sends and polls only the shortest exists, a value that was read before it
 * was sent. Only operations that are known to have happened are in a circle: `ok`, or indefinite with a write that was read.
 *
 * The order of offsets between operations (`ww`) makes circles in any Kafka, since the writes of two transactions
 * interleave; what needs it is counted and breaks nothing.
 */
import type { Evidence } from '../evidence.ts';
import { components, cycleWithin, Graph } from '../cycles.ts';
import { outcome } from '../index-history.ts';
import type { AnomalyKind, Reference, WhyStep } from '../results.ts';
import { emptyFinding, historyReference, listed, type Finding } from './finding.ts';
import { historyOf } from './loss.ts';

export function findTransactionAnomalies(evidence: Evidence): Finding[] {
  return [...ownReads(evidence), ...earlyReads(evidence), ...cycles(evidence)];
}

function ownReads(evidence: Evidence): Finding[] {
  const { history } = evidence;
  const seen = new Set<number>();
  return history.transactions.ownReads.flatMap(({ row, index }) => {
    if (seen.has(row)) return [];
    seen.add(row);
    const name = history.keyName(history.values.key.get(row));
    const value = history.valueOf(row);
    return {
      ...emptyFinding('precommitted-read', name),
      offset: history.values.readOffset.get(row),
      values: [value],
      summary: `${String(value)} of ${name} was read by the operation that sent it`,
      evidence: [historyReference(history.values.invoked.get(row)), historyReference(index)],
      rows: [row],
    };
  });
}

function earlyReads(evidence: Evidence): Finding[] {
  const { history } = evidence;
  const { values } = history;
  return history.transactions.earlyReads.map((row) => {
    const name = history.keyName(values.key.get(row));
    const value = history.valueOf(row);
    return {
      ...emptyFinding('G1c-realtime', name),
      offset: values.readOffset.get(row),
      values: [value],
      summary: `${String(value)} of ${name} was read before it was sent`,
      labels: ['read-before-sent'],
      evidence: [historyReference(values.readBy.get(row)), ...historyOf(evidence, row)],
      rows: [row],
    };
  });
}

/** The graph of the operations that count, and of what orders them. */
interface OperationGraph {
  readonly places: readonly number[];
  readonly nodes: number;
  readonly reads: Graph;
  readonly process: Graph;
  readonly realtime: Graph;
}

function cycles(evidence: Evidence): Finding[] {
  if (!evidence.history.transactions.seen) return [];
  const graph = graphOf(evidence);
  const findings: Finding[] = [];
  const explained = new Set<number>();
  const levels: readonly (readonly [AnomalyKind, Graph[], string])[] = [
    ['G1c', [graph.reads], 'read from each other'],
    ['G1c-process', [graph.reads, graph.process], 'read from each other, against the order of their processes'],
    ['G1c-realtime', [graph.reads, graph.realtime], 'read from each other, against the order of time'],
  ];
  for (const [kind, edges, how] of levels) {
    for (const component of components(graph.nodes, graph.places.length, edges)) {
      if (component.some((node) => explained.has(node))) continue;
      for (const node of component) explained.add(node);
      findings.push(cycle(evidence, graph, kind, component, edges, how));
    }
  }
  return findings;
}

function cycle(
  evidence: Evidence,
  graph: OperationGraph,
  kind: AnomalyKind,
  component: readonly number[],
  edges: readonly Graph[],
  how: string,
): Finding {
  const { transactions } = evidence.history;
  const found = cycleWithin(graph.nodes, component, edges).filter((node) => node < graph.places.length);
  const indices = found.map((node) => transactions.completed.get(graph.places[node] as number));
  return {
    ...emptyFinding(kind, null),
    summary: `${component.length} operations ${how}: ${indices.slice(0, 10).join(' → ')} → ${indices[0]}`,
    evidence: listed(indices).map(historyReference),
    why: listed(found).map((node, at) => linkOf(evidence, graph, node, found[(at + 1) % found.length] as number)),
  };
}

/** How one operation of a circle comes before the next. */
function linkOf(evidence: Evidence, { places }: OperationGraph, from: number, to: number): WhyStep {
  const { transactions, values } = evidence.history;
  const [earlier, later] = [places[from] as number, places[to] as number];
  const [start, end] = transactions.readsOf(later);
  const ends = [earlier, later].map((place) => historyReference(transactions.completed.get(place)));
  for (let at = start; at < end; at += 1) {
    const row = transactions.reads.get(at);
    if (values.invoked.get(row) !== transactions.invoked.get(earlier)) continue;
    const name = evidence.history.keyName(values.key.get(row));
    const [writer, reader] = [transactions.process.get(earlier), transactions.process.get(later)];
    return {
      text: `Process ${reader} read ${String(evidence.history.valueOf(row))} of ${name}, which process ${writer} had sent.`,
      references: ends,
    };
  }
  const [first, second] = [transactions.process.get(earlier), transactions.process.get(later)];
  const begun = historyReference(transactions.invoked.get(later));
  return {
    text:
      first === second
        ? `Process ${second} went on to its next operation.`
        : `Process ${second} began an operation when that of process ${first} was over.`,
    references: [ends[0] as Reference, begun],
  };
}

function graphOf(evidence: Evidence): OperationGraph {
  const { transactions, values } = evidence.history;
  const places: number[] = [];
  const nodeByOperation = new Map<number, number>();
  const proven = provenOperations(evidence);
  for (let place = 0; place < transactions.invoked.length; place += 1) {
    const invoked = transactions.invoked.get(place);
    if (transactions.ok.get(place) === 1 || proven.has(invoked)) nodeByOperation.set(invoked, places.push(place) - 1);
  }
  const reads = new Graph();
  for (const [node, place] of places.entries()) {
    const [start, end] = transactions.readsOf(place);
    for (let at = start; at < end; at += 1) {
      const row = transactions.reads.get(at);
      const writer = nodeByOperation.get(values.invoked.get(row));
      // What was read before it was sent is told by itself.
      if (writer === undefined || writer === node || values.invoked.get(row) > transactions.completed.get(place))
        continue;
      reads.add(writer, node);
    }
  }
  const { graph: realtime, nodes } = realtimeOf(evidence, places);
  return { places, nodes, reads, process: processOf(evidence, places), realtime };
}

/** Indefinite operations of which some write was read. */
function provenOperations({ history: { values } }: Evidence): Set<number> {
  const proven = new Set<number>();
  for (let row = 0; row < values.key.length; row += 1) {
    if (values.outcome.get(row) === outcome.info && values.readBy.get(row) !== -1) proven.add(values.invoked.get(row));
  }
  return proven;
}

function processOf({ history: { transactions } }: Evidence, places: readonly number[]): Graph {
  const graph = new Graph();
  const last = new Map<number, number>();
  // Operations of one process complete in the order in which they began.
  for (const [node, place] of places.entries()) {
    const process = transactions.process.get(place);
    const before = last.get(process);
    if (before !== undefined) graph.add(before, node);
    last.set(process, node);
  }
  return graph;
}

/**
 * What was over before something else began, in linear size: each completion is a node behind the one before it, and
 * an operation begins behind the last completion. What is indefinite is never over.
 */
function realtimeOf(
  { history: { transactions } }: Evidence,
  places: readonly number[],
): { graph: Graph; nodes: number } {
  const graph = new Graph();
  const events: { readonly index: number; readonly node: number; readonly begins: boolean }[] = [];
  for (const [node, place] of places.entries()) {
    events.push({ index: transactions.invoked.get(place), node, begins: true });
    if (transactions.ok.get(place) === 1)
      events.push({ index: transactions.completed.get(place), node, begins: false });
  }
  events.sort((x, y) => x.index - y.index);
  let nodes = places.length;
  let last = -1;
  for (const { node, begins } of events) {
    if (begins) {
      if (last !== -1) graph.add(last, node);
      continue;
    }
    const completion = nodes;
    nodes += 1;
    graph.add(node, completion);
    if (last !== -1) graph.add(last, completion);
    last = completion;
  }
  return { graph, nodes };
}

/** Circles that exist only by the order of offsets: how many of each kind. */
export function countOffsetCycles(evidence: Evidence): Record<string, number> {
  if (!evidence.history.transactions.seen) return {};
  const graph = graphOf(evidence);
  const offsets = offsetsOf(evidence, graph);
  const count = (edges: readonly Graph[]): number => components(graph.nodes, graph.places.length, edges).length;
  return {
    G0: count([offsets]),
    'G0-process': count([offsets, graph.process]),
    'G0-realtime': count([offsets, graph.realtime]),
    'G1c-offsets': count([offsets, graph.reads]),
  };
}

/** From the writer of each record to that of the next one in its partition. */
function offsetsOf(evidence: Evidence, { places }: OperationGraph): Graph {
  const { rows, values, transactions } = evidence.history;
  const nodeByOperation = new Map(places.map((place, node) => [transactions.invoked.get(place), node]));
  const graph = new Graph();
  for (let key = 0; key < rows.keys.length; key += 1) {
    let before: number | undefined;
    for (const offset of rows.knownOffsets(key)) {
      const writer = nodeByOperation.get(values.invoked.get(rows.ownerOf(key, offset)));
      if (writer !== undefined && before !== undefined && writer !== before) graph.add(before, writer);
      before = writer ?? before;
    }
  }
  return graph;
}
