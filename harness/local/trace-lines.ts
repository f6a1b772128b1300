/**
 * From the bytes of a node's standard output to its trace lines.
 *
 * Bytes arrive in any portions. A line counts when its end has arrived; what a killed process left without an end was
 * never finished, so its effect was never seen, and it is dropped. Whatever is not a trace line is handed on as text.
 *
 * Invariant: every complete line is handed on exactly once, in order.
 */
import { parseTraceLine } from '../../docker/attach.ts';
import type { TraceLine } from '../../nemesis/ports.ts';

const NEWLINE = 0x0a;
/** Longer than any line of the trace; a node that writes more without an end is not speaking our language. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;

export interface LineHandlers {
  readonly line: (line: TraceLine) => void;
  /** A complete line that is no trace line. */
  readonly other: (text: string) => void;
}

/** Returns the function that takes the next portion. */
export function traceLines(handlers: LineHandlers): (chunk: Uint8Array) => void {
  let rest: Buffer[] = [];
  let restBytes = 0;
  return (chunk) => {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      const text = Buffer.concat([...rest, bytes.subarray(from, end)]).toString('utf8');
      rest = [];
      restBytes = 0;
      from = end + 1;
      deliver(text, handlers);
    }
    if (from === bytes.length) return;
    restBytes += bytes.length - from;
    if (restBytes > LINE_BYTES_MAX) throw new Error(`a line of the trace is longer than ${LINE_BYTES_MAX} bytes`);
    rest.push(bytes.subarray(from));
  };
}

function deliver(text: string, { line, other }: LineHandlers): void {
  const parsed = parseTraceLine(text);
  if (parsed === null) other(text);
  else line(parsed);
}
