/**
 * What is different on the command line where brokers that others wrote take part: containers only, defaults that suit
 * them, and only faults that every target can be given.
 *
 * One of our own builds that stands beside them in a comparison gets the same, so that both sides meet the same plan.
 */
import type { Command } from 'commander';
import { kafkaByNode } from '../../docker/targets/kafka-versions.ts';
import type { FaultKind } from '../../nemesis/schedule.ts';
import { UsageError } from '../errors.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { foreignBuildsByNode } from '../plan/builds-by-node.ts';
import { foreignFaultKinds, foreignRunConfig } from '../plan/config.ts';
import type { RunFlags } from './options.ts';

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
  const beyond = await faultsBeyond(builds, flags);
  const strange = wanted.find((kind) => beyond.has(kind));
  if (strange !== undefined && counted.nemesis !== 'all' && isTyped('nemesis')) {
    throw new UsageError(`--nemesis ${strange}: ${beyond.get(strange)}; leave it out`);
  }
  return { ...counted, nemesis: wanted.filter((kind) => !beyond.has(kind)) };
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

/** Kinds of fault that the target of some build cannot be given, each with whose and why. */
export async function faultsBeyond(
  builds: readonly string[],
  { nodes, description }: Pick<RunFlags, 'nodes' | 'description'>,
): Promise<ReadonlyMap<FaultKind, string>> {
  const beyond = new Map<FaultKind, string>();
  const { readDescription, targetOf } = await import('../run/targets.ts');
  const brokers = Array.from({ length: nodes }, (_, index) => index + 1);
  for (const build of builds.filter(isForeignBuild)) {
    const { capabilities } = targetOf(build, brokers, await readDescription(description));
    for (const [kind, able] of Object.entries(capabilities.faults)) {
      if (able !== true) beyond.set(kind as FaultKind, `${build} cannot be given that (${able.not})`);
    }
  }
  return beyond;
}
