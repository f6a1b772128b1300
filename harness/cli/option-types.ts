/**
 * The kinds of value that a flag can take: a whole number, a duration, names from a fixed set, weights of faults.
 *
 * Each parser checks its value, so that whatever runs later may trust it; a bad one is a UsageError that says which flag,
 * what is wrong and what would be right.
 */
import { Option } from 'commander';
import type { FaultKind } from '../../nemesis/schedule.ts';
import { faultKinds } from '../../nemesis/faults/index.ts';
import { UsageError } from '../errors.ts';
import { longestMs } from '../plan/limits.ts';
import { parseShard } from '../plan/shard.ts';

/** A whole number within bounds. */
export function numberOption(
  flags: string,
  description: string,
  preset: number | undefined,
  min: number,
  max: number,
): Option {
  const option = new Option(flags, description).argParser((text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new UsageError(`${flags.split(' ')[0]} ${text}: write a whole number from ${min} to ${max}`);
    }
    return value;
  });
  return preset === undefined ? option : option.default(preset);
}

/** One shard of several. */
export function shardOption(whole: string): Option {
  return new Option(
    '--shard <i/n>',
    `run the seeds of one shard of ${whole} only, such as 2/3; merge-reports joins all shards`,
  ).argParser((text) => {
    const shard = parseShard(text);
    if (typeof shard === 'string') throw new UsageError(`--shard ${text}: ${shard}`);
    return shard;
  });
}

/** A duration: seconds, or a number with the unit ms, s or m. `foreignMs`: the default where others' brokers run. */
export function durationOption(flags: string, description: string, presetMs?: number, foreignMs = presetMs): Option {
  const option = new Option(flags, description).argParser((text) => {
    const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text);
    const unitMs = match?.[2] === 'ms' ? 1 : match?.[2] === 'm' ? 60_000 : 1_000;
    const ms = match === null ? Number.NaN : Math.round(Number(match[1]) * unitMs);
    if (!(ms >= 1 && ms <= longestMs)) {
      throw new UsageError(`${flags.split(' ')[0]} ${text}: write seconds, or a number with ms, s or m, up to a day`);
    }
    return ms;
  });
  if (presetMs === undefined || foreignMs === undefined) return option;
  const told =
    foreignMs === presetMs ? seconds(presetMs) : `${seconds(presetMs)}; ${seconds(foreignMs)} for kafka: and image:`;
  return option.default(presetMs, told);
}

/** `partition=30,crash=5`; a kind without a weight has 1. */
export function weightsFrom(text: string): Readonly<Partial<Record<FaultKind, number>>> {
  const weights: Partial<Record<FaultKind, number>> = {};
  for (const part of text.split(',')) {
    const [name = '', weight = ''] = part.split('=').map((piece) => piece.trim());
    const kind = faultKinds.find((known) => known === name);
    if (kind === undefined || !/^[1-9]\d{0,3}$/.test(weight)) {
      throw new UsageError(
        `--nemesis-weights ${part}: write a kind of fault and a number from 1 to 9999, such as crash=5`,
      );
    }
    weights[kind] = Number(weight);
  }
  return weights;
}

/** A duration as these flags take it. */
export function seconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/** Names from a fixed set, comma-separated; `none` and `all` are understood, which means all of them unless `all` says else. */
export function listOption(
  flags: string,
  description: string,
  preset: readonly string[],
  known: readonly string[],
  all: unknown = known,
): Option {
  return new Option(flags, description)
    .default(preset, preset.length === 0 ? 'none' : preset.join(','))
    .argParser((text) => {
      if (text === 'none') return [];
      if (text === 'all') return all;
      const names = text.split(',').map((name) => name.trim());
      const strange = names.find((name) => !known.includes(name));
      if (strange !== undefined) {
        throw new UsageError(
          `${flags.split(' ')[0]}: there is no "${strange}"; known are ${known.join(', ')}, all and none`,
        );
      }
      return [...new Set(names)];
    });
}
