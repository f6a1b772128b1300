/** What a family of anomalies is to its twin: how to make up histories, and what is in one by the definitions alone. */
import type { CheckInput } from '../../../checker/check.ts';
import type { Operation } from '../../../checker/history.ts';
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
  judge(history: readonly Operation[]): Found;
}

/** A family whose runs have more than a history. */
export interface RunFamily {
  readonly name: string;
  readonly kinds: readonly string[];
  generate(draws: Draws): CheckInput;
  judge(input: CheckInput): Found;
}
