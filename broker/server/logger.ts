/**
 * Logs for people, on standard error: pino's JSON lines, written synchronously, so that a killed node's last words
 * arrive. What decides the fate of a record stands in the trace, not here.
 */
import { destination, pino, type Logger } from 'pino';

export type { Logger } from 'pino';

export function nodeLogger(descriptor: number, bindings: Readonly<Record<string, unknown>>): Logger {
  return pino({ base: bindings, level: 'info' }, destination({ dest: descriptor, sync: true }));
}
