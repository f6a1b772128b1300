/** From flags to the configuration of a run, and back: a printed command must mean what was run. */
import { Command, CommanderError } from 'commander';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildNames } from '../../../broker/core/builds.ts';
import { defects } from '../../../broker/core/defects.ts';
import { registerCheck } from '../../../harness/cli/check.ts';
import { commandOfRun, registerCompare } from '../../../harness/cli/compare.ts';
import { registerDoctor } from '../../../harness/cli/doctor.ts';
import { registerExplore } from '../../../harness/cli/explore.ts';
import { registerGc } from '../../../harness/cli/gc.ts';
import { addRunOptions, runConfigFrom, type RunFlags } from '../../../harness/cli/options.ts';
import { registerBundle } from '../../../harness/cli/bundle.ts';
import { registerReplay } from '../../../harness/cli/replay.ts';
import { registerMergeReports } from '../../../harness/cli/merge-reports.ts';
import { registerReport } from '../../../harness/cli/report.ts';
import { registerRun } from '../../../harness/cli/run.ts';
import { registerScenario } from '../../../harness/cli/scenario.ts';
import { registerServe } from '../../../harness/cli/serve.ts';
import { registerShrink } from '../../../harness/cli/shrink.ts';
import { registerUp } from '../../../harness/cli/up.ts';
import { drawConfig } from '../../../harness/explore/draws.ts';
import { UsageError } from '../../../harness/errors.ts';
import { defaultRunConfig, faultKindsOf, type RunConfig } from '../../../harness/plan/config.ts';
import { excessOf } from '../../../harness/plan/limits.ts';
import { faultKinds } from '../../../nemesis/faults/index.ts';
import { expectGolden } from '../../golden.ts';

interface Flags extends RunFlags {
  readonly build: string;
}

/** What `tidemark run` with these arguments would run. */
function configOf(...argv: readonly string[]): RunConfig {
  const command = addRunOptions(new Command('run').option('--build <build>', '', 'epoch'));
  command.exitOverride().configureOutput({ writeErr: () => {} });
  const flags = command.parse(argv, { from: 'user' }).opts<Flags>();
  return runConfigFrom(flags, flags.build, flags.seed ?? 1, flags.runtime ?? 'local');
}

