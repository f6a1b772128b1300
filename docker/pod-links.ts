/**
 * The links between the pods of one cluster, and from here to each: shaped by the pods' agents, and probed.
 *
 * Invariant: what is said of a cut was read from the kernel's counters; a cut that goes on keeps counting.
 */
import { connect } from 'node:net';
import type { Cut, Evidence, LinkProbe } from '../nemesis/ports.ts';
import type { ProbeResult, ProbeTarget } from './agent/messages.ts';
import { probe } from './agent/probe.ts';
import type { Place } from './cuts.ts';
import { cutName, cutOf, dropsOf } from './cuts.ts';
import type { Pod } from './pod.ts';

const reachTimeoutMs = 3_000;

export class PodLinks {
  readonly #pods: readonly Pod[];
  readonly #addressOf: (place: Place) => string;
  /** Packets that the cuts in force have swallowed so far, as far as their counters were read. */
  readonly #swallowed = new Map<string, number>();

  constructor(pods: readonly Pod[], addressOf: (place: Place) => string) {
    this.#pods = pods;
    this.#addressOf = addressOf;
  }

  /** Leaves exactly these cuts. */
  async shape(cuts: readonly Cut[]): Promise<Evidence> {
    const drops = dropsOf(
      cuts,
      this.#pods.map(({ node }) => node),
      (place) => this.#addressOf(place),
    );
    const startMs = performance.now();
    const answers = await Promise.all(
      this.#pods.map(async (pod) => {
        const { dropped } = await pod.agent.ask({ do: 'drop', drops: drops.get(pod.node)! });
        return { pod, dropped };
      }),
    );
    const tookMs = performance.now() - startMs;
    for (const { pod, dropped } of answers) {
      for (const [name, counter] of Object.entries(dropped)) {
        const cut = cutName(cutOf(pod.node, name));
        this.#swallowed.set(cut, (this.#swallowed.get(cut) ?? 0) + counter.packets);
      }
    }
    return this.#evidenceOfLinks(cuts, tookMs);
  }

  /** The cuts just removed come with what they swallowed; those that go on keep counting. */
  #evidenceOfLinks(cuts: readonly Cut[], tookMs: number): Evidence {
    const inForce = new Set(cuts.map(cutName));
    const removed = [...this.#swallowed].filter(([cut]) => !inForce.has(cut));
    for (const [cut] of removed) this.#swallowed.delete(cut);
    for (const cut of inForce) if (!this.#swallowed.has(cut)) this.#swallowed.set(cut, 0);
    const healedAlone = this.#pods.filter((pod) => pod.agent.tookOver()).map((pod) => pod.node);
    return {
      effective: healedAlone.length === 0,
      facts: {
        dropped: Object.fromEntries(removed),
        tookMs: Math.round(tookMs * 10) / 10,
        ...(healedAlone.length === 0 ? {} : { healedAlone }),
      },
    };
  }

  /** A fresh round trip on every link. */
  async probe(timeoutMs: number): Promise<readonly LinkProbe[]> {
    const targets = this.#pods.flatMap((pod) =>
      pod.plan.port === null ? [] : [{ name: `${pod.node}`, host: pod.address, port: pod.plan.port }],
    );
    const fromPods = this.#pods.map((pod) =>
      this.#probeFrom(
        pod,
        targets.filter((target) => target.name !== `${pod.node}`),
        timeoutMs,
      ),
    );
    const fromHere = targets
      .filter((target) => target.name !== 'controller')
      .map(async (target) => linkProbe('clients', await probe(target, 'probe-clients', timeoutMs)));
    return [...(await Promise.all(fromPods)).flat(), ...(await Promise.all(fromHere))];
  }

  async #probeFrom(pod: Pod, targets: readonly ProbeTarget[], timeoutMs: number): Promise<LinkProbe[]> {
    const request = { do: 'probe', clientId: `probe-${pod.node}`, targets, timeoutMs } as const;
    const { probes } = await pod.agent.ask(request, timeoutMs + reachTimeoutMs);
    return probes.map((result) => linkProbe(pod.node, result));
  }
}

/** A connection, or its refusal: both are answers of the pod. Silence means that pods cannot be reached from here. */
export function reach(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: reachTimeoutMs });
    const finish = (error?: Error): void => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(new Error(`addresses of containers cannot be reached from here (${host}: ${error.message})`));
    };
    socket.once('connect', () => finish());
    socket.once('timeout', () => finish(new Error(`no answer within ${reachTimeoutMs} ms`)));
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code === 'ECONNREFUSED' ? undefined : error));
  });
}

function linkProbe(from: Place, { name, ok, roundTripMs, error }: ProbeResult): LinkProbe {
  return {
    from,
    to: name === 'controller' ? name : Number(name),
    ok,
    ...(roundTripMs === undefined ? {} : { roundTripMs }),
    ...(error === undefined ? {} : { error }),
  };
}
