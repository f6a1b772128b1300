/**
 * A load that is written out: each operation begins at its time, or as soon as the one before it on its thread is over.
 * One that has a name begins when it is called, by a step of the schedule, and whoever called hears how it ended.
 *
 * A thread goes on with a fresh process where an operation ended with `info`; the plan counts threads, so that what comes
 * after does not depend on that.
 *
 * Invariant: an operation is begun once at most, and a call is answered as soon as it is known that nothing will come of it.
 */
import type { Evidence } from '../../nemesis/ports.ts';
import type { Completion } from '../client/operations.ts';
import type { LoadPlan, PlannedOperation } from '../sim/simulation.ts';
import type { Source } from './thread.ts';

export interface WrittenLoad {
  /** The sources of a run's processes, as `startThread` asks for them. */
  readonly sourceOf: (process: number) => Source;
  /** Begins the operation of that name as soon as its thread has come to it. `answer` is told how it ended, or why it cannot begin. */
  readonly call: (name: string, answer: (ended: Completion | string) => void) => void;
}

/** Times count from `startNs`. */
export function writtenLoad({ operations }: LoadPlan, threads: number, startNs: number): WrittenLoad {
  const calls = new Map(operations.flatMap(({ called }) => (called === undefined ? [] : [[called, newCall()]])));
  const byThread = Array.from({ length: threads }, (_, thread) =>
    operations.filter((operation) => operation.thread === thread).values(),
  );
  const sourceOf = (process: number): Source => {
    const left = byThread[process % threads]!;
    let current: Call | undefined;
    return {
      next(nowNs) {
        const { value, done } = left.next();
        if (done === true) return null;
        current = callOf(value, calls);
        const dueNs = Math.max(nowNs, startNs + Math.round(value.atMs * 1e6));
        return { operation: value.operation, dueNs, ...(current === undefined ? {} : { await: current.await }) };
      },
      observe(completion) {
        current?.answer?.(completion);
      },
    };
  };
  return {
    sourceOf,
    call(name, answer) {
      const call = calls.get(name);
      if (call === undefined) answer('the load has no operation of that name');
      else if (call.answer !== null) answer('it has been called before');
      else {
        call.answer = answer;
        call.ready?.();
      }
    },
  };
}

/** What a schedule is told of an operation that it called: only an acknowledgement is proof. */
export function evidenceOfCall(ended: Completion | string): Evidence {
  if (typeof ended === 'string') return { effective: false, facts: { error: ended } };
  const { type, f, value, node, error } = ended;
  const facts = { type, f, value, ...(node === undefined ? {} : { node }), ...(error === undefined ? {} : { error }) };
  return { effective: type === 'ok', facts };
}

/** Of one operation. */
interface Call {
  /** Whoever called; null until then. */
  answer: ((ended: Completion | string) => void) | null;
  /** Its thread, when that has come to it. */
  ready: (() => void) | null;
  readonly await: (ready: () => void) => () => void;
}

function newCall(): Call {
  const call: Call = {
    answer: null,
    ready: null,
    await(ready) {
      call.ready = ready;
      if (call.answer !== null) ready();
      return () => {
        call.ready = null;
      };
    },
  };
  return call;
}

function callOf({ called }: PlannedOperation, calls: ReadonlyMap<string, Call>): Call | undefined {
  return called === undefined ? undefined : calls.get(called);
}
