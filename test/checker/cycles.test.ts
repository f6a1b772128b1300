/** Components and cycles of small graphs, against what trying all ways finds. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { components, cycleWithin, Graph } from '../../checker/cycles.ts';

type Edge = readonly [from: number, to: number];

function graphs(edges: readonly Edge[]): Graph[] {
  // In two graphs: they count as one.
  const both = [new Graph(), new Graph()];
  for (const [at, [from, to]] of edges.entries()) both[at % 2]!.add(from, to);
  return both;
}

/** How many edges the shortest way from each node to each other has; Infinity for none. */
function distances(nodes: number, edges: readonly Edge[]): number[][] {
  const steps = Array.from({ length: nodes }, () => Array.from({ length: nodes }, () => Infinity));
  for (const [from, to] of edges) steps[from]![to] = 1;
  for (let over = 0; over < nodes; over += 1)
    for (let from = 0; from < nodes; from += 1)
      for (let to = 0; to < nodes; to += 1)
        steps[from]![to] = Math.min(steps[from]![to]!, steps[from]![over]! + steps[over]![to]!);
  return steps;
}

const nodeCount = 8;
const edgeLists = fc.array(fc.tuple(fc.nat(nodeCount - 1), fc.nat(nodeCount - 1)), { maxLength: 16 });

describe('the components of a graph', () => {
  it('are the nodes from which each reaches each, as far as they count', () => {
    fc.assert(
      fc.property(edgeLists, fc.nat(nodeCount), (edges, counted) => {
        const steps = distances(nodeCount, edges);
        const together = (x: number, y: number): boolean => steps[x]![y]! + steps[y]![x]! < Infinity;
        const nodes = Array.from({ length: counted }, (_, node) => node);
        const expected = nodes
          .filter((node) => !nodes.some((other) => other < node && together(node, other)))
          .map((node) => nodes.filter((other) => other === node || together(node, other)))
          .filter((list) => list.length > 1);
        expect(components(nodeCount, counted, graphs(edges))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('are found in a graph that is deep', () => {
    const deep = 50_000;
    const edges = Array.from({ length: deep }, (_, node): Edge => [node, (node + 1) % deep]);
    expect(components(deep, deep, graphs(edges))[0]).toHaveLength(deep);
  });
});

describe('the cycle of a component', () => {
  it('is a shortest one through its first node', () => {
    fc.assert(
      fc.property(edgeLists, (edges) => {
        const steps = distances(nodeCount, edges);
        for (const component of components(nodeCount, nodeCount, graphs(edges))) {
          const start = component[0]!;
          const cycle = cycleWithin(nodeCount, component, graphs(edges));
          expect(cycle[0]).toBe(start);
          expect(cycle).toHaveLength(steps[start]![start]!);
          for (const [at, node] of cycle.entries())
            expect(edges).toContainEqual([node, cycle[(at + 1) % cycle.length]]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is the component itself where no edge leads back to its first node', () => {
    expect(
      cycleWithin(
        3,
        [0, 1, 2],
        graphs([
          [0, 1],
          [1, 2],
          [2, 1],
        ]),
      ),
    ).toEqual([0, 1, 2]);
  });
});
