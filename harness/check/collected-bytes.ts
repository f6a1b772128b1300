/**
 * How much was copied of the replicas' logs: a run notes it, so that a copy of the run that lost a part is known as one,
 * and not taken for a broker that did.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of all segments in `data/<node>/<partition>/`. */
export function collectedBytes(data: string): number {
  let bytes = 0;
  for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && entry.name.endsWith('.log')) bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return bytes;
}
