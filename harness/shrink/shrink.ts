/**
 * Shrinking: from a failing run to the fewest faults, operations and nodes that still fail in the same way.
 *
 * First the run is made again, twice, and must be the same run; the first violation that it still shows when it ends soon
 * after says which signature is kept. Then the passes follow each other, those that make the run shorter first, and once
 * more while anything changes: what one leaves out may make another's work possible. In the end no single fault can be
 * left out, and the failure is moved to where it is steadiest.
 *
 * Invariant: the case that is returned has failed with the signature, and so has every case on the way.
 */
import { InterruptedError } from '../errors.ts';
import type { Anomaly } from '../../checker/results.ts';
import { simulate } from '../sim/simulate.ts';
import type { SimulationRequest } from '../sim/simulation.ts';
import { loadOf } from './case.ts';
import type { Case } from './case.ts';
import { momentOf } from './moment.ts';
import {
  dropFaults,
  dropFaultsRoughly,
  dropKinds,
  dropOperations,
  dropPairs,
  dropSteps,
  onePartition,
  roundNumbers,
  smallerTopology,
  thinLoad,
} from './passes.ts';
import type { Pass } from './passes.ts';
import { fixStarts, pinFaults } from './pin.ts';
import { closeGaps, cutBeginning, cutEnd, cutTail, cutToMoment, oneStretch } from './shorter.ts';
import { steadiest } from './steady.ts';
import { Trial, judge } from './trial.ts';
import type { Budget, Judged } from './trial.ts';

export interface ShrinkOptions {
  /** Only a violation of this kind is followed; else the first loss, or what else was first. */
  readonly kind?: string | undefined;
  /** Signatures that are not followed: they are known. A run that shows nothing else passes. */
  readonly known?: ReadonlySet<string>;
  readonly budget: Budget;
  readonly signal: AbortSignal;
  /** Told after each run, now and then. */
  readonly progress: (state: ShrinkProgress) => void;
}

export interface ShrinkProgress {
  readonly pass: string;
  readonly faults: number;
  readonly operations: number;
  readonly runs: number;
}

export interface Shrunk {
  readonly signature: string;
  readonly original: {
    readonly faults: number;
    readonly operations: number;
    readonly brokers: number;
    readonly partitions: number;
    readonly threads: number;
  };
  readonly smallest: Case;
  readonly judged: Judged;
  readonly anomaly: Anomaly;
  readonly runs: number;
  readonly ms: number;
  /** Whether every pass came to its end: no fault can be left out. False when the budget was used up, or it was stopped. */
  readonly complete: boolean;
}

/** What became of shrinking: the smallest case, or why there is none. */
export type ShrinkOutcome =
  | { readonly type: 'shrunk'; readonly shrunk: Shrunk }
  /** The run shows no violation in the simulator, or none of the kind. */
  | { readonly type: 'passes'; readonly judged: Judged }
  /** Twice the same request, two different runs. */
  | { readonly type: 'not-deterministic'; readonly hashes: readonly [string, string] };

const MOST_ROUNDS = 4;
const DARING_SEEDS = 6;
const STRETCH_SEEDS = 4;
/** So many violations are looked at, of which one may still show when the run ends soon after it. */
const MOST_TARGETS = 3;
/** Between rough cuts, each finer than the one before, the case is made shorter. */
const ROUGH_CHUNKS = [4, 8, 16, 32];
/** With more faults than these left, the rounds begin anew with other seeds, so often at most. */
const MANY_FAULTS = 8;
const MOST_WINDS = 4;
/** Between two turns of the event loop, so that an interrupt is heard. */
const BREATH_MS = 200;

/**
 * Shrinks. When the signal is aborted it ends soon with the smallest case so far; rejects with an
 * {@link InterruptedError} if it was aborted before.
 */
export async function shrink(request: SimulationRequest, options: ShrinkOptions): Promise<ShrinkOutcome> {
  if (options.signal.aborted) throw new InterruptedError();
  const startedMs = performance.now();
  const first = judge(request);
  const hashes = [first.simulation.hash, simulate(request).hash] as const;
  if (hashes[0] !== hashes[1]) return { type: 'not-deterministic', hashes };
  const targets = targetsOf(first, options);
  const [foremost] = targets;
  if (foremost === undefined) return { type: 'passes', judged: first };
  const written: Case = { ...request, load: request.load ?? loadOf(first.simulation, request.config.concurrency) };
  const trial = new Trial(request.config.seed, options.budget);
  const driver = new Driver(trial, options);

  const ended = await driver.endSoon(written, targets);
  if (ended === null && !judge(written).violations.has(foremost.signature)) {
    throw new Error(`the load of seed ${request.config.seed}, written out, does not show what the seed showed`);
  }
  const { signature, anomaly } = ended?.target ?? foremost;
  trial.signature = signature;
  let best = await driver.all(ended?.best ?? written, early(signature, written));
  for (let wind = 0; wind < MOST_WINDS && (wind === 0 || best.schedule.faults.length > MANY_FAULTS); wind += 1) {
    if (wind > 0) {
      trial.takeFreshSeeds();
      best = await driver.all(best, stuck(signature));
    }
    best = await driver.rounds(best);
  }
  best = steadiest(best, trial.seedsFor(best), (candidate) => trial.failsAsItIs(candidate));
  best = await driver.all(best, last);
  const judged = judge(best);
  return {
    type: 'shrunk',
    shrunk: {
      signature,
      original: {
        faults: request.schedule.faults.length,
        operations: written.load.operations.length,
        brokers: request.config.brokers,
        partitions: request.config.partitions,
        threads: request.config.concurrency,
      },
      smallest: best,
      judged,
      anomaly: judged.violations.get(signature) ?? anomaly,
      runs: trial.runs,
      ms: performance.now() - startedMs,
      complete: !trial.spent,
    },
  };
}

