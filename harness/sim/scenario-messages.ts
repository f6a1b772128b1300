/**
 * The steps of the scenario language that stop single messages: hold, deliver, lose, step, drop.
 *
 * Each sort of message has a name, and a broker that it is of or to: `fetches of 2`, `pushes to 2`. A hold stops all of
 * one sort until it is ended by `deliver` or `lose`; meanwhile `step` lets the first one through, and `drop` ends the
 * connection of the first one, as a network that loses it. `in tide-0` narrows each to what is about that partition.
 *
 * These are the hooks by which a schedule is put in order: what is not held comes when it comes.
 */
import type { ApiName, RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Hold, Lane, Message } from './network.ts';
import { PlayError } from './play.ts';
import type { Play } from './play.ts';
import type { StepKind, Words } from './scenario-steps.ts';

interface Sort {
  readonly one: string;
  readonly many: string;
  readonly api: ApiName;
  readonly kind: 'request' | 'response';
  /** How the broker is named, and at which end of the lane it is. */
  readonly word: 'of' | 'to';
  readonly end: 'from' | 'to';
  /** The sort of its answers. */
  readonly answers?: string;
}

const sorts: readonly Sort[] = [
  request('fetch', 'fetches', 'Fetch', 'of', 'fetch answers'),
  response('fetch answer', 'Fetch', 'to'),
  request('epoch question', 'epoch questions', 'OffsetForLeaderEpoch', 'of', 'epoch answers'),
  response('epoch answer', 'OffsetForLeaderEpoch', 'to'),
  request('push', 'pushes', 'PartitionStates', 'to', 'push answers'),
  response('push answer', 'PartitionStates', 'of'),
  request('ISR change', 'ISR changes', 'AlterPartition', 'of', 'ISR answers'),
  response('ISR answer', 'AlterPartition', 'to'),
  request('heartbeat', 'heartbeats', 'BrokerHeartbeat', 'of'),
  request('registration', 'registrations', 'BrokerRegistration', 'of'),
  request('produce', 'produces', 'Produce', 'to', 'produce answers'),
  response('produce answer', 'Produce', 'of'),
];

/** Messages that name no partition. */
const concernsBrokersOnly: ReadonlySet<string> = new Set(['heartbeat', 'registration', 'push answer']);

const MANY = sorts.map(({ many, word }) => `${many} ${word}`).join('|');
const ONE = sorts.map(({ one, word }) => `${one} ${word}`).join('|');

export const messageSteps: readonly StepKind[] = [
  {
    usage: `hold ${sorts.map(({ many, word }) => `${many} ${word}`).join('|')} <broker>, fetches also: at <broker>`,
    pattern: new RegExp(`^hold (?<sort>${MANY}) (?<broker>\\d+)(?: at (?<leader>\\d+))?$`),
    inPartition: 'any',
    read: ({ holds }, words, partition) => {
      holds.add(newHold(holds, words, partition).name);
    },
    act: (play, words, partition) => {
      const { sort, name } = newHold(new Set(play.holds.keys()), words, partition);
      const { broker, leader } = words;
      play.node(Number(broker));
      play.holds.set(name, play.cluster.kernel.network.hold(matcher(sort, broker, leader, partition)));
    },
  },
  {
    usage: 'deliver|lose <what was held>, such as: deliver pushes to <broker>',
    pattern: new RegExp(`^(?<verb>deliver|lose) (?<what>(?:${MANY}) \\d+(?: at \\d+)?)$`),
    inPartition: 'any',
    read: ({ holds }, { what }, partition) => {
      holds.delete(knownHold(holds, holdName(what ?? '', partition)));
    },
    act: (play, { verb, what }, partition) => {
      const name = knownHold(new Set(play.holds.keys()), holdName(what ?? '', partition));
      const held = play.holds.get(name)!;
      play.holds.delete(name);
      const { network } = play.cluster.kernel;
      if (verb === 'deliver') network.release(held);
      else network.lose(held);
    },
  },
  {
    usage: 'step|drop a <message that is held>, such as: step a fetch of <broker>, drop a fetch answer to <broker>',
    pattern: new RegExp(`^(?<verb>step|drop) an? (?<sort>${ONE}) (?<broker>\\d+)$`),
    inPartition: 'any',
    read: ({ holds }, words, partition) => void holdsOver(holds, words, partition),
    act: (play, words, partition) => {
      const { verb, sort: named, broker } = words;
      const sort = sortNamed(named);
      const names = holdsOver(new Set(play.holds.keys()), words, partition);
      const held = names.map((name) => play.holds.get(name)!);
      const meant = { what: `a ${named} ${broker}`, matches: matcher(sort, broker, undefined, partition) };
      if (verb === 'drop') play.cluster.kernel.network.loseOn(play.awaitHeld(held, meant).lane);
      else play.step(held, meant, (message) => areAnswersHeld(play, sort.answers, broker, partitionsIn(message)));
    },
  },
];

function request(one: string, many: string, api: ApiName, word: 'of' | 'to', answers?: string): Sort {
  const end = word === 'of' ? 'from' : 'to';
  return { one, many, api, kind: 'request', word, end, ...(answers === undefined ? {} : { answers }) };
}

function response(one: string, api: ApiName, word: 'of' | 'to'): Sort {
  return { one, many: `${one}s`, api, kind: 'response', word, end: word === 'of' ? 'from' : 'to' };
}

