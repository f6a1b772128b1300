/**
 * The conditions of the scenario language: what can be expected or waited for, each with its usage, pattern and check.
 *
 * A check answers whether the condition holds and, for a reader of the failure, how things stand instead. Patterns are
 * matched as those of steps are. To add a condition, add an entry.
 */
import type { EpochEntry, NodeId } from '../../broker/core/step.ts';
import { errorName } from '../../broker/protocol/index.ts';
import { endOffsetOf } from './disk.ts';
import { isPartitionSettled } from './play-end.ts';
import { PlayError } from './play.ts';
import type { PartitionName, Play, Produced } from './play.ts';
import type { Script } from './scenario-script.ts';
import { demandPlace, normalize } from './scenario-steps.ts';
import type { Words } from './scenario-steps.ts';

interface Outcome {
  readonly holds: boolean;
  /** How things are. */
  readonly actual: string;
}

export type Condition = (play: Play) => Outcome;

interface AnyConditionKind {
  readonly usage: string;
  readonly pattern: RegExp;
  /** Checks its words against the lines before. */
  readonly read?: (script: Script, words: Words) => void;
}

type ConditionKind =
  /** About the partition that is named, or the first. */
  | (AnyConditionKind & {
      readonly of?: undefined;
      readonly check: (play: Play, words: Words, partition: PartitionName) => Outcome;
    })
  | (AnyConditionKind & { readonly of: 'play'; readonly check: (play: Play, words: Words) => Outcome });

const RECORDS = '(?<records>\\w+(?: at \\d+)?(?:, \\w+(?: at \\d+)?)*)';

