/** A trace as it is being told: what nodes write down, in the order of time, each with its boots and places counted. */
import type { CheckInput } from '../../../checker/check.ts';
import { historyInput } from '../story.ts';

export type Line = Record<string, unknown> & {
  readonly node: number | 'controller';
  readonly boot: number;
  readonly event: string;
};

export class TraceLines {
  readonly lines: Line[] = [];
  readonly #nodes = new Map<number | 'controller', { boot: number; seq: number }>();

  add(node: number | 'controller', event: string, fields: object): void {
    const state = this.#stateOf(node);
    this.lines.push({ seq: state.seq, time: this.lines.length, node, boot: state.boot, event, ...fields });
    state.seq += 1;
  }

  /** The node's next line is of its next process. */
  restart(node: number): void {
    const state = this.#stateOf(node);
    state.boot += 1;
    state.seq = 0;
  }

  /** A run that settled, in which clients did nothing that could be wrong. */
  input(changes: Partial<CheckInput> = {}): CheckInput {
    const { run } = historyInput([]);
    return historyInput([], {
      source: 'run',
      run: { ...run, settled: true },
      history: [
        { index: 0, time: 0, process: 0, type: 'invoke', f: 'poll', value: [['poll']] },
        { index: 1, time: 1, process: 0, type: 'ok', f: 'poll', value: [['poll', {}]] },
      ],
      trace: this.lines,
      ...changes,
    });
  }

  #stateOf(node: number | 'controller'): { boot: number; seq: number } {
    const state = this.#nodes.get(node) ?? { boot: 1, seq: 0 };
    this.#nodes.set(node, state);
    return state;
  }
}
