/** A node for tests of the kernel, whose core does nothing of its own. */
import type { CoreEvent, Effect, NodeId, RequestEvent } from '../../../broker/core/step.ts';
import type { Kernel } from '../../../harness/sim/kernel.ts';
import type { SimNode } from '../../../harness/sim/sim-node.ts';

const ms = 1e6;

/** A core that keeps what it is told and does what the test says: by default it answers ApiVersions at once. */
export class ToyNode {
  readonly kernel: Kernel;
  readonly node: SimNode;
  readonly seen: string[] = [];
  readonly requests: RequestEvent[] = [];
  deadlineNs = Infinity;
  answersAtOnce = true;
  next: Effect[] = [];

  constructor(kernel: Kernel, id: NodeId) {
    this.kernel = kernel;
    this.node = kernel.addNode({
      id,
      address: `node-${id}:9092`,
      boot: (_, boot) => ({
        core: {
          clientId: `broker-${id}.${boot}`,
          step: (event) => this.#step(event),
          nextDeadlineNs: () => this.deadlineNs,
        },
        effects: [1, 2, 3].map((peer) => ({ type: 'endpoint', peer, host: `node-${peer}`, port: 9092 })),
      }),
    });
    this.node.start();
  }

  /** Performs effects as if the core had wanted to at this moment. */
  act(...effects: Effect[]): void {
    this.next = effects;
    this.node.tell({ type: 'checkpoint-now' });
  }

  ask(peer: NodeId, correlationId: number): void {
    const body = { clientSoftwareName: '', clientSoftwareVersion: '' };
    this.act({ type: 'send', peer, correlationId, api: 'ApiVersions', version: 0, body });
  }

  answer(request: RequestEvent): Effect {
    const body = {
      errorCode: 0,
      apiKeys: [],
      throttleTimeMs: 0,
      supportedFeatures: [],
      finalizedFeaturesEpoch: -1,
      finalizedFeatures: [],
    };
    return { type: 'respond', origin: request.origin, api: 'ApiVersions', version: 0, body };
  }

  #step(event: CoreEvent): Effect[] {
    if (event.type === 'checkpoint-now') return this.next;
    if (event.type === 'deadline') this.deadlineNs = Infinity;
    const at = `${this.kernel.nowNs / ms}`;
    const { type } = event;
    if (type === 'request') {
      this.seen.push(`${at} request ${event.origin.clientId}#${event.origin.correlationId}`);
      this.requests.push(event);
      return this.answersAtOnce ? [this.answer(event)] : [];
    }
    if (type === 'response') this.seen.push(`${at} response ${event.peer}#${event.correlationId}`);
    else if (type === 'closed') this.seen.push(`${at} closed ${event.peer}`);
    else this.seen.push(`${at} ${type}`);
    return [];
  }
}
