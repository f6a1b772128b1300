/** What a bundle holds, and that it is as good as the folder that it was made from. */
import {
  cpSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGunzip, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unpack } from '../../../docker/archive.ts';
import { writeBundle } from '../../../harness/bundle/bundle.ts';
import { contentsOf } from '../../../harness/bundle/contents.ts';
import { checkRunDirectory } from '../../../harness/check/load-run.ts';
import { EnvironmentError, InterruptedError, UsageError } from '../../../harness/errors.ts';
import { writeComparisonReport } from '../../../harness/report/comparison.ts';
import { writeRunReport } from '../../../harness/report/run.ts';
import { executeSimulatedRun, planOf } from '../../../harness/run/simulated-run.ts';
import { defaultRunConfig } from '../../../harness/plan/config.ts';
import { writeComparisonFolder } from '../report/folder.ts';

let temporary = '';
let run = '';
const signal = new AbortController().signal;

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-bundle-'));
  run = join(temporary, 'store/run/2026-11-30T101019227Z');
  const config = { ...defaultRunConfig, build: 'hw', runtime: 'sim', seed: 1, partitions: 3 } as const;
  const request = { config, schedule: planOf(config) };
  const kept = { name: 'hw-1', command: 'again', directory: run, keep: () => true, report: writeRunReport };
  if (executeSimulatedRun({ request, ...kept }).results?.valid !== false)
    throw new Error('the run that these tests stand on found nothing');
  // A broker that left nothing.
  mkdirSync(join(run, 'data/3/empty-0'));
});

afterAll(() => rmSync(temporary, { recursive: true }));

let made = 0;
const bundle = (directory: string, out = join(temporary, `${(made += 1)}.tar.gz`)) =>
  writeBundle({ directory, out, signal });

/** Unpacks a bundle into a place of its own. */
async function unpacked(path: string): Promise<string> {
  const target = join(temporary, `unpacked-${(made += 1)}`);
  await unpack(createReadStream(path).pipe(createGunzip()), target);
  return target;
}

/** Names of a folder, with the content of its files. */
function tree(directory: string): Record<string, string | null> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  const { files } = contentsOf(directory);
  const isFile = new Set(files.map(({ name }) => name));
  return Object.fromEntries(
    names.map((name) => [name, isFile.has(name) ? readFileSync(join(directory, name), 'latin1') : null]),
  );
}

