/**
 * The known schedules in containers, as `npm run fidelity` plays them: our builds and the releases of Apache Kafka that
 * they stand for give the same answers.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTries } from '../../../harness/fidelity/tries.ts';
import type { Try } from '../../../harness/fidelity/tries.ts';
import { have } from '../../require.ts';

let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-fidelity-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function fidelity(...flags: readonly string[]): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const child = spawn(process.execPath, ['harness/fidelity/main.ts', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.on('data', (bytes) => (said.out += String(bytes)));
  child.stderr.on('data', (bytes) => (said.err += String(bytes)));
  child.on('close', (code) => resolve({ code, ...said }));
  return promise;
}

/** Plays one try that counts of each; a try that does not is played again, within the command's own bound. */
async function play(
  store: string,
  versions: string,
  schedules: string,
  more: readonly string[] = [],
): Promise<{ ended: Ended; counted: Try[] }> {
  const flags = ['--versions', versions, '--schedules', schedules, '--tries', '1', '--page', 'none', ...more];
  const ended = await fidelity(...flags, '--store', join(temporary, store));
  const tries = readTries(join(temporary, store, 'tries.jsonl'));
  return { ended, counted: tries.filter(({ uncounted }) => uncounted === null) };
}

const answers = (tries: readonly Try[]): string[] =>
  tries.map(({ build, schedule, lost, diverged, others }) =>
    [build, schedule, ...(lost ? ['lost'] : []), ...(diverged ? ['diverged'] : []), ...others].join(' '),
  );

describe('S1a killed, on our builds as local processes', () => {
  it('loses without a trace in the replicas on hw, and is clean on epoch', async () => {
    const { ended, counted } = await play('local', 'hw,epoch', 's1a-killed', ['--runtime', 'local']);
    expect(answers(counted)).toEqual(['hw s1a-killed lost', 'epoch s1a-killed']);
    expect(ended.code).toBe(0);
  });
});

describe.skipIf(!have.docker)('S1a paused, on our builds in containers', () => {
  it('loses and diverges on hw; each try is a run in the store', async () => {
    const { ended, counted } = await play('own', 'hw', 's1a-paused');
    expect(ended.err).toContain('| `hw` | `hw` | 1 / **1** / **1** |');
    expect(answers(counted)).toEqual(['hw s1a-paused lost diverged']);
    expect(ended.code).toBe(0);
    const files = readdirSync(join(temporary, 'own', counted[0]?.directory ?? ''));
    expect(files).toEqual(
      expect.arrayContaining(['history.jsonl', 'load.json', 'report.html', 'results.json', 'schedule.json']),
    );
  });

  it('is not played again when it is there, and its table is written into a page', async () => {
    const page = join(temporary, 'page.md');
    writeFileSync(page, 'x\n<!-- table: npm run fidelity -->\n<!-- end of table -->\ny\n');
    const store = join(temporary, 'own');
    const before = readFileSync(join(store, 'tries.jsonl'), 'utf8');
    const flags = ['--versions', 'hw', '--schedules', 's1a-paused', '--tries', '1', '--store', store, '--page', page];
    expect((await fidelity(...flags)).code).toBe(0);
    expect(readFileSync(join(store, 'tries.jsonl'), 'utf8')).toBe(before);
    expect(readFileSync(page, 'utf8')).toContain('| `hw` | `hw` | 1 / **1** / **1** |');
  });
});

/** Of brokers that take seconds to come up, and a try that may have to be played again. */
const patientMs = 400_000;

describe.skipIf(!have.kafka)('on Apache Kafka', { timeout: patientMs }, () => {
  it('S1a paused loses and diverges on 0.10.2.2, and is clean on 4.4.0', async () => {
    const { ended, counted } = await play('kafka', 'kafka:0.10.2.2,kafka:4.4.0', 's1a-paused');
    expect(answers(counted)).toEqual(['kafka:0.10.2.2 s1a-paused lost diverged', 'kafka:4.4.0 s1a-paused']);
    expect(ended.code).toBe(0);
  });
});

describe('the command', () => {
  it('explains itself', async () => {
    const { code, out } = await fidelity('--help');
    expect(code).toBe(0);
    expect(out).toContain('usage: npm run fidelity -- [options]');
  });

  it.each([
    [['--versions', 'kafka:1.0.0'], 'fidelity: --versions: there is no "kafka:1.0.0"; known are hw, hw-elect,'],
    [['--schedules', 's4'], 'fidelity: --schedules: there is no "s4"; known are s1a-paused, s1a-killed, s2, s3a'],
    [['--tries', 'many'], 'fidelity: --tries: a number from 1 to 1000'],
    [['--runtime', 'sim'], 'fidelity: --runtime: docker or local'],
    [['--speed'], "fidelity: Unknown option '--speed'"],
  ])('refuses %j in one line', async (flags, line) => {
    const { code, err } = await fidelity(...flags);
    expect(code).toBe(254);
    expect(err).toContain(line);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });
});