const kinds: readonly ConditionKind[] = [
  {
    usage: 'LEO of <broker> is <offset>',
    pattern: /^LEO of (?<broker>\d+) is (?<value>\d+)$/,
    check: (play, { broker, value }, partition) => {
      const log = play.node(Number(broker)).disk.find(partition.key);
      return is(log === undefined ? 'no log' : String(endOffsetOf(log)), value);
    },
  },
  {
    usage: 'HW of <broker> is <offset>',
    pattern: /^HW of (?<broker>\d+) is (?<value>\d+)$/,
    check: (play, { broker, value }, partition) => is(String(replica(play, broker, partition).highWatermark), value),
  },
  {
    usage: 'LEO of <broker> known to <broker> is <offset>|unknown',
    pattern: /^LEO of (?<follower>\d+) known to (?<broker>\d+) is (?<value>\d+|unknown)$/,
    check: (play, { follower, broker, value }, partition) => {
      const { role } = replica(play, broker, partition);
      if (role.kind !== 'leader') return { holds: false, actual: `broker ${broker} does not lead` };
      const end = role.followers.find(({ id }) => id === Number(follower))?.end ?? -1;
      return is(end < 0 ? 'unknown' : String(end), value);
    },
  },
  {
    usage: 'ISR is <broker>, <broker>',
    pattern: /^ISR is (?<value>\d+(?:, \d+)*)$/,
    check: (play, { value }, partition) => is(sorted(play.state(partition).isr), sorted(numbers(value))),
  },
  {
    usage: 'ISR known to <broker> is <broker>, <broker>',
    pattern: /^ISR known to (?<broker>\d+) is (?<value>\d+(?:, \d+)*)$/,
    check: (play, { broker, value }, partition) =>
      is(sorted(replica(play, broker, partition).isr), sorted(numbers(value))),
  },
  {
    usage: 'leader is <broker>|none',
    pattern: /^leader is (?<value>\d+|none)$/,
    check: (play, { value }, partition) => is(leaderName(play.state(partition).leader), value),
  },
  {
    usage: 'leader known to <broker> is <broker>|none',
    pattern: /^leader known to (?<broker>\d+) is (?<value>\d+|none)$/,
    check: (play, { broker, value }, partition) => is(leaderName(replica(play, broker, partition).leader ?? -1), value),
  },
  {
    usage: 'leader epoch is <epoch>',
    pattern: /^leader epoch is (?<value>\d+)$/,
    check: (play, { value }, partition) => is(String(play.state(partition).leaderEpoch), value),
  },
  {
    usage: 'leader epoch known to <broker> is <epoch>',
    pattern: /^leader epoch known to (?<broker>\d+) is (?<value>\d+)$/,
    check: (play, { broker, value }, partition) => is(String(replica(play, broker, partition).leaderEpoch), value),
  },
  {
    usage: 'epoch checkpoint of <broker> is <epoch> <offset>[, <epoch> <offset>]|empty',
    pattern: /^epoch checkpoint of (?<broker>\d+) is (?<value>\d+ \d+(?:, \d+ \d+)*|empty)$/,
    check: (play, { broker, value }, partition) => {
      const epochs = play.node(Number(broker)).disk.find(partition.key)?.epochs ?? [];
      return is(epochsInWords(epochs), value);
    },
  },
  {
    usage: 'epoch cache of <broker> is <epoch> <offset>[, <epoch> <offset>]|empty',
    pattern: /^epoch cache of (?<broker>\d+) is (?<value>\d+ \d+(?:, \d+ \d+)*|empty)$/,
    check: (play, { broker, value }, partition) => is(epochsInWords(replica(play, broker, partition).epochs), value),
  },
  {
    usage: 'HW checkpoint of <broker> is <offset>',
    pattern: /^HW checkpoint of (?<broker>\d+) is (?<value>\d+)$/,
    check: (play, { broker, value }, { key }) =>
      is(String(play.node(Number(broker)).disk.checkpointed('replication-offset-checkpoint', key)), value),
  },
  {
    usage: 'log of <broker> is flushed to <offset>',
    pattern: /^log of (?<broker>\d+) is flushed to (?<value>\d+)$/,
    check: (play, { broker, value }, partition) => {
      const log = play.node(Number(broker)).disk.find(partition.key);
      if (log === undefined) return is('no log', value);
      const last = log.batches[log.flushedBatches - 1];
      return is(String(last === undefined ? log.baseOffset : last.lastOffset + 1), value);
    },
  },
  {
    usage: 'log of <broker> has a torn tail',
    pattern: /^log of (?<broker>\d+) has a torn tail$/,
    check: (play, { broker }, partition) => {
      const torn = play.node(Number(broker)).disk.find(partition.key)?.tornTail ?? null;
      return { holds: torn !== null, actual: torn === null ? 'it ends with a whole batch' : 'it has' };
    },
  },
  {
    usage: 'log of <broker> is <value>[, <value>]|empty',
    pattern: /^log of (?<broker>\d+) is (?<value>\w+(?:, \w+)*)$/,
    check: (play, { broker, value }, partition) => {
      const values = play.valuesOf(Number(broker), partition).map((record) => record.value);
      return is(values.join(', ') || 'empty', value);
    },
  },
  {
    usage: 'log of <broker> holds <value> at <offset>',
    pattern: /^log of (?<broker>\d+) holds (?<value>\w+) at (?<offset>\d+)$/,
    check: (play, { broker, value, offset }, partition) => {
      const there = play.valuesOf(Number(broker), partition).find((record) => record.offset === Number(offset));
      return is(there?.value ?? `nothing at ${offset}`, value);
    },
  },
  {
    usage: 'log of <broker> lacks <value>',
    pattern: /^log of (?<broker>\d+) lacks (?<value>\w+)$/,
    check: (play, { broker, value }, partition) => {
      const there = play.valuesOf(Number(broker), partition).find((record) => record.value === value);
      return {
        holds: there === undefined,
        actual: there === undefined ? 'it does' : `it holds ${value} at ${there.offset}`,
      };
    },
  },
  {
    usage: '<value> is acknowledged [at <offset>]',
    pattern: /^(?<value>\w+) is acknowledged(?: at (?<offset>\d+))?$/,
    of: 'play',
    read: (script, { value }) => script.demandValues(value ?? ''),
    check: (play, { value, offset }) => {
      const fate = fateOf(produced(play, value));
      const holds = fate.offset !== null && (offset === undefined || fate.offset === Number(offset));
      return { holds, actual: fate.words };
    },
  },
  {
    usage: '<value> is not acknowledged',
    pattern: /^(?<value>\w+) is not acknowledged$/,
    of: 'play',
    read: (script, { value }) => script.demandValues(value ?? ''),
    check: (play, { value }) => {
      const fate = fateOf(produced(play, value));
      return { holds: fate.offset === null, actual: fate.words };
    },
  },
  {
    usage: '<value> is refused with <error>',
    pattern: /^(?<value>\w+) is refused with (?<error>[A-Z_]+)$/,
    of: 'play',
    read: (script, { value }) => script.demandValues(value ?? ''),
    check: (play, { value, error }) => is(fateOf(produced(play, value)).words, `refused with ${error}`),
  },
  {
    usage: '<client> got <value> at <offset>[, …]|nothing|<error>',
    pattern: new RegExp(`^(?<client>[A-Za-z]\\w*) got (?:${RECORDS}|(?<error>[A-Z_]{4,}))$`),
    of: 'play',
    read: (script, { client }) => script.demandReader(client ?? ''),
    check: (play, { client, records, error }) => {
      const read = play.reads.findLast((each) => each.client === client);
      if (read === undefined) throw new PlayError(`${client} has read nothing yet`);
      const got = read.error ?? (read.records.map((each) => `${each.value} at ${each.offset}`).join(', ') || 'nothing');
      return is(got, records ?? error);
    },
  },
  {
    usage: 'no read went beyond the high watermark',
    pattern: /^no read went beyond the high watermark$/,
    of: 'play',
    check: (play) => {
      const beyond = play.reads.find(({ records, highWatermark }) =>
        records.some(({ offset }) => offset >= highWatermark),
      );
      if (beyond === undefined) return { holds: true, actual: 'none did' };
      const { client, broker, highWatermark } = beyond;
      return {
        holds: false,
        actual: `${client} got records at or above ${highWatermark}, the high watermark of broker ${broker}`,
      };
    },
  },
  {
    usage: '<broker> truncated from <offset> to <offset> [by <rule>]',
    pattern: /^(?<broker>\d+) truncated from (?<from>\d+) to (?<to>\d+)(?: by (?<rule>[a-z-]+))?$/,
    check: (play, { broker, from, to, rule }, partition) => {
      const done = truncations(play, broker, partition);
      const holds = done.some(
        (each) => each.words === `from ${from} to ${to}` && (rule === undefined || each.rule === rule),
      );
      return {
        holds,
        actual: done.map((each) => `${each.words} by ${each.rule}`).join('; ') || 'it truncated nothing',
      };
    },
  },
  {
    usage: '<broker> truncated nothing',
    pattern: /^(?<broker>\d+) truncated nothing$/,
    check: (play, { broker }, partition) => {
      const done = truncations(play, broker, partition);
      return {
        holds: done.length === 0,
        actual: done.map((each) => `${each.words} by ${each.rule}`).join('; ') || 'nothing',
      };
    },
  },
  {
    usage: '<broker> is live|fenced|down',
    pattern: /^(?<broker>\d+) is (?<value>live|fenced|down)$/,
    of: 'play',
    check: (play, { broker, value }) => {
      if (value === 'down') return is(play.node(Number(broker)).running ? 'running' : 'down', value);
      const known = play.cluster.controller.brokers.find(({ id }) => id === Number(broker));
      return is(known === undefined || known.fenced ? 'fenced' : 'live', value);
    },
  },
  {
    usage: 'settled',
    pattern: /^settled$/,
    check: (play, _, partition) => {
      const { replicas, isr } = play.state(partition);
      const standing = replicas.map((id) => {
        const known = play.replica(id, partition);
        return known === null
          ? 'down'
          : `LEO ${known.log.endOffset} HW ${known.highWatermark} epoch ${known.leaderEpoch}`;
      });
      const actual = `ISR ${sorted(isr)}; ${standing.join('; ')}`;
      return { holds: isPartitionSettled(play, partition), actual };
    },
  },
  {
    usage: 'nothing is lost',
    pattern: /^nothing is lost$/,
    check: (play, _, partition) => lossIs([], lostFrom(play, partition)),
  },
  {
    usage: '<value>[, <value>] is lost',
    pattern: /^(?<value>\w+(?:, \w+)*) (?:is|are) lost$/,
    read: (script, { value }) => script.demandValues(...(value ?? '').split(', ')),
    check: (play, { value }, partition) => lossIs((value ?? '').split(', '), lostFrom(play, partition)),
  },
  {
    usage: 'logs agree',
    pattern: /^logs agree$/,
    check: (play, _, partition) => is(firstDifference(play, partition) ?? 'logs agree', 'logs agree'),
  },
  {
    usage: 'logs differ at <offset>',
    pattern: /^logs differ at (?<offset>\d+)$/,
    check: (play, { offset }, partition) => {
      const difference = firstDifference(play, partition);
      return { holds: difference?.startsWith(`at ${offset}:`) === true, actual: difference ?? 'logs agree' };
    },
  },
];

