/**
 * How a path is shown to people and stands in commands for them to type: short where it lies below the directory that
 * they are in, and whole everywhere else, since nobody reads `../../mnt/store`.
 */
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** `store/run/…` of what lies below the current directory, `.` of that itself, and else an absolute path. */
export function shownPath(path: string): string {
  const near = relative('.', path);
  const outside = near === '..' || near.startsWith(`..${sep}`) || isAbsolute(near);
  return outside ? resolve(path) : near || '.';
}
