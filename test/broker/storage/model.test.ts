/** Random lives of a data directory, held against the simplest model of a log: a list, and how much of it is flushed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { DataDirectory } from '../../../broker/storage/data-directory.ts';
import { append, batch, type Batch } from './batches.ts';
import { temporaryDirectory } from './temporary.ts';

const log = 'tide-0';

type Act =
  | { readonly act: 'append'; readonly records: number; readonly newEpoch: boolean }
  | { readonly act: 'truncate'; readonly drop: number }
  | { readonly act: 'reset'; readonly ahead: number }
  | { readonly act: 'flush' | 'kill' | 'lose-power' | 'stop' };

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant('append' as const),
      records: fc.integer({ min: 1, max: 3 }),
      newEpoch: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('truncate' as const), drop: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('reset' as const), ahead: fc.nat({ max: 9 }) }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('flush' as const, 'kill', 'lose-power', 'stop') }) },
);

/** What a start found, and what it should have found. */
interface Start {
  readonly recovered: unknown;
  readonly expected: unknown;
  readonly bytes: Uint8Array;
  readonly expectedBytes: Uint8Array;
}

class Life {
  readonly #path = temporaryDirectory();
  #storage = new DataDirectory(this.#path, { node: 1, clusterId: 'test' });
  #baseOffset = 0;
  #batches: Batch[] = [];
  #flushed = 0;
  #epoch = 0;

  constructor() {
    this.#storage.perform({ type: 'create-log', log });
  }

  live(act: Act): Start | undefined {
    switch (act.act) {
      case 'append':
        this.#append(act.records, act.newEpoch);
        return undefined;
      case 'truncate':
        this.#truncate(Math.max(0, this.#batches.length - act.drop));
        return undefined;
      case 'reset':
        this.#baseOffset = this.#end() + act.ahead;
        this.#batches = [];
        this.#flushed = 0;
        this.#storage.perform({ type: 'reset-log', log, offset: this.#baseOffset });
        this.#checkpointEpochs();
        return undefined;
      case 'flush':
        this.#flushed = this.#batches.length;
        this.#storage.perform({ type: 'flush', log });
        return undefined;
      case 'stop':
        this.#flushed = this.#batches.length;
        this.#storage.closeCleanly();
        return this.#startAgain('none', this.#end());
      case 'kill':
        return this.#startAgain('none', this.#end());
      case 'lose-power':
        return this.#losePower();
    }
  }

  #append(records: number, newEpoch: boolean): void {
    if (newEpoch) this.#epoch += 1;
    const next = batch(this.#end(), this.#epoch, ...Array.from({ length: records }, (_, index) => `value ${index}`));
    this.#storage.perform(append(log, this.#position(this.#batches.length), next));
    this.#batches.push(next);
    this.#checkpointEpochs();
  }

  #truncate(kept: number): void {
    const position = this.#position(kept);
    this.#batches.length = kept;
    this.#flushed = Math.min(this.#flushed, kept);
    this.#storage.perform({ type: 'truncate', log, offset: this.#end(), position });
    this.#checkpointEpochs();
  }

  #losePower(): Start {
    const before = this.#end();
    const cut = this.#flushed < this.#batches.length ? 'power-loss' : 'none';
    this.#batches.length = this.#flushed;
    writeFileSync(join(this.#path, 'power-lost'), '');
    return this.#startAgain(cut, before);
  }

  #startAgain(cut: string, foundEndOffset: number): Start {
    this.#storage = new DataDirectory(this.#path, { node: 1, clusterId: 'test' });
    const expected = {
      log,
      logStartOffset: this.#baseOffset,
      batches: this.#batches.map(({ info }) => info),
      epochs: this.#epochs(),
      checkpointedHighWatermark: 0,
      flushedOffset: this.#batches[this.#flushed]?.info.baseOffset ?? this.#end(),
      foundEndOffset,
      cut,
    };
    const endPosition = this.#position(this.#batches.length);
    return {
      recovered: this.#storage.recovered,
      expected: [expected],
      bytes: this.#storage.read({ log, startPosition: 0, endPosition }),
      expectedBytes: Buffer.concat(this.#batches.map(({ bytes }) => bytes)),
    };
  }

  #checkpointEpochs(): void {
    this.#storage.perform({ type: 'epoch-checkpoint', log, entries: this.#epochs() });
  }

  #epochs(): { epoch: number; startOffset: number }[] {
    const starts = new Map<number, number>();
    for (const { info } of this.#batches) {
      if (!starts.has(info.leaderEpoch)) starts.set(info.leaderEpoch, info.baseOffset);
    }
    return [...starts].map(([epoch, startOffset]) => ({ epoch, startOffset }));
  }

  #end(): number {
    return (this.#batches.at(-1)?.info.lastOffset ?? this.#baseOffset - 1) + 1;
  }

  #position(count: number): number {
    return this.#batches.slice(0, count).reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
}

// Each life starts the directory anew a few times, with a dozen flushes each: generous time for a busy disk.
test(
  'a data directory, whatever happens to it, recovers what a list and a flushed length would',
  { timeout: 60_000 },
  () => {
    fc.assert(
      fc.property(fc.array(acts, { maxLength: 25 }), (life) => {
        const directory = new Life();
        for (const act of [...life, { act: 'kill' } as const]) {
          const start = directory.live(act);
          expect(start?.recovered).toEqual(start?.expected);
          expect(start?.bytes).toEqual(start?.expectedBytes);
        }
      }),
      { numRuns: 30 },
    );
  },
);
