/**
 * Files of a run are files: whatever else has such a name (a pipe, a device, a folder) is refused before it is opened,
 * since a pipe that nobody writes to would be waited for without end, and a device may have none.
 */
import { statSync } from 'node:fs';
import { EnvironmentError } from './errors.ts';

/** What is read at once, as text, is no larger: no plan, scenario or description of ours comes near it. */
export const mostTextBytes = 1 << 28;

/** Why the file cannot be read whole, or piece by piece where `max` is infinite; null if it can. Throws as `stat` does. */
export function whyUnreadable(path: string, max: number): string | null {
  const stats = statSync(path);
  if (!stats.isFile()) return stats.isDirectory() ? 'it is a folder' : 'it is no regular file';
  return stats.size > max ? `it is larger than ${max} bytes` : null;
}

/** Throws one clear line for what is no file, or too large a one. */
export function demandFile(path: string, max: number): void {
  const why = whyUnreadable(path, max);
  if (why !== null) throw new EnvironmentError(`${path} cannot be read: ${why}`);
}
