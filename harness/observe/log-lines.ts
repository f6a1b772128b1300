/**
 * From the lines that a broker prints to sightings, by the patterns of its target.
 *
 * The first pattern that matches counts. A line that repeats the high watermark told last is passed over: followers of
 * Apache Kafka say theirs with every fetch.
 *
 * Invariant: a sighting holds nothing but what the line says; a line about a partition that is not of this run, or about
 * none at all where its kind needs one, is no sighting.
 */
import type { LogPattern } from '../../docker/targets/target.ts';
import type { NodeName } from '../../nemesis/ports.ts';
import { keyOf } from '../client/operations.ts';
import type { Sighting } from './lines.ts';
import type { ObservedPartition } from './partition.ts';

/** Of one node. */
export interface LogReader {
  readonly node: NodeName;
  readonly patterns: readonly LogPattern[];
  /** The high watermark told last, by partition, and in which epoch: in a new role it is told again. */
  readonly told: Map<string, string>;
}

const wordsMax = 500;
const lineMax = 4_000;

export function createLogReader(node: NodeName, patterns: readonly LogPattern[]): LogReader {
  return { node, patterns, told: new Map() };
}

/** What one line shows. Roles are placed among the leaderships of `partitions`. */
export function readLogLine(
  reader: LogReader,
  partitions: ReadonlyMap<string, ObservedPartition>,
  text: string,
): Sighting[] {
  if (text.length > lineMax) return [];
  for (const { shows, pattern } of reader.patterns) {
    if (shows === 'lost-session') continue;
    pattern.lastIndex = 0;
    const match = pattern.exec(text);
    if (match === null) continue;
    return shows === 'ends-itself' || shows === 'failed-start'
      ? [{ node: reader.node, event: 'ended', source: 'log', words: wordsOf(text) }]
      : aboutPartition(reader, partitions, shows, match.groups ?? {}, text);
  }
  return [];
}

/** Whether a line that stands right behind the one by which a broker ends says that it had lost its session. */
export function saysLostSession({ patterns }: LogReader, text: string): boolean {
  return (
    text.length <= lineMax &&
    patterns.some(({ shows, pattern }) => shows === 'lost-session' && text.search(pattern) >= 0)
  );
}

type Groups = Readonly<Record<string, string | undefined>>;

function aboutPartition(
  reader: LogReader,
  partitions: ReadonlyMap<string, ObservedPartition>,
  shows: Exclude<LogPattern['shows'], 'ends-itself' | 'failed-start' | 'lost-session'>,
  groups: Groups,
  text: string,
): Sighting[] {
  const { node, told } = reader;
  const partition = partitions.get(keyFrom(groups));
  if (partition === undefined) return [];
  const to = numberIn(groups['offset']);
  switch (shows) {
    case 'leads':
    case 'follows': {
      const leader = shows === 'leads' ? node : numberIn(groups['leader']);
      if (typeof leader !== 'number') return [];
      const word = { by: node, leader, epoch: numberIn(groups['epoch']) };
      return partition.leads('log', word, idsIn(groups['isr']) ?? partition.isr, { words: wordsOf(text) });
    }
    case 'isr': {
      const isr = idsIn(groups['isr']);
      // One that led before may wake and try; only the leader's word counts.
      return isr === undefined || !partition.isLed(node) ? [] : partition.inSync('log', isr);
    }
    case 'hw': {
      const said = `${to} in ${partition.roleEpochOf(node)}`;
      if (to === undefined || told.get(partition.key) === said) return [];
      told.set(partition.key, said);
      return [{ node, event: 'hw', source: 'log', partition: partition.key, ...partition.epochFields, to }];
    }
    case 'truncates': {
      const fields = { ...(to === undefined ? {} : { to }), rule: null, words: wordsOf(text) };
      return [{ node, event: 'truncation', source: 'log', partition: partition.key, ...fields }];
    }
  }
}

function keyFrom(groups: Groups): string {
  const { key, topic, partition } = groups;
  if (key !== undefined) return key;
  return topic === undefined || partition === undefined ? '' : keyOf(topic, Number(partition));
}

function numberIn(text: string | undefined): number | undefined {
  const number = text === undefined ? Number.NaN : Number(text);
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** `[3, 1, 2]` or `3,1,2`. */
function idsIn(text: string | undefined): number[] | undefined {
  const ids = text?.match(/\d+/g)?.map(Number);
  return ids === undefined || ids.length === 0 ? undefined : ids;
}

function wordsOf(text: string): string {
  return text.trim().slice(0, wordsMax);
}
