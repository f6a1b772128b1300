/** Flags where brokers that others wrote take part: both sides of a comparison meet the same plan, which all can be given. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addBesideForeignOptions, besideForeign } from '../../../harness/cli/beside-foreign.ts';
import { commandOfRun } from '../../../harness/cli/compare.ts';
import { addRunOptions, flagsOf, runConfigFrom, type RunFlags } from '../../../harness/cli/options.ts';
import { foreignRunConfig, type RunConfig } from '../../../harness/plan/config.ts';
import { planOf } from '../../../harness/run/plan.ts';
import { awaitedBy } from '../../../nemesis/awaited.ts';

const example = fileURLToPath(new URL('../../../docs/examples/apache-kafka.json', import.meta.url));
let folder = '';
/** Of a broker whose leaders cannot be moved, and that cannot be paused. */
let description = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-flags-'));
  description = join(folder, 'description.json');
  const whole = JSON.parse(readFileSync(example, 'utf8')) as object;
  const cannot = { faults: { pause: 'its clock must not stand still' } };
  writeFileSync(description, JSON.stringify({ ...whole, leaderMove: 'none', cannot }));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** What one side of a comparison of these builds would run. */
async function sideOf(builds: readonly string[], build: string, argv: readonly string[]): Promise<RunConfig> {
  const command = addBesideForeignOptions(addRunOptions(new Command('run').option('--build <build>')));
  const flags = command.parse(argv, { from: 'user' }).opts<RunFlags>();
  return runConfigFrom(await besideForeign(flags, command, builds), build, flags.seed ?? 7, 'docker');
}

describe('one of our builds beside Kafka', () => {
  it('has its times, patience, faults and topic, and the command that repeats its run means the same', async () => {
    const builds = ['hw', 'kafka:4.4.0'];
    const [ours, theirs] = await Promise.all(builds.map((build) => sideOf(builds, build, ['--rate', '50'])));
    const { patience, nemesis } = foreignRunConfig;
    expect(ours).toMatchObject({ patience, nemesis, topic: 'tide-7', timeLimitMs: 24_000 });
    expect(theirs).toEqual({ ...ours, build: 'kafka:4.4.0' });
    const command = commandOfRun(ours!);
    expect(command).toBe('npm run tidemark -- run --build hw --seed 7 --beside-foreign --runtime docker --rate 50');
    expect(await sideOf(['hw'], 'hw', command.split(' run --build')[1]!.split(' ').slice(2))).toEqual(ours);
  });
});

describe('faults that a target cannot be given', () => {
  const builds = ['hw', 'image:a/b'];

  it('are in the plan of neither side, whether all were asked for or nothing was said', async () => {
    const said = ['--description', description];
    for (const argv of [said, [...said, '--nemesis', 'all']]) {
      const [ours, theirs] = await Promise.all(builds.map((build) => sideOf(builds, build, argv)));
      expect(ours!.nemesis).toEqual(theirs!.nemesis);
      expect(ours!.nemesis).toContain('handover-crash');
      for (const kind of ['pause', 'leader-move', 'leader-burst', 'power-loss', 'slow-links']) {
        expect(ours!.nemesis).not.toContain(kind);
      }
      expect(ours).not.toHaveProperty('description');
      expect(theirs!.description).toBe(description);
    }
  });

  it.each([
    ['pause', 'image:a/b cannot be given that (its clock must not stand still)'],
    ['leader-move', 'image:a/b cannot be given that (its description names no way to move a leader)'],
  ])('%s is refused where it is asked for by name, with the reason', async (kind, reason) => {
    const argv = ['--description', description, '--nemesis', `crash,${kind}`];
    await expect(sideOf(builds, 'hw', argv)).rejects.toThrow(`--nemesis ${kind}: ${reason}; leave it out`);
  });
});

describe('what a target does not show', () => {
  const builds = ['hw', 'image:a/b'];
  let blind = '';

  beforeAll(() => {
    blind = join(folder, 'blind.json');
    const whole = JSON.parse(readFileSync(example, 'utf8')) as object;
    const triggers = { hw: 'it tells no high watermark', 'isr-size': 'it has none', follows: 'it never says so' };
    writeFileSync(blind, JSON.stringify({ ...whole, cannot: { triggers } }));
  });

  it('is waited for by no fault of either side, and the command that repeats ours means the same', async () => {
    const [ours, theirs] = await Promise.all(builds.map((build) => sideOf(builds, build, ['--description', blind])));
    for (let seed = 1; seed < 60; seed += 1) {
      const plan = planOf({ ...ours!, seed });
      expect(planOf({ ...theirs!, seed })).toEqual(plan);
      const awaited = plan.faults.flatMap(awaitedBy);
      for (const unseen of ['hw', 'isr-size', 'follows'] as const) expect(awaited).not.toContain(unseen);
    }
    expect(ours!.nemesis).not.toContain('handover-crash');
    const again = commandOfRun(ours!);
    expect(again).toContain(' --not-awaited follows,hw,isr-size');
    expect(flagsOf(ours!).join(' ')).not.toContain('--not-awaited');
    expect(await sideOf(['hw'], 'hw', again.split(' run --build')[1]!.split(' ').slice(2))).toEqual(ours);
  });

  it('takes away what cannot do without it, and says why', async () => {
    await expect(sideOf(builds, 'hw', ['--description', blind, '--nemesis', 'handover-crash'])).rejects.toThrow(
      '--nemesis handover-crash: image:a/b cannot be given that (it waits until a broker follows another, which is not shown: it never says so); leave it out',
    );
  });
});
