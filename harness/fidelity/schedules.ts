/**
 * Four known schedules, as plans that any runtime can play and any broker can be put under.
 *
 * Each is a configuration, one script of faults, and the few operations that the script calls. They are neutral to the
 * build: no step waits for what only one build would do. What Kafka's generations answer to them is known from KIP-101
 * (S1a, S2) and KIP-279 (S3a), and the table that is made of them (`docs/fidelity.md`) sets our builds beside Kafka.
 *
 * Roles are replicas in the order in which they will lead: `first`, `second`, `third`.
 */
import type { Condition, Schedule, ScriptFault, Step } from '../../nemesis/schedule.ts';
import { keyOf } from '../client/operations.ts';
import { defaultRunConfig } from '../plan/config.ts';
import type { RunConfig } from '../plan/config.ts';
import type { LoadPlan, PlannedOperation } from '../sim/simulation.ts';

export const scheduleNames = ['s1a-paused', 's1a-killed', 's2', 's3a'] as const;
export type ScheduleName = (typeof scheduleNames)[number];

export interface FidelityPlan {
  readonly config: RunConfig;
  readonly schedule: Schedule;
  readonly load: LoadPlan;
}

/** What one plan is made for. */
export interface Occasion extends Pick<RunConfig, 'build' | 'runtime' | 'seed'> {
  /** As a cluster that serves several runs needs one of its own for each. */
  readonly topic: string;
}

/** The plan of that name. */
export function fidelityPlan(name: ScheduleName, occasion: Occasion): FidelityPlan {
  const partition = keyOf(occasion.topic, 0);
  const { settings, script } = scripts[name](partition);
  const fault: ScriptFault = {
    id: name,
    kind: 'script',
    at: { ms: 0 },
    until: { await: { seen: 'steps-done' }, deadlineMs: longestMs },
    partition,
    steps: script.steps,
  };
  const config: RunConfig = {
    ...defaultRunConfig,
    ...occasion,
    ...settings,
    defects: [],
    partitions: 1,
    nemesis: [],
    timeLimitMs: longestMs,
    settleTimeoutMs: restDeadlineMs,
    clientTimeoutMs: patientMs,
    concurrency: Math.max(...script.operations.map(({ thread }) => thread)) + 1,
    brokerSessionTimeoutMs: sessionMs,
    replicaLagTimeMaxMs: lagMs,
  };
  return {
    config,
    schedule: { schemaVersion: 1, seed: occasion.seed, durationMs: longestMs, faults: [fault] },
    load: { schemaVersion: 1, operations: script.operations },
  };
}

/** A script that takes longer has gone wrong. */
const longestMs = 90_000;
const sessionMs = 2_000;
const lagMs = 3_000;
/** An idle fetch waits half a second: after two of them everybody knows the high watermark. */
const everybodyKnowsMs = 1_200;
/** In schedules that need the file of high watermarks fresh before a broker ends. */
const checkpointIntervalMs = 1_000;
const checkpointedMs = 2 * checkpointIntervalMs;
/** The session of a broker that ended has run out, and the controller knows it. */
const fencedMs = sessionMs + 1_000;
/** The leader hears a moment later than everybody else that the controller has let somebody into the ISR. */
const leaderKnowsMs = 300;
/** A broker may know that it leads before it tells clients so. */
const clientsKnowMs = 500;
const electionDeadlineMs = 15_000;
const inSyncDeadlineMs = 20_000;
const restDeadlineMs = 60_000;
/** Of a client's operation: nobody is asked who cannot answer, and a broker's first answers may take a while. */
const patientMs = 4_000;

interface Scripted {
  readonly settings: Partial<RunConfig>;
  readonly script: Script;
}

interface Script {
  readonly steps: readonly Step[];
  readonly operations: readonly PlannedOperation[];
}

const scripts: Readonly<Record<ScheduleName, (partition: string) => Scripted>> = {
  's1a-paused': (partition) => s1a(partition, 'pause'),
  's1a-killed': (partition) => s1a(partition, 'kill'),
  s2,
  s3a,
};

/**
 * Two clean leader changes in a row, the second before the last replica has spoken to the second leader.
 *
 * m3 is acknowledged by all three, but the third does not know yet that it is committed when it becomes the follower of
 * the second, whom it cannot reach. A build that truncates to its own high watermark cuts m3 now; then the second ends
 * too, and the third leads, elected cleanly. m4 takes the place of m3. A first leader that was only paused still has m3 in its
 * log, and a high watermark above it: it keeps it where the others have m4.
 */
function s1a(partition: string, ending: 'pause' | 'kill'): Scripted {
  const play = createPlay(partition);
  const { cut, end, waits, leads, follows, inSync } = wordsOf(partition);
  const steps = [
    play.call(0, 'm0'),
    play.call(0, 'm1'),
    play.call(0, 'm2'),
    waits(everybodyKnowsMs),
    cut('third', 'second'),
    play.call(0, 'm3'),
    end(ending, 'first'),
    leads('second'),
    follows('third', 'second'),
    waits(300),
    end(ending, 'second'),
    leads('third'),
    waits(600),
    { step: 'mend' } as const,
    restore('second'),
    follows('second', 'third'),
    inSync('second'),
    waits(leaderKnowsMs),
    play.call(1, 'm4'),
    restore('first'),
    inSync('first'),
  ];
  return {
    settings: { brokers: 3, replicationFactor: 3, minInsyncReplicas: 2, uncleanElection: false, acks: 'all' },
    script: { steps, operations: play.operations },
  };
}

