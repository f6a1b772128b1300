/**
 * The config file of a night: a matrix of builds, workloads and faults, the seeds, and the time that it may take.
 *
 * Workloads and faults are the flags of the command line by their names, and are parsed by the command line's own code:
 * what a flag refuses is refused here with the same words. Which flags there are is asked of that code too, so that the
 * two cannot drift apart. `docs/nightly.schema.json` is generated from this file, and a test holds it.
 *
 * Invariant: no field passes unseen. A misspelt one would let a night test something else than its owner believes.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, type Option } from 'commander';
import { z } from 'zod';
import { addRunOptions, type RunFlags } from '../cli/options.ts';
import { EnvironmentError, UsageError, environmentErrorFrom, errorCode } from '../errors.ts';
import { greatestSeed } from '../plan/limits.ts';
import { demandFile, mostTextBytes } from '../regular-file.ts';

/** One side of a pair of builds. */
export interface NightSide {
  readonly build: string;
  readonly defect?: string | readonly string[] | undefined;
}

/** Flags by their names, without the dashes. */
export type FlagValues = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The file as it stands, but for what may be left out. */
export interface NightConfig {
  /** `3h`; see {@link budgetMsOf}. */
  readonly budget: string;
  readonly runtime?: RunFlags['runtime'];
  readonly description?: string | undefined;
  readonly seeds: { readonly from?: number | undefined; readonly count: number };
  readonly builds: Readonly<Record<string, { readonly control: NightSide; readonly candidate: NightSide }>>;
  readonly workloads: Readonly<Record<string, FlagValues>>;
  readonly faults: Readonly<Record<string, FlagValues>>;
}

/** As many as `compare` takes. */
const mostSeeds = 10_000;
const longestBudgetMs = 7 * 24 * 3_600_000;
const faultFlags = ['nemesis', 'nemesis-weights', 'nemesis-interval'];
const lists = ['nemesis', 'nemesis-weights'];
/** Those that the file says elsewhere, or that are no matter of a cell. */
const otherFlags = ['runtime', 'seed', 'store', 'json', 'defect', 'description'];

const options = newCommand().options.map((option) => [nameOf(option), option] as const);

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'write a name of at most 40 lower-case letters, digits, - and _');
const text = z.string().min(1).max(1_000);
const side = z
  .union([text, z.strictObject({ build: text, defect: z.union([text, z.array(text)]).optional() })], {
    error: () => 'write a build such as epoch, or { "build": "epoch", "defect": "ack-at-leo" }',
  })
  .transform((value): NightSide => (typeof value === 'string' ? { build: value } : value))
  .describe('A build as `--build` takes it, or one with bugs switched on as `--defect` does.');

const nightConfigSchema = z
  .strictObject({
    $schema: z.string().optional(),
    schemaVersion: z.literal(1),
    budget: text
      .regex(/^\d{1,7}(\.\d{1,3})?[smh]$/, 'write a time such as 3h, 90m or 45s')
      .refine((budget) => msOf(budget) >= 1_000 && msOf(budget) <= longestBudgetMs, 'write a time from 1s to 168h')
      .describe('How long the night may take: 3h, 90m, 45s.'),
    runtime: z
      .enum(['sim', 'local', 'docker'])
      .optional()
      .describe('Where brokers run; without it in containers where an engine answers, else as local processes.'),
    description: text.optional().describe('Of the brokers of image:<ref>, as `--description`: see docs/targets.md.'),
    seeds: z
      .strictObject({
        from: z.number().int().min(0).max(greatestSeed).optional().describe('The first; without it, it is drawn.'),
        count: z.number().int().min(1).max(mostSeeds).describe('Pairs of each cell.'),
      })
      .describe('The same for all cells.'),
    builds: groups(z.strictObject({ control: side, candidate: side })).describe(
      'Pairs of builds by name: the control is expected to break, the candidate is to keep its word.',
    ),
    workloads: groups(flags((flag) => !faultFlags.includes(flag)))
      .optional()
      .describe('Sets of flags of load and cluster, by name.'),
    faults: groups(flags((flag) => faultFlags.includes(flag)))
      .optional()
      .describe('Sets of flags of the nemesis, by name.'),
  })
  .transform(({ schemaVersion: _version, $schema: _schema, ...rest }): NightConfig => ({
    ...rest,
    workloads: rest.workloads ?? { default: {} },
    faults: rest.faults ?? { default: {} },
  }));

export function budgetMsOf({ budget }: NightConfig): number {
  return msOf(budget);
}

/** Reads the file. Throws a UsageError of one line that says where and what. */
export function readNightConfig(path: string): NightConfig {
  let value: unknown;
  try {
    demandFile(path, mostTextBytes);
    const written = readFileSync(path, 'utf8');
    value = JSON.parse(written, refuseProto);
    refuseTwice(written);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR')
      throw new UsageError(`there is no ${path}: docs/nightly.md shows how to write one`);
    if (error instanceof UsageError) throw new UsageError(`${path}: ${error.message}`);
    if (error instanceof SyntaxError) throw new UsageError(`${path} is not JSON: ${error.message.split('\n')[0]}`);
    if (error instanceof RangeError) throw new UsageError(`${path}: objects or lists stand too deep within each other`);
    if (error instanceof EnvironmentError) throw new UsageError(error.message);
    throw environmentErrorFrom(error, `${path} cannot be read`);
  }
  const parsed = parseNightConfig(value);
  if ('flaw' in parsed) throw new UsageError(`${path}: ${parsed.flaw}`);
  return parsed.config;
}

