/**
 * Which kinds of fault bring a failure about: a by-product of swarm draws, in which each kind is on in some runs and off
 * in others, whatever the rest.
 *
 * Of each kind: the part of anomalous runs with it and without it, each with Wilson's 95 % interval. Where the intervals
 * lie apart the kind is a *trigger*, or a *suppressor*; else nothing is said (Groce and others, ISSRE 2013).
 *
 * Left out: guided searches, which choose their runs by what they showed.
 */
import { rateInterval } from '../compare/statistics.ts';
import type { FaultKind } from '../../nemesis/schedule.ts';

export interface Share {
  readonly runs: number;
  readonly anomalous: number;
  readonly low: number;
  readonly high: number;
}

export interface Attribution {
  readonly kind: FaultKind;
  readonly with: Share;
  readonly without: Share;
  readonly effect: 'trigger' | 'suppressor' | 'none shown';
}

/** Counts runs by their kinds of fault. */
export class Attributions {
  #runs = 0;
  #anomalous = 0;
  readonly #with = new Map<FaultKind, { runs: number; anomalous: number }>();

  add(kinds: readonly FaultKind[], isAnomalous: boolean): void {
    const one = isAnomalous ? 1 : 0;
    this.#runs += 1;
    this.#anomalous += one;
    for (const kind of kinds) {
      const before = this.#with.get(kind) ?? { runs: 0, anomalous: 0 };
      this.#with.set(kind, { runs: before.runs + 1, anomalous: before.anomalous + one });
    }
  }

  /** Of every kind that was on in some runs and off in others. */
  all(): readonly Attribution[] {
    return [...this.#with]
      .filter(([, { runs }]) => runs < this.#runs)
      .map(([kind, on]) => {
        const off = { runs: this.#runs - on.runs, anomalous: this.#anomalous - on.anomalous };
        const [one, other] = [shareOf(on), shareOf(off)];
        const effect = one.low > other.high ? 'trigger' : one.high < other.low ? 'suppressor' : 'none shown';
        return { kind, with: one, without: other, effect };
      });
  }
}

function shareOf({ runs, anomalous }: { readonly runs: number; readonly anomalous: number }): Share {
  const { low, high } = rateInterval(anomalous, runs);
  return { runs, anomalous, low, high };
}
