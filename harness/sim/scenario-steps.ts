/**
 * The steps of the scenario language: what can be done, each with its usage, its pattern and its act.
 *
 * A pattern is matched against the whole line, after ` in <partition>` at its end was taken off and every `broker 2` was
 * shortened to `2`. What its words ask of the lines before it is checked while the file is read. To add a step, add an
 * entry.
 */
import type { NodeId, Peer } from '../../broker/core/step.ts';
import { healAndSettle } from './play-end.ts';
import { PlayError } from './play.ts';
import type { Play } from './play.ts';
import { nodeName } from './narrate.ts';
import { messageSteps } from './scenario-messages.ts';
import type { Script } from './scenario-script.ts';

export type Step = (play: Play) => void;

/** What a line said: the groups of its pattern. */
export interface Words {
  readonly [name: string]: string | undefined;
}

export interface StepKind {
  readonly usage: string;
  readonly pattern: RegExp;
  /** What ` in <partition>` narrows: `one`, else the first; `any`, else all. Without, it may not be said. */
  readonly inPartition?: 'one' | 'any';
  /** Checks its words against the lines before, and notes what later lines may name. */
  readonly read?: (script: Script, words: Words, partition: string | null) => void;
  readonly act: (play: Play, words: Words, partition: string | null) => void;
}

const NODE = '(?<node>\\d+|controller)';
const BROKER = '(?<broker>\\d+)';

const kinds: readonly StepKind[] = [
  {
    usage: 'topic <name> with replicas <broker>, <broker>[; …]',
    pattern: /^topic (?<name>[\w.]+) with replicas (?<replicas>[\d, ;]+)$/,
    read: (script, { name, replicas }) => script.addTopic(of(name), replicasNamed(of(replicas))),
    act: (play, { name, replicas }) => play.createTopic(of(name), replicasNamed(of(replicas))),
  },
  {
    usage: 'produce <value>[, <value>] by <client> [acks all|1|0] [to broker <broker>]',
    pattern:
      /^produce (?<values>[\w, ]+?) by (?<client>[A-Za-z]\w*)(?: acks (?<acks>all|1|0))?(?: to (?<broker>\d+))?$/,
    inPartition: 'one',
    read: (script, { values, client }) => script.addValues(of(client), valuesNamed(of(values))),
    act: (play, { values, client, acks, broker }, partition) => {
      const level = acks === '0' ? 0 : acks === '1' ? 1 : -1;
      const names = valuesNamed(of(values));
      play.produce(of(client), names, play.partition(partition), level, broker === undefined ? null : Number(broker));
    },
  },
  {
    usage: 'read at <offset> by <client> [from broker <broker>]',
    pattern: /^read at (?<offset>\d+) by (?<client>[A-Za-z]\w*)(?: from (?<broker>\d+))?$/,
    inPartition: 'one',
    read: (script, { offset, client }) => {
      offsetOf(offset);
      script.addReader(of(client));
    },
    act: (play, { offset, client, broker }, partition) =>
      play.read(of(client), play.partition(partition), offsetOf(offset), broker === undefined ? null : Number(broker)),
  },
  {
    usage: 'run for <n> ms|s',
    pattern: /^run for (?<count>\d+(?:\.\d+)?) (?<unit>ms|s)$/,
    read: (_, { count, unit }) => void durationMs(count, unit),
    act: (play, { count, unit }) => play.runFor(durationMs(count, unit)),
  },
  ...messageSteps,
  {
    usage: 'checkpoint <broker>',
    pattern: new RegExp(`^checkpoint ${BROKER}$`),
    act: (play, { broker }) => {
      running(play, broker).tell({ type: 'checkpoint-now' });
      told(play, broker, 'writes the high watermark to disk');
    },
  },
  {
    usage: 'flush <broker>',
    pattern: new RegExp(`^flush ${BROKER}$`),
    act: (play, { broker }) => {
      const { disk } = play.node(Number(broker));
      for (const { name } of disk.logs) disk.flush(name);
      told(play, broker, 'has its logs flushed to disk');
    },
  },
  {
    usage: 'start <node>',
    pattern: new RegExp(`^start ${NODE}$`),
    act: (play, { node }) => {
      const started = play.node(peer(node));
      if (started.running) throw new PlayError(`${nodeName(of(node))} runs already`);
      started.start();
    },
  },
  {
    usage: 'stop <node>',
    pattern: new RegExp(`^stop ${NODE}$`),
    act: (play, { node }) => running(play, node).tell({ type: 'stop' }),
  },
  {
    usage: 'kill <node>',
    pattern: new RegExp(`^kill ${NODE}$`),
    act: (play, { node }) => {
      running(play, node).kill();
      told(play, node, 'is killed; what it wrote stays in the page cache');
    },
  },
  {
    usage: 'power off <broker> [keeping <n> more bytes]',
    pattern: new RegExp(`^power off ${BROKER}(?: keeping (?<bytes>\\d+) more bytes)?$`),
    act: (play, { broker, bytes }) => {
      running(play, broker).powerOff(Number(bytes ?? 0));
      told(play, broker, 'loses power; only what was flushed stays');
    },
  },
  {
    usage: 'pause <node>',
    pattern: new RegExp(`^pause ${NODE}$`),
    act: (play, { node }) => {
      running(play, node).pause();
      told(play, node, 'is paused');
    },
  },
  {
    usage: 'resume <node>',
    pattern: new RegExp(`^resume ${NODE}$`),
    act: (play, { node }) => {
      told(play, node, 'goes on');
      running(play, node).resume();
    },
  },
  {
    usage: 'move leader to <broker>',
    pattern: new RegExp(`^move leader to ${BROKER}$`),
    inPartition: 'one',
    act: (play, { broker }, partition) => play.moveLeader(play.partition(partition), Number(broker)),
  },
  {
    usage: 'elect the preferred leader',
    pattern: /^elect the preferred leader$/,
    inPartition: 'one',
    act: (play, _, partition) => play.elect(play.partition(partition), 'preferred'),
  },
  {
    usage: 'elect a leader uncleanly',
    pattern: /^elect a leader uncleanly$/,
    inPartition: 'one',
    act: (play, _, partition) => play.elect(play.partition(partition), 'unclean'),
  },
  {
    usage: 'heal everything and settle [within <n> ms|s]',
    pattern: /^heal everything and settle(?: within (?<count>\d+(?:\.\d+)?) (?<unit>ms|s))?$/,
    read: (script, { count, unit }) => {
      if (count !== undefined) durationMs(count, unit);
      script.holds.clear();
    },
    act: (play, { count, unit }) => healAndSettle(play, count === undefined ? undefined : durationMs(count, unit)),
  },
  {
    usage: 'cut|heal <node> to|and <node>, where a node may be clients',
    pattern: /^(?<verb>cut|heal) (?<from>\d+|controller|clients) (?<how>to|and) (?<to>\d+|controller|clients)$/,
    read: (script, { from, to }) => script.demandBrokers(from, to),
    act: (play, { verb, from, how, to }) => {
      const { kernel } = play.cluster;
      const [one, other] = [place(play, from), place(play, to)];
      const change = verb === 'cut' ? kernel.cut.bind(kernel) : kernel.heal.bind(kernel);
      change(one, other);
      if (how === 'and') change(other, one);
    },
  },
];

