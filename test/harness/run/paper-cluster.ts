/**
 * A cluster on paper, for what the harness does around one: it says the trace lines that a test gives it, keeps the
 * actions that it is asked for, and answers them when the test says so. No process, no socket.
 */
import type { Action, Cluster, Evidence, LinkProbe, NodeName, TraceLine } from '../../../nemesis/ports.ts';

export interface Asked {
  readonly action: Action;
  readonly answer: (evidence: Evidence | Error) => void;
}

export interface PaperCluster extends Cluster {
  /** Every node's line, in the order of arrival. */
  say(node: NodeName, event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** A partition `tide-0` whose three replicas lead, follow, and end at `leo` with that high watermark. */
  sayAtRest(leo: number): void;
  /** The next action that is asked for. */
  next(): Promise<Asked>;
  /** What the next probes of all links find; the last one stays. */
  readonly probes: (readonly LinkProbe[])[];
  readonly closed: () => boolean;
}

export function paperCluster(residue: readonly string[] = []): PaperCluster {
  const listeners: ((line: TraceLine) => void)[] = [];
  const asked: Asked[] = [];
  const askers: ((one: Asked) => void)[] = [];
  const probes: (readonly LinkProbe[])[] = [];
  let seq = 0;
  let isClosed = false;
  const say: PaperCluster['say'] = (node, event, fields = {}) => {
    const line: TraceLine = { seq: (seq += 1), time: seq, node, boot: 1, event, ...fields };
    for (const listener of listeners) listener(line);
  };
  return {
    runtime: 'local',
    brokers: [1, 2, 3],
    addresses: new Map([1, 2, 3].map((node) => [node, { host: '127.0.0.1', port: 1 }])),
    subscribe: (listener) => void listeners.push(listener),
    onUnexpectedExit: () => {},
    perform: (action) =>
      new Promise((resolve, reject) => {
        const one: Asked = { action, answer: (told) => (told instanceof Error ? reject(told) : resolve(told)) };
        const asker = askers.shift();
        if (asker === undefined) asked.push(one);
        else asker(one);
      }),
    probeLinks: () => Promise.resolve((probes.length > 1 ? probes.shift() : probes[0]) ?? []),
    collect: () => Promise.resolve(),
    close() {
      isClosed = true;
      return Promise.resolve({ residue });
    },
    say,
    sayAtRest(leo) {
      const partition = 'tide-0';
      say('controller', 'create', { partition, replicas: [1, 2, 3] });
      say('controller', 'election', { partition, leader: 1, leaderEpoch: 0, isr: [1, 2, 3] });
      for (const node of [1, 2, 3]) {
        const role = node === 1 ? 'leader' : 'follower';
        say(node, 'role', { partition, leaderEpoch: 0, role, leader: 1, leo, hw: leo });
      }
    },
    next() {
      const one = asked.shift();
      return one === undefined ? new Promise((resolve) => askers.push(resolve)) : Promise.resolve(one);
    },
    probes,
    closed: () => isClosed,
  };
}
