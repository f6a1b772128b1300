/**
 * A history told operation by operation, as evidence for one family of anomalies alone: without a run, and with a final
 * log only where one is asked for.
 */
import type { Evidence } from '../../../checker/evidence.ts';
import type { Operation } from '../../../checker/history.ts';
import { HistoryIndex } from '../../../checker/index-history.ts';

type Micro = readonly unknown[];

/** Operations one after the other, each invoked and completed at once; index 2n and 2n + 1. */
export class Told {
  readonly lines: object[] = [];

  op(process: number, f: string, invoked: unknown, completed: unknown, more: object = {}): this {
    for (const [type, value] of [
      ['invoke', invoked],
      ['ok', completed],
    ] as const)
      this.lines.push({ index: this.lines.length, time: this.lines.length, process, type, f, value, ...more });
    return this;
  }

  send(process: number, value: number, offset: number | null, more: object = {}): this {
    return this.op(process, 'send', [['send', 'a-0', value]], [['send', 'a-0', [offset, value]]], {
      acks: 'all',
      ...more,
    });
  }

  /** Value n + 1 at each offset n. */
  poll(process: number, ...offsets: number[]): this {
    return this.op(process, 'poll', [['poll']], [['poll', { 'a-0': offsets.map((offset) => [offset, offset + 1]) }]]);
  }

  txn(process: number, micros: readonly Micro[]): this {
    const invoked = micros.map(([name, key, third]) => (name === 'send' ? [name, key, (third as Micro)[1]] : [name]));
    return this.op(process, 'txn', invoked, micros, { acks: 'all' });
  }

  /** The history alone: nothing was lost, as far as anybody knows. */
  get evidence(): Evidence {
    const history = new HistoryIndex({ acks: 'all' });
    for (const line of this.lines) history.add(line as Operation);
    history.finish();
    const run = { settled: null, finalLeaders: {} };
    const none = { cluster: null, logs: null, observed: null, promises: { uncleanElection: false } };
    return { history, run, ...none, unknown: new Map(), unreadable: new Set() } as unknown as Evidence;
  }

  /** With a final log that ends at offset 10 and holds the values at these offsets. */
  withLog(...offsets: number[]): Evidence {
    const { evidence } = this;
    const final = { node: 1, log: { start: 0, end: 10, flaw: null } };
    for (const offset of offsets)
      evidence.history.sawInFinalLog(evidence.history.findRow(evidence.history.keyId('a-0'), offset + 1), offset);
    const byKey = new Map(['a-0', 'b-0'].map((key) => [key, new Map([[1, final]])]));
    const run = { settled: true, finalLeaders: { 'a-0': 1, 'b-0': 1 } };
    return { ...evidence, run, logs: { byKey } } as unknown as Evidence;
  }
}
