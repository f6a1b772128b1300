import { describe, expect, it } from 'vitest';
import type { ClientOperation, Completion } from '../../../harness/client/operations.ts';
import type { Planned } from '../../../harness/workload/send-poll.ts';
import { startThread, type Source, type Thread, type ThreadPorts } from '../../../harness/workload/thread.ts';

/** A thread on a clock that is moved by hand; operations end when the test says so. */
class Stage {
  nowNs = 0;
  readonly told: string[] = [];
  readonly #due: { atNs: number; action: () => void }[] = [];
  readonly #open = new Map<number, (completion: Completion) => void>();
  readonly thread: Thread;

  constructor(planned: readonly Planned[]) {
    const left = planned.values();
    const source: Source = { next: () => left.next().value ?? null, observe: () => {} };
    const ports: ThreadPorts = {
      concurrency: 3,
      nowNs: () => this.nowNs,
      at: (atNs, action) => {
        const entry = { atNs, action };
        this.#due.push(entry);
        return () => this.#due.splice(this.#due.indexOf(entry), 1);
      },
      drive: (process, onComplete) => ({
        invoke: () => this.#open.set(process, onComplete),
        positions: () => new Map(),
        close: () => this.told.push(`${process} closed`),
      }),
      recordInvoke: (process, operation, first) =>
        this.told.push(`${process} ${operation.f}${first ? ', its first' : ''}`),
      recordComplete: (process, completion) => this.told.push(`${process} ${completion.type}`),
    };
    const sourceOf = (process: number): Source => {
      this.told.push(`${process} begins`);
      return source;
    };
    this.thread = startThread(ports, 1, sourceOf, (process) => this.told.push(`over with ${process}`));
  }

  passTo(nowNs: number): void {
    this.nowNs = nowNs;
    for (const entry of this.#due.filter(({ atNs }) => atNs <= nowNs)) {
      this.#due.splice(this.#due.indexOf(entry), 1);
      entry.action();
    }
  }

  complete(process: number, type: Completion['type']): void {
    this.#open.get(process)?.({ type, f: 'poll', value: [['poll']] });
  }
}

const poll: ClientOperation = { f: 'poll' };

describe('a thread of the load', () => {
  it('does one operation after the other, each at its time, and ends when there is nothing left', () => {
    const stage = new Stage([
      { operation: poll, dueNs: 5 },
      { operation: poll, dueNs: 9 },
    ]);
    stage.passTo(4);
    expect(stage.told).toEqual(['1 begins']);
    stage.passTo(5);
    stage.passTo(20);
    expect(stage.told).toEqual(['1 begins', '1 poll, its first']);
    stage.complete(1, 'ok');
    stage.passTo(20);
    stage.complete(1, 'fail');
    expect(stage.told.slice(2)).toEqual(['1 ok', '1 poll', '1 fail', '1 closed', 'over with 1']);
    expect(stage.thread.ended).toBe(true);
  });

  it('goes on with a fresh process where one got info', () => {
    const stage = new Stage([
      { operation: poll, dueNs: 0 },
      { operation: poll, dueNs: 0 },
    ]);
    stage.passTo(0);
    stage.complete(1, 'info');
    stage.passTo(0);
    expect(stage.told).toEqual([
      '1 begins',
      '1 poll, its first',
      '1 info',
      '1 closed',
      '4 begins',
      '4 poll, its first',
    ]);
    expect(stage.thread.process).toBe(4);
  });

  it('that is stopped lets the operation under way end, and begins no other', () => {
    const stage = new Stage([
      { operation: poll, dueNs: 0 },
      { operation: poll, dueNs: 0 },
    ]);
    stage.passTo(0);
    stage.thread.stop();
    expect(stage.thread.ended).toBe(false);
    stage.complete(1, 'ok');
    expect(stage.told.slice(2)).toEqual(['1 ok', '1 closed', 'over with 1']);
  });

  it('that is stopped while it waits is over at once', () => {
    const stage = new Stage([{ operation: poll, dueNs: 50 }]);
    stage.thread.stop();
    stage.passTo(60);
    expect(stage.told).toEqual(['1 begins', '1 closed', 'over with 1']);
  });
});
