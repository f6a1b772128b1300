/**
 * Random small histories: a few processes that take turns over one or two keys and a log that mostly behaves.
 *
 * Most sends take the next place and most polls read on, so that whatever goes wrong stands in an otherwise sound
 * history; how often something goes wrong, and what, is the mix of a family.
 */
import type { Operation } from '../../../checker/history.ts';
import type { Draws } from './random.ts';

/** Shares, from 0 to 1. */
export interface Mix {
  readonly steps: number;
  readonly processes: number;
  readonly keys: number;
  /** What is invoked; the rest are polls. */
  readonly sends: number;
  readonly transactions: number;
  readonly assigns: number;
  readonly crashes: number;
  /** An acknowledgement names another place than the next one; none at all. */
  readonly strayOffsets: number;
  readonly unknownOffsets: number;
  /** Sends that do not ask for acks=all. */
  readonly weakAcks: number;
  /** Completions that are not ok. */
  readonly fails: number;
  readonly infos: number;
  /** Of the places: left out by an acknowledged send, so that the log has a hole. */
  readonly holes: number;
  /** Of the records of a poll: left out, replaced, read at once again. */
  readonly dropped: number;
  readonly replaced: number;
  readonly repeated: number;
  /** Polls that begin somewhere else. */
  readonly jumps: number;
  readonly finals: number;
  readonly seeks: number;
  readonly subscribes: number;
  readonly outOfRange: number;
  /** Several polls or sends in one operation that may only poll, or only send. */
  readonly several: number;
  /** Polls during which a key changed hands. */
  readonly rebalances: number;
}

export const calm: Mix = {
  steps: 24,
  processes: 3,
  keys: 1,
  sends: 0.45,
  transactions: 0,
  assigns: 0,
  crashes: 0,
  strayOffsets: 0,
  unknownOffsets: 0.03,
  weakAcks: 0,
  fails: 0.03,
  infos: 0.03,
  holes: 0,
  dropped: 0,
  replaced: 0,
  repeated: 0,
  jumps: 0,
  finals: 0,
  seeks: 0,
  subscribes: 0,
  outOfRange: 0,
  several: 0,
  rebalances: 0,
};

type Micro = unknown[];

interface Process {
  name: number;
  open: { readonly f: string; readonly micros: Micro[]; readonly value: unknown; readonly extra: object } | null;
  fresh: boolean;
  readonly positions: Map<string, number>;
}

export function generate(draws: Draws, mix: Mix): Operation[] {
  return new Generator(draws, mix).play();
}

class Generator {
  readonly #draws: Draws;
  readonly #mix: Mix;
  readonly #history: Operation[] = [];
  readonly #keys: string[];
  readonly #logs = new Map<string, [number, number][]>();
  readonly #ends = new Map<string, number>();
  readonly #values = new Map<string, number>();
  readonly #processes: Process[];

