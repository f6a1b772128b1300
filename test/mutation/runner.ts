/**
 * Runs the checker's tests against one mutant after another, in one process that has loaded them once.
 *
 * Stryker's own runner starts vitest anew for each mutant, which costs a second or more; the checker has thousands. Here a
 * mutant is switched on and only the tests that reach it are called, those first that have killed most for their time, until
 * one fails. Only a mutant that acts while modules load gets a process of its own (`reloadEnvironment` below). What draws
 * without a seed gets one, so that a kill can be seen again.
 */
import { registerHooks } from 'node:module';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { declareClassPlugin, PluginKind, commonTokens, tokens } from '@stryker-mutator/api/plugin';
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext, type StrykerOptions } from '@stryker-mutator/api/core';
import {
  determineHitLimitReached,
  DryRunStatus,
  toMutantRunResult,
  TestStatus,
  type DryRunResult,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
} from '@stryker-mutator/api/test-runner';
import type { CollectedTest } from './stand-in.ts';

const standIn = new URL('./stand-in.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'vitest' && context.parentURL?.endsWith('.ts') === true && context.parentURL !== standIn
      ? { url: standIn, shortCircuit: true }
      : next(specifier, context),
});

/** The options of this runner in `stryker.config.json`. */
interface Checker {
  readonly tests: readonly string[];
  readonly except: readonly string[];
  /** Tests that draw or compare much; `--quick` leaves them out. */
  readonly slow: readonly string[];
  /** Titles of tests that measure or draw for long. */
  readonly exceptTitles: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A mutant that a test reaches so many times as often as the sound code is endless. That is Stryker's own measure, which
 * it takes of all tests together: an endless loop then takes minutes to be told.
 */
const endlessFactor = 100;
/** So often at least. */
const endlessHits = 20_000;

/** What the dry run saw: kept beside the tests, for the processes that come after one that had to be ended. */
interface Memory {
  /** How long each test took. */
  readonly costsMs: Readonly<Record<string, number>>;
  /** How often each test reached each mutant. */
  readonly hits: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const memoryFile = 'dry-run.json';

class CheckerRunner implements TestRunner {
  static readonly inject = tokens(commonTokens.options);
  readonly #options: Checker;
  readonly #context: InstrumenterContext;
  readonly #kills = new Map<string, number>();
  #memory: Memory = { costsMs: {}, hits: {} };
  readonly #loaded = new Set<string>();

  constructor(options: StrykerOptions) {
    this.#options = options['checker'] as Checker;
    const all = globalThis as unknown as Record<string, InstrumenterContext | undefined>;
    this.#context = all[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {};
  }

  capabilities(): { reloadEnvironment: boolean } {
    return { reloadEnvironment: false };
  }

