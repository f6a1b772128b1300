/**
 * Where a search looks for each defect, and what it has to find there.
 *
 * The letters are those of the table of schedules in `docs/scenarios.md`, and each stands for kinds of anomaly once and
 * for all. A row says on which build a defect shows (most on `epoch`, which is clean without), which dimensions of the
 * search are pinned, and which letters count as having found *it*. `npm run defects` fills `defect-finds.json`, and the
 * test beside it holds both to each other.
 */
import type { DefectName } from '../../../broker/core/defects.ts';
import type { AnomalyKind } from '../../../checker/results.ts';
import type { Pins } from '../../../harness/explore/draws.ts';
import type { SearchJob, SearchResult } from '../../../harness/explore/one-run.ts';
import { faultKindsOf } from '../../../harness/plan/config.ts';

export const letters = {
  L: {
    means: 'a record that was acknowledged, or committed, is gone',
    kinds: ['lost-acked-write', 'committed-overwritten'],
  },
  D: { means: 'replicas differ for good', kinds: ['replica-divergence', 'two-leaders-one-epoch'] },
  I: {
    means: 'two values at one offset, or one value at two',
    kinds: ['inconsistent-offsets', 'offset-moved', 'ack-conflict', 'duplicate'],
  },
  G: {
    means: 'somebody reads what is not there to be read',
    kinds: ['G1a', 'phantom', 'consumer-saw-uncommitted', 'precommitted-read'],
  },
  liveness: { means: 'the cluster does not come to rest', kinds: ['no-convergence'] },
  'white-box': {
    means: 'a rule is broken that only the trace shows',
    kinds: ['hw-regression', 'epoch-regression', 'ack-below-min-isr', 'log-start-moved'],
  },
} as const satisfies Readonly<Record<string, { readonly means: string; readonly kinds: readonly AnomalyKind[] }>>;

export type Letter = keyof typeof letters;

export interface DefectRow {
  readonly build: 'epoch' | 'kip279' | 'hw';
  readonly shows: readonly Letter[];
  readonly pins: Pins;
}

/** Nothing is pinned: the search as it is. */
const anything: Pins = {};

/** Changes of leaders in quick succession, on links that are slow and get cut: what needs two roles to miss each other. */
const quickFailovers: Pins = {
  brokers: 3,
  partitions: 2,
  nemesis: ['partition', 'slow-links', 'crash', 'leader-move', 'leader-burst'],
  nemesisIntervalMs: 300,
  timeLimitMs: 6_000,
};

/** One crash after the other, which `hw` mostly survives. */
const crashes: Pins = { brokers: 3, partitions: 4, nemesis: ['crash'], nemesisIntervalMs: 500, timeLimitMs: 8_000 };

/** Brokers that the controller does not hear although they live, and that die later. */
const unheardBrokers: Pins = {
  brokers: 3,
  partitions: 4,
  nemesis: ['partition', 'slow-links', 'crash'],
  nemesisIntervalMs: 300,
  timeLimitMs: 8_000,
};

/** Leaders that reach a follower and not the controller, or the other way round, with followers that soon count as silent. */
const pendingIsrs: Pins = {
  brokers: 3,
  partitions: 4,
  minInsyncReplicas: 1,
  nemesis: ['partition', 'slow-links', 'crash', 'leader-move', 'pause'],
  nemesisIntervalMs: 300,
  timeLimitMs: 8_000,
  replicaLagTimeMaxMs: 500,
  fetchMaxWaitMs: 100,
  brokerSessionTimeoutMs: 2_500,
};

/** Leaders that write on their own, write down how far they got, and die. */
const isolatedLeaders: Pins = {
  brokers: 3,
  partitions: 2,
  nemesis: ['partition', 'crash'],
  nemesisIntervalMs: 1_000,
  timeLimitMs: 8_000,
  highWatermarkCheckpointIntervalMs: 200,
};