  constructor(draws: Draws, mix: Mix) {
    this.#draws = draws;
    this.#mix = mix;
    this.#keys = ['a-0', 'a-1'].slice(0, mix.keys);
    this.#processes = Array.from({ length: mix.processes }, (_, name) => ({
      name,
      open: null,
      fresh: true,
      positions: new Map(),
    }));
  }

  play(): Operation[] {
    const steps = 2 + this.#draws.below(this.#mix.steps);
    for (let step = 0; step < steps; step += 1) {
      const process = this.#draws.pick(this.#processes);
      if (process.open === null) this.#invoke(process);
      else this.#complete(process);
    }
    for (const process of this.#processes)
      if (process.open !== null && this.#draws.chance(0.8)) this.#complete(process);
    return this.#history;
  }

  #invoke(process: Process): void {
    const { sends, transactions, assigns, crashes, several } = this.#mix;
    const what = this.#draws.unit();
    const count = (): number => (this.#draws.chance(several) ? 2 + this.#draws.below(2) : 1);
    if (what < sends)
      this.#begin(
        process,
        'send',
        Array.from({ length: count() }, () => this.#send()),
      );
    else if (what < sends + transactions) {
      const micros = Array.from({ length: 1 + this.#draws.below(3) }, () =>
        this.#draws.chance(0.5) ? this.#send() : ['poll'],
      );
      this.#begin(process, 'txn', micros);
    } else if (what < sends + transactions + assigns) this.#assign(process);
    else if (what < sends + transactions + assigns + crashes) this.#begin(process, 'crash', []);
    else {
      const extra = process.fresh && this.#draws.chance(this.#mix.finals) ? { final: true } : {};
      this.#begin(
        process,
        'poll',
        Array.from({ length: count() }, () => ['poll']),
        extra,
      );
    }
  }

  #assign(process: Process): void {
    const keys = this.#keys.filter(() => this.#draws.chance(0.8));
    const f = this.#draws.chance(this.#mix.subscribes) ? 'subscribe' : 'assign';
    const seek = this.#draws.chance(this.#mix.seeks) ? { seek: 'earliest' } : {};
    const final = process.fresh && this.#draws.chance(this.#mix.finals) ? { final: true } : {};
    if ('seek' in seek || 'final' in final) process.positions.clear();
    this.#add({ process: process.name, type: 'invoke', f, value: keys, ...seek, ...final });
    process.open = { f, micros: [], value: keys, extra: {} };
    process.fresh = false;
  }

  #send(): Micro {
    const key = this.#draws.pick(this.#keys);
    const value = (this.#values.get(key) ?? 0) + 1;
    this.#values.set(key, value);
    return ['send', key, value];
  }

  #begin(process: Process, f: string, micros: Micro[], extra: object = {}): void {
    const sends = micros.some(([name]) => name === 'send');
    const acks = sends ? { acks: this.#draws.chance(this.#mix.weakAcks) ? this.#draws.pick([0, 1]) : 'all' } : {};
    const value = f === 'crash' ? null : micros;
    this.#add({ process: process.name, type: 'invoke', f, value, ...acks, ...extra });
    process.open = { f, micros, value, extra: acks };
    process.fresh = false;
  }

  #complete(process: Process): void {
    const { open } = process;
    if (open === null) return;
    process.open = null;
    const chance = this.#draws.unit();
    const { fails, infos } = this.#mix;
    let type = chance < fails ? 'fail' : chance < fails + infos ? 'info' : 'ok';
    if (open.f === 'crash') type = 'info';
    const polls = open.f === 'poll' || open.f === 'txn';
    const lost = polls && this.#draws.chance(this.#mix.outOfRange);
    const read = lost ? {} : null;
    const value =
      open.micros.length === 0 ? open.value : open.micros.map((micro) => this.#outcome(process, micro, type, read));
    const errors = lost ? { errors: Object.fromEntries(this.#keys.map((key) => [key, 'OFFSET_OUT_OF_RANGE'])) } : {};
    if (lost) process.positions.clear();
    const moved = polls && this.#draws.chance(this.#mix.rebalances);
    const log = moved ? { 'rebalance-log': [{ type: 'assigned', keys: [this.#draws.pick(this.#keys)] }] } : {};
    const error = type === 'ok' ? {} : { error: 'timeout' };
    this.#add({ process: process.name, type, f: open.f, value, ...open.extra, ...errors, ...log, ...error });
    if (type !== 'info') return;
    process.name += 100;
    process.fresh = true;
    process.positions.clear();
  }

  #outcome(process: Process, micro: Micro, type: string, read: object | null): Micro {
    if (micro[0] === 'poll') return ['poll', read ?? this.#poll(process, type)];
    const [, key, value] = micro as [string, string, number];
    if (type === 'fail' && this.#draws.chance(0.7)) return micro;
    const { strayOffsets, unknownOffsets, holes } = this.#mix;
    let end = this.#ends.get(key) ?? 0;
    if (this.#draws.chance(holes)) end += 1;
    const stray = this.#draws.chance(strayOffsets);
    const offset = stray ? this.#draws.below(6) : end;
    if (!stray) this.#ends.set(key, end + 1);
    const log = this.#logs.get(key) ?? [];
    this.#logs.set(key, log);
    log.push([offset, value]);
    log.sort((x, y) => x[0] - y[0]);
    if (type === 'info' && this.#draws.chance(0.6)) return micro;
    return ['send', key, [this.#draws.chance(unknownOffsets) ? null : offset, value]];
  }

  #poll(process: Process, type: string): Record<string, [number, number][]> {
    const { dropped, replaced, repeated, jumps } = this.#mix;
    const polled: Record<string, [number, number][]> = {};
    if (type === 'info' && this.#draws.chance(0.5)) return polled;
    for (const key of this.#keys) {
      let from = process.positions.get(key) ?? 0;
      if (this.#draws.chance(jumps)) from = this.#draws.below(6);
      const records: [number, number][] = [];
      for (const [offset, value] of this.#logs.get(key) ?? []) {
        if (offset < from || records.length > 3 || this.#draws.chance(dropped)) continue;
        const other = this.#draws.chance(replaced) ? 1 + this.#draws.below((this.#values.get(key) ?? 0) + 2) : value;
        records.push([offset, other]);
        if (this.#draws.chance(repeated)) records.push([offset, other]);
        process.positions.set(key, offset + 1);
      }
      if (records.length > 0) polled[key] = records;
    }
    return polled;
  }

  #add(fields: object): void {
    const index = this.#history.length;
    this.#history.push({ index, time: index, ...fields } as unknown as Operation);
  }
}
