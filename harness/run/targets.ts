/**
 * From the name of a build to the target that it means, where the brokers are not ours.
 *
 * What a name says is checked before anything is started; whether it can be had here is asked when it is prepared.
 */
import type { ImageDescription } from '../../docker/targets/image.ts';
import { imageTarget } from '../../docker/targets/image.ts';
import { kafkaTarget } from '../../docker/targets/kafka.ts';
import { kafkaByNode } from '../../docker/targets/kafka-versions.ts';
import type { Target } from '../../docker/targets/target.ts';
import type { NodeId } from '../../nemesis/ports.ts';
import { UsageError } from '../errors.ts';
import { foreignBuildsByNode } from '../plan/builds-by-node.ts';

/** Throws a usage error for a build that names no target. */
export function targetOf(build: string, brokers: readonly NodeId[], description: ImageDescription | null): Target {
  const builds = foreignBuildsByNode(build, brokers.length);
  if (typeof builds === 'string') throw new UsageError(builds);
  const images = new Set([...builds.values()].filter((each) => each.startsWith('image:')));
  if (images.size === 0) {
    const versions = kafkaByNode(builds);
    if (typeof versions === 'string') throw new UsageError(versions);
    return kafkaTarget(build, versions);
  }
  const [image = ''] = images;
  if ([...builds.values()].some((each) => each !== image)) {
    throw new UsageError(`"${build}": all brokers of a cluster have one image`);
  }
  if (description === null) {
    throw new UsageError(
      `${image}: say with --description FILE how its brokers are started and read (docs/targets.md)`,
    );
  }
  return imageTarget(build, image.slice('image:'.length), description);
}

/** What a description file says; null where none is given. A usage error says what is wrong with it. */
export async function readDescription(file: string | undefined): Promise<ImageDescription | null> {
  if (file === undefined) return null;
  const { readImageDescription } = await import('./image-description.ts');
  return readImageDescription(file);
}
