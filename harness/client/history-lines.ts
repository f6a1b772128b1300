/**
 * From what happens to the lines of a history: the one place where an {@link Operation} is made.
 *
 * Whoever records (a file as it happens, a simulation in memory) says when something happened and keeps the line.
 *
 * Invariant: `index` counts up by one for every line that was made; the fields stand in the same order in every line.
 */
import type { FaultRecord, Operation } from '../../checker/history.ts';
import type { ClientOperation, Completion } from './operations.ts';
import { invocation } from './operations.ts';
import type { Acks } from './verdicts.ts';

export class HistoryLines {
  /** Of the next line: how many there are so far. */
  index = 0;

  /** Before the request is sent. `final` marks the first operation of a process that reads everything back. */
  invoke(time: number, process: number, operation: ClientOperation, acks: Acks, final: boolean): Operation {
    const { f, value, ...rest } = invocation(operation, acks);
    const line: Operation = { index: this.index, time, process, type: 'invoke', f, value, ...rest };
    this.index += 1;
    return final ? { ...line, final } : line;
  }

  complete(time: number, process: number, { type, f, value, ...rest }: Completion): Operation {
    const line: Operation = { index: this.index, time, process, type, f, value, ...rest };
    this.index += 1;
    return line;
  }

  /** A line of the nemesis; `f` is the kind of the fault. */
  nemesis(time: number, f: string, value: FaultRecord | null): Operation {
    const line: Operation = { index: this.index, time, process: 'nemesis', type: 'info', f, value };
    this.index += 1;
    return line;
  }
}
