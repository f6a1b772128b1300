import { expect, test } from 'vitest';
import { ConfigError, parseProcessConfig } from '../../../broker/server/process-config.ts';
import { processConfig } from './node-process.ts';

const sound = processConfig(1, 'epoch', '/data', 9092, 9093);

test('a whole configuration is read as it was written', () => {
  expect(parseProcessConfig(JSON.stringify(sound))).toEqual(sound);
});

test.each([
  ['{', /^the configuration is not JSON: /],
  ['[]', 'the configuration is []; it has to be an object'],
  [JSON.stringify({ ...sound, node: 'boss' }), 'node is "boss"; it has to be a number from 1 or "controller"'],
  [JSON.stringify({ ...sound, defects: 'none' }), 'defects is "none"; it has to be a list of names'],
  [JSON.stringify({ ...sound, listen: { host: 'a', port: 70_000 } }), 'listen.port is 70000; it has to be a port'],
  [JSON.stringify({ ...sound, clockOriginNs: 5 }), 'clockOriginNs is 5; it has to be nanoseconds as decimal text'],
  [JSON.stringify({ ...sound, settings: {} }), 'settings.uncleanElection is missing'],
  [
    JSON.stringify({ ...sound, settings: { ...sound.settings, heartbeatIntervalMs: 0 } }),
    'settings.heartbeatIntervalMs is 0; it has to be a whole number from 1',
  ],
])('%s is refused by the name of the field', (argument, complaint) => {
  const parse = (): unknown => parseProcessConfig(argument);
  expect(parse).toThrow(ConfigError);
  expect(parse).toThrow(complaint);
});
