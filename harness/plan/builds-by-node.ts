/**
 * Which build runs on which broker: `epoch` for all, or `1=hw,2-3=epoch` by node; likewise `kafka:2.8.2` and
 * `image:example/broker:1`, which are brokers that others wrote.
 *
 * Pure, and ignorant of which builds exist: the caller hands in their names.
 */
import { isForeignBuild } from '../foreign-build.ts';

/**
 * Parses a specification of our own builds. Returns the build of each broker from 1 to `brokers`, or a sentence that says
 * what is wrong.
 */
export function buildsByNode(
  specification: string,
  brokers: number,
  known: readonly string[],
): ReadonlyMap<number, string> | string {
  if (isForeignBuild(specification)) {
    return `"${specification}" names brokers that others wrote: they run in containers, with \`run\`, \`compare\` and \`up\``;
  }
  return namesByNode(specification, brokers, (build) =>
    known.includes(build) ? null : `there is no build "${build}": the builds are ${known.join(', ')}`,
  );
}

/** The same for brokers that others wrote, all of whose names are as a user writes them: `kafka:2.8.2`. */
export function foreignBuildsByNode(specification: string, brokers: number): ReadonlyMap<number, string> | string {
  return namesByNode(specification, brokers, (build) =>
    isForeignBuild(build)
      ? null
      : `"${specification}" puts "${build}" beside brokers that others wrote: ours do not replicate with them`,
  );
}

/** The highest node that a specification by node names, so many brokers as it is meant for; null where it names none. */
export function highestNodeIn(specification: string): number | null {
  const nodes = specification.matchAll(/(?:^|,)\s*(?:\d+-)?(\d+)=/g).map(([, node]) => Number(node));
  const highest = Math.max(0, ...nodes);
  return highest === 0 ? null : highest;
}

function namesByNode(
  specification: string,
  brokers: number,
  flaw: (build: string) => string | null,
): ReadonlyMap<number, string> | string {
  const builds = new Map<number, string>();
  for (const part of specification.split(',')) {
    const match = /^(?:(\d+)(?:-(\d+))?=)?((?:kafka|image):\S+|[a-z][a-z0-9-]*)$/.exec(part.trim());
    if (match === null)
      return `"${part}" is not a build: write a name such as epoch or kafka:2.8.2, or nodes and a name such as 2-3=epoch`;
    const build = match[3] ?? '';
    const wrong = flaw(build);
    if (wrong !== null) return wrong;
    const first = match[1] === undefined ? 1 : Number(match[1]);
    const last = match[2] === undefined ? (match[1] === undefined ? brokers : first) : Number(match[2]);
    if (first < 1 || last > brokers || first > last) {
      return `"${part}" names nodes outside of 1 to ${brokers}`;
    }
    for (let node = first; node <= last; node += 1) {
      if (builds.has(node)) return `"${specification}" gives node ${node} two builds`;
      builds.set(node, build);
    }
  }
  for (let node = 1; node <= brokers; node += 1) {
    if (!builds.has(node)) return `"${specification}" gives node ${node} no build`;
  }
  return builds;
}
