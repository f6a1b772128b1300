/**
 * A thread of the load: one process at a time, one operation at a time.
 *
 * It asks a source (the workload, a load written out, the final read) what to do next and when, has that written down,
 * lets the client do it, has written down how it ended, and goes on. A process that got `info` is over; the thread goes
 * on with a fresh one, whose client and consumer know nothing of the old.
 *
 * Time, clients and the history are handed in: so the same threads run on real sockets and in the simulator.
 *
 * Invariant: whatever was written down as invoked is written down as ended before the thread ends, unless it is ended
 * from outside.
 */
import type { Key } from '../../checker/history.ts';
import { nextProcess } from '../client/client.ts';
import type { Position } from '../client/consumer.ts';
import type { ClientOperation, Completion } from '../client/operations.ts';
import type { Planned } from './send-poll.ts';

/** Where a thread takes its operations from; a new one for each process. */
export interface Source {
  /** Null when there is nothing left to do. */
  next(nowNs: number): Planned | null;
  observe(completion: Completion, positions: ReadonlyMap<Key, Position>, nowNs: number): void;
}

/** One client, driven. */
export interface ClientDriver {
  /** Begins an operation; whoever made the driver is told when it has ended. One at a time. */
  invoke(operation: ClientOperation): void;
  positions(): ReadonlyMap<Key, Position>;
  close(): void;
}

export interface ThreadPorts {
  readonly concurrency: number;
  nowNs(): number;
  /** Calls `action` at that time or soon after. Answers with what calls it off. */
  at(timeNs: number, action: () => void): () => void;
  drive(process: number, onComplete: (completion: Completion) => void): ClientDriver;
  recordInvoke(process: number, operation: ClientOperation, first: boolean): void;
  recordComplete(process: number, completion: Completion): void;
}

export interface Thread {
  /** Begins no more operations; the thread ends when the one under way has ended. */
  stop(): void;
  /** Ends at once, whatever is under way. */
  end(): void;
  readonly ended: boolean;
  /** The process that runs, or ran last. */
  readonly process: number;
}

/** Starts a thread. `onEnd` is called once, with the number of its last process. */
export function startThread(
  ports: ThreadPorts,
  firstProcess: number,
  sourceOf: (process: number) => Source,
  onEnd: (process: number) => void,
): Thread {
  let process = firstProcess;
  let source = sourceOf(process);
  let [first, stopping, ended] = [true, false, false];
  let callOff: (() => void) | null = null;

  const drive = (): ClientDriver => ports.drive(process, completed);

  const end = (): void => {
    if (ended) return;
    ended = true;
    callOff?.();
    driver.close();
    onEnd(process);
  };

  const advance = (): void => {
    const planned = stopping ? null : source.next(ports.nowNs());
    if (planned === null) {
      end();
      return;
    }
    if (planned.await === undefined) schedule(planned);
    else {
      /* Called for already, it may be ready at once. */
      let ready = false;
      const giveUp = planned.await(() => {
        ready = true;
        schedule(planned);
      });
      if (!ready) callOff = giveUp;
    }
  };

  const schedule = (planned: Planned): void => {
    callOff = ports.at(planned.dueNs, () => {
      callOff = null;
      begin(planned);
    });
  };

  const begin = ({ operation }: Planned): void => {
    ports.recordInvoke(process, operation, first);
    first = false;
    driver.invoke(operation);
  };

  function completed(completion: Completion): void {
    ports.recordComplete(process, completion);
    source.observe(completion, driver.positions(), ports.nowNs());
    if (completion.type === 'info') replace();
    advance();
  }

  const replace = (): void => {
    driver.close();
    process = nextProcess(process, ports.concurrency);
    driver = drive();
    source = sourceOf(process);
    first = true;
  };

  let driver = drive();
  advance();

  return {
    stop() {
      stopping = true;
      // A thread that waits for its next operation has none under way.
      if (callOff !== null) end();
    },
    end,
    get ended() {
      return ended;
    },
    get process() {
      return process;
    },
  };
}
