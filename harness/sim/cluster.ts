/**
 * A cluster in the kernel: one controller and brokers, all of them the cores that run in production.
 *
 * Nodes find each other under addresses that only exist here. The states of the cores can be looked at, never changed:
 * whoever scripts a schedule asks them what they know.
 */
import * as brokerCore from '../../broker/core/broker.ts';
import type { BrokerState } from '../../broker/core/broker.ts';
import type { ClusterSettings } from '../../broker/core/settings.ts';
import type { NodeId } from '../../broker/core/step.ts';
import * as controllerCore from '../../broker/controller/controller.ts';
import type { ControllerState } from '../../broker/controller/controller.ts';
import { Kernel } from './kernel.ts';
import type { KernelOptions, NodeSpec } from './kernel.ts';

export interface SimClusterOptions extends KernelOptions {
  /** The build of each broker. */
  readonly builds: ReadonlyMap<NodeId, string>;
  readonly defects?: readonly string[];
  readonly settings: ClusterSettings;
}

const clusterId = 'tide-simulated';
const PORT = 9092;

export class SimCluster {
  readonly kernel: Kernel;
  readonly brokers: readonly NodeId[];
  readonly #brokerStates = new Map<NodeId, BrokerState>();
  #controllerState: ControllerState | null = null;

  constructor(options: SimClusterOptions) {
    this.kernel = new Kernel(options);
    this.brokers = [...options.builds.keys()];
    this.kernel.addNode(this.#controllerSpec(options));
    for (const [node, build] of options.builds) this.kernel.addNode(this.#brokerSpec(node, build, options));
  }

  /** Starts every process. */
  start(): void {
    this.kernel.node('controller').start();
    for (const node of this.brokers) this.kernel.node(node).start();
  }

  /** What a running broker knows. */
  broker(node: NodeId): BrokerState | null {
    return this.kernel.node(node).running ? (this.#brokerStates.get(node) ?? null) : null;
  }

  /** What the controller knows, or knew when it last ran. */
  get controller(): ControllerState {
    if (this.#controllerState === null) throw new Error('the controller has not been started');
    return this.#controllerState;
  }

  #controllerSpec({ settings, defects = [] }: SimClusterOptions): NodeSpec {
    const { host } = addressOf('controller');
    return {
      id: 'controller',
      address: `${host}:${PORT}`,
      boot: (disk, boot, nowNs) => {
        const config = { ...settings, boot, defects, clusterId, port: PORT };
        const { state, effects } = controllerCore.createController(config, disk.records, nowNs);
        this.#controllerState = state;
        const core = {
          clientId: `controller.${boot}`,
          step: (event: Parameters<typeof controllerCore.step>[1], now: number) =>
            controllerCore.step(state, event, now),
          nextDeadlineNs: () => controllerCore.nextDeadlineNs(state),
        };
        return { core, effects };
      },
    };
  }

  #brokerSpec(node: NodeId, build: string, { settings, defects = [] }: SimClusterOptions): NodeSpec {
    const advertised = addressOf(node);
    return {
      id: node,
      address: `${advertised.host}:${PORT}`,
      boot: (disk, boot, nowNs) => {
        const controller = addressOf('controller');
        const config = { ...settings, node, boot, build, defects, clusterId, advertised, controller };
        const { state, effects } = brokerCore.createBroker(config, disk.recover(), nowNs);
        this.#brokerStates.set(node, state);
        const core = {
          clientId: state.clientId,
          step: (event: Parameters<typeof brokerCore.step>[1], now: number) => brokerCore.step(state, event, now),
          nextDeadlineNs: () => brokerCore.nextDeadlineNs(state),
        };
        return { core, effects };
      },
    };
  }
}

/** Where a node listens. */
export function addressOf(node: NodeId | 'controller'): { readonly host: string; readonly port: number } {
  return { host: node === 'controller' ? node : `broker-${node}`, port: PORT };
}
