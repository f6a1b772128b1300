/**
 * Reads the description of somebody's broker image, and says in one line what is wrong with it.
 *
 * `docs/targets.md` explains the fields. Unknown ones are refused: a misspelt name would leave its default in force.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { z } from 'zod';
import type { ImageDescription } from '../../docker/targets/image.ts';
import { faultNames, guaranteeNames, triggerNames } from '../../docker/targets/capabilities.ts';
import { linearExpression } from '../../docker/targets/linear-expression.ts';
import { placeholderNames, strangePlaceholder } from '../../docker/targets/image.ts';
import { UsageError } from '../errors.ts';
import { mostTextBytes, whyUnreadable } from '../regular-file.ts';

const text = z.string().superRefine((value, context) => {
  if (value.includes('\0')) context.addIssue('a text cannot hold the character 0');
  const strange = strangePlaceholder(value);
  if (strange === null) return;
  context.addIssue(`there is no placeholder "${strange}"; known are ${placeholderNames.join(', ')}`);
});
const path = z
  .string()
  .regex(/^\/[^\s\0]+$/, 'write an absolute path')
  .refine((value) => posix.normalize(value) === value && !value.endsWith('/'), 'write it without . and .. and //');
const port = z.number().int().min(1).max(65_535);
const exitCode = z.number().int().min(0).max(255);
const reasons = (names: readonly string[]) => z.partialRecord(z.enum(names), z.string()).default({});
const expression = z.string().superRefine((value, context) => {
  try {
    linearExpression(value);
  } catch (error) {
    context.addIssue((error as Error).message);
  }
});

const nodeFields = {
  command: z
    .array(text)
    .min(1)
    .refine(([program]) => program !== '', 'name a program'),
  environment: z.record(z.string().regex(/^[^=\0]+$/, 'write the name of a variable'), text).default({}),
  files: z.record(path, z.array(text)).default({}),
  dataDirectory: path,
  user: z.number().int().min(1).max(65_535),
  memoryMb: z.number().int().min(16).max(65_536).default(700),
  pidsMax: z.number().int().min(1).max(10_000).default(400),
  ready: expression.nullable().default(null),
  orderlyExits: z.array(exitCode).default([0, 143]),
  environmentExits: z.array(exitCode).default([143]),
};

const descriptionSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    broker: z.strictObject({ ...nodeFields, port, logDirectory: path }),
    controller: z
      .strictObject({ ...nodeFields, port: port.nullable().default(null) })
      .nullable()
      .default(null),
    leaderMove: z.enum(['none', 'reassign']),
    logPatterns: z
      .array(
        z.strictObject({
          shows: z.enum(['isr', 'leads', 'follows', 'hw', 'truncates', 'ends-itself', 'failed-start', 'lost-session']),
          pattern: expression,
        }),
      )
      .default([]),
    cannot: z
      .strictObject({
        faults: reasons(faultNames),
        guarantees: reasons(guaranteeNames),
        triggers: reasons(triggerNames),
        exposures: z.string().nullable().default(null),
      })
      .prefault({}),
  })
  .superRefine(({ broker, controller }, context) => {
    for (const [name, node] of Object.entries({ broker, controller })) {
      for (const file of Object.keys(node?.files ?? {})) {
        if (!isBelow(file, node!.dataDirectory)) {
          context.addIssue(`${name}.files: ${file} must lie below dataDirectory ${node!.dataDirectory}`);
        }
        const within = Object.keys(node!.files).find((other) => isBelow(other, file));
        if (within !== undefined) context.addIssue(`${name}.files: ${file} is a file, and ${within} would lie in it`);
      }
    }
    if (broker.logDirectory !== broker.dataDirectory && !isBelow(broker.logDirectory, broker.dataDirectory)) {
      context.addIssue(`broker.logDirectory must lie in dataDirectory ${broker.dataDirectory}`);
    }
  });

/** The description in a file; a usage error says what is wrong with it, and where. */
export function readImageDescription(file: string): ImageDescription {
  let value: unknown;
  try {
    const why = whyUnreadable(file, mostTextBytes);
    if (why !== null) throw new Error(why);
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`--description ${file}: ${(error as Error).message.split('\n')[0]}`);
  }
  const checked = descriptionSchema.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `;
  throw new UsageError(`--description ${file}: ${where}${issue?.message ?? 'it has another shape'}`);
}

function isBelow(file: string, folder: string): boolean {
  const relative = posix.relative(folder, file);
  return relative !== '' && relative !== '..' && !relative.startsWith('../');
}
