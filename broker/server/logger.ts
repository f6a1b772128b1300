/**
 * Logs for people, on standard error: pino's JSON lines, written synchronously, so that a killed node's last words
 * arrive. What decides the fate of a record stands in the trace, not here.
 */
import { destination, pino, type Logger } from 'pino';
import type { ClockNs } from './clock.ts';

export type { Logger } from 'pino';

export function nodeLogger(descriptor: number, node: Readonly<Record<string, unknown>>, clock: ClockNs): Logger {
  // On the clock of the trace, so that both can be laid side by side.
  const timestamp = (): string => `,"time":${clock()}`;
  return pino({ base: node, timestamp }, destination({ dest: descriptor, sync: true }));
}
