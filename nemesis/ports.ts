/**
 * What the nemesis, and the harness around it, need from a runtime.
 *
 * A runtime (processes on loopback, containers, the simulator) is anything that can deploy the nodes of a cluster,
 * break and mend them by an {@link Action}, show their trace, prove that their links work, and hand over what they
 * left on disk. The nemesis itself never calls these: its conductor is pure and returns actions; the harness performs
 * them. Only types stand here, so that every island may import this file.
 *
 * Invariant: an action answers with evidence that it took effect, or says that it did not. Nothing is assumed.
 */

/** A broker, counted from 1. */
export type NodeId = number;
export type NodeName = NodeId | 'controller';

/** Packets from `from` do not reach `to`. `clients` are the harness's own connections. */
export interface Cut {
  readonly from: NodeName | 'clients';
  readonly to: NodeName | 'clients';
  /** What becomes of them: they vanish (the default), or the connection is reset. A runtime that cannot reset drops. */
  readonly mode?: 'drop' | 'reset';
}

/** Packets from `from` to `to` take longer, and some get lost, which TCP notices and sends them again. */
export interface SlowLink {
  readonly from: NodeName | 'clients';
  readonly to: NodeName | 'clients';
  /** On top of what the link takes anyway. */
  readonly delayMs: number;
  /** A packet takes up to that much longer, drawn evenly. */
  readonly jitterMs: number;
  /** Share of packets lost, from 0 to below 1. */
  readonly loss: number;
}

export type Action =
  /**
   * The whole wanted state of the network: exactly these cuts and slow links from now on; two empty lists heal
   * everything. A link that is both cut and slow is cut. There are slow links only where the runtime can make them.
   */
  | { readonly port: 'links'; readonly cuts: readonly Cut[]; readonly slow?: readonly SlowLink[] }
  /**
   * `power-loss` kills and marks the data directory, so that the next start keeps only what was flushed. `stop` asks the
   * process to end in good order (a broker hands its leaderships over first), and kills it when that takes too long.
   */
  | { readonly port: 'process'; readonly verb: ProcessVerb; readonly node: NodeName }
  /** Ask the controller, through any broker, to make `to` the leader. Performed by the harness's admin client. */
  | { readonly port: 'leadership'; readonly partition: string; readonly to: NodeId }
  /** Begin the operation of that name in a load that is written out, and answer when it has ended. Performed by the load. */
  | { readonly port: 'load'; readonly operation: string };

export type ProcessVerb = 'pause' | 'resume' | 'kill' | 'power-loss' | 'stop' | 'start';

/** What proves that an action took effect. */
export interface Evidence {
  readonly effective: boolean;
  /**
   * Facts, by name. For `links`: `dropped`, the packets or bytes that the cuts just removed had swallowed, and `slowed`,
   * the packets or messages that the slow links just removed had delayed, each by `"1→2"`. For processes: their state as
   * the system tells it, their pid, their start time; for `stop` whether the end was `orderly`.
   */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** One line of `docs/trace.md`, parsed; which fields there are depends on `event`. */
export interface TraceLine {
  readonly seq: number;
  readonly time: number;
  readonly node: NodeName;
  readonly boot: number;
  readonly event: string;
  readonly partition?: string;
  readonly leaderEpoch?: number;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A fresh round trip on one link: a new connection from the place of `from`, one request to `to`, its answer. */
export interface LinkProbe {
  readonly from: NodeName | 'clients';
  readonly to: NodeName;
  readonly ok: boolean;
  readonly roundTripMs?: number;
  readonly error?: string;
}

/** What a runtime passes to a node's process; only the runtime knows addresses and paths. */
export interface ProcessPlace {
  readonly node: NodeName;
  /** As the process itself sees it (in a container: inside of it). */
  readonly dataDirectory: string;
  readonly listen: Address;
  /** Where everybody else reaches the node. */
  readonly advertised: Address;
  /** Where this node reaches the controller. */
  readonly controller: Address;
}

/** What is to be deployed. */
export interface DeploySpec {
  /** Names everything that the run creates: lower-case letters, digits and dashes, unique on this machine. */
  readonly runId: string;
  readonly brokers: readonly NodeId[];
  /** The file to run for a node, relative to the project, and its arguments. */
  readonly command: (place: ProcessPlace) => readonly string[];
  /** The run's folder, absolute. `logs/<node>.log` gets the nodes' standard error, `data/<node>/` their data directories. */
  readonly directory: string;
  /** Reports slow steps, one short line each, such as `building the image`. */
  readonly progress: (line: string) => void;
  /** Aborted on interrupt: deploying stops and removes what it had made. */
  readonly signal: AbortSignal;
}

/**
 * `blame` says whose failure it is that a node's process ended: its `environment`'s (the node said so with exit code 255,
 * it ran out of memory, somebody else killed it), which says nothing about the broker; or the `node`'s own.
 */
export type ExitListener = (node: NodeName, detail: string, blame: 'environment' | 'node') => void;

/** The exit code by which a node says that its surroundings failed: a full disk, a port in use, a lost directory. */
export const ENVIRONMENT_EXIT_CODE = 255;

/** A deployed cluster. After `close` nothing of it is left on the machine but the run's folder. */
export interface Cluster {
  readonly runtime: 'sim' | 'local' | 'docker';
  /** Its brokers tell no trace: the lines are observations, `docs/observations.md`, and hold less. */
  readonly observed?: true;
  readonly brokers: readonly NodeId[];
  /** Where clients reach each broker. */
  readonly addresses: ReadonlyMap<NodeId, Address>;
  /**
   * Every trace line of every node, in the order of arrival. Lines that came before the first subscription are told to
   * whoever subscribes in the same turn of the event loop as the first; after that none are kept.
   */
  subscribe(listener: (line: TraceLine) => void): void;
  /** Told when a node's process ends without an action of ours. */
  onUnexpectedExit(listener: ExitListener): void;
  /** Performs a `links` or `process` action. Rejects only if the environment fails. */
  perform(action: Action): Promise<Evidence>;
  /** Tries every link afresh, in parallel, each within `timeoutMs`. */
  probeLinks(timeoutMs: number): Promise<readonly LinkProbe[]>;
  /** Copies every node's data directory to `data/<node>/` as it stands; brokers may be running. */
  collect(): Promise<void>;
  /** Stops everything and removes it; names what could not be removed. Never rejects. */
  close(): Promise<{ readonly residue: readonly string[] }>;
}
