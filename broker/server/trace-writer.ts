/**
 * The trace on standard output, one JSON object a line (`docs/trace.md`).
 *
 * A line must outlive a kill in the very next instant, so it is written by `fs.writeSync` on the descriptor: Node's
 * own stream would buffer it, and lose it. That stream is never touched here, since its mere creation makes the
 * descriptor non-blocking. A reader that makes it so itself, and is slow, is waited for.
 *
 * Invariant: when `write` returns, the whole line is with the system; `seq` has no gap.
 */
import * as fs from 'node:fs';
import type { Peer } from '../core/step.ts';
import { told } from '../core/trace.ts';
import type { TraceEvent } from '../core/trace.ts';
import type { ClockNs } from './clock.ts';

export interface TraceWriter {
  write(event: TraceEvent): void;
}

/** Nobody reads the trace any more. A node whose acts cannot be seen must not go on. */
export class TraceLostError extends Error {
  override readonly name = 'TraceLostError';
}

export interface TraceIdentity {
  readonly node: Peer;
  readonly boot: number;
}

export function traceWriter(descriptor: number, { node, boot }: TraceIdentity, clock: ClockNs): TraceWriter {
  let seq = 0;
  return {
    write(event) {
      // A core leaves room in some lines for what is put in front here.
      const line = { seq, time: 0, node, boot, ...told(event) };
      writeLine(descriptor, `${JSON.stringify(Object.assign(line, { seq, time: clock(), node, boot }))}\n`);
      seq += 1;
    },
  };
}

function writeLine(descriptor: number, line: string): void {
  const bytes = Buffer.from(line);
  let written = 0;
  while (written < bytes.length) {
    try {
      written += fs.writeSync(descriptor, bytes, written);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EAGAIN') sleepOneMillisecond();
      else throw new TraceLostError(`the trace cannot be written: ${String(error)}`, { cause: error });
    }
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

function sleepOneMillisecond(): void {
  Atomics.wait(sleeper, 0, 0, 1);
}
