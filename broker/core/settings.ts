/**
 * What a broker or the controller is told at its start, and never changes afterwards.
 *
 * Durations are in milliseconds, as in Kafka's own configuration; the cores count in nanoseconds.
 */
import type { NodeId } from './step.ts';

export interface ClusterSettings {
  /** A follower that has not caught up for so long leaves the ISR (`replica.lag.time.max.ms`). */
  readonly replicaLagTimeMaxMs: number;
  /** A broker without heartbeats for so long is fenced (`broker.session.timeout.ms`). */
  readonly brokerSessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** Longest wait of a follower's fetch for data (`replica.fetch.wait.max.ms`). */
  readonly fetchMaxWaitMs: number;
  readonly highWatermarkCheckpointIntervalMs: number;
  readonly minInsyncReplicas: number;
  readonly uncleanElection: boolean;
}

export interface BrokerConfig extends ClusterSettings {
  readonly node: NodeId;
  readonly boot: number;
  /** A column of the table in `builds.ts`. */
  readonly build: string;
  readonly defects: readonly string[];
  readonly clusterId: string;
  /** Where clients and other nodes reach this broker. */
  readonly advertised: { readonly host: string; readonly port: number };
  readonly controller: { readonly host: string; readonly port: number };
}

export interface ControllerConfig extends ClusterSettings {
  readonly boot: number;
  /** Names from `defects.ts`; none when not given. */
  readonly defects?: readonly string[];
  readonly clusterId: string;
  /** Where it listens; told in the trace. */
  readonly port?: number;
}

/** The argument of `broker/server/main.ts` and `controller-main.ts`, as JSON. */
export interface ProcessConfig {
  readonly node: NodeId | 'controller';
  readonly build: string;
  readonly defects: readonly string[];
  readonly clusterId: string;
  readonly dataDirectory: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly advertised: { readonly host: string; readonly port: number };
  readonly controller: { readonly host: string; readonly port: number };
  /** Origin of the trace's clock: a reading of `process.hrtime.bigint()`, as decimal text. */
  readonly clockOriginNs: string;
  readonly settings: ClusterSettings;
}
