/**
 * The recorder: writes the history down as it happens.
 *
 * One line for each event, handed to the operating system in one synchronous write before anything else is done: an
 * `invoke` before its request can leave, a completion before its process goes on. So a harness that is killed at any
 * moment leaves every operation that may have had an effect, and at most a torn last line. Lines are not
 * flushed to the disk: a machine that loses power takes the run with it.
 *
 * Invariant: `index` counts up by one without a gap, and `time` never goes back. After a write that failed nothing more
 * is written: a history with a hole in it would accuse the innocent.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { FaultRecord, Operation } from '../../checker/history.ts';
import { HistoryLines } from '../client/history-lines.ts';
import type { ClientOperation, Completion } from '../client/operations.ts';
import type { Acks } from '../client/verdicts.ts';
import type { EnvironmentError } from '../errors.ts';
import { environmentErrorFrom } from '../errors.ts';

export interface Recorder {
  /** Lines written so far. */
  readonly lines: number;
  /** Before the request is sent. `final` marks the first operation of a process that reads everything back. */
  invoke(process: number, operation: ClientOperation, acks: Acks, final?: boolean): Operation;
  complete(process: number, completion: Completion): Operation;
  /** A line of the nemesis; `f` is the kind of the fault. */
  nemesis(f: string, value: FaultRecord | null): Operation;
  close(): void;
}

/** Makes `path`, which must not exist unless `flag` is `w`. Times are nanoseconds since `clockOriginNs`, a reading of `process.hrtime.bigint()`. */
export function createRecorder(path: string, clockOriginNs: bigint, flag: 'wx' | 'w' = 'wx'): Recorder {
  const fail = (cause: unknown): EnvironmentError => environmentErrorFrom(cause, `cannot write the history ${path}`);
  let file: number | null;
  try {
    file = openSync(path, flag);
  } catch (error) {
    throw fail(error);
  }
  const lines = new HistoryLines();
  let written = 0;
  let failure: EnvironmentError | null = null;

  const record = (make: (time: number) => Operation): Operation => {
    if (failure !== null) throw failure;
    if (file === null) throw new Error(`the history ${path} is closed`);
    const operation = make(Number(process.hrtime.bigint() - clockOriginNs));
    try {
      writeWhole(file, Buffer.from(`${JSON.stringify(operation)}\n`));
    } catch (error) {
      failure = fail(error);
      throw failure;
    }
    written += 1;
    return operation;
  };

  return {
    get lines() {
      return written;
    },
    invoke: (who, operation, acks, final = false) => record((time) => lines.invoke(time, who, operation, acks, final)),
    complete: (who, completion) => record((time) => lines.complete(time, who, completion)),
    nemesis: (f, value) => record((time) => lines.nemesis(time, f, value)),
    close() {
      if (file === null) return;
      const open = file;
      file = null;
      closeSync(open);
    },
  };
}

/** The system may take a part of the bytes only, as when a disk is about to be full. */
function writeWhole(file: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(file, bytes, written);
}
