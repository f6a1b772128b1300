/**
 * The leader epochs of one replica's log, beside what its `leader-epoch-checkpoint` says of them (KIP-101).
 *
 * Both are read in the same direction, so that one pointer into the checkpoint's entries is enough. Allowed, and no
 * finding: an entry at the log's end (an epoch that has no records yet), entries cut at the log start, entries whose
 * records compaction removed, and a file without entries.
 */
import type { Findings } from './findings.ts';
import type { EpochEntry } from './source.ts';

/** Runs of one epoch that are kept for the report; a log of real life has dozens. */
const runsMax = 10_000;

export class Epochs {
  /** Epoch, base offset of its first batch, last offset of its last. */
  readonly runs: [epoch: number, first: number, last: number][] = [];
  readonly #entries: readonly EpochEntry[];
  readonly #logStart: number;
  readonly #findings: Findings;
  #run: [epoch: number, first: number, last: number] | null = null;
  /** The entry in force at the last batch looked at, as an index. */
  #entry = -1;
  /** The entry and the run about which a contradiction was told last: it is told once. */
  #told: readonly [run: unknown, entry: number] | null = null;

  constructor(entries: readonly EpochEntry[] | null, logStart: number, findings: Findings) {
    this.#entries = entries ?? [];
    this.#logStart = logStart;
    this.#findings = findings;
  }

  /** Takes note of a sound batch. */
  note(epoch: number, base: number, last: number, file: string, position: number): void {
    // Formats without epochs, and batches that were written before the broker had any.
    if (epoch < 0) return;
    const run = this.#run;
    if (run === null || run[0] !== epoch) {
      if (run !== null && epoch < run[0]) {
        this.#findings.add({ name: 'epoch-regression', offset: base, from: run[0], to: epoch, file, position });
      }
      this.#run = [epoch, base, last];
      if (this.runs.length < runsMax) this.runs.push(this.#run);
    } else {
      run[2] = last;
    }
    if (this.#entries.length > 0 && last >= this.#logStart) this.#check(epoch, base, last);
  }

  /** What comes next stands in a wrong place: its epochs are not judged by those before. */
  restart(): void {
    this.#run = null;
    this.#entry = -1;
  }

  /** Looks at what the checkpoint says beyond the log. */
  end(leo: number): void {
    for (const { epoch, start } of this.#entries) {
      if (start > leo) {
        this.#findings.add({ name: 'checkpoint-mismatch', offset: start, log: null, checkpoint: epoch });
      }
    }
  }

  #check(epoch: number, base: number, last: number): void {
    const from = Math.max(base, this.#logStart);
    while (this.#startOf(this.#entry + 1) <= from) this.#entry += 1;
    this.#compare(epoch, from);
    // Entries that begin inside of the batch.
    while (this.#startOf(this.#entry + 1) <= last) {
      this.#entry += 1;
      this.#compare(epoch, this.#startOf(this.#entry));
    }
  }

  #startOf(entry: number): number {
    return this.#entries[entry]?.start ?? Number.POSITIVE_INFINITY;
  }

  #compare(epoch: number, offset: number): void {
    const checkpoint = this.#entries[this.#entry]?.epoch ?? null;
    if (checkpoint === epoch) return;
    const told = this.#told;
    if (told !== null && told[0] === this.#run && told[1] === this.#entry) return;
    this.#told = [this.#run, this.#entry];
    this.#findings.add({ name: 'checkpoint-mismatch', offset, log: epoch, checkpoint });
  }
}
