/**
 * What the nodes of a foreign cluster print, written to `logs/<node>.log` of the run that it serves.
 *
 * Brokers that say every fetch print thousands of lines a second, so lines are gathered and written a few times a second.
 *
 * Invariant: bounded; of a node that prints more, the beginning is kept, and the last line says so. A log that cannot be
 * written costs nothing but itself.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeName } from '../../nemesis/ports.ts';

export interface NodeLogs {
  write(node: NodeName, line: string): void;
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
  const logs = new Map<NodeName, NodeLog>();
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
  const logOf = (node: NodeName): NodeLog => {
    let log = logs.get(node);
    if (log === undefined) {
      log = { file: openSync(join(folder, `${node}.log`), 'a'), pending: [], bytesLeft: bytesMax };
      logs.set(node, log);
    }
    return log;
  };
  attempt(() => mkdirSync(folder, { recursive: true }));
  const timer = setInterval(flush, flushMs);

  return {
    write(node, line) {
      attempt(() => {
        const log = logOf(node);
        if (log.bytesLeft <= 0) return;
        log.bytesLeft -= line.length + 1;
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
