/**
 * Whether a path lies within a folder: what is given away or shown of a folder may not lead out of it, by dots or links.
 */
import { relative, sep } from 'node:path';

/** Both paths absolute and free of links, as `realpath` gives them; a folder lies within itself. */
export function isWithin(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below !== '..' && !below.startsWith(`..${sep}`);
}