/** The one field that would pass unseen, whatever a schema says. */
function refuseProto(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new UsageError('__proto__: there is no such field; docs/nightly.md lists them');
  return value;
}

/**
 * Refuses a field that stands twice in one object: the parser takes the last, and the night would test something else than
 * the other one says. `written` is JSON.
 */
function refuseTwice(written: string): void {
  // Of each object or list that is open: its keys, and where it stands.
  const open: { readonly keys: Set<string>; readonly path: string; last: string }[] = [];
  for (const [token, key] of written.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    const inner = open.at(-1);
    if (key !== undefined) {
      const field = String(JSON.parse(key));
      if (inner?.keys.has(field) === true) throw new UsageError(`${inner.path}${field}: it stands there twice`);
      if (inner === undefined) continue;
      inner.keys.add(field);
      inner.last = `${field}.`;
    } else if (token === '{' || token === '[') {
      open.push({ keys: new Set(), path: `${inner?.path ?? ''}${inner?.last ?? ''}`, last: '' });
    } else if (token === '}' || token === ']') open.pop();
  }
}

/** Checks a parsed file: the config, or in one clause which field is wrong and why. */
export function parseNightConfig(value: unknown): { readonly config: NightConfig } | { readonly flaw: string } {
  const checked = nightConfigSchema.safeParse(value);
  if (checked.success) return { config: checked.data };
  const [issue] = checked.error.issues;
  return { flaw: issue === undefined ? 'it has another shape' : flawOf(issue) };
}

/** The published JSON Schema (draft 2020-12) of the file. */
export function nightConfigJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(nightConfigSchema, { target: 'draft-2020-12', io: 'input' });
  return { $schema, title: 'The config file of `tidemark nightly`', ...schema };
}

/** What the command line makes of flags. A UsageError begins with `where` they stand. */
export function parseFlags(where: string, values: FlagValues): { readonly flags: RunFlags; readonly command: Command } {
  const command = newCommand();
  const argv = Object.entries(values).flatMap(([flag, value]) => {
    if (value === false) return [];
    if (value === true) return [`--${flag}`];
    return [`--${flag}=${Array.isArray(value) ? value.join(',') : String(value)}`];
  });
  try {
    command.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof CommanderError)) throw error;
    throw new UsageError(`${where}: ${error.message.replace(/^error: /, '')}`);
  }
  return { flags: command.opts<RunFlags>(), command };
}

function newCommand(): Command {
  const silent = (): void => {};
  return addRunOptions(new Command().exitOverride().configureOutput({ writeErr: silent, writeOut: silent }));
}

function nameOf(option: Option): string {
  return (option.long ?? '').replace(/^--/, '');
}

function groups<Group extends z.ZodType>(group: Group): z.ZodRecord<typeof name, Group> {
  return z.record(name, group).refine((named) => Object.keys(named).length > 0, 'name at least one') as z.ZodRecord<
    typeof name,
    Group
  >;
}

/** An object whose fields are flags of the command line. */
function flags(isOne: (flag: string) => boolean): z.ZodType<FlagValues, FlagValues> {
  const shape = options
    .filter(([flag]) => isOne(flag) && !otherFlags.includes(flag))
    .map(([flag, option]) => {
      const single = [text, z.number()] as const;
      const said = { error: () => `write what --${flag} takes` };
      const value = lists.includes(flag) ? z.union([...single, z.array(text)], said) : z.union(single, said);
      const typed: z.ZodType = option.required ? value : z.boolean();
      return [flag, typed.optional().describe(option.description)] as const;
    });
  return z.strictObject(Object.fromEntries(shape)) as unknown as z.ZodType<FlagValues, FlagValues>;
}

function msOf(budget: string): number {
  const unitMs = budget.endsWith('h') ? 3_600_000 : budget.endsWith('m') ? 60_000 : 1_000;
  return Math.round(Number(budget.slice(0, -1)) * unitMs);
}

type Issue = z.core.$ZodIssue;

/** Where and what, in one clause. */
function flawOf(issue: Issue, before: readonly PropertyKey[] = []): string {
  const path = [...before, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return `${pathOf([...path, issue.keys[0] ?? ''])}: there is no such field; docs/nightly.md lists them`;
  }
  if (issue.code === 'invalid_key') return `${pathOf(path)}: ${issue.issues[0]?.message ?? issue.message}`;
  if (issue.code === 'invalid_union') {
    // Of several shapes the one that was meant is the one that fits on the outside.
    const meant = issue.errors.flat().find(({ code, path: at }) => code === 'unrecognized_keys' || at.length > 0);
    if (meant !== undefined) return flawOf(meant, path);
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined'))
    return `${pathOf(path)}: it is missing`;
  return `${pathOf(path)}: ${issue.message.replace(/^Invalid (?:input|option): /, '')}`;
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'the whole' : path.map(String).join('.');
}
