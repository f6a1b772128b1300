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
    const { f, value, acks: own, seek } = invocation(operation, acks);
    const line: Writable<Operation> = { index: this.index, time, process, type: 'invoke', f, value };
    if (own !== undefined) line.acks = own;
    if (seek !== undefined) line.seek = seek;
    if (final) line.final = final;
    this.index += 1;
    return line;
  }

  /** Field by field: to gather the rest of a completion in an object of its own costs more than all else here. */
  complete(time: number, process: number, completion: Completion): Operation {
    const { type, f, value, acks, error, errors, node, msg } = completion;
    const line: Writable<Operation> = { index: this.index, time, process, type, f, value };
    this.index += 1;
    // Errors of single keys are rare, and stand where the client has put them.
    if (errors !== undefined) return Object.assign(line, completion);
    if (acks !== undefined) line.acks = acks;
    if (error !== undefined) line.error = error;
    if (node !== undefined) line.node = node;
    if (msg !== undefined) line.msg = msg;
    return line;
  }

  /** A line of the nemesis; `f` is the kind of the fault. */
  nemesis(time: number, f: string, value: FaultRecord | null): Operation {
    const line: Operation = { index: this.index, time, process: 'nemesis', type: 'info', f, value };
    this.index += 1;
    return line;
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