export const conditionUsages: readonly string[] = kinds.map(({ usage }) => usage);

/** Reads one condition; null when no pattern fits. Throws a {@link PlayError} for one that could never hold. */
export function parseCondition(text: string, script?: Script): Condition | null {
  const { words, partition } = normalize(text);
  for (const kind of kinds) {
    const groups = kind.pattern.exec(words);
    if (groups === null) continue;
    const said: Words = groups.groups ?? {};
    demandPlace(said, partition, kind.of === 'play' ? undefined : 'one', script);
    if (script !== undefined) kind.read?.(script, said);
    if (kind.of === 'play') return (play) => kind.check(play, said);
    return (play) => kind.check(play, said, play.partition(partition));
  }
  return null;
}

function is(actual: string, expected: string | undefined): Outcome {
  return { holds: actual === expected, actual: `it is ${actual}` };
}

function replica(
  play: Play,
  broker: string | undefined,
  partition: PartitionName,
): NonNullable<ReturnType<Play['replica']>> {
  const found = play.replica(Number(broker), partition);
  if (found === null) throw new PlayError(`broker ${broker} is down, or holds no ${partition.key}`);
  return found;
}

function produced(play: Play, value: string | undefined): Produced {
  const found = play.produced.get(value ?? '');
  if (found === undefined) throw new PlayError(`nobody produced ${value}`);
  return found;
}

