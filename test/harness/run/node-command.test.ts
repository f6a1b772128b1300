import { describe, expect, it } from 'vitest';
import { defaultRunConfig } from '../../../harness/plan/config.ts';
import { lastWords, nodeCommand } from '../../../harness/run/node-command.ts';

const place = {
  dataDirectory: '/data',
  listen: { host: '0.0.0.0', port: 9092 },
  advertised: { host: '10.0.0.2', port: 9092 },
  controller: { host: '10.0.0.9', port: 9093 },
};

describe('the command of a node', () => {
  const command = nodeCommand({ ...defaultRunConfig, build: '1=hw,2-3=epoch', defects: ['ack-at-leo'] }, 42n);

  it('names the program, and tells it everything in one argument', () => {
    const [program, argument] = command({ node: 1, ...place });
    expect(program).toBe('broker/server/main.ts');
    expect(JSON.parse(argument ?? '')).toMatchObject({
      node: 1,
      build: 'hw',
      defects: ['ack-at-leo'],
      clockOriginNs: '42',
      ...place,
      settings: { minInsyncReplicas: 2, uncleanElection: false, replicaLagTimeMaxMs: 2_000 },
    });
  });

  it('gives the controller the same defects as the brokers: each heeds its own', () => {
    const [program, argument] = command({ node: 'controller', ...place });
    expect(program).toBe('broker/server/controller-main.ts');
    expect(JSON.parse(argument ?? '')).toMatchObject({
      node: 'controller',
      build: 'controller',
      defects: ['ack-at-leo'],
    });
  });

  it('is not made of builds that are none: those were refused before', () => {
    expect(() => nodeCommand({ ...defaultRunConfig, build: 'kip966' }, 0n)).toThrow('there is no build "kip966"');
  });
});

describe('the last words of a node', () => {
  it.each([
    ['exit code 255: {"level":60,"node":3,"msg":"cannot write x: ENOSPC"}', 'exit code 255: cannot write x: ENOSPC'],
    ['SIGKILL: {"level":30,"node":3}', 'SIGKILL: {"level":30,"node":3}'],
    ['SIGKILL: {"level":30,"msg":"torn', 'SIGKILL: {"level":30,"msg":"torn'],
    ['SIGKILL: it left no log', 'SIGKILL: it left no log'],
  ])('%s', (detail, words) => {
    expect(lastWords(detail)).toBe(words);
  });
});