  async dryRun(): Promise<DryRunResult> {
    const tests: TestResult[] = [];
    for (const test of await this.#load(() => true)) {
      this.#context.currentTestId = test.id;
      tests.push(await resultOf(test));
      delete this.#context.currentTestId;
    }
    const { mutantCoverage } = this.#context;
    const costsMs = Object.fromEntries(tests.map(({ id, timeSpentMs }) => [id, timeSpentMs]));
    this.#memory = { costsMs, hits: mutantCoverage?.perTest ?? {} };
    writeFileSync(memoryFile, JSON.stringify(this.#memory));
    return { status: DryRunStatus.Complete, tests, ...(mutantCoverage === undefined ? {} : { mutantCoverage }) };
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const context = this.#context;
    context.hitCount = 0;
    context.hitLimit = endlessHits;
    if (options.mutantActivation === 'static') context.activeMutant = options.activeMutant.id;
    const tests: TestResult[] = [];
    const isOwn = ownTestsOf(options.activeMutant.fileName);
    try {
      // A process that was started for one mutant alone loads no more than it needs.
      const own = this.#loaded.size > 0 ? [] : this.#inOrder(await this.#load(isOwn), options);
      for await (const test of this.#after(own, options)) {
        context.activeMutant = options.activeMutant.id;
        context.hitCount = 0;
        context.hitLimit = this.#hitLimit(test, options.activeMutant.id);
        const result = await resultOf(test);
        tests.push(result);
        const over = determineHitLimitReached(context.hitCount, context.hitLimit);
        if (over !== undefined) return toMutantRunResult(over);
        if (result.status === TestStatus.Failed) {
          this.#kills.set(test.id, (this.#kills.get(test.id) ?? 0) + 1);
          if (!options.disableBail) break;
        }
      }
    } catch (error) {
      // The modules cannot even be loaded with this mutant.
      return toMutantRunResult({
        status: DryRunStatus.Complete,
        tests: [failed('the modules load', 'load', 0, error)],
      });
    } finally {
      delete context.activeMutant;
    }
    return toMutantRunResult({ status: DryRunStatus.Complete, tests });
  }

  /** The tests that are loaded, and then, if nothing has failed yet, all the others. */
  async *#after(first: readonly CollectedTest[], options: MutantRunOptions): AsyncGenerator<CollectedTest> {
    yield* first;
    // What loads must not meet a mutant that waits for its tests.
    if (options.mutantActivation === 'runtime') delete this.#context.activeMutant;
    const done = new Set(first);
    for (const test of this.#inOrder(await this.#load(() => true), options)) if (!done.has(test)) yield test;
  }

  /** All tests that are loaded once those of the wanted files are. */
  async #load(isWanted: (file: string) => boolean): Promise<readonly CollectedTest[]> {
    if (this.#loaded.size === 0 && existsSync(memoryFile))
      this.#memory = JSON.parse(readFileSync(memoryFile, 'utf8')) as Memory;
    Object.assign(process.env, this.#options.env);
    const { default: fc } = await import('fast-check');
    fc.configureGlobal({ seed: 1, numRuns: 30 });
    const { collect, collected } = await import('./stand-in.ts');
    const { tests, except, slow } = this.#options;
    const exclude = process.env['MUTATION_QUICK'] === undefined ? [...except] : [...except, ...slow];
    for (const file of globSync([...tests], { exclude }).sort()) {
      if (this.#loaded.has(file) || !isWanted(file)) continue;
      this.#loaded.add(file);
      await collect(file, pathToFileURL(resolve(file)).href);
    }
    const not = new RegExp(this.#options.exceptTitles);
    return collected.filter(({ name }) => !not.test(name));
  }

  #hitLimit({ id }: CollectedTest, mutant: string): number {
    return Math.max(endlessHits, (this.#memory.hits[id]?.[mutant] ?? 0) * endlessFactor);
  }

  /** First the tests of the source itself, then those with the most kills for their time. */
  #inOrder(tests: readonly CollectedTest[], { activeMutant, testFilter }: MutantRunOptions): CollectedTest[] {
    const wanted = testFilter === undefined ? null : new Set(testFilter);
    const chosen = wanted === null ? [...tests] : tests.filter(({ id }) => wanted.has(id));
    const isOwn = ownTestsOf(activeMutant.fileName);
    const rank = ({ file }: CollectedTest): number => (isOwn(file) ? 1 : 0);
    // What has killed nothing yet counts as half a kill.
    const worth = ({ id }: CollectedTest): number =>
      ((this.#kills.get(id) ?? 0) + 0.5) / ((this.#memory.costsMs[id] ?? 0) + 1);
    return chosen.sort((x, y) => rank(y) - rank(x) || worth(y) - worth(x));
  }
}

/** Whether a file of tests is of that source: `checker/edn.ts` has `test/checker/edn.test.ts`, or a folder of that name. */
function ownTestsOf(source: string): (file: string) => boolean {
  const own = `test/${source.slice(source.lastIndexOf('/checker/') + 1, -'.ts'.length)}`;
  return (file) => file.startsWith(`${own}.`) || file.startsWith(`${own}/`);
}

async function resultOf(test: CollectedTest): Promise<TestResult> {
  const start = performance.now();
  try {
    await test.run();
    const timeSpentMs = performance.now() - start;
    return { id: test.id, name: test.name, fileName: test.file, timeSpentMs, status: TestStatus.Success };
  } catch (error) {
    return failed(test.id, test.name, performance.now() - start, error);
  }
}

function failed(id: string, name: string, timeSpentMs: number, error: unknown): TestResult {
  return { id, name, timeSpentMs, status: TestStatus.Failed, failureMessage: String(error) };
}

/** What {@link Checker} says, for Stryker. */
export const strykerValidationSchema = { type: 'object', properties: { checker: { type: 'object' } } };

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'checker', CheckerRunner)];
