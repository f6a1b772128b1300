/**
 * A line of observation: what was seen of a broker that tells no trace, in the form of a trace line.
 *
 * Numbers within one boot of one node are counted here, and so are the boots, as far as the harness started them. The
 * contract on paper is `docs/observations.md`.
 *
 * Invariant: `seq` counts up by one without a gap within one boot of one node.
 */
import type { NodeName, TraceLine } from '../../nemesis/ports.ts';

/** Who says so: brokers when asked, their log files, their log lines, the clients' completions, or the harness itself. */
export type Source = 'metadata' | 'segments' | 'log' | 'client' | 'harness';

/** What was seen, before it has a number. */
export interface Sighting {
  readonly node: NodeName;
  readonly event: string;
  readonly source: Source;
  readonly partition?: string;
  readonly leaderEpoch?: number;
  readonly [field: string]: unknown;
}

export interface LineCounter {
  /** The process of the node was started once more. */
  started(node: NodeName): void;
  line(sighting: Sighting, time: number): TraceLine;
}

export function createLineCounter(): LineCounter {
  const counts = new Map<NodeName, { boot: number; seq: number }>();
  const countOf = (node: NodeName): { boot: number; seq: number } => {
    const known = counts.get(node);
    if (known !== undefined) return known;
    const first = { boot: 1, seq: 0 };
    counts.set(node, first);
    return first;
  };
  return {
    started(node) {
      const count = countOf(node);
      count.boot += 1;
      count.seq = 0;
    },
    line({ node, event, source, ...fields }, time) {
      const count = countOf(node);
      const line = { seq: count.seq, time, node, boot: count.boot, event, source, ...fields };
      count.seq += 1;
      return line;
    },
  };
}