export const defectTable: Readonly<Record<DefectName, DefectRow>> = {
  'truncate-none': { build: 'epoch', shows: ['D', 'L'], pins: anything },
  'truncate-one-too-many': { build: 'epoch', shows: ['L'], pins: anything },
  'truncate-one-too-few': { build: 'epoch', shows: ['D', 'L'], pins: anything },
  'truncate-for-new-leader-only': { build: 'epoch', shows: ['D', 'L'], pins: quickFailovers },
  'truncate-unowned': { build: 'epoch', shows: ['D', 'L'], pins: quickFailovers },
  'ask-current-epoch': { build: 'epoch', shows: ['D', 'L'], pins: anything },
  'note-own-epoch': { build: 'epoch', shows: ['D', 'L'], pins: quickFailovers },
  'no-epoch-start': { build: 'epoch', shows: ['D', 'L'], pins: quickFailovers },
  'unknown-epoch-ends-at-end': { build: 'kip279', shows: ['D', 'L'], pins: quickFailovers },
  'unfenced-requests': { build: 'epoch', shows: ['L', 'D', 'I'], pins: quickFailovers },
  'stamp-previous-epoch': { build: 'epoch', shows: ['D', 'L'], pins: anything },
  'start-empty': { build: 'epoch', shows: ['L'], pins: anything },
  'high-watermark-at-end': { build: 'epoch', shows: ['L', 'G'], pins: anything },
  'high-watermark-of-majority': { build: 'epoch', shows: ['L'], pins: anything },
  'high-watermark-falls': { build: 'epoch', shows: ['white-box'], pins: anything },
  'commit-all-on-election': { build: 'epoch', shows: ['L', 'G'], pins: anything },
  'checkpoint-end-offset': { build: 'hw', shows: ['D', 'L'], pins: isolatedLeaders },
  'count-sent-as-held': { build: 'epoch', shows: ['L'], pins: anything },
  'ignore-pending-isr': { build: 'epoch', shows: ['L'], pins: quickFailovers },
  'shrink-before-commit': { build: 'epoch', shows: ['L'], pins: anything },
  'forget-pending-isr': { build: 'epoch', shows: ['L'], pins: pendingIsrs },
  'expand-without-epoch-start': { build: 'epoch', shows: ['L'], pins: anything },
  'expand-at-once': { build: 'epoch', shows: ['L'], pins: quickFailovers },
  'stale-partition-epoch': { build: 'epoch', shows: ['liveness'], pins: anything },
  'bounce-undetected': { build: 'hw', shows: ['L'], pins: crashes },
  'rejoin-while-fenced': { build: 'hw', shows: ['L'], pins: unheardBrokers },
  'elect-outside-isr': { build: 'epoch', shows: ['L'], pins: anything },
  'ack-at-leo': { build: 'epoch', shows: ['L'], pins: anything },
  'ack-below-min-isr': { build: 'epoch', shows: ['white-box'], pins: anything },
  'ack-after-deposition': { build: 'epoch', shows: ['L', 'I'], pins: quickFailovers },
  'deny-append': { build: 'epoch', shows: ['G'], pins: anything },
  'answer-high-watermark': { build: 'epoch', shows: ['I'], pins: anything },
  'read-above-high-watermark': { build: 'epoch', shows: ['G'], pins: anything },
};

/** What `npm run defects` found: by name the seed, which is the number of the run too, and what it cost. */
export type DefectFinds = Readonly<
  Record<string, { readonly seed: number; readonly seconds: number; readonly kinds: readonly AnomalyKind[] }>
>;

/** The run of a search for a defect that has this seed. */
export function jobOf(name: DefectName, seed: number): SearchJob {
  const { build, pins } = defectTable[name];
  return { build, seed, pins: { ...pins, defects: [name] }, kinds: faultKindsOf.sim };
}

/** Whether a run shows what the defect's row says. */
export function isShownBy(name: DefectName, { violations }: Pick<SearchResult, 'violations'>): boolean {
  const wanted: readonly AnomalyKind[] = defectTable[name].shows.flatMap((letter) => letters[letter].kinds);
  return violations.some(({ kind }) => wanted.includes(kind));
}
