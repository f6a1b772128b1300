/**
 * The admin client in the kernel: what `harness/run/admin.ts` is on real sockets, with the same questions and patience.
 *
 * Getting ready happens before anything else, so it may let time pass; moving a leader happens beside the load, so it
 * tells its end when it comes.
 */
import type { ApiName, RequestBody } from '../../broker/protocol/index.ts';
import type { Key } from '../../checker/history.ts';
import type { Evidence, NodeId } from '../../nemesis/ports.ts';
import {
  adminClientId,
  adminVersions,
  awakeTimeoutMs,
  createTopicsRequest,
  description,
  metadataRequest,
  missingLeaders,
  moveLeaderRequest,
  refusalOfMove,
  refusalOfTopic,
  retryPauseMs,
} from '../client/admin-requests.ts';
import { addressOf } from './cluster.ts';
import type { SimCluster } from './cluster.ts';
import { ask } from './sim-requests.ts';
import type { Answer } from './sim-requests.ts';

const NS_PER_MS = 1e6;

export class SimAdmin {
  readonly #cluster: SimCluster;
  readonly #requestTimeoutMs: number;

  constructor(cluster: SimCluster, requestTimeoutMs: number) {
    this.#cluster = cluster;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  /** Lets time pass until the topic exists and every broker knows its leaders; answers with what is missing after `timeoutMs`. */
  createTopic(name: string, partitions: number, replicationFactor: number, timeoutMs: number): string | null {
    const { kernel, brokers } = this.#cluster;
    const deadlineNs = kernel.nowNs + timeoutMs * NS_PER_MS;
    const request = createTopicsRequest(name, partitions, replicationFactor);
    const created = this.#until(deadlineNs, () => {
      const answer = this.#askAnyone('CreateTopics', request);
      if (answer.failure !== undefined) return { reason: answer.failure, retriable: true };
      return refusalOfTopic(name, answer.body);
    });
    if (created !== null) return created;
    for (const node of brokers) {
      const led = this.#until(deadlineNs, () => {
        const answer = this.#wait('Metadata', metadataRequest([name]), node);
        if (answer.failure !== undefined) return { reason: answer.failure, retriable: true };
        const reason = missingLeaders(name, partitions, node, description(answer.body));
        return reason === null ? null : { reason, retriable: true };
      });
      if (led !== null) return led;
    }
    return null;
  }

  /** Asks the controller, through any broker that is awake, to make `to` the leader. */
  moveLeader(partition: Key, to: NodeId, done: (evidence: Evidence) => void): void {
    // Through the new leader if it can: of all brokers it is the one that must be in touch with the controller.
    const nodes = [to, ...this.#cluster.brokers.filter((node) => node !== to)];
    const awake = new Map<NodeId, boolean>();
    let next = 0;
    let reason = 'no broker answers';
    let state: 'waiting' | 'attempting' | 'over' = 'waiting';

    const end = (evidence: Evidence): void => {
      state = 'over';
      done(evidence);
    };
    const goOn = (): void => {
      state = 'waiting';
      for (; next < nodes.length; next += 1) {
        const node = nodes[next]!;
        const isAwake = awake.get(node);
        if (isAwake === undefined) return;
        if (isAwake) {
          next += 1;
          attempt(node);
          return;
        }
      }
      end({ effective: false, facts: { error: reason } });
    };
    const attempt = (node: NodeId): void => {
      state = 'attempting';
      this.#ask('MoveLeader', moveLeaderRequest(partition, to), node, this.#requestTimeoutMs, (answer) => {
        const refusal =
          answer.failure === undefined ? refusalOfMove(answer.body) : { reason: answer.failure, another: true };
        if (refusal === null) {
          end({ effective: true, facts: { through: node } });
          return;
        }
        reason = refusal.reason;
        if (refusal.another) goOn();
        else end({ effective: false, facts: { error: reason } });
      });
    };
    // A request must not lie in the socket of a paused broker, and take effect when nobody expects it any more.
    for (const node of nodes) {
      this.#ask('Metadata', metadataRequest([]), node, awakeTimeoutMs, (answer) => {
        awake.set(node, answer.failure === undefined);
        if (state === 'waiting') goOn();
      });
    }
  }

  #until(
    deadlineNs: number,
    attempt: () => { readonly reason: string; readonly retriable: boolean } | null,
  ): string | null {
    const { kernel } = this.#cluster;
    for (;;) {
      const refusal = attempt();
      if (refusal === null) return null;
      if (!refusal.retriable || kernel.nowNs >= deadlineNs) return refusal.reason;
      kernel.runFor(retryPauseMs * NS_PER_MS);
    }
  }

  /** The first broker that answers. */
  #askAnyone<A extends keyof typeof adminVersions>(api: A, body: RequestBody<A>): Answer<A> {
    const failures: string[] = [];
    for (const node of this.#cluster.brokers) {
      const answer = this.#wait(api, body, node);
      if (answer.failure === undefined) return answer;
      failures.push(answer.failure);
    }
    return { failure: `no broker answers: ${failures.join('; ')}` };
  }

  /** Lets time pass until the answer is there. */
  #wait<A extends keyof typeof adminVersions>(api: A, body: RequestBody<A>, node: NodeId): Answer<A> {
    let found: Answer<A> | null = null;
    this.#ask(api, body, node, this.#requestTimeoutMs, (answer) => {
      found = answer;
    });
    this.#cluster.kernel.runUntil(() => found !== null, Infinity);
    return found ?? { failure: 'the cluster came to a standstill' };
  }

  #ask<A extends ApiName & keyof typeof adminVersions>(
    api: A,
    body: RequestBody<A>,
    node: NodeId,
    timeoutMs: number,
    done: (answer: Answer<A>) => void,
  ): void {
    const { kernel } = this.#cluster;
    const { host, port } = addressOf(node);
    const question = {
      from: adminClientId,
      place: kernel.placeOf('clients'),
      address: `${host}:${port}`,
      api,
      version: adminVersions[api],
      body,
      timeoutMs,
    };
    ask(kernel, question, done);
  }
}
