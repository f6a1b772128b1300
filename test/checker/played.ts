/**
 * A play in the step kernel as a stored run: the history of its clients, the trace of its cores, the logs on its disks.
 *
 * Each request of a client becomes a process of its own, and the trace's names of messages are rewritten to fit.
 */
import type { CheckInput } from '../../checker/check.ts';
import type { Operation } from '../../checker/history.ts';
import { type Play, PlayError } from '../../harness/sim/play.ts';
import { parseCondition } from '../../harness/sim/scenario-conditions.ts';

/** Performs single steps; those that make no sense as things stand are passed over. */
export function playedSteps(play: Play, steps: readonly (() => void)[]): Clients {
  const clients = new Clients(play);
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      if (!(error instanceof PlayError)) throw error;
    }
    clients.look();
  }
  return clients;
}

export function inputOf(
  play: Play,
  clients: Clients,
  settings: { readonly minInsyncReplicas: number; readonly uncleanElection: boolean },
): CheckInput {
  const settled = play.runUntil(() => parseCondition('settled')?.(play).holds === true, 30_000);
  clients.look();
  const { minInsyncReplicas, uncleanElection } = settings;
  const nodes = play.cluster.brokers;
  const files = nodes.flatMap((node) =>
    play.cluster.kernel.node(node).disk.logs.map((log) => ({
      node,
      key: log.name,
      segments: [{ baseOffset: log.baseOffset, bytes: play.cluster.kernel.node(node).disk.file(log.name) }],
      logStart: null,
    })),
  );
  return {
    source: 'run',
    run: {
      name: 'play',
      command: null,
      configuration: { build: play.build },
      settled,
      healed: true,
      settleMs: null,
      residual: [],
      finalReadComplete: null,
      logsCollected: null,
      finalLeaders: {},
      completed: true,
      error: null,
      recordedLines: null,
    },
    promises: { acks: 'all', minInsyncReplicas, uncleanElection },
    history: clients.history.map((operation) => JSON.stringify(operation)),
    trace: play.trace.map((line) => clients.renamed(JSON.stringify(line))),
    logs: { nodes: [...nodes], files },
    decompressors: {},
  };
}

/** What the clients of a play saw, taken down as it happens. */
class Clients {
  readonly history: Operation[] = [];
  readonly #play: Play;
  readonly #processes = new Map<string, { readonly process: number; done: boolean }>();
  #reads = 0;

  constructor(play: Play) {
    this.#play = play;
  }

  /** Takes down what is new. */
  look(): void {
    for (const { value, partition, acks, index, call } of this.#play.produced.values()) {
      const name = `${call.msg}/${index}`;
      let known = this.#processes.get(name);
      const asked = acks === -1 ? 'all' : acks;
      if (known === undefined) {
        known = { process: this.#processes.size, done: false };
        this.#processes.set(name, known);
        this.#add({
          process: known.process,
          type: 'invoke',
          f: 'send',
          value: [['send', partition.key, value]],
          acks: asked,
        });
      }
      const answer = call.answer?.responses[0]?.partitionResponses[0];
      if (known.done || (answer === undefined && !call.closed)) continue;
      known.done = true;
      const ok = answer?.errorCode === 0;
      const completed = ok ? ([answer.baseOffset + index, value] as const) : value;
      const msg = `client-${known.process - index}#1`;
      this.#add({
        process: known.process,
        type: ok ? 'ok' : 'info',
        f: 'send',
        value: [['send', partition.key, completed]] as never,
        msg,
      });
    }
    for (; this.#reads < this.#play.reads.length; this.#reads += 1) {
      const read = this.#play.reads[this.#reads]!;
      const process = 10_000 + this.#reads;
      const records = read.records.map(({ offset, value }) => [offset, value] as const);
      this.#add({ process, type: 'invoke', f: 'poll', value: [['poll']] });
      const key = this.#play.partition(null).key;
      this.#add({
        process,
        type: read.error === null ? 'ok' : 'fail',
        f: 'poll',
        value: [['poll', { [key]: records }]],
      });
    }
  }

  /** A line of the trace with the names that the history uses. */
  renamed(line: string): string {
    return line.replace(/"msg":"([^"]+)"/, (whole, msg: string) => {
      const known = this.#processes.get(`${msg}/0`);
      return known === undefined ? whole : `"msg":"client-${known.process}#1"`;
    });
  }

  #add(fields: Omit<Operation, 'index' | 'time'>): void {
    const index = this.history.length;
    this.history.push({ index, time: this.#play.cluster.kernel.nowNs, ...fields });
  }
}
