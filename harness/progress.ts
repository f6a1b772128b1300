/**
 * What a person sees while a long task goes on: a status line that rewrites itself on a terminal, one line per step
 * elsewhere. Everything goes to standard error, so that standard output stays free for `--json` and results.
 */
import { writeSync } from 'node:fs';
import { styleText } from 'node:util';

export interface Progress {
  /** A step has begun; on a terminal it replaces the one before. */
  readonly step: (text: string) => void;
  /** Something within a step that is worth seeing live but not worth a line in a log file. */
  readonly detail: (text: string) => void;
  /** A line that stays. */
  readonly line: (text: string) => void;
}

/** Progress on standard error; `quiet` shows only lines that stay. */
export function createProgress(quiet = false): Progress {
  const terminal = process.stderr.isTTY && !quiet;
  const columns = (): number => Math.max(20, (process.stderr.columns ?? 80) - 1);
  let shown = false;
  let current = '';

  const clear = (): void => {
    if (shown) write('\r\u001B[2K');
    shown = false;
  };
  const show = (text: string): void => {
    clear();
    write(text.slice(0, columns()));
    shown = true;
  };

  return {
    step(text) {
      current = text;
      if (terminal) show(text);
      else if (!quiet) write(`${text}\n`);
    },
    detail(text) {
      if (terminal) show(`${current} · ${text}`);
    },
    line(text) {
      clear();
      write(`${text}\n`);
    },
  };
}

/** Colours a verdict, on a terminal that wants colours. */
export function paint(verdict: 'good' | 'bad' | 'unsure', text: string): string {
  const colour = verdict === 'good' ? 'green' : verdict === 'bad' ? 'red' : 'yellow';
  return styleText(colour, text, { stream: process.stderr });
}

/** A closed or full terminal must not take a run down. */
function write(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Nobody is there to read it; the run's files hold all that matters.
  }
}
