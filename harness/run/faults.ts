/**
 * The nemesis's driver: feeds the pure conductor with the trace and the clock, performs what it decides, writes down
 * what it says.
 *
 * Actions of one step are started in order and run side by side; the conductor hears of each when it is done. An action
 * that the runtime cannot perform at all is a failure of the environment: it ends the faults, and is told once.
 */
import {
  conduct,
  createConductor,
  hasPlayed,
  isFinished,
  nextDeadlineNs,
  type ConductorEvent,
} from '../../nemesis/conductor.ts';
import type { Action, Cluster, Evidence } from '../../nemesis/ports.ts';
import type { Schedule } from '../../nemesis/schedule.ts';
import type { Admin } from './admin.ts';
import type { Recorder } from './recorder.ts';
import { clockFrom } from './sockets.ts';

export interface FaultsOptions {
  readonly schedule: Schedule;
  readonly cluster: Cluster;
  readonly partitions: readonly string[];
  readonly admin: Admin;
  readonly recorder: Recorder;
  /** Does an operation of the load that a step calls. */
  readonly call: (operation: string) => Promise<Evidence>;
  readonly clockOriginNs: bigint;
  readonly onFailure: (error: Error) => void;
}

export interface Faults {
  /** The load begins now: the times of the schedule count from here. */
  start(): void;
  /** Resolves when every fault of the schedule has ended, in its time or before. */
  readonly played: Promise<void>;
  /** Ends and heals every fault that is still on; resolves when all is healed. */
  stop(): Promise<void>;
}

/** Makes the nemesis ready: from now on it follows the trace, as it must from the first line on. */
export function prepareFaults(options: FaultsOptions): Faults {
  const { schedule, cluster, partitions, admin, recorder, onFailure } = options;
  const now = clockFrom(options.clockOriginNs);
  const state = createConductor(schedule, { brokers: cluster.brokers, partitions });
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { promise: played, resolve: endPlay } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  let failed = false;

  const fail = (error: unknown): void => {
    if (failed) return;
    failed = true;
    clearTimeout(timer);
    onFailure(error instanceof Error ? error : new Error(String(error)));
    finish();
  };

  const feed = (event: ConductorEvent): void => {
    if (failed) return;
    try {
      for (const effect of conduct(state, event, now())) {
        if (effect.type === 'record') recorder.nemesis(effect.f, effect.value);
        else perform(effect.id, effect.action);
      }
    } catch (error) {
      fail(error);
      return;
    }
    arm();
  };

  const perform = (id: string, action: Action): void => {
    performed(action).then((evidence) => feed({ type: 'acted', id, evidence }), fail);
  };

  const performed = (action: Action): Promise<Evidence> => {
    switch (action.port) {
      case 'leadership':
        return admin.moveLeader(action.partition, action.to);
      case 'load':
        return options.call(action.operation);
      case 'links':
      case 'process':
        return cluster.perform(action);
    }
  };

  const arm = (): void => {
    clearTimeout(timer);
    if (hasPlayed(state)) endPlay();
    if (isFinished(state)) {
      finish();
      return;
    }
    const waitMs = (nextDeadlineNs(state) - now()) / 1e6;
    if (Number.isFinite(waitMs)) timer = setTimeout(() => feed({ type: 'deadline' }), Math.max(0, waitMs));
  };

  cluster.subscribe((line) => feed({ type: 'trace', line }));

  return {
    start: () => feed({ type: 'start' }),
    played,
    async stop() {
      feed({ type: 'stop' });
      await finished;
      clearTimeout(timer);
    },
  };
}