export const stepUsages: readonly string[] = kinds.map(({ usage }) => usage);

/** Reads one step; null when no pattern fits. Throws a {@link PlayError} for one that could never be done. */
export function parseStep(text: string, script?: Script): Step | null {
  const { words, partition } = normalize(text);
  for (const { pattern, inPartition, read, act } of kinds) {
    const groups = pattern.exec(words);
    if (groups === null) continue;
    const said: Words = groups.groups ?? {};
    demandPlace(said, partition, inPartition, script);
    if (script !== undefined) read?.(script, said, partition);
    return (play) => act(play, said, partition);
  }
  return null;
}

/** The brokers and the partition that a statement is about have to be there, as far as it may name one. */
export function demandPlace(
  { broker, node, leader, follower }: Words,
  partition: string | null,
  inPartition: StepKind['inPartition'],
  script: Script | undefined,
): void {
  if (inPartition === undefined && partition !== null) {
    throw new PlayError(`it is about no single partition: leave out "in ${partition}"`);
  }
  script?.demandBrokers(broker, node, leader, follower);
  if (inPartition === 'one' || partition !== null) script?.demandPartition(partition);
}

/** Takes off ` in <partition>`, and shortens `broker 2` to `2`. */
export function normalize(text: string): { readonly words: string; readonly partition: string | null } {
  const named = / in ([\w.]+-\d+)$/.exec(text);
  const bare = named === null ? text : text.slice(0, named.index);
  return { words: bare.replaceAll(/\bbroker (?=\d)/g, ''), partition: named?.[1] ?? null };
}

const MS_PER_HOUR = 3_600_000;
/** A batch of more would be refused by any broker. */
const MOST_VALUES = 10_000;

function durationMs(count: string | undefined, unit: string | undefined): number {
  const ms = Number(count) * (unit === 's' ? 1000 : 1);
  if (ms > MS_PER_HOUR) throw new PlayError('a step lasts an hour at the most');
  return ms;
}

/** The brokers of each partition. */
function replicasNamed(text: string): number[][] {
  return text.split(';').map((list) => list.split(',').map(Number));
}

/** `a, b` or, for many, `r1 to r300`. */
function valuesNamed(text: string): string[] {
  const range = /^([a-z_]+)(\d+) to \1(\d+)$/i.exec(text);
  if (range === null) return text.split(/, */);
  const [first, last] = [Number(range[2]), Number(range[3])];
  if (last < first) throw new PlayError(`${range[1]}${last} comes before ${range[1]}${first}`);
  if (last - first >= MOST_VALUES) throw new PlayError(`a batch holds ${MOST_VALUES} records at the most`);
  return Array.from({ length: last - first + 1 }, (_, index) => `${range[1]}${first + index}`);
}

function offsetOf(text: string | undefined): number {
  const offset = Number(text);
  if (!Number.isSafeInteger(offset)) throw new PlayError(`an offset is ${Number.MAX_SAFE_INTEGER} at the most`);
  return offset;
}

function running(play: Play, id: string | undefined): ReturnType<Play['node']> {
  const node = play.node(peer(id));
  if (!node.running) throw new PlayError(`${nodeName(of(id))} does not run`);
  return node;
}

function told(play: Play, id: string | undefined, what: string): void {
  play.narrate(nodeName(of(id)), what);
}

function peer(id: string | undefined): Peer {
  return id === 'controller' ? id : Number(id);
}

function place(play: Play, id: string | undefined): Peer | 'clients' {
  return id === 'clients' ? id : (play.node(peer(id)).id satisfies NodeId | Peer);
}

/** A group that its pattern always fills. */
function of(word: string | undefined): string {
  if (word === undefined) throw new Error('a pattern of a step lacks a group');
  return word;
}