/** What the client knows of its record. */
function fateOf({ call, index, acks }: Produced): { readonly offset: number | null; readonly words: string } {
  const answer = call.answer?.responses[0]?.partitionResponses[0];
  if (answer === undefined)
    return { offset: null, words: call.closed ? 'disconnected' : acks === 0 ? 'not asked' : 'not answered' };
  if (answer.errorCode !== 0) return { offset: null, words: `refused with ${errorName(answer.errorCode)}` };
  const offset = answer.baseOffset + index;
  return { offset, words: `acknowledged at ${offset}` };
}

/** Records acknowledged under acks=all that are not at their offset below the high watermark of who leads now. */
function lostFrom(play: Play, partition: PartitionName): string[] {
  const { leader } = play.state(partition);
  const led = leader < 0 ? null : play.replica(leader, partition);
  if (led === null) throw new PlayError('nobody leads: what is lost is decided by the leader’s log');
  const kept = new Map(play.valuesOf(leader, partition).map(({ offset, value }) => [offset, value]));
  return [...play.produced.values()].flatMap((sent) => {
    const { offset } = fateOf(sent);
    if (sent.partition.key !== partition.key || sent.acks !== -1 || offset === null) return [];
    return kept.get(offset) === sent.value && offset < led.highWatermark ? [] : [sent.value];
  });
}

/** All that are lost have to be named, in the order in which they were produced. */
function lossIs(expected: readonly string[], lost: readonly string[]): Outcome {
  const actual = `${lost.join(', ') || 'nothing'} ${lost.length > 1 ? 'are' : 'is'} lost`;
  return { holds: lost.join(', ') === expected.join(', '), actual };
}

/** The first offset, from the largest log start to the smallest LEO, at which two replicas hold different records. */
function firstDifference(play: Play, partition: PartitionName): string | null {
  const { replicas } = play.state(partition);
  const logs = replicas.flatMap((id) => play.node(id).disk.find(partition.key) ?? []);
  if (logs.length < replicas.length) return null;
  const held = replicas.map((id) => new Map(play.valuesOf(id, partition).map(({ offset, value }) => [offset, value])));
  const end = Math.min(...logs.map(endOffsetOf));
  for (let offset = Math.max(...logs.map(({ baseOffset }) => baseOffset)); offset < end; offset += 1) {
    const values = held.map((log) => log.get(offset));
    if (new Set(values).size === 1) continue;
    return `at ${offset}: ${replicas.map((id, index) => `broker ${id} has ${values[index]}`).join(', ')}`;
  }
  return null;
}

function truncations(
  play: Play,
  broker: string | undefined,
  { key }: PartitionName,
): { readonly words: string; readonly rule: string }[] {
  return play.trace.flatMap((line) => {
    if (line.event !== 'truncation' || line.node !== Number(broker) || line.partition !== key) return [];
    return line.to < line.from ? [{ words: `from ${line.from} to ${line.to}`, rule: line.rule }] : [];
  });
}

function epochsInWords(entries: readonly EpochEntry[]): string {
  return entries.map(({ epoch, startOffset }) => `${epoch} ${startOffset}`).join(', ') || 'empty';
}

function leaderName(leader: NodeId): string {
  return leader < 0 ? 'none' : String(leader);
}

function numbers(list: string | undefined): number[] {
  return (list ?? '').split(', ').map(Number);
}

function sorted(ids: readonly NodeId[]): string {
  return ids.toSorted((a, b) => a - b).join(', ');
}
