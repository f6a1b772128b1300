/** `tidemark compare` of two releases of Apache Kafka: clusters side by side, each serving several runs. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { label } from '../../../docker/labels.ts';
import { have } from '../../require.ts';
import { tidemark } from '../cli/tidemark.ts';

let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-kafka-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

describe.skipIf(!have.kafka)('a comparison of kafka:0.10.2.2 with kafka:4.4.0', () => {
  it('meets both with the same plan, blames the newer one for nothing, and leaves no container', async () => {
    const store = join(temporary, 'store');
    const argv = ['compare', '--control', 'kafka:0.10.2.2', '--candidate', 'kafka:4.4.0', '--test-count', '2'];
    const small = ['--seed', '11', '--time-limit', '14s', '--nemesis', 'handover-crash', '--partitions', '4'];
    const ended = await tidemark([...argv, ...small, '--json', '--store', store], { boundMs: 800_000 });
    expect([0, 2, 3], ended.err).toContain(ended.code);
    const results = JSON.parse(ended.out) as { candidate: unknown; control: unknown };
    expect(results.control).toMatchObject({ build: 'kafka:0.10.2.2', runs: 2 });
    expect(results.candidate).toMatchObject({ build: 'kafka:4.4.0', runs: 2, anomalous: 0 });
    const runs = join(realpathSync(join(store, 'latest')), 'runs');
    for (const seed of [11, 12]) {
      const plans = ['control', 'candidate'].map((side) => readFileSync(join(runs, `${side}-${seed}/schedule.json`)));
      expect(plans[0]).toEqual(plans[1]);
      expect(existsSync(join(runs, `control-${seed}/observations.jsonl`))).toBe(true);
    }
    const left = execFileSync('docker', ['ps', '--all', '--quiet', '--filter', `label=${label.run}`], {
      encoding: 'utf8',
    });
    expect(left).toBe('');
  }, 900_000);
});
