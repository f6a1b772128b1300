/** What a config file may say, and in which one line it is refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../../harness/errors.ts';
import { cellsOf, type Around } from '../../../harness/nightly/cells.ts';
import { nightConfigJsonSchema, parseNightConfig, readNightConfig } from '../../../harness/nightly/config.ts';
import { expectGolden } from '../../golden.ts';

const smallest = {
  schemaVersion: 1,
  budget: '3h',
  seeds: { count: 5 },
  builds: { 'hw-epoch': { control: 'hw', candidate: 'epoch' } },
};
const around: Around = { file: 'n.json', runtime: 'sim', seeds: { from: 1, count: 5 } };

function configOf(changes: object): ReturnType<typeof readNightConfig> {
  const parsed = parseNightConfig({ ...smallest, ...changes });
  if ('flaw' in parsed) throw new Error(parsed.flaw);
  return parsed.config;
}

describe('the config file of a night', () => {
  it('needs a budget, seeds and builds; one workload and one set of faults are those of the defaults', async () => {
    const cells = await cellsOf(configOf({}), around);
    expect(cells.map(({ name }) => name)).toEqual(['hw-epoch.default.default']);
    expect(cells[0]).toMatchObject({
      sameBuilds: false,
      command: 'npm start -- --control hw --candidate epoch --seed 1 --test-count 5 --runtime sim',
    });
  });

  it('has a cell for each builds, workload and faults, in the order of the file', async () => {
    const cells = await cellsOf(readNightConfig('docs/examples/nightly.json'), around);
    expect(cells).toHaveLength(4 * 3 * 2);
    expect(cells.slice(0, 3).map(({ name }) => name)).toEqual([
      'hw-epoch.steady.mixed',
      'hw-epoch.steady.handovers',
      'hw-epoch.busy.mixed',
    ]);
    expect(cells.filter(({ sameBuilds }) => sameBuilds).map(({ builds }) => builds)).toEqual(Array(6).fill('same'));
    const early = cells.find(({ name }) => name === 'early-ack.five-brokers.handovers');
    expect(early?.labels).toEqual({ control: 'epoch with ack-at-leo', candidate: 'epoch' });
    // `compare` gives both sides the same bugs, so it cannot repeat this one.
    expect(early?.command).toBeNull();
    expect(early?.configure('epoch', 3, 'control')).toMatchObject({
      seed: 3,
      brokers: 5,
      defects: ['ack-at-leo'],
      nemesis: ['handover-crash', 'rejoin-crash', 'leader-burst'],
      nemesisIntervalMs: 2_000,
    });
    expect(early?.configure('epoch', 3, 'candidate').defects).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['extra: there is no such field; docs/nightly.md lists them', { extra: 1 }],
    ['workloads.w.rat: there is no such field; docs/nightly.md lists them', { workloads: { w: { rat: 5 } } }],
    ['faults.f.rate: there is no such field; docs/nightly.md lists them', { faults: { f: { rate: 5 } } }],
    ['workloads.w.seed: there is no such field; docs/nightly.md lists them', { workloads: { w: { seed: 5 } } }],
    [
      'builds.x.candidate.defct: there is no such field; docs/nightly.md lists them',
      { builds: { x: { control: 'hw', candidate: { build: 'epoch', defct: 'a' } } } },
    ],
    [
      'builds.x.candidate: write a build such as epoch, or { "build": "epoch", "defect": "ack-at-leo" }',
      { builds: { x: { control: 'hw' } } },
    ],
    [
      'builds.A/B: write a name of at most 40 lower-case letters, digits, - and _',
      { builds: { 'A/B': smallest.builds['hw-epoch'] } },
    ],
    ['builds: name at least one', { builds: {} }],
    ['budget: write a time such as 3h, 90m or 45s', { budget: 'three hours' }],
    ['budget: write a time from 1s to 168h', { budget: '900h' }],
    ['budget: it is missing', { budget: undefined }],
    ['schemaVersion: expected 1', { schemaVersion: 2 }],
    ['workloads.w.rate: write what --rate takes', { workloads: { w: { rate: true } } }],
    ['workloads.w.unclean: expected boolean, received string', { workloads: { w: { unclean: 'yes' } } }],
    ['runtime: expected one of "sim"|"local"|"docker"', { runtime: 'cloud' }],
  ])('says %s', (flaw, changes) => {
    expect(parseNightConfig({ ...smallest, ...(changes as object) })).toEqual({ flaw });
  });

  it('is refused where it is no object at all', () => {
    expect(parseNightConfig(null)).toEqual({ flaw: 'the whole: expected object, received null' });
  });

  it.each<[string, object, Partial<Around>?]>([
    ['n.json: workloads.w: --rate abc: write a whole number from 1 to 100000', { workloads: { w: { rate: 'abc' } } }],
    ['n.json: workloads.w: --acks 2: write all, 1 or 0', { workloads: { w: { acks: 2 } } }],
    ['n.json: faults.f: --nemesis: there is no "flood"', { faults: { f: { nemesis: ['crash', 'flood'] } } }],
    ['n.json: cell x.default.default: there is no build "hwm"', { builds: { x: { control: 'hw', candidate: 'hwm' } } }],
    [
      'n.json: builds.x.control: --defect: there is no "ack-at-hw"',
      { builds: { x: { control: { build: 'epoch', defect: 'ack-at-hw' }, candidate: 'epoch' } } },
    ],
    [
      'n.json: cell hw-epoch.w.default: --min-insync 4 exceeds --replication-factor 3',
      { workloads: { w: { 'min-insync': 4 } } },
    ],
    [
      'n.json: cell x.default.default: --runtime sim: kafka:2.8.2 runs in containers only',
      { builds: { x: { control: 'kafka:2.8.2', candidate: 'epoch' } } },
    ],
    [
      'n.json: cell hw-epoch.default.f: --nemesis slow-links: runtime local cannot do that',
      { faults: { f: { nemesis: 'slow-links' } } },
      { runtime: 'local' },
    ],
    ['n.json: description: it describes an image:<ref>, and no build is one', { description: 'image.json' }],
    [
      'n.json: 1 builds, 11 workloads and 10 faults make 110 cells, and 100 are the most',
      {
        workloads: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`w${index}`, {}])),
        faults: Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`f${index}`, {}])),
      },
    ],
  ])('is refused with the flag’s own words: %s', async (words, changes, place = {}) => {
    const cells = cellsOf(configOf(changes), { ...around, ...place });
    await expect(cells).rejects.toThrow(UsageError);
    await expect(cells).rejects.toThrow(words);
  });

  it('is described by docs/nightly.schema.json', () => {
    expectGolden('docs/nightly.schema.json', `${JSON.stringify(nightConfigJsonSchema(), null, 2)}\n`);
  });
});

describe('reading the config file', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'tidemark-config-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('tells a file that is missing, a folder, and what is no JSON, each in one line', () => {
    const path = join(directory, 'n.json');
    expect(() => readNightConfig(path)).toThrow(`there is no ${path}: docs/nightly.md shows how to write one`);
    expect(() => readNightConfig(directory)).toThrow(`${directory} cannot be read: it is a folder`);
    writeFileSync(path, '{ "budget": "3h", }');
    expect(() => readNightConfig(path)).toThrow(`${path} is not JSON: `);
    writeFileSync(path, '{ "builds": { "__proto__": { "control": "hw", "candidate": "epoch" } } }');
    expect(() => readNightConfig(path)).toThrow(`${path}: __proto__: there is no such field`);
    writeFileSync(path, `{ "builds": ${'['.repeat(100_000)}${']'.repeat(100_000)} }`);
    expect(() => readNightConfig(path)).toThrow(UsageError);
    expect(() => readNightConfig(path)).toThrow(`${path}: objects or lists stand too deep within each other`);
    writeFileSync(path, '{ "budget": "3h" }');
    expect(() => readNightConfig(path)).toThrow(`${path}: schemaVersion: `);
  });

  it.each([
    ['budget', '{ "budget": "3h", "seeds": { "count": 1 }, "budget": "5h" }'],
    ['builds.a', '{ "budget": "3h", "builds": { "a": { "control": "hw" }, "b": "a", "\\u0061": {} } }'],
    ['builds.b.control', '{ "builds": { "a": { "control": "hw" }, "b": { "control": "}{\\"", "control": "hw" } } }'],
  ])('refuses %s where it stands twice, since only the last would count', (field, written) => {
    const path = join(directory, 'n.json');
    writeFileSync(path, written);
    expect(() => readNightConfig(path)).toThrow(`${path}: ${field}: it stands there twice`);
  });
});
