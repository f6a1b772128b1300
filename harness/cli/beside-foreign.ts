/**
 * What is different on the command line where brokers that others wrote take part: containers only, defaults that suit
 * them, and only faults that every target can be given.
 *
 * One of our own builds that stands beside them in a comparison gets the same, so that both sides meet the same plan.
 */
import type { Command } from 'commander';
import { kafkaByNode } from '../../docker/targets/kafka-versions.ts';
import type { Capabilities } from '../../checker/results.ts';
import { awaitedNames, type Awaited } from '../../nemesis/awaited.ts';
import type { FaultKind } from '../../nemesis/schedule.ts';
import { UsageError } from '../errors.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { faultsBeyondTarget, unseenOf } from '../run/beyond-target.ts';
import { foreignBuildsByNode } from '../plan/builds-by-node.ts';
import { foreignFaultKinds, foreignRunConfig } from '../plan/config.ts';
import { listOption } from './option-types.ts';
import type { RunFlags } from './options.ts';

/** The flags of one run that repeats a side of a comparison with brokers that others wrote. */
export function addBesideForeignOptions(command: Command): Command {
  const names = awaitedNames.filter((name) => name !== 'steps-done');
  return command
    .option(
      '--beside-foreign',
      'times, faults and topic as in a comparison with brokers that others wrote (kafka: and image: always have them)',
      false,
    )
    .addOption(
      listOption(
        '--not-awaited <names>',
        `what no fault’s start or end waits for, as where brokers do not show it: ${names.join(', ')}`,
        [],
        names,
      ),
    );
}

/** The flags as they count: what was not typed has other defaults, and no fault that one of these builds cannot be given. */
export async function besideForeign<Flags extends RunFlags>(
  flags: Flags,
  command: Command,
  builds: readonly string[],
): Promise<Flags> {
  const d = foreignRunConfig;
  const defaults: Partial<RunFlags> = {
    timeLimit: d.timeLimitMs,
    nemesis: d.nemesis,
    nemesisInterval: d.nemesisIntervalMs,
    settleTimeout: d.settleTimeoutMs,
    replicaLagTime: d.replicaLagTimeMaxMs,
    sessionTimeout: d.brokerSessionTimeoutMs,
  };
  const isTyped = (name: string): boolean => command.getOptionValueSource(name) === 'cli';
  const untyped = Object.entries(defaults).filter(([name]) => !isTyped(name));
  const counted: Flags = { ...flags, ...Object.fromEntries(untyped), besideForeign: true };
  const wanted = counted.nemesis === 'all' ? foreignFaultKinds : counted.nemesis;
  const { beyond, unseen } = await limitsOf(builds, flags);
  const strange = wanted.find((kind) => beyond.has(kind));
  if (strange !== undefined && counted.nemesis !== 'all' && isTyped('nemesis')) {
    throw new UsageError(`--nemesis ${strange}: ${beyond.get(strange)}; leave it out`);
  }
  const notAwaited = [...new Set([...(counted.notAwaited ?? []), ...unseen])].toSorted();
  return { ...counted, nemesis: wanted.filter((kind) => !beyond.has(kind)), notAwaited };
}

/** Brokers that others wrote run in containers only. */
export function demandContainers({ runtime }: RunFlags, builds: readonly string[]): void {
  const foreign = builds.find(isForeignBuild);
  if (foreign === undefined || runtime === undefined || runtime === 'docker') return;
  throw new UsageError(`--runtime ${runtime}: ${foreign} runs in containers only; leave the flag out`);
}

/** What is wrong with a build that others wrote, as far as its name tells. */
export function foreignFlaw({ nodes, defect, description }: RunFlags, build: string): string | null {
  const builds = foreignBuildsByNode(build, nodes);
  if (typeof builds === 'string') return builds;
  if (defect.length > 0) return `--defect ${defect.join(',')}: only brokers of ours have defects to switch on`;
  if (isDescribed(build)) {
    return description === undefined
      ? `${build}: say with --description FILE how its brokers are started and read (docs/targets.md)`
      : null;
  }
  const versions = kafkaByNode(builds);
  return typeof versions === 'string' ? versions : null;
}

/** Whether a file describes its brokers. */
export function isDescribed(build: string): boolean {
  return build.includes('image:');
}

interface Limits {
  /** Kinds of fault that some target cannot be given, each with whose and why. */
  readonly beyond: ReadonlyMap<FaultKind, string>;
  /** What some target does not show. */
  readonly unseen: readonly Awaited[];
}

async function limitsOf(builds: readonly string[], place: TargetPlace): Promise<Limits> {
  const beyond = new Map<FaultKind, string>();
  const unseen: Awaited[] = [];
  for (const build of builds.filter(isForeignBuild)) {
    const capabilities = await capabilitiesOf(build, place);
    for (const [kind, why] of faultsBeyondTarget(capabilities))
      beyond.set(kind, `${build} cannot be given that (${why})`);
    unseen.push(...unseenOf(capabilities));
  }
  return { beyond, unseen };
}

type TargetPlace = Pick<RunFlags, 'nodes' | 'description'>;

/** What a build that others wrote can do and show. */
export async function capabilitiesOf(build: string, { nodes, description }: TargetPlace): Promise<Capabilities> {
  const { readDescription, targetOf } = await import('../run/targets.ts');
  const brokers = Array.from({ length: nodes }, (_, index) => index + 1);
  return targetOf(build, brokers, await readDescription(description)).capabilities;
}
