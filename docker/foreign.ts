/**
 * What a deployed cluster of foreign brokers offers beyond the ports: everything that can be heard and seen of it.
 *
 * The harness makes observations of it (`harness/observe`), which stand in for the trace that such brokers do not tell.
 * A cluster of this kind may serve several runs one after the other, each with a topic of its own; so nothing here is
 * bound to a run's folder, and each run says where its copies are to go.
 *
 * Invariant: only types stand here, so that the harness may import this file without loading the engine.
 */
import type { Address, Cluster, DeploySpec, NodeId, NodeName } from '../nemesis/ports.ts';
import type { SegmentEvent } from './agent/messages.ts';
import type { Target, TargetSettings } from './targets/target.ts';

/** How a cluster of foreign brokers is deployed. */
export interface ForeignSpec extends Omit<DeploySpec, 'command'> {
  readonly target: Target;
  readonly settings: TargetSettings;
}

/** `companion`: the role of what printed the line, where it was not the node itself but what stands beside it. */
export type OutputListener = (node: NodeName, line: string, companion?: string) => void;

/** `subscribe` of such a cluster tells nothing: whoever wants lines makes them out of what is told here. */
export interface ForeignCluster extends Cluster {
  readonly target: Target;
  /** Every place that answers Metadata: each broker's, and the controller's where it speaks Kafka's protocol. */
  readonly kafkaAddresses: ReadonlyMap<NodeName, Address>;
  /** Where ZooKeeper answers, for a target that keeps its metadata there, and the broker that is there to be the controller. */
  readonly zooKeeper?: Address & { readonly controllerId: number };
  /**
   * What a node's process prints, standard output and standard error alike, line by line, from the moment of the call;
   * lines from before the first call are kept and told to it. Returns what ends the listening.
   */
  onOutput(listener: OutputListener): () => void;
  /**
   * Watches the segments of one topic on every broker, instead of whatever was watched before. The listener first hears
   * of what is there already; of a broker's segments that cannot be seen any more it hears an error, and then nothing.
   */
  watchSegments(
    request: { readonly topic: string; readonly clockOriginNs: bigint },
    listener: (node: NodeId, event: SegmentEvent | Error) => void,
  ): Promise<void>;
  /**
   * Copies every broker's replicas of one topic, and the checkpoint files beside them, to `<directory>/data/<node>/`, as
   * they stand. `collect()` of such a cluster does not exist apart from this: it rejects.
   */
  collectTopic(directory: string, topic: string): Promise<void>;
}
