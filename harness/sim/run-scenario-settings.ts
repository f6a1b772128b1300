/**
 * The configuration of a run as lines `set <name> to <value>`, where it is not the default.
 *
 * What Kafka has a name for goes by that name, everything else by its name in `run.json`, in small letters.
 */
import { defaultRunConfig } from '../plan/config.ts';
import type { RunConfig } from '../plan/config.ts';
import { isSame, parsed } from './run-scenario-lines.ts';

type Field = keyof RunConfig;

const kafkaNames: Readonly<Partial<Record<Field, string>>> = {
  replicationFactor: 'default.replication.factor',
  minInsyncReplicas: 'min.insync.replicas',
  uncleanElection: 'unclean.leader.election.enable',
  partitions: 'num.partitions',
  replicaLagTimeMaxMs: 'replica.lag.time.max.ms',
  brokerSessionTimeoutMs: 'broker.session.timeout.ms',
  heartbeatIntervalMs: 'broker.heartbeat.interval.ms',
  fetchMaxWaitMs: 'replica.fetch.wait.max.ms',
  highWatermarkCheckpointIntervalMs: 'replica.high.watermark.checkpoint.interval.ms',
};

/** These have lines of their own. */
const ownLines: readonly Field[] = ['build', 'brokers', 'seed', 'defects', 'runtime'];
/** Fields that have no default. */
const optional: readonly Field[] = ['nemesisWeights'];

const fieldsByName = new Map<string, Field>(
  ([...Object.keys(defaultRunConfig), ...optional] as Field[])
    .filter((field) => !ownLines.includes(field))
    .map((field) => [nameOf(field), field]),
);

const runSettingNames: readonly string[] = [...fieldsByName.keys()];

/** The lines that make the configuration of the defaults. */
export function writeSettings(config: RunConfig): string[] {
  const defaults: Readonly<Partial<RunConfig>> = defaultRunConfig;
  return [...fieldsByName].flatMap(([name, field]) => {
    const value = config[field];
    return value === undefined || isSame(value, defaults[field]) ? [] : [`set ${name} to ${valueText(value)}`];
  });
}

/** One more setting; a text says why it cannot be. */
export function readSetting(config: Partial<RunConfig>, name: string, text: string): Partial<RunConfig> | string {
  const field = fieldsByName.get(name);
  if (field === undefined) return `what can be set: ${runSettingNames.join(', ')}`;
  const json = parsed(text);
  const value = json === undefined ? text : json;
  const flaw = flawOf(field, value);
  return flaw === null ? { ...config, [field]: value } : flaw;
}

function nameOf(field: Field): string {
  return kafkaNames[field] ?? field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Words stand as they are, unless they would read as something else. */
function valueText(value: unknown): string {
  const isWord = typeof value === 'string' && /^[\w.-]+$/.test(value) && parsed(value) === undefined;
  return isWord ? value : JSON.stringify(value);
}

function flawOf(field: Field, value: unknown): string | null {
  if (field === 'acks') return value === 'all' || value === 0 || value === 1 ? null : 'acks are all, 0 or 1';
  if (field === 'nemesisWeights') return typeof value === 'object' && value !== null ? null : 'it is an object';
  const example: unknown = (defaultRunConfig as Partial<RunConfig>)[field];
  if (Array.isArray(example)) return Array.isArray(value) ? null : 'it is a list such as ["crash"]';
  if (typeof value !== typeof example) return `it is a ${typeof example}, as ${valueText(example)}`;
  if (typeof value !== 'number') return null;
  const most = mostOf[field] ?? MOST;
  return value >= 0 && value <= most ? null : `it is a number from 0 to ${most}`;
}

/** A run that can be played in reasonable time. */
const mostOf: Readonly<Partial<Record<Field, number>>> = {
  replicationFactor: 9,
  minInsyncReplicas: 9,
  partitions: 1_000,
  rate: 1_000_000,
  concurrency: 10_000,
};
const MOST = 86_400_000;