/** By its name in the singular or in the plural. */
function sortNamed(name: string | undefined): Sort {
  const sort = sorts.find(({ one, many, word }) => `${many} ${word}` === name || `${one} ${word}` === name);
  if (sort === undefined) throw new Error(`there is no sort of message "${name}"`);
  return sort;
}

function matcher(
  sort: Sort,
  broker: string | undefined,
  leader: string | undefined,
  partition: string | null,
): Hold['matches'] {
  return (lane: Lane, message: Message) =>
    message.api === sort.api &&
    message.kind === sort.kind &&
    lane[sort.end].name === broker &&
    (leader === undefined || lane.to.name === leader) &&
    (partition === null || partitionsIn(message).includes(partition));
}

/** What a line asks to be held, which may not be held already. */
function newHold(
  holds: ReadonlySet<string>,
  words: Words,
  partition: string | null,
): { readonly sort: Sort; readonly name: string } {
  const sort = sortNamed(words['sort']);
  const { broker, leader } = words;
  if (leader !== undefined && sort.one !== 'fetch') throw new PlayError('only fetches are held "at" a broker');
  demandAbout(sort, partition);
  const name = holdName(`${words['sort']} ${broker}${leader === undefined ? '' : ` at ${leader}`}`, partition);
  if (holds.has(name)) throw new PlayError(`${name} are held already`);
  return { sort, name };
}

/** A hold that is to be ended. */
function knownHold(holds: ReadonlySet<string>, name: string): string {
  if (holds.has(name)) return name;
  throw new PlayError(`${name} are not held; held are ${[...holds].join(', ') || 'nothing'}`);
}

/** Every hold under which a message that is to be stepped or dropped may lie. */
function holdsOver(holds: ReadonlySet<string>, { sort: named, broker }: Words, partition: string | null): string[] {
  const sort = sortNamed(named);
  demandAbout(sort, partition);
  const plural = `${sort.many} ${sort.word} ${broker}`;
  const over = [...holds].filter((name) => {
    const narrowedTo = partitionOf(name);
    const isOfSort = name === plural || name.startsWith(`${plural} `);
    return isOfSort && (partition === null || narrowedTo === null || narrowedTo === partition);
  });
  if (over.length === 0) throw new PlayError(`say "hold ${holdName(plural, partition)}" first`);
  return over;
}

function demandAbout({ one, many }: Sort, partition: string | null): void {
  if (partition === null || !concernsBrokersOnly.has(one)) return;
  throw new PlayError(`${many} are about no partition: leave out "in ${partition}"`);
}

/** Whether the answer to a request about these partitions is held. */
function areAnswersHeld(
  play: Play,
  answers: string | undefined,
  broker: string | undefined,
  partitions: readonly string[],
): boolean {
  if (answers === undefined) return false;
  const isOfSort = new RegExp(`^${answers} (?:of|to) ${broker}(?: |$)`);
  return [...play.holds.keys()].some((name) => {
    const narrowedTo = partitionOf(name);
    return isOfSort.test(name) && (narrowedTo === null || partitions.includes(narrowedTo));
  });
}

function holdName(what: string, partition: string | null): string {
  return partition === null ? what : `${what} in ${partition}`;
}

/** What a hold is narrowed to, by its name. */
function partitionOf(name: string): string | null {
  return / in (\S+)$/.exec(name)?.[1] ?? null;
}

/** The partitions that a message is about; none where it is about brokers alone. */
function partitionsIn({ api, kind, body }: Message): string[] {
  const isRequest = kind === 'request';
  if (api === 'Fetch') {
    return isRequest
      ? keysOf((body as RequestBody<'Fetch'>).topics, 'topic', 'partition')
      : keysOf((body as ResponseBody<'Fetch'>).responses, 'topic', 'partitionIndex');
  }
  if (api === 'OffsetForLeaderEpoch') {
    return isRequest
      ? keysOf((body as RequestBody<'OffsetForLeaderEpoch'>).topics, 'topic', 'partition')
      : keysOf((body as ResponseBody<'OffsetForLeaderEpoch'>).topics, 'topic', 'partition');
  }
  if (api === 'AlterPartition') {
    return isRequest
      ? keysOf((body as RequestBody<'AlterPartition'>).topics, 'topicName', 'partitionIndex')
      : keysOf((body as ResponseBody<'AlterPartition'>).topics, 'topicName', 'partitionIndex');
  }
  if (api === 'Produce') {
    return isRequest
      ? (body as RequestBody<'Produce'>).topicData.flatMap(({ name, partitionData }) =>
          partitionData.map(({ index }) => `${name}-${index}`),
        )
      : (body as ResponseBody<'Produce'>).responses.flatMap(({ name, partitionResponses }) =>
          partitionResponses.map(({ index }) => `${name}-${index}`),
        );
  }
  if (api !== 'PartitionStates') return [];
  return (body as RequestBody<'PartitionStates'>).partitions.map(({ topic, partition }) => `${topic}-${partition}`);
}

function keysOf<N extends string, I extends string>(
  topics: readonly (Readonly<Record<N, string>> & {
    readonly partitions: readonly Readonly<Record<I, number>>[];
  })[],
  name: N,
  index: I,
): string[] {
  return topics.flatMap((topic) => topic.partitions.map((partition) => `${topic[name]}-${partition[index]}`));
}
