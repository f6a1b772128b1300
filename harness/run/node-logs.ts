/**
 * What the nodes of a foreign cluster print, written to `logs/<node>.log` of the run that it serves; what a companion
 * beside a node prints, to `logs/<node>-<role>.log`.
 *
 * Brokers that say every fetch print thousands of lines a second, so lines are gathered and written a few times a second.
 *
 * Invariant: bounded; of a node that prints more, the beginning is kept, and the last line says so. A log that cannot be
 * written costs nothing but itself.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputListener } from '../../docker/foreign.ts';

export interface NodeLogs {
  write(...output: Parameters<OutputListener>): void;
  close(): void;
}

interface NodeLog {
  readonly file: number;
  pending: string[];
  bytesLeft: number;
}

const flushMs = 250;
const bytesMax = 64 * 1_024 * 1_024;

export function openNodeLogs(directory: string): NodeLogs {
  const folder = join(directory, 'logs');
  const logs = new Map<string, NodeLog>();
  let failed = false;

  const attempt = (work: () => void): void => {
    if (failed) return;
    try {
      work();
    } catch {
      failed = true;
    }
  };
  const flush = (): void =>
    attempt(() => {
      for (const log of logs.values()) {
        if (log.pending.length === 0) continue;
        writeSync(log.file, log.pending.join(''));
        log.pending = [];
      }
    });
  const logOf = (name: string): NodeLog => {
    let log = logs.get(name);
    if (log === undefined) {
      log = { file: openSync(join(folder, `${name}.log`), 'a'), pending: [], bytesLeft: bytesMax };
      logs.set(name, log);
    }
    return log;
  };
  attempt(() => mkdirSync(folder, { recursive: true }));
  const timer = setInterval(flush, flushMs);

  return {
    write(node, line, companion) {
      attempt(() => {
        const log = logOf(companion === undefined ? `${node}` : `${node}-${companion}`);
        if (log.bytesLeft <= 0) return;
        log.bytesLeft -= Buffer.byteLength(line) + 1;
        log.pending.push(`${line}\n`);
        if (log.bytesLeft <= 0) log.pending.push('the rest is left out: it would be too long\n');
      });
    },
    close() {
      clearInterval(timer);
      flush();
      for (const { file } of logs.values()) closeSync(file);
      logs.clear();
      failed = true;
    },
  };
}
