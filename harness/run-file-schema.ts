/**
 * The shape of a `run.json`, as far as anybody relies on it, and of what a configuration promises: checked as soon as
 * they are read, since a store may be old, damaged, or somebody else's. Unknown fields are allowed everywhere.
 */
import { z } from 'zod';
import { capabilities, count, flawOf } from './schemas.ts';

/**
 * A process that ended without an action of ours: while it started, or later. `blame`: its own, or that of what it ran
 * in. `lastLines` are the last of its own output.
 */
const processEnd = z.looseObject({
  node: z.union([z.number().int(), z.literal('controller')]),
  detail: z.string(),
  lastLines: z.array(z.string()).optional(),
  blame: z.enum(['node', 'environment']),
  phase: z.enum(['start', 'running']),
  time: z.number().optional(),
});

/** What the checker takes from `run.json`, whatever else stands there. */
const runFileSchema = z.looseObject({
  schemaVersion: z.literal(1).optional(),
  name: z.string().optional(),
  command: z.string().nullish(),
  configuration: z.record(z.string(), z.unknown()),
  settled: z.boolean().nullish(),
  healed: z.boolean().nullish(),
  settleMs: z.number().nullish(),
  residual: z.array(z.string()).optional(),
  finalLeaders: z.record(z.string(), z.number().nullable()).optional(),
  finalReadComplete: z.boolean().nullish(),
  logsCollected: z.boolean().nullish(),
  completed: z.boolean().nullish(),
  error: z.string().nullish(),
  recordedLines: z.object({ history: count, trace: count, observations: count.optional() }).nullish(),
  collectedBytes: count.nullish(),
  // Of brokers that tell no trace.
  observed: z.boolean().nullish(),
  target: z.looseObject({ name: z.string(), versions: z.record(z.string(), z.string()).optional() }).nullish(),
  capabilities: capabilities.nullish(),
  ends: z.array(processEnd).optional(),
});

/** What a configuration promises; where it does not say, the defaults. */
const promisesSchema = z.object({
  acks: z.union([z.literal('all'), z.literal(0), z.literal(1)]).catch('all'),
  minInsyncReplicas: z.number().int().catch(2),
  uncleanElection: z.boolean().catch(false),
});

/** A `run.json`, as far as anybody relies on it. */
export type RunFile = z.output<typeof runFileSchema>;

/** Checks a parsed `run.json`: what it says, or in one clause what is wrong with it. */
export function parseRunFile(value: unknown): { readonly file: RunFile } | { readonly flaw: string } {
  const checked = runFileSchema.safeParse(value);
  return checked.success ? { file: checked.data } : { flaw: flawOf(checked.error) };
}

/** What a configuration promises. */
export function parsePromises(configuration: Readonly<Record<string, unknown>>): z.output<typeof promisesSchema> {
  return promisesSchema.parse(configuration);
}
