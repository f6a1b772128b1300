import { describe, expect, it } from 'vitest';
import { tidemark } from './tidemark.ts';

describe('tidemark doctor', () => {
  it('says in one document what is here, whatever is missing', async () => {
    const { code, out } = await tidemark(['doctor', '--json'], { env: { DOCKER_HOST: 'unix:///nowhere/docker.sock' } });
    expect(code).toBe(0);
    const document = JSON.parse(out) as {
      checks: { name: string; state: string; found: string }[];
      runs: { name: string; able: boolean }[];
    };
    expect(document).toMatchObject({ schemaVersion: 1, type: 'doctor' });
    expect(document.checks.find(({ name }) => name === 'engine')).toMatchObject({
      state: 'missing',
      found: 'no Docker engine here: there is no socket /nowhere/docker.sock',
    });
    expect(document.checks.find(({ name }) => name === 'node')).toMatchObject({ state: 'ok' });
    expect(document.runs.map(({ name, able }) => [name, able])).toEqual([
      ['sim', true],
      ['local', true],
      ['docker', false],
      ['kafka', false],
    ]);
  });

  it('says it in words', async () => {
    const { code, out } = await tidemark(['doctor']);
    expect(code).toBe(0);
    expect(out).toMatch(/^This machine\n  Node {8}ok +Node \d/);
    expect(out).toContain('\nWhat can be run here\n  sim ');
    expect(out).toContain('\nWhat can be done and known ');
  });
});