describe('a bundle', () => {
  it('holds every file and folder of the run, and nothing else', async () => {
    const { path, bytes, contents, name } = await bundle(run);
    expect(name).toBe('run-2026-11-30T101019227Z');
    expect(bytes).toBe(readFileSync(path).length);
    expect(contents.left).toEqual([]);
    expect(tree(await unpacked(path))).toEqual(tree(run));
  });

  it('unpacked elsewhere passes check and report with the same verdict', async () => {
    const { path } = await bundle(run);
    const elsewhere = await unpacked(path);
    expect(checkRunDirectory(elsewhere)).toEqual(checkRunDirectory(run));
    const summary = readFileSync(join(run, 'summary.md'), 'utf8');
    rmSync(join(elsewhere, 'summary.md'));
    writeRunReport(elsewhere);
    expect(readFileSync(join(elsewhere, 'summary.md'), 'utf8')).toBe(summary);
  });

  it('of a comparison holds its runs', async () => {
    const comparison = join(temporary, 'store/compare/one');
    mkdirSync(comparison, { recursive: true });
    writeComparisonFolder(comparison);
    writeComparisonReport(comparison);
    const { path } = await bundle(comparison);
    const elsewhere = await unpacked(path);
    const report = readFileSync(join(comparison, 'junit.xml'), 'utf8');
    writeComparisonReport(elsewhere);
    expect(readFileSync(join(elsewhere, 'junit.xml'), 'utf8')).toBe(report);
    expect(existsSync(join(elsewhere, 'runs/candidate-2/history.jsonl'))).toBe(true);
  });

  it.each([
    ['store/run/2026-11-30T101019227Z', 'run-2026-11-30T101019227Z'],
    ['store/compare/2026-11-30T101019227Z/runs/control-1', '2026-11-30T101019227Z-control-1'],
    ['store/nightly/2026-11-30T101019227Z/a.b.c/runs/control-1', '2026-11-30T101019227Z-a.b.c-control-1'],
    ['2026-11-30T101019227Z/store/run/2026-11-30T101019228Z', 'run-2026-11-30T101019228Z'],
  ])('of %s is called so that no other is', async (below, called) => {
    const folder = join(temporary, 'named', below);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'history.jsonl'), '');
    const { name } = await bundle(folder);
    expect(name).toBe(called);
  });

  it('has the same bytes whenever and wherever it is made, and names nobody', async () => {
    const elsewhere = join(temporary, 'other store/run/2026-11-30T101019227Z');
    cpSync(run, elsewhere, { recursive: true });
    utimesSync(join(elsewhere, 'run.json'), 1, 1);
    const [one, other] = [await bundle(run), await bundle(elsewhere)];
    const bytes = readFileSync(one.path);
    expect(readFileSync(other.path).equals(bytes)).toBe(true);
    const archive = gunzipSync(bytes);
    let headers = 0;
    for (let at = 0; archive[at] !== 0; headers += 1) {
      const field = (from: number, length: number): string =>
        archive
          .toString('latin1', at + from, at + from + length)
          .replaceAll('\0', '')
          .trim();
      expect(field(0, 100)).toMatch(/^run-2026-11-30T101019227Z\//);
      // Owner, group, time, and their names.
      expect([field(108, 8), field(116, 8), field(136, 12)].map((text) => Number.parseInt(text, 8))).toEqual([0, 0, 0]);
      expect([field(265, 32), field(297, 32)]).toEqual(['', '']);
      at += 512 + 512 * Math.ceil(Number.parseInt(field(124, 12), 8) / 512);
    }
    expect(headers).toBe(one.contents.files.length + one.contents.directories.length + 1);
  });

  it('of a night that was killed leaves out the lock, which names a machine', () => {
    const night = join(temporary, 'locked');
    mkdirSync(join(night, 'runs'), { recursive: true });
    for (const name of ['lock-1.json', 'runs/lock-1.json', 'results.json']) writeFileSync(join(night, name), '{}');
    const contents = contentsOf(night);
    expect(contents.files.map(({ name }) => name)).toEqual(['results.json', 'runs/lock-1.json']);
    expect(contents.left).toEqual([
      { name: 'lock-1.json', why: 'it says which process of this machine has the night', needed: false },
    ]);
  });

  it('of a run that was killed needs its history only', async () => {
    const killed = join(temporary, 'store/run/killed');
    mkdirSync(killed);
    cpSync(join(run, 'history.jsonl'), join(killed, 'history.jsonl'));
    writeFileSync(join(killed, 'run.json.123.tmp'), '{');
    const { contents } = await bundle(killed);
    expect(contents.files.map(({ name }) => name)).toEqual(['history.jsonl']);
    expect(contents.left).toEqual([{ name: 'run.json.123.tmp', why: 'it is half written', needed: false }]);
  });

  it('leaves out a file whose name is no text', () => {
    const odd = join(temporary, 'odd');
    mkdirSync(odd);
    writeFileSync(join(odd, 'history.jsonl'), '');
    writeFileSync(Buffer.concat([Buffer.from(`${odd}/a`), Buffer.of(0xff)]), '');
    const contents = contentsOf(odd);
    expect(contents.files.map(({ name }) => name)).toEqual(['history.jsonl']);
    expect(contents.left).toEqual([{ name: 'a\ufffd', why: 'it has gone, or its name is no text', needed: false }]);
  });

  it('follows links to files of the folder, and no others', async () => {
    const linked = join(temporary, 'store/run/linked');
    mkdirSync(linked);
    cpSync(join(run, 'history.jsonl'), join(linked, 'history.jsonl'));
    writeFileSync(join(temporary, 'secret'), 'secret');
    symlinkSync('history.jsonl', join(linked, 'a-copy'));
    symlinkSync(join(temporary, 'secret'), join(linked, 'b-secret'));
    symlinkSync('..', join(linked, 'c-above'));
    symlinkSync('.', join(linked, 'd-itself'));
    symlinkSync('nowhere', join(linked, 'e-nothing'));
    const { path, contents } = await bundle(linked);
    expect(contents.left).toEqual([
      { name: 'b-secret', why: 'it is a link out of the folder', needed: false },
      { name: 'c-above', why: 'it is a link out of the folder', needed: false },
      { name: 'd-itself', why: 'it is a link to what is no file', needed: false },
      { name: 'e-nothing', why: 'it is a link to nothing', needed: false },
    ]);
    const history = readFileSync(join(run, 'history.jsonl'), 'latin1');
    expect(tree(await unpacked(path))).toEqual({ 'a-copy': history, 'history.jsonl': history });
  });
});