/** `seeds`: so many are tried for each candidate, since what it saves is worth a few runs. */
type NamedPass = readonly [name: string, pass: (from: Case) => Pass, seeds?: number];

/** Once, in this order: what makes runs shorter comes first. */
function early(signature: string, written: Case): readonly NamedPass[] {
  return [
    ['cutting the beginning', cutBeginning, DARING_SEEDS],
    ['looking for one stretch', (from) => oneStretch(from, written), STRETCH_SEEDS],
    ['cutting the end', (from) => cutToMoment(from, signature)],
    ['cutting the beginning', cutBeginning, DARING_SEEDS],
    ['thinning the load', thinLoad, DARING_SEEDS],
    ['leaving out kinds of fault', dropKinds],
    ['one partition', (from) => onePartition(from, signature)],
    ...roughly,
    ['leaving out faults', dropFaults],
    ['closing gaps', closeGaps],
    ['one partition', (from) => onePartition(from, signature)],
  ];
}

const roughly: readonly NamedPass[] = ROUGH_CHUNKS.flatMap((chunks): NamedPass[] => [
  ['leaving out many faults', (from) => dropFaultsRoughly(from, chunks)],
  ['closing gaps', closeGaps],
  ['cutting the beginning', cutBeginning],
  ['thinning the load', thinLoad],
]);

/** Again and again, until nothing changes. The last to change something is followed by all the others. */
const late: readonly NamedPass[] = [
  ['cutting the beginning', cutBeginning, DARING_SEEDS],
  ['leaving out operations', dropOperations],
  ['leaving out faults', dropFaults],
  ['closing gaps', closeGaps],
  ['fewer nodes and threads', smallerTopology],
  ['fixing starts', fixStarts],
  ['leaving out steps', dropSteps],
  ['rounding numbers', roundNumbers],
  ['cutting the end', cutTail],
  ['leaving out pairs of faults', dropPairs],
  ['leaving out faults', dropFaults],
];

/** When many faults are left: they may hang together only by the roles that they name. */
function stuck(signature: string): readonly NamedPass[] {
  return [
    ['pinning faults down', pinFaults, DARING_SEEDS],
    ['one partition', (from) => onePartition(from, signature), DARING_SEEDS],
    ['leaving out faults', dropFaults, DARING_SEEDS],
  ];
}

/** Where a failure is steady it may need less. */
const last: readonly NamedPass[] = [
  ['leaving out operations', dropOperations],
  ['leaving out faults', dropFaults],
];

interface Target {
  readonly signature: string;
  readonly anomaly: Anomaly;
  readonly momentMs: number;
}

/** Losses, or what else is broken where nothing was lost, in the order in which they were complete: what users lost says most. */
function targetsOf({ violations, simulation }: Judged, { kind, known }: ShrinkOptions): Target[] {
  const targets = [...violations]
    .filter(([signature, anomaly]) => known?.has(signature) !== true && (kind === undefined || anomaly.kind === kind))
    .map(([signature, anomaly]): Target => ({ signature, anomaly, momentMs: momentOf(anomaly, simulation) }));
  const losses = targets.filter(({ anomaly }) => anomaly.guarantee === 'durability');
  return (losses.length > 0 ? losses : targets).toSorted((a, b) => a.momentMs - b.momentMs);
}

/** Drives passes: tries what they yield, keeps what fails. */
class Driver {
  readonly #trial: Trial;
  readonly #options: ShrinkOptions;
  #breathedMs = performance.now();

  constructor(trial: Trial, options: ShrinkOptions) {
    this.#trial = trial;
    this.#options = options;
  }

  /** The first violation that still shows when the run ends soon after it, and that run; null when none does. */
  async endSoon(written: Case, targets: readonly Target[]): Promise<{ target: Target; best: Case } | null> {
    for (const target of targets.slice(0, MOST_TARGETS)) {
      this.#trial.signature = target.signature;
      const best = await this.follow('cutting the end', cutEnd(written, target.momentMs));
      if (best !== null && best !== written) return { target, best };
    }
    return null;
  }

  async all(from: Case, passes: readonly NamedPass[]): Promise<Case> {
    let best = from;
    for (const [name, pass, seeds] of passes) best = (await this.follow(name, pass(best), seeds)) ?? best;
    return best;
  }

  /** The late passes, until nothing changes. */
  async rounds(from: Case): Promise<Case> {
    let best = from;
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const before = best;
      best = await this.all(best, late);
      if (best === before) break;
    }
    return best;
  }

  /** Follows one pass to its end, or to the end of the budget. Null when nothing that it yielded failed. */
  async follow(name: string, pass: Generator<Case, Case | null, Case | null>, seeds?: number): Promise<Case | null> {
    if (this.#trial.spent) return null;
    let best: Case | null = null;
    let turn = pass.next();
    while (turn.done !== true) {
      if (this.#trial.spent) return best;
      const accepted = this.#trial.fails(turn.value, seeds);
      best = accepted ?? best;
      await this.#breathe(name, accepted ?? turn.value);
      turn = pass.next(accepted);
    }
    return turn.value;
  }

  async #breathe(pass: string, { schedule, load }: Case): Promise<void> {
    if (performance.now() - this.#breathedMs < BREATH_MS) return;
    const { runs } = this.#trial;
    this.#options.progress({ pass, faults: schedule.faults.length, operations: load.operations.length, runs });
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#options.signal.aborted) this.#trial.stop();
    this.#breathedMs = performance.now();
  }
}
