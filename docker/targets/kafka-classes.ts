/**
 * Archives of loaded classes: half of what a new Kafka does in its first seconds, done once per release.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../client.ts';
import type { JavaImage } from '../java-image.ts';
import type { CachedKafka } from './kafka-cache.ts';
import type { Layout, NodePlan } from './target.ts';

/** The archive for a container of that role, by name in the entry; null if there is none. */
export function classArchive({ directory }: CachedKafka, image: JavaImage, role: string): string | null {
  const name = `${role}-${image.name.split(':')[1] ?? ''}.jsa`;
  return existsSync(join(directory, name)) ? name : null;
}

export async function ensureClassArchive(
  _engine: Engine,
  _release: CachedKafka,
  _image: JavaImage,
  _nodes: (layout: Layout) => readonly NodePlan[],
  _progress: (line: string) => void,
): Promise<void> {}
