/**
 * Which builds are brokers that others wrote: known by their name alone, since stored runs are looked at without anything
 * of the targets.
 */

/** `kafka:2.8.2`, `image:example/broker:1`, or by node: `1-2=kafka:2.1.1,3=kafka:2.8.2`. */
export function isForeignBuild(build: string): boolean {
  return /(?:^|=)(?:kafka|image):/.test(build);
}
