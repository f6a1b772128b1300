/**
 * The checker and its twins: written from the definitions alone, without any of its code, they look at everything again
 * for every question, which is fine for a dozen operations. Both must agree on every random history of every family, of
 * which each kind is in a tenth, and nearly in another tenth: all but one of its conditions hold.
 *
 * TWINS sets how many histories of each family are judged, PLAYS how many plays; `npm run twins` judges a hundred
 * thousand.
 */
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../../checker/check.ts';
import type { Operation } from '../../../checker/history.ts';
import type { Anomaly } from '../../../checker/results.ts';
import { historyInput } from '../story.ts';
import { brawl } from './brawls.ts';
import { excuses } from './excuses.ts';
import type { Family, Found } from './family.ts';
import { finalLogs } from './final-logs.ts';
import { followers } from './followers.ts';
import { leaders } from './leaders.ts';
import { losses } from './losses.ts';
import { places } from './places.ts';
import { Plot } from './plant.ts';
import { Draws } from './random.ts';
import { readerOrder } from './reader-order.ts';
import { rests } from './rests.ts';
import { sendOrder } from './send-order.ts';
import { tales } from './tales.ts';
import { transactions } from './transactions.ts';

const count = Number(process.env['TWINS'] ?? 1000);
/** A play takes as long as many small histories. */
const plays = Number(process.env['PLAYS'] ?? Math.max(120, count / 10));
const PATIENCE_MS = 60_000 + count * 20 + plays * 200;

const byValue: ReadonlySet<string> = new Set(['lost-write', 'lost-acked-write', 'log-start-moved']);

function counted(anomalies: readonly Anomaly[], kinds: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  const add = (kind: string, number: number): void => {
    if (kinds.includes(kind)) counts[kind] = (counts[kind] ?? 0) + number;
  };
  for (const { kind, values, consequences } of anomalies) {
    // Values lost by one cause are one anomaly; a twin names each.
    add(kind, byValue.has(kind) ? values.length : 1);
    for (const consequence of consequences) add(consequence.kind, consequence.count);
  }
  // Offsets at which the same replicas differ are one anomaly; a twin only says that they do.
  if (counts['replica-divergence'] !== undefined) counts['replica-divergence'] = 1;
  return counts;
}

