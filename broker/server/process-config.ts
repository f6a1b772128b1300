/**
 * Reads the one argument of a node's process: a {@link ProcessConfig} as JSON.
 *
 * It comes from a harness or from somebody who tries things out by hand, so each mistake is named by its field.
 */
import type { ClusterSettings, ProcessConfig } from '../core/settings.ts';

/** The message is one line for a person. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Fields = Readonly<Record<string, unknown>>;
type Address = ProcessConfig['listen'];

export function parseProcessConfig(argument: string | undefined): ProcessConfig {
  if (argument === undefined) throw new ConfigError('give the configuration of the process as JSON, in one argument');
  const config = fieldsOf(parseJson(argument), 'the configuration');
  const node = config['node'];
  if (node !== 'controller' && !isCount(node, 1)) fail('node', 'a number from 1 or "controller"', node);
  return {
    node,
    build: textOf(config, 'build'),
    defects: defectsOf(config['defects']),
    clusterId: textOf(config, 'clusterId'),
    dataDirectory: textOf(config, 'dataDirectory'),
    listen: addressOf(config, 'listen'),
    advertised: addressOf(config, 'advertised'),
    controller: addressOf(config, 'controller'),
    clockOriginNs: originOf(config),
    settings: settingsOf(config['settings']),
  };
}

function parseJson(argument: string): unknown {
  try {
    return JSON.parse(argument);
  } catch (error) {
    throw new ConfigError(`the configuration is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(name, 'an object', value);
  return value as Fields;
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '' || /[\r\n]/.test(value)) fail(name, 'a text of one line', value);
  return value;
}

function defectsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string'))
    fail('defects', 'a list of names', value);
  return value;
}

function addressOf(config: Fields, name: string): Address {
  const fields = fieldsOf(config[name], name);
  const { port } = fields;
  if (!isCount(port, 1) || port > 65_535) fail(`${name}.port`, 'a port from 1 to 65535', port);
  const host = fields['host'];
  if (typeof host !== 'string' || host === '') fail(`${name}.host`, 'a host', host);
  return { host, port };
}

function originOf(config: Fields): string {
  const value = config['clockOriginNs'];
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value))
    fail('clockOriginNs', 'nanoseconds as decimal text', value);
  return value;
}

function settingsOf(value: unknown): ClusterSettings {
  const fields = fieldsOf(value, 'settings');
  const count = (name: string): number => {
    const number = fields[name];
    if (!isCount(number, 1)) fail(`settings.${name}`, 'a whole number from 1', number);
    return number;
  };
  const { uncleanElection } = fields;
  if (typeof uncleanElection !== 'boolean') fail('settings.uncleanElection', 'true or false', uncleanElection);
  return {
    replicaLagTimeMaxMs: count('replicaLagTimeMaxMs'),
    brokerSessionTimeoutMs: count('brokerSessionTimeoutMs'),
    heartbeatIntervalMs: count('heartbeatIntervalMs'),
    fetchMaxWaitMs: count('fetchMaxWaitMs'),
    highWatermarkCheckpointIntervalMs: count('highWatermarkCheckpointIntervalMs'),
    minInsyncReplicas: count('minInsyncReplicas'),
    uncleanElection,
  };
}

function isCount(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

function fail(name: string, wanted: string, found: unknown): never {
  const shown = found === undefined ? 'is missing' : `is ${JSON.stringify(found).slice(0, 60)}`;
  throw new ConfigError(`${name} ${shown}; it has to be ${wanted}`);
}
