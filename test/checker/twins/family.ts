/** What a family of anomalies is to its twin: how to make up histories, and what is in one by the definitions alone. */
import type { CheckInput } from '../../../checker/check.ts';
import type { Operation } from '../../../checker/history.ts';
import type { Plants } from './plant.ts';
import type { Draws } from './random.ts';

/** Each anomaly as `kind place`; and the kinds of which a history holds all but one condition somewhere. */
export interface Found {
  readonly present: string[];
  readonly near: string[];
}

export interface Family {
  readonly name: string;
  readonly kinds: readonly string[];
  generate(draws: Draws): Operation[];
  /** The smallest history that has each kind, and the nearest one that has not. */
  readonly plants: Plants;
  judge(history: readonly Operation[]): Found;
}

/** A family whose runs have more than a history. */
export interface RunFamily {
  readonly name: string;
  readonly kinds: readonly string[];
  generate(draws: Draws): CheckInput;
  judge(input: CheckInput): Found;
}