/** The line that a user gets for these arguments. */
function complaint(...argv: readonly string[]): string {
  try {
    configOf(...argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error(`${argv.join(' ')} was accepted`);
}

describe('a run without flags', () => {
  it('has the default configuration', () => {
    expect(configOf()).toEqual({ ...defaultRunConfig, build: 'epoch', runtime: 'local', seed: 1 });
  });
});

describe('durations', () => {
  it.each([
    ['7', 7_000],
    ['7s', 7_000],
    ['1.5', 1_500],
    ['250ms', 250],
    ['2m', 120_000],
    ['0.5m', 30_000],
    ['24h', null],
    ['0', null],
    ['-3', null],
    ['1441m', null],
    ['', null],
    ['soon', null],
  ])('%s is %s ms', (text, ms) => {
    if (ms !== null) expect(configOf('--time-limit', text).timeLimitMs).toBe(ms);
    else
      expect(complaint('--time-limit', text)).toBe(
        `--time-limit ${text}: write seconds, or a number with ms, s or m, up to a day`,
      );
  });
});

describe('flags', () => {
  it('of concurrency may count in brokers', () => {
    expect(configOf('--concurrency', '2n', '--nodes', '5').concurrency).toBe(10);
    expect(configOf('--concurrency', '3').concurrency).toBe(3);
  });

  it('of faults take a list, all or none, and name each once', () => {
    expect(configOf('--nemesis', 'none').nemesis).toEqual([]);
    expect(configOf('--nemesis', 'all').nemesis).toEqual(faultKindsOf.local);
    expect(configOf('--nemesis', 'crash, pause,crash').nemesis).toEqual(['crash', 'pause']);
  });

  it('of all faults mean those whose roles the replicas can fill', () => {
    const all = configOf('--runtime', 'sim', '--nemesis', 'all').nemesis;
    expect(all).toContain('rejoin-crash');
    const ofTwo = configOf('--runtime', 'sim', '--nemesis', 'all', '--replication-factor', '2').nemesis;
    expect(ofTwo).toEqual(all.filter((kind) => kind !== 'rejoin-crash'));
  });

  it('of faults may weigh the kinds', () => {
    expect(configOf('--nemesis-weights', 'crash=5, pause=30').nemesisWeights).toEqual({ crash: 5, pause: 30 });
    expect(configOf().nemesisWeights).toBeUndefined();
  });

  it.each([
    [['--nemesis-weights', 'crash=0'], '--nemesis-weights crash=0: write a kind of fault and a number from 1 to 9999'],
    [['--nemesis-weights', 'fire=3'], '--nemesis-weights fire=3: write a kind of fault and a number from 1 to 9999'],
    [['--seed', '-1'], '--seed -1: write a whole number from 0 to '],
    [['--nodes', '0'], '--nodes 0: write a whole number from 1 to 9'],
    [['--nodes', '1e1'], '--nodes 1e1: write a whole number from 1 to 9'],
    [['--partitions', '201'], '--partitions 201: write a whole number from 1 to 200'],
    [['--rate', '1.5'], '--rate 1.5: write a whole number from 1 to 100000'],
    [['--acks', '2'], '--acks 2: write all, 1 or 0'],
    [['--concurrency', '0'], '--concurrency 0: write a number from 1 to 1000, or a multiple of the brokers such as 2n'],
    [['--concurrency', '400n'], '--concurrency 400n: write a number from 1 to 1000'],
    [
      ['--nemesis', 'rejoin-crash', '--runtime', 'sim', '--replication-factor', '2'],
      '--nemesis rejoin-crash: its roles are three replicas; raise --replication-factor (now 2)',
    ],
    [
      ['--nemesis', 'partition', '--nemesis-weights', 'partition=2,crash=5'],
      '--nemesis-weights crash=5: crash is none of the faults of this run; leave it out, or name it in --nemesis',
    ],
    [['--nemesis', 'fire'], `--nemesis: there is no "fire"; known are ${faultKinds.join(', ')}`],
    [['--defect', 'laziness'], '--defect: there is no "laziness"; known are truncate-none'],
    [['--build', 'kip966'], `there is no build "kip966": the builds are ${buildNames.join(', ')}`],
    [['--build', '1=hw'], '"1=hw" gives node 2 no build'],
    [['--nodes', '2'], '--replication-factor 3 needs as many brokers: lower it, or raise --nodes (now 2)'],
    [['--min-insync', '4', '--nodes', '5'], '--min-insync 4 exceeds --replication-factor 3: no write could ever be'],
    [['--session-timeout', '500ms'], '--session-timeout 500ms must be at least twice --heartbeat-interval 300ms'],
    [
      ['--settle-timeout', '100ms'],
      '--settle-timeout 100ms is less than a healthy cluster may need after a fault: give',
    ],
    [
      ['--runtime', 'sim', '--time-limit', '60m', '--nemesis', 'none'],
      '--rate, --time-limit and --nemesis-interval: the simulator holds a whole run in memory: 200000 operations',
    ],
    [['--nemesis-interval', '1ms'], '--rate, --time-limit and --nemesis-interval: a fault every 1 ms for 12 s makes'],
    [['--fetch-wait', '3s'], '--replica-lag-time 2000ms must be at least twice --fetch-wait 3000ms'],
  ])('%j are refused, and the line says what would be right', (argv, line) => {
    expect(complaint(...argv).slice(0, line.length)).toBe(line);
    expect(complaint(...argv)).not.toContain('\n');
  });

  it('all refuse a value that makes no sense, by name', () => {
    const free = new Set(['--store']);
    const taking = addRunOptions(new Command('run')).options.filter((option) => option.required);
    expect(taking.length).toBeGreaterThan(18);
    for (const option of taking.filter(({ long }) => !free.has(long ?? ''))) {
      const flag = option.long ?? '';
      let told: unknown = null;
      try {
        configOf(flag, '~');
      } catch (error) {
        told = error;
      }
      expect([UsageError, CommanderError]).toContain((told as Error).constructor);
      expect((told as Error).message).toContain(flag);
      expect((told as Error).message).toContain('~');
    }
  });
});

/** Any configuration that the flags can say. */
const configurations: fc.Arbitrary<RunConfig> = fc
  .record({ nodes: fc.integer({ min: 1, max: 9 }), draw: fc.nat(), other: fc.nat() })
  .chain(({ nodes, draw, other }) => {
    const replicationFactor = 1 + (draw % nodes);
    const ms = (min: number): fc.Arbitrary<number> =>
      fc.oneof(
        fc.integer({ min, max: 100_000 }),
        fc.integer({ min: Math.ceil(min / 1000), max: 200 }).map((s) => s * 1000),
      );
    const build = fc.constantFrom(...buildNames);
    const mix = fc.tuple(build, build).map(([one, rest]) => `1=${one},2-${nodes}=${rest}`);
    return fc.record<RunConfig>({
      build: nodes > 2 ? fc.oneof(build, mix) : build,
      defects: fc.subarray(Object.keys(defects)),
      runtime: fc.constantFrom<RunConfig['runtime']>('local', 'docker'),
      seed: fc.nat(),
      brokers: fc.constant(nodes),
      replicationFactor: fc.constant(replicationFactor),
      minInsyncReplicas: fc.constant(1 + (other % replicationFactor)),
      uncleanElection: fc.boolean(),
      acks: fc.constantFrom<RunConfig['acks']>('all', 0, 1),
      topic: fc.constant(defaultRunConfig.topic),
      partitions: fc.integer({ min: 1, max: 200 }),
      rate: fc.integer({ min: 1, max: 100_000 }),
      concurrency: fc.integer({ min: 1, max: 1000 }),
      timeLimitMs: ms(1),
      settleTimeoutMs: ms(1),
      clientTimeoutMs: ms(1),
      nemesis: fc.subarray([...defaultRunConfig.nemesis]),
      nemesisWeights: fc.option(
        fc.dictionary(fc.constantFrom(...defaultRunConfig.nemesis), fc.integer({ min: 1, max: 9999 }), { minKeys: 1 }),
        { nil: undefined },
      ),
      nemesisIntervalMs: ms(1),
      replicaLagTimeMaxMs: ms(2_000),
      brokerSessionTimeoutMs: ms(2_000),
      heartbeatIntervalMs: fc.integer({ min: 1, max: 1_000 }),
      fetchMaxWaitMs: fc.integer({ min: 1, max: 1_000 }),
      highWatermarkCheckpointIntervalMs: ms(1),
      leaveRunning: fc.constant(false),
    });
  })
  .map((config) => {
    const { settleTimeoutMs, brokerSessionTimeoutMs, replicaLagTimeMaxMs, fetchMaxWaitMs } = config;
    const shortest = brokerSessionTimeoutMs + replicaLagTimeMaxMs + 4 * fetchMaxWaitMs;
    const { nemesis, nemesisWeights = {} } = config;
    const weights = nemesis.flatMap((kind) =>
      nemesisWeights[kind] === undefined ? [] : [[kind, nemesisWeights[kind]]],
    );
    return {
      ...config,
      settleTimeoutMs: shortest + settleTimeoutMs,
      nemesisWeights: weights.length === 0 ? undefined : Object.fromEntries(weights),
    };
  })
  .filter((config) => excessOf(config) === null);

describe('the command that repeats a run', () => {
  it('means, when it is typed, the configuration that was run', () => {
    fc.assert(
      fc.property(configurations, (config) => {
        const [program, argv] = commandOfRun(config).split(' -- run ');
        expect(program).toBe('npm run tidemark');
        expect(configOf(...(argv ?? '').split(' '))).toEqual(config);
      }),
    );
  });

  it('means the configuration that a search drew', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const config = drawConfig('kip279', seed, {}, faultKindsOf.sim);
      const [, argv] = commandOfRun(config).split(' -- run ');
      expect(configOf(...(argv ?? '').split(' '))).toEqual(config);
    }
  });

  it('names no more than differs from the defaults', () => {
    const config: RunConfig = { ...defaultRunConfig, build: 'hw', runtime: 'docker', seed: 12 };
    expect(commandOfRun(config)).toBe('npm run tidemark -- run --build hw --seed 12 --runtime docker');
  });

  it('does not keep the cluster again', () => {
    const config: RunConfig = { ...defaultRunConfig, build: 'hw', runtime: 'local', seed: 12, leaveRunning: true };
    expect(commandOfRun(config)).not.toContain('--leave-db-running');
  });
});

describe('--help', () => {
  const commands = new Command('tidemark');
  const registers = [
    registerCompare,
    registerRun,
    registerUp,
    registerExplore,
    registerCheck,
    registerScenario,
    registerReplay,
    registerShrink,
    registerReport,
    registerMergeReports,
    registerServe,
    registerBundle,
    registerDoctor,
    registerGc,
  ];
  for (const register of registers) register(commands);

  it.each(commands.commands.map((command) => [command.name(), command] as const))('of %s', (name, command) => {
    const help = command.configureOutput({ getOutHelpWidth: () => 100 }).helpInformation();
    expectGolden(`test/golden/help-${name}.txt`, help);
  });
});