/**
 * Both replicas are gone, and the one that comes back first had not flushed the last acknowledged record.
 *
 * That m2 is lost is nobody's fault: the disk that held it belongs to a broker that was not there. But a build that
 * truncates to its own high watermark, which is above m2, then keeps m2 where the new leader has m3.
 */
function s2(partition: string): Scripted {
  const play = createPlay(partition);
  const { end, waits, leads, alone, inSync } = wordsOf(partition);
  const steps = [
    play.call(0, 'm1'),
    waits(everybodyKnowsMs),
    // What was there when it ended in good order is flushed.
    end('stop', 'second'),
    alone(),
    restore('second'),
    inSync('second'),
    waits(everybodyKnowsMs),
    play.call(1, 'm2'),
    waits(checkpointedMs),
    // Of the first nothing is lost: it had flushed, as it were. The second leads for a moment, so that it is last in the ISR.
    end('kill', 'first'),
    leads('second'),
    end('power-loss', 'second'),
    waits(fencedMs),
    restore('second'),
    leads('second'),
    waits(clientsKnowMs),
    play.call(2, 'm3'),
    restore('first'),
    inSync('first'),
  ];
  return {
    settings: {
      brokers: 2,
      replicationFactor: 2,
      minInsyncReplicas: 1,
      uncleanElection: false,
      acks: 'all',
      highWatermarkCheckpointIntervalMs: checkpointIntervalMs,
    },
    script: { steps, operations: play.operations },
  };
}

/**
 * Two replicas lead in turn, each elected uncleanly and alone, and then one follows the other: KIP-279's case.
 *
 * Every write is acks=1 and promises nothing. But two replicas that are both up and in the ISR must hold the same
 * records. The second's last epoch is one that the first never heard of; a build that asks only once where it ended
 * is told where the next one began, behind all that the second has, and keeps it.
 */
function s3a(partition: string): Scripted {
  const play = createPlay(partition);
  const { end, waits, leads, inSync } = wordsOf(partition);
  // With its file of high watermarks fresh the high-watermark rule cuts nothing that was read.
  const hands = (from: string, to: string): Step[] => [
    waits(checkpointedMs),
    end('kill', from),
    waits(fencedMs),
    restore(to),
    leads(to),
    waits(clientsKnowMs),
  ];
  const steps = [
    play.call(0, 'm0'),
    waits(everybodyKnowsMs),
    waits(checkpointedMs),
    end('kill', 'first'),
    leads('second'),
    waits(clientsKnowMs),
    play.call(1, 'b1'),
    ...hands('second', 'first'),
    play.call(2, 'a1'),
    play.call(2, 'a2'),
    play.call(2, 'a3'),
    ...hands('first', 'second'),
    play.call(3, 'b2'),
    ...hands('second', 'first'),
    play.call(4, 'a4'),
    play.call(4, 'a5'),
    restore('second'),
    inSync('second'),
  ];
  return {
    settings: {
      brokers: 2,
      replicationFactor: 2,
      minInsyncReplicas: 1,
      uncleanElection: true,
      acks: 1,
      highWatermarkCheckpointIntervalMs: checkpointIntervalMs,
    },
    script: { steps, operations: play.operations },
  };
}

interface Play {
  readonly operations: readonly PlannedOperation[];
  /** Sends a value by that name. A fresh thread knows nothing of earlier leaders. */
  readonly call: (thread: number, name: string) => Step;
}

function createPlay(key: string): Play {
  const operations: PlannedOperation[] = [];
  return {
    operations,
    call(thread, name) {
      operations.push({ atMs: 0, thread, called: name, operation: { f: 'send', key, value: operations.length } });
      return { step: 'call', operation: name };
    },
  };
}

interface Words {
  readonly cut: (from: string, to: string) => Step;
  readonly end: (how: 'pause' | 'kill' | 'power-loss' | 'stop', node: string) => Step;
  readonly waits: (ms: number) => Step;
  readonly leads: (node: string) => Step;
  readonly follows: (node: string, leader: string) => Step;
  /** Only the leader is left in the ISR. */
  readonly alone: () => Step;
  readonly inSync: (node: string) => Step;
}

/** Every wait is for what each build does; where it does not come, the script went otherwise and is given up. */
function wordsOf(partition: string): Words {
  const awaits = (what: Condition, deadlineMs: number): Step => ({
    step: 'await',
    what,
    deadlineMs,
    otherwise: 'give-up',
  });
  return {
    cut: (from, to) => ({ step: 'cut', links: [{ from, to }] }),
    end: (step, node) => ({ step, node }),
    waits: (ms) => ({ step: 'wait', ms }),
    leads: (node) => awaits({ seen: 'leads', partition, node }, electionDeadlineMs),
    follows: (node, leader) => awaits({ seen: 'follows', partition, node, leader }, electionDeadlineMs),
    alone: () => awaits({ seen: 'isr-size', partition, atMost: 1 }, electionDeadlineMs),
    inSync: (node) => awaits({ seen: 'in-sync', partition, node }, inSyncDeadlineMs),
  };
}

function restore(node: string): Step {
  return { step: 'restore', node };
}
