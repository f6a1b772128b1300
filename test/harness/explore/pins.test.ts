/** What the flags of a search fix, and that whatever is drawn beside it is a run that the flags of `run` would accept. */
import { Command } from 'commander';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandOfRun } from '../../../harness/cli/compare.ts';
import { addRunOptions, runConfigFrom, type RunFlags } from '../../../harness/cli/options.ts';
import { UsageError } from '../../../harness/errors.ts';
import { drawConfig } from '../../../harness/explore/draws.ts';
import { pinsFrom } from '../../../harness/explore/pins.ts';
import { faultKindsOf, type RunConfig } from '../../../harness/plan/config.ts';
import { faultKinds } from '../../../nemesis/faults/index.ts';

interface Flags extends RunFlags {
  readonly build: string;
  readonly seed: number;
}

const kinds = faultKindsOf.sim;

function parsed(argv: readonly string[]): { readonly command: Command; readonly flags: Flags } {
  const command = addRunOptions(new Command('run').option('--build <build>', '', 'epoch'));
  command.exitOverride().configureOutput({ writeErr: () => {} });
  return { command, flags: command.parse(argv, { from: 'user' }).opts<Flags>() };
}

/** What `tidemark explore` with these arguments would run with the first seeds, or the line that refuses it. */
function drawnBy(argv: readonly string[], seeds = 12): readonly RunConfig[] | string {
  const { command, flags } = parsed(argv);
  try {
    const pins = pinsFrom(command, flags, flags.build, kinds);
    return Array.from({ length: seeds }, (_, seed) => drawConfig(flags.build, seed, pins, kinds));
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

/** The same configuration by the flags of `run`: it throws where a rule is broken. */
function throughFlags(config: RunConfig): RunConfig {
  const [, argv = ''] = commandOfRun(config).split(' -- run ');
  const { flags } = parsed(argv.split(' '));
  return runConfigFrom(flags, flags.build, flags.seed, 'sim');
}

function configsOf(...argv: readonly string[]): readonly RunConfig[] {
  const drawn = drawnBy(argv);
  if (typeof drawn === 'string') throw new Error(drawn);
  return drawn;
}

const value = (flag: string, of: fc.Arbitrary<unknown>): fc.Arbitrary<readonly string[]> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: of.map((some) => [flag, String(some)]) });
const ms = (most: number): fc.Arbitrary<string> => fc.integer({ min: 1, max: most }).map((some) => `${some}ms`);

/** Any pins, also such as contradict each other. */
const argvs = fc
  .tuple(
    value('--nodes', fc.integer({ min: 1, max: 9 })),
    value('--replication-factor', fc.integer({ min: 1, max: 9 })),
    value('--min-insync', fc.integer({ min: 1, max: 9 })),
    value('--build', fc.constantFrom('hw', '1=hw,2-4=epoch', '1=hw', '1-2=hw,3=epoch')),
    value('--rate', fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 100_000 }))),
    value('--concurrency', fc.constantFrom('5', '2n', '240n', '400n', '2000n')),
    value('--time-limit', fc.constantFrom('1ms', '10s', '30m', '24m', '1000m')),
    value('--nemesis', fc.constantFrom('all', 'none', 'crash', 'rejoin-crash', 'handover-crash,pause')),
    value('--nemesis-weights', fc.constantFrom('crash=5', 'pause=3,partition=2')),
    value('--nemesis-interval', ms(3_000)),
    value('--settle-timeout', ms(9_000)),
    value('--replica-lag-time', ms(5_000)),
    value('--session-timeout', ms(30_000)),
    value('--heartbeat-interval', ms(1_000)),
    value('--fetch-wait', ms(5_000)),
  )
  .map((flags) => flags.flat());

describe('what is drawn beside the pins of a search', () => {
  it('is a run that the flags would accept, with every seed, or the search is refused in one line', () => {
    let accepted = 0;
    fc.assert(
      fc.property(argvs, (argv) => {
        const drawn = drawnBy(argv);
        if (typeof drawn === 'string') {
          expect(drawn).toMatch(/^(--|")[^\n]+$/);
          return;
        }
        accepted += 1;
        for (const config of drawn) expect(throughFlags(config)).toEqual(config);
      }),
      { numRuns: 400 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it.each(['4', '5', '9'])('has as many replicas as --min-insync %s takes', (insync) => {
    for (const { brokers, replicationFactor, minInsyncReplicas } of configsOf('--min-insync', insync)) {
      expect(minInsyncReplicas).toBe(Number(insync));
      expect(replicationFactor).toBeGreaterThanOrEqual(minInsyncReplicas);
      expect(brokers).toBeGreaterThanOrEqual(replicationFactor);
    }
  });

  it('settles within a timeout that is shorter than some draws would need, as long as any would fit', () => {
    const settled = configsOf('--settle-timeout', '4800ms');
    expect(new Set(settled.map(({ replicaLagTimeMaxMs }) => replicaLagTimeMaxMs)).size).toBeGreaterThan(3);
    expect(configsOf('--settle-timeout', '1300ms').map(({ fetchMaxWaitMs }) => fetchMaxWaitMs)).toContain(50);
    expect(drawnBy(['--settle-timeout', '1299ms'])).toBe(
      '--settle-timeout 1299ms is less than a healthy cluster may need after a fault: give it 1300ms at least',
    );
  });

  it('has no more brokers than may have so many processes each', () => {
    for (const { brokers, concurrency } of configsOf('--concurrency', '240n')) {
      expect([brokers, concurrency]).toEqual([expect.toSatisfy((count) => count === 3 || count === 4), 240 * brokers]);
    }
  });

  it('has the brokers that a build by node names', () => {
    for (const { brokers } of configsOf('--build', '1=hw,2-4=epoch')) expect(brokers).toBe(4);
    expect(drawnBy(['--build', '1=hw,2-3=epoch', '--nodes', '4'])).toBe('"1=hw,2-3=epoch" gives node 4 no build');
    expect(drawnBy(['--build', '1=hw,2-12=epoch'])).toBe('"2-12=epoch" names nodes outside of 1 to 9');
    expect(drawnBy(['--build', '1=hw,3=epoch'])).toBe('"1=hw,3=epoch" gives node 2 no build');
  });

  it.each([
    [['--min-insync', '4', '--nodes', '3'], '--min-insync 4 needs as many brokers: lower it, or raise --nodes (now 3)'],
    [
      ['--nemesis', 'rejoin-crash', '--nodes', '2'],
      '--nemesis rejoin-crash: its roles are three replicas; leave it out, or raise --nodes (now 2)',
    ],
    [['--min-insync', '3', '--replication-factor', '2'], '--min-insync 3 exceeds --replication-factor 2: no write'],
    [['--nemesis', 'partition', '--nemesis-weights', 'crash=5'], '--nemesis-weights crash=5: crash is none of the'],
  ])('%j contradict each other, and the line names what was typed', (argv, line) => {
    expect(drawnBy(argv)).toEqual(expect.stringContaining(line));
  });

  it('has the weights that are pinned, wherever their kinds are drawn', () => {
    for (const { nemesis, nemesisWeights } of configsOf('--nemesis-weights', 'crash=5')) {
      expect(nemesisWeights).toEqual(nemesis.includes('crash') ? { crash: 5 } : undefined);
    }
    expect(new Set(configsOf('--nemesis-weights', 'crash=5').flatMap(({ nemesis }) => nemesis)).size).toBe(
      faultKinds.filter((kind) => kind !== 'script').length,
    );
  });
});