describe('a bundle is refused, and nothing is left,', () => {
  const left = (): string[] => readdirSync(temporary).filter((name) => name.includes('refused'));

  it('of what is no run', async () => {
    const out = join(temporary, 'refused.tar.gz');
    await expect(bundle(join(temporary, 'store'), out)).rejects.toThrow(
      new UsageError(
        `there is no ${temporary}/store/results.json: name the folder of a run or comparison, such as store/latest`,
      ),
    );
    await expect(bundle(join(temporary, 'nowhere'), out)).rejects.toThrow(/^there is no .*nowhere: name the folder/);
    const strange = join(temporary, 'strange');
    mkdirSync(strange);
    writeFileSync(join(strange, 'results.json'), '{"type":"else"}');
    await expect(bundle(strange, out)).rejects.toThrow(/strange\/results\.json does not fit/);
    expect(left()).toEqual([]);
  });

  it('that would lack what somebody needs', async () => {
    const linked = join(temporary, 'store/run/moved');
    mkdirSync(linked);
    cpSync(join(run, 'history.jsonl'), join(linked, 'history.jsonl'));
    symlinkSync(join(run, 'data'), join(linked, 'data'));
    await expect(bundle(linked, join(temporary, 'refused.tar.gz'))).rejects.toThrow(
      /moved\/data cannot be packed, and is needed: it is a link out of the folder; put a copy in its place$/,
    );
    expect(left()).toEqual([]);
  });

  it('where something is at its place already', async () => {
    const out = join(temporary, 'there.tar.gz');
    writeFileSync(out, 'mine');
    await expect(bundle(run, out)).rejects.toThrow(
      new UsageError(`${out} is there already: remove it, or choose another with --out`),
    );
    expect(readFileSync(out, 'utf8')).toBe('mine');
    await expect(bundle(run, join(temporary, 'no/refused.tar.gz'))).rejects.toThrow(/^there is no folder /);
  });

  it('where a file changes while it is packed', async () => {
    const growing = join(temporary, 'store/run/growing');
    cpSync(run, growing, { recursive: true });
    const packing = bundle(growing, join(temporary, 'refused.tar.gz'));
    truncateSync(join(growing, 'trace.jsonl'), 100);
    await expect(packing).rejects.toThrow(EnvironmentError);
    await expect(packing).rejects.toThrow(/a file changed meanwhile .* wait until its run has ended/);
    renameSync(growing, join(temporary, 'grown'));
    expect(left()).toEqual([]);
  });

  it('where it is interrupted', async () => {
    const controller = new AbortController();
    const packing = writeBundle({ directory: run, out: join(temporary, 'refused.tar.gz'), signal: controller.signal });
    controller.abort();
    await expect(packing).rejects.toThrow(InterruptedError);
    expect(left()).toEqual([]);
  });
});
