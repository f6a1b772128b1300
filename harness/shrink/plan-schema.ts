/**
 * The shapes of `schedule.json`, `load.json` and the configuration in `run.json`, as schemas: a plan may have been
 * edited by hand, and what is played must be what stands there.
 *
 * A field that a configuration of an older run does not have is filled in with its default. A field that nobody knows is
 * refused: whoever wrote it meant something by it.
 */
import { z } from 'zod';
import { awaitedNames } from '../../nemesis/awaited.ts';
import type { Fault, FaultKind, Schedule } from '../../nemesis/schedule.ts';
import { faultKinds } from '../../nemesis/faults/index.ts';
import type { RunConfig } from '../plan/config.ts';
import { defaultRunConfig } from '../plan/config.ts';
import {
  longestMs,
  mostBrokers,
  mostFaults,
  mostOperationsPerSecond,
  mostPartitions,
  mostProcesses,
} from '../plan/limits.ts';
import type { LoadPlan } from '../sim/simulation.ts';

const count = z.number().int().nonnegative();
const ms = z.number().nonnegative().max(longestMs);
const partition = z.string();
const nodeName = z.union([z.number().int().positive(), z.literal('controller')]);

const target = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['one', 'minority', 'majority']), draw: count }),
  z.strictObject({ role: z.enum(['all', 'controller']) }),
  z.strictObject({ role: z.enum(['leader', 'last-in-isr']), partition }),
  z.strictObject({ role: z.literal('isr-follower'), partition, draw: count }),
  z.strictObject({ role: z.literal('nodes'), nodes: z.array(nodeName) }),
]);

const reach = { controller: z.boolean(), clients: z.boolean() };
const topology = z.discriminatedUnion('shape', [
  z.strictObject({ shape: z.literal('halves'), draw: count, ...reach }),
  z.strictObject({ shape: z.literal('isolated-node'), side: target, ...reach }),
  z.strictObject({ shape: z.literal('leader-with-minority'), partition, draw: count, ...reach }),
  z.strictObject({ shape: z.literal('one-way'), side: target, direction: z.enum(['outward', 'inward']), ...reach }),
  z.strictObject({ shape: z.literal('bridge'), middle: target }),
  z.strictObject({ shape: z.literal('majorities-ring'), draw: count }),
  z.strictObject({ shape: z.literal('chained'), draw: count }),
  z.strictObject({ shape: z.literal('quorum-loss'), draw: count, ...reach }),
  z.strictObject({ shape: z.literal('constrained-election'), leader: target, candidate: target }),
  z.strictObject({ shape: z.literal('control-plane'), side: target, direction: z.enum(['outward', 'inward', 'both']) }),
]);

const condition = z.discriminatedUnion('seen', [
  z.strictObject({ seen: z.enum(['full-isr', 'steps-done']) }),
  z.strictObject({ seen: z.enum(['leader-change', 'truncation']), partition }),
  z.strictObject({ seen: z.literal('isr-size'), partition, atMost: count }),
  z.strictObject({ seen: z.literal('hw'), partition, by: count }),
  z.strictObject({ seen: z.literal('ack'), partition, by: z.string() }),
  z.strictObject({ seen: z.literal('leads'), partition, node: z.string() }),
  z.strictObject({ seen: z.enum(['in-sync', 'out-of-sync']), partition, node: z.string() }),
  z.strictObject({ seen: z.literal('follows'), partition, node: z.string(), leader: z.string() }),
]);

const slowness = { delayMs: ms, jitterMs: ms, loss: z.number().min(0).lt(1) };
const links = z.array(z.strictObject({ from: z.string(), to: z.string() }));
const step = z.discriminatedUnion('step', [
  z.strictObject({ step: z.literal('cut'), links }),
  z.strictObject({ step: z.literal('slow'), links, ...slowness }),
  z.strictObject({ step: z.literal('mend') }),
  z.strictObject({ step: z.enum(['pause', 'kill', 'power-loss', 'stop', 'restore']), node: z.string() }),
  z.strictObject({ step: z.literal('move'), partition, to: z.string() }),
  z.strictObject({ step: z.literal('call'), operation: z.string() }),
  z.strictObject({ step: z.literal('wait'), ms }),
  z.strictObject({
    step: z.literal('await'),
    what: condition,
    deadlineMs: ms,
    otherwise: z.enum(['go-on', 'give-up']),
  }),
]);

const anyFault = {
  id: z.string(),
  at: z.union([z.strictObject({ ms }), z.strictObject({ await: condition, fromMs: ms, deadlineMs: ms })]),
  until: z.union([z.strictObject({ ms }), z.strictObject({ await: condition, deadlineMs: ms })]),
  exclusive: z.literal(true).exactOptional(),
};
const composite = { partition, steps: z.array(step), nodes: z.record(z.string(), nodeName).exactOptional() };

