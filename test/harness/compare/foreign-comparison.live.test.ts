/** `tidemark compare` of two releases of Apache Kafka: clusters side by side, each serving several runs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
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

/** What truncating to the high watermark can do, even in a run as small as this. */
const flaws = ['lost-acked-write', 'replica-divergence', 'inconsistent-offsets'];

interface Run {
  readonly results: { readonly valid: boolean; readonly anomalies: readonly { readonly kind: string }[] };
  readonly file: Readonly<Record<string, unknown>>;
  readonly plan: string;
  readonly sources: ReadonlySet<string>;
}

function readRun(folder: string): Run {
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const lines = read('observations.jsonl').trimEnd().split('\n');
  return {
    results: JSON.parse(read('results.json')) as Run['results'],
    file: JSON.parse(read('run.json')) as Run['file'],
    plan: read('schedule.json'),
    sources: new Set(lines.map((line) => (JSON.parse(line) as { source: string }).source)),
  };
}

describe.skipIf(!have.kafka)('a comparison of kafka:0.10.2.2 with kafka:4.4.0', () => {
  it('meets both with the same crashes, judges each run, blames the newer one for nothing, and leaves no container', async () => {
    const store = join(temporary, 'store');
    const argv = ['compare', '--control', 'kafka:0.10.2.2', '--candidate', 'kafka:4.4.0', '--test-count', '2'];
    const small = ['--seed', '5', '--time-limit', '6s', '--nemesis', 'crash', '--partitions', '2'];
    const ended = await tidemark([...argv, ...small, '--json', '--store', store], { boundMs: 800_000 });
    expect([0, 2, 3], ended.err).toContain(ended.code);
    const results = JSON.parse(ended.out) as { candidate: unknown; control: unknown };
    expect(results.control).toMatchObject({ build: 'kafka:0.10.2.2', runs: 2 });
    expect(results.candidate).toMatchObject({ build: 'kafka:4.4.0', runs: 2, anomalous: 0 });
    const runs = join(realpathSync(join(store, 'latest')), 'runs');
    for (const seed of [5, 6]) {
      const [control, candidate] = ['control', 'candidate'].map((side) => readRun(join(runs, `${side}-${seed}`)));
      expect(control!.plan).toBe(candidate!.plan);
      const kinds = control!.results.anomalies.map(({ kind }) => kind);
      expect(kinds.filter((kind) => !flaws.includes(kind))).toEqual([]);
      expect(control!.results.valid).toBe(kinds.length === 0);
      expect(candidate!.results.valid).toBe(true);
      for (const { file, sources } of [control!, candidate!]) {
        expect(file).toMatchObject({ healed: true, settled: true, finalReadComplete: true, logsCollected: true });
        expect(sources).toEqual(new Set(['metadata', 'log', 'segments', 'client', 'harness']));
      }
    }
    const left = execFileSync('docker', ['ps', '--all', '--quiet', '--filter', `label=${label.run}`], {
      encoding: 'utf8',
    });
    expect(left).toBe('');
  }, 900_000);
});