function countedTwin({ present }: Found): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of new Set(present)) {
    const kind = line.slice(0, line.indexOf(' '));
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

function differs(family: Family, history: readonly Operation[], found = family.judge(history)): boolean {
  const checked = counted(checkRun(historyInput([], { history })).anomalies, family.kinds);
  const expected = countedTwin(found);
  return family.kinds.some((kind) => checked[kind] !== expected[kind]);
}

/** A shorter history that still divides the two: whole operations are left out, one by one. */
function shrunk(family: Family, history: readonly Operation[]): Operation[] {
  let best = [...history];
  for (let at = 0; at < best.length;) {
    const { process, type } = best[at] as Operation;
    const end = best.findIndex((each, place) => place > at && each.process === process);
    const without = best.filter((_, place) => place !== at && place !== end).map((each, index) => ({ ...each, index }));
    if (type === 'invoke' && differs(family, without)) best = without;
    else at += 1;
  }
  return best;
}

/** How often each kind is in the inputs of a family, and nearly so. */
class Shares {
  readonly #count: number;
  readonly #present = new Map<string, number>();
  readonly #near = new Map<string, number>();

  constructor(total: number) {
    this.#count = total;
  }

  add(found: Found): void {
    const kinds = new Set(found.present.map((line) => line.slice(0, line.indexOf(' '))));
    for (const kind of kinds) this.#present.set(kind, (this.#present.get(kind) ?? 0) + 1);
    for (const kind of new Set(found.near)) if (!kinds.has(kind)) this.#near.set(kind, (this.#near.get(kind) ?? 0) + 1);
  }

  /** The kinds that are in less than a tenth, or nearly in less than a tenth. */
  tooRare(kinds: readonly string[]): string[] {
    const least = this.#count / 10;
    return kinds.flatMap((kind) => {
      const [present, near] = [this.#present.get(kind) ?? 0, this.#near.get(kind) ?? 0];
      return present >= least && near >= least
        ? []
        : [`${kind}: present in ${present}, nearly in ${near} of ${this.#count}`];
    });
  }
}

const families = [places, losses, readerOrder, sendOrder, transactions];
const smallest = families.flatMap(({ plants }) =>
  Object.entries(plants).map(([kind, [present, near]]) => ({ kind, present, near })),
);

describe('the smallest history', () => {
  const kindsIn = (tell: (plot: Plot) => void): string[] => {
    const history: Operation[] = [];
    tell(new Plot(history, 0));
    const { anomalies } = checkRun(historyInput([], { history }));
    return anomalies.flatMap(({ kind, consequences }) => [kind, ...consequences.map((each) => each.kind)]);
  };

  it.each(smallest)(
    'that shows $kind shows it, and one that misses it by one condition does not',
    ({ kind, present, near }) => {
      expect(kindsIn(present)).toContain(kind);
      expect(kindsIn(near)).not.toContain(kind);
    },
  );
});

describe('the checker and its twin agree on', () => {
  it.each(families)(
    `${count} random histories of the family $name`,
    (family) => {
      const shares = new Shares(count);
      for (let seed = 0; seed < count; seed += 1) {
        const history = family.generate(new Draws(seed));
        const found = family.judge(history);
        if (differs(family, history, found)) {
          const small = shrunk(family, history);
          const checked = counted(checkRun(historyInput([], { history: small })).anomalies, family.kinds);
          const lines = small.map((operation) => JSON.stringify(operation)).join('\n');
          expect(checked, `seed ${seed}\n${lines}`).toEqual(countedTwin(family.judge(small)));
        }
        shares.add(found);
      }
      expect(shares.tooRare(family.kinds)).toEqual([]);
    },
    PATIENCE_MS,
  );

  it.each(families)(
    `${count} brawls, judged as the family $name`,
    (family) => {
      for (let seed = 0; seed < count; seed += 1) {
        const history = brawl(new Draws(seed));
        if (!differs(family, history)) continue;
        const small = shrunk(family, history);
        const checked = counted(checkRun(historyInput([], { history: small })).anomalies, family.kinds);
        const lines = small.map((operation) => JSON.stringify(operation)).join('\n');
        expect(checked, `seed ${seed}\n${lines}`).toEqual(countedTwin(family.judge(small)));
      }
    },
    PATIENCE_MS,
  );

  it.each([leaders, followers, finalLogs, rests])(
    `${count} random runs of the family $name`,
    (family) => {
      const shares = new Shares(count);
      for (let seed = 0; seed < count; seed += 1) {
        const input = family.generate(new Draws(seed));
        const found = family.judge(input);
        const results = checkRun(input);
        const checked = counted(results.anomalies, family.kinds);
        const expected = countedTwin(found);
        if (family.kinds.some((kind) => checked[kind] !== expected[kind])) {
          const lines = [...input.history, ...(input.trace ?? [])].map((line) => JSON.stringify(line)).join('\n');
          expect(checked, `seed ${seed} ${results.notes.join('; ')}\n${lines}`).toEqual(expected);
        }
        shares.add(found);
      }
      expect(shares.tooRare(family.kinds)).toEqual([]);
    },
    PATIENCE_MS,
  );

  it.each([
    { family: excuses, runs: plays, what: 'plays under random schedules' },
    { family: tales, runs: count, what: 'tales that no broker would play' },
  ])(
    '$runs $what: which losses are allowed',
    ({ family, runs }) => {
      const shares = new Shares(runs);
      for (let seed = 0; seed < runs; seed += 1) {
        const input = family.generate(new Draws(seed));
        const found = family.judge(input);
        const { anomalies } = checkRun(input);
        const checked = anomalies.flatMap((anomaly) =>
          anomaly.kind === 'lost-acked-write' ? anomaly.values.map((value) => `${anomaly.class} ${value}`) : [],
        );
        // It is an anomaly, or follows from one.
        if (JSON.stringify(anomalies).includes('"committed-overwritten"')) checked.push('committed-overwritten once');
        const expected = [...new Set(found.present)];
        if (input.run.settled === true) expect(checked.sort(), `seed ${seed}`).toEqual(expected.sort());
        shares.add(found);
      }
      expect(shares.tooRare(family.kinds)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