const fault = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('partition'), ...anyFault, topology }),
  z.strictObject({ kind: z.literal('slow-links'), ...anyFault, topology, ...slowness }),
  z.strictObject({ kind: z.enum(['pause', 'crash', 'power-loss']), ...anyFault, targets: target }),
  z.strictObject({ kind: z.literal('rolling-restart'), ...anyFault, draw: count, downMs: ms, patienceMs: ms }),
  z.strictObject({ kind: z.literal('leader-move'), ...anyFault, partition, targets: target }),
  z.strictObject({ kind: z.enum(['leader-burst', 'rejoin-crash', 'script']), ...anyFault, ...composite }),
  z.strictObject({
    kind: z.literal('handover-crash'),
    ...anyFault,
    ...composite,
    roles: z.enum(['election-order', 'reverse-election-order']),
  }),
]) satisfies z.ZodType<Fault>;

const scheduleSchema: z.ZodType<Schedule> = z.strictObject({
  schemaVersion: z.literal(1),
  seed: z.number().int(),
  durationMs: ms,
  faults: z.array(fault).max(mostFaults),
});

const key = z.string();
/** What comes back as it was sent, so that it can be told from others. */
const value = z.union([
  z.number().int(),
  z.string().refine((text) => text.isWellFormed(), 'a text with half of a surrogate pair does not survive UTF-8'),
]);
const loadSchema: z.ZodType<LoadPlan> = z.strictObject({
  schemaVersion: z.literal(1),
  operations: z.array(
    z.strictObject({
      atMs: ms,
      thread: count,
      called: z
        .string()
        .regex(/^[\w.-]{1,60}$/, 'letters, digits, dots, dashes and underscores, 60 at most')
        .exactOptional(),
      operation: z.discriminatedUnion('f', [
        z.strictObject({ f: z.literal('send'), key, value }),
        z.strictObject({ f: z.literal('poll') }),
        z.strictObject({
          f: z.literal('assign'),
          keys: z.array(key),
          seek: z.union([z.enum(['earliest', 'latest']), z.record(key, count)]).exactOptional(),
        }),
      ]),
    }),
  ),
});

const upTo = (max: number) => z.number().int().min(1).max(max);
const duration = upTo(longestMs);
const kind = z.enum(faultKinds as readonly [FaultKind, ...FaultKind[]]);
const configSchema: z.ZodType<RunConfig> = z.strictObject({
  build: z.string(),
  defects: z.array(z.string()),
  description: z.string().exactOptional(),
  runtime: z.enum(['sim', 'local', 'docker']),
  seed: count,
  brokers: upTo(mostBrokers),
  replicationFactor: upTo(mostBrokers),
  minInsyncReplicas: upTo(mostBrokers),
  uncleanElection: z.boolean(),
  acks: z.union([z.literal('all'), z.literal(0), z.literal(1)]),
  topic: z.string().regex(/^(?!\.{1,2}$)[\w.-]{1,249}$/, 'letters, digits, dots, dashes and underscores, 249 at most'),
  partitions: upTo(mostPartitions),
  rate: z.number().positive().max(mostOperationsPerSecond),
  concurrency: upTo(mostProcesses),
  timeLimitMs: ms,
  settleTimeoutMs: duration,
  clientTimeoutMs: duration,
  nemesis: z.array(kind),
  nemesisWeights: z.partialRecord(kind, z.number().positive()).exactOptional(),
  notAwaited: z.array(z.enum(awaitedNames)).exactOptional(),
  nemesisIntervalMs: duration,
  replicaLagTimeMaxMs: duration,
  brokerSessionTimeoutMs: duration,
  heartbeatIntervalMs: duration,
  fetchMaxWaitMs: duration,
  highWatermarkCheckpointIntervalMs: duration,
  leaveRunning: z.boolean(),
  patience: z.strictObject({ recoveryMs: ms, electionMs: ms, slowMoves: z.boolean() }).exactOptional(),
});

/** The schedule, or in one clause what is wrong with it. */
export function parseSchedule(value: unknown): Schedule | string {
  return parsed(scheduleSchema, value);
}

export function parseLoad(value: unknown): LoadPlan | string {
  return parsed(loadSchema, value);
}

export function parseConfig(value: Readonly<Record<string, unknown>>): RunConfig | string {
  return parsed(configSchema, { ...defaultRunConfig, ...value, leaveRunning: false });
}

/** What was checked is handed on as it is, its fields in their order: a plan that is stored again is the same to the byte. */
function parsed<T>(schema: z.ZodType<T>, value: unknown): T | string {
  const checked = schema.safeParse(value);
  if (checked.success) return value as T;
  const [issue] = checked.error.issues;
  if (issue === undefined) return 'it has another shape';
  if (issue.path.length > 0) return `${issue.path.map(String).join('.')}: ${issue.message}`;
  return issue.code === 'unrecognized_keys' ? issue.message : `the whole: ${issue.message}`;
}
