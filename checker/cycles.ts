/**
 * Cycles in a directed graph: its strongly connected components (Tarjan, without recursion), and one short cycle of each.
 *
 * Nodes are counted from 0; edges come as two columns. Time and memory are linear in nodes and edges.
 */
import { Ints } from './tables.ts';

export class Graph {
  readonly from = new Ints();
  readonly to = new Ints();

  add(from: number, to: number): void {
    this.from.push(from);
    this.to.push(to);
  }
}

/** Edges by node: those of `node` stand in `targets` from `starts[node]` to `starts[node + 1]`. */
interface Adjacency {
  readonly starts: Int32Array;
  readonly targets: Int32Array;
}

/** All components with more than one of the first `counted` nodes, each as its sorted nodes below `counted`. */
export function components(nodes: number, counted: number, graphs: readonly Graph[]): number[][] {
  const adjacency = adjacencyOf(nodes, graphs);
  const found = tarjan(nodes, adjacency);
  const members = new Map<number, number[]>();
  for (let node = 0; node < counted; node += 1) {
    const component = found[node] as number;
    const list = members.get(component);
    if (list === undefined) members.set(component, [node]);
    else list.push(node);
  }
  return [...members.values()].filter((list) => list.length > 1);
}

/** The nodes of one shortest cycle through the first of `component` that stays within it, in order. */
export function cycleWithin(nodes: number, component: readonly number[], graphs: readonly Graph[]): number[] {
  const adjacency = adjacencyOf(nodes, graphs);
  const start = component[0] as number;
  const parent = new Map<number, number>();
  let front = [start];
  while (front.length > 0) {
    const next: number[] = [];
    for (const node of front) {
      for (let at = adjacency.starts[node] as number; at < (adjacency.starts[node + 1] as number); at += 1) {
        const target = adjacency.targets[at] as number;
        if (target === start) return pathTo(parent, start, node);
        if (parent.has(target)) continue;
        parent.set(target, node);
        next.push(target);
      }
    }
    front = next;
  }
  return [...component];
}

function pathTo(parent: ReadonlyMap<number, number>, start: number, end: number): number[] {
  const path = [end];
  for (let node = end; node !== start;) {
    node = parent.get(node) as number;
    path.push(node);
  }
  return path.reverse();
}

function adjacencyOf(nodes: number, graphs: readonly Graph[]): Adjacency {
  const starts = new Int32Array(nodes + 1);
  let edges = 0;
  for (const { from } of graphs) {
    edges += from.length;
    for (let at = 0; at < from.length; at += 1) starts[from.get(at) + 1] = (starts[from.get(at) + 1] as number) + 1;
  }
  for (let node = 0; node < nodes; node += 1)
    starts[node + 1] = (starts[node + 1] as number) + (starts[node] as number);
  const next = starts.slice();
  const targets = new Int32Array(edges);
  for (const { from, to } of graphs) {
    for (let at = 0; at < from.length; at += 1) {
      const place = next[from.get(at)] as number;
      targets[place] = to.get(at);
      next[from.get(at)] = place + 1;
    }
  }
  return { starts, targets };
}

/** The component of each node. */
function tarjan(nodes: number, { starts, targets }: Adjacency): Int32Array {
  const order = new Int32Array(nodes).fill(-1);
  const low = new Int32Array(nodes);
  const component = new Int32Array(nodes).fill(-1);
  const edge = starts.slice(0, nodes);
  const path: number[] = [];
  const open: number[] = [];
  let visited = 0;
  for (let root = 0; root < nodes; root += 1) {
    if (order[root] !== -1) continue;
    path.push(root);
    while (path.length > 0) {
      const node = path.at(-1) as number;
      if (order[node] === -1) {
        order[node] = visited;
        low[node] = visited;
        visited += 1;
        open.push(node);
      }
      const at = edge[node] as number;
      if (at < (starts[node + 1] as number)) {
        edge[node] = at + 1;
        const target = targets[at] as number;
        if (order[target] === -1) path.push(target);
        else if (component[target] === -1) low[node] = Math.min(low[node] as number, order[target] as number);
        continue;
      }
      path.pop();
      const above = path.at(-1);
      if (above !== undefined) low[above] = Math.min(low[above] as number, low[node] as number);
      if (low[node] === order[node]) closeComponent(open, component, node);
    }
  }
  return component;
}

function closeComponent(open: number[], component: Int32Array, root: number): void {
  for (;;) {
    const node = open.pop() as number;
    component[node] = root;
    if (node === root) return;
  }
}
