/**
 * The lines of a run scenario: one for each setting, fault and operation of a simulated run.
 *
 * What is simple reads as a sentence: `at 812 ms: pause the leader of tide-0 until 1300 ms`. What is not stands as the
 * object that it is: `fault {…}`. Nothing is lost either way: a line is a sentence only if reading it gives the very same
 * object back, else the object is written.
 */
import { faultKinds } from '../../nemesis/faults/index.ts';
import type { Fault, Target } from '../../nemesis/schedule.ts';
import type { ClientOperation, Seek } from '../client/operations.ts';
import type { PlannedOperation } from './simulation.ts';

/** A fault as a line. `position` counts from 1: a fault that is named after its place needs no name. */
export function writeFault(fault: Fault, position: number): string {
  const sentence = faultSentence(fault, position);
  return sentence !== null && isSame(readFault(sentence, position), fault)
    ? sentence
    : `fault ${JSON.stringify(fault)}`;
}

/** Reads a line; null when it is about no fault, a text when it cannot be one. */
export function readFault(line: string, position: number): Fault | string | null {
  const object = /^fault (.*)$/.exec(line)?.[1];
  if (object !== undefined) return faultObject(object);
  if (!/^at [\d.,e+-]+ ms:/.test(line)) return null;
  return readFaultSentence(line, position) ?? `it is no fault; simple ones are: ${faultUsages.join(' | ')}`;
}

/** An operation of a written load as a line. */
export function writeOperation(planned: PlannedOperation): string {
  const { atMs, thread, called, operation } = planned;
  const head = `thread ${thread} at ${atMs} ms${called === undefined ? '' : ` when ${called} is called`}`;
  const line = `${head}: ${operationSentence(operation)}`;
  return isSame(readOperation(line), planned) ? line : `${head}: operation ${JSON.stringify(operation)}`;
}

/** Reads a line; null when it is no operation, a text when it cannot be one. */
export function readOperation(line: string): PlannedOperation | string | null {
  const match = /^thread (\d{1,6}) at ([\d.,e+-]+) ms(?: when ([\w.-]+) is called)?: (.+)$/.exec(line);
  if (match === null) return null;
  const atMs = numberOf(match[2]);
  if (atMs === null) return `"${match[2]}" is no time`;
  const called = match[3];
  const operation = operationIn(match[4] ?? '');
  if (operation === null) return `it is no operation; operations are: ${operationUsages.join(' | ')}`;
  return { atMs, thread: Number(match[1]), ...(called === undefined ? {} : { called }), operation };
}

export const faultUsages: readonly string[] = [
  'at <n> ms: pause|kill|power off <target> until <n> ms',
  'at <n> ms: cut <target> off from brokers|brokers and controller|brokers and clients|everybody until <n> ms',
  'at <n> ms: silence|deafen <target> towards brokers|brokers and controller|brokers and clients|everybody until <n> ms',
  'at <n> ms: move the leader of <partition> to <target> until <n> ms',
  'fault {…}',
];

export const operationUsages: readonly string[] = [
  'thread <n> at <n> ms: send <value> to <partition>',
  'thread <n> at <n> ms: assign <partition>, <partition>[ from earliest|latest]',
  'thread <n> at <n> ms: poll',
  'thread <n> at <n> ms when <name> is called: …',
  'thread <n> at <n> ms: operation {…}',
];

/** Structural equality of plain data, whatever the order of its fields. */
export function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

const VERBS = { pause: 'pause', crash: 'kill', 'power-loss': 'power off' } as const;

function faultSentence(fault: Fault, position: number): string | null {
  if (!('ms' in fault.at) || !('ms' in fault.until) || fault.exclusive === true) return null;
  const what = aimSentence(fault);
  if (what === null) return null;
  const name = fault.id === `f${position}` ? '' : ` as ${fault.id}`;
  return `at ${fault.at.ms} ms: ${what} until ${fault.at.ms + fault.until.ms} ms${name}`;
}

function aimSentence(fault: Fault): string | null {
  if (fault.kind === 'pause' || fault.kind === 'crash' || fault.kind === 'power-loss') {
    return `${VERBS[fault.kind]} ${targetSentence(fault.targets)}`;
  }
  if (fault.kind === 'leader-move') return `move the leader of ${fault.partition} to ${targetSentence(fault.targets)}`;
  if (fault.kind !== 'partition') return null;
  const { topology } = fault;
  if (topology.shape === 'isolated-node') {
    return `cut ${targetSentence(topology.side)} off from ${reachWords(topology)}`;
  }
  if (topology.shape !== 'one-way') return null;
  const verb = topology.direction === 'outward' ? 'silence' : 'deafen';
  return `${verb} ${targetSentence(topology.side)} towards ${reachWords(topology)}`;
}

function readFaultSentence(line: string, position: number): Fault | null {
  const match = /^at ([\d.,e+-]+) ms: (.+) until ([\d.,e+-]+) ms(?: as ([\w.-]+))?$/.exec(line);
  if (match === null) return null;
  const [start, end] = [numberOf(match[1]), numberOf(match[3])];
  if (start === null || end === null || end < start) return null;
  const common = { id: match[4] ?? `f${position}`, at: { ms: start }, until: { ms: end - start } };
  return readAim(match[2] ?? '', common);
}

function readAim(text: string, common: Pick<Fault, 'id' | 'at' | 'until'>): Fault | null {
  const simple = /^(pause|kill|power off) (.+)$/.exec(text);
  if (simple !== null) {
    const targets = readTarget(simple[2]);
    const kind = simple[1] === 'pause' ? 'pause' : simple[1] === 'kill' ? 'crash' : 'power-loss';
    return targets === null ? null : { ...common, kind, targets };
  }
  const move = /^move the leader of ([\w.-]+) to (.+)$/.exec(text);
  if (move !== null) {
    const targets = readTarget(move[2]);
    return targets === null ? null : { ...common, kind: 'leader-move', partition: move[1] ?? '', targets };
  }
  const cut = /^(cut|silence|deafen) (.+?) (?:off from|towards) (.+)$/.exec(text);
  const side = cut === null ? null : readTarget(cut[2]);
  const reach = cut === null ? null : readReach(cut[3]);
  if (cut === null || side === null || reach === null) return null;
  if (cut[1] === 'cut') return { ...common, kind: 'partition', topology: { shape: 'isolated-node', side, ...reach } };
  const direction = cut[1] === 'silence' ? 'outward' : 'inward';
  return { ...common, kind: 'partition', topology: { shape: 'one-way', side, direction, ...reach } };
}

function targetSentence(target: Target): string {
  switch (target.role) {
    case 'one':
      return `one broker (draw ${target.draw})`;
    case 'minority':
      return `a minority (draw ${target.draw})`;
    case 'majority':
      return `a majority (draw ${target.draw})`;
    case 'all':
      return 'all brokers';
    case 'controller':
      return 'the controller';
    case 'leader':
      return `the leader of ${target.partition}`;
    case 'last-in-isr':
      return `the last in the ISR of ${target.partition}`;
    case 'isr-follower':
      return `a follower of ${target.partition} (draw ${target.draw})`;
    case 'nodes':
      return `nodes ${target.nodes.join(', ')}`;
  }
}

function readTarget(text = ''): Target | null {
  if (text === 'all brokers') return { role: 'all' };
  if (text === 'the controller') return { role: 'controller' };
  const some = /^(one broker|a minority|a majority) \(draw (\d+)\)$/.exec(text);
  if (some !== null) {
    const role = some[1] === 'one broker' ? 'one' : some[1] === 'a minority' ? 'minority' : 'majority';
    return { role, draw: Number(some[2]) };
  }
  const follower = /^a follower of ([\w.-]+) \(draw (\d+)\)$/.exec(text);
  if (follower !== null) return { role: 'isr-follower', partition: follower[1] ?? '', draw: Number(follower[2]) };
  const member = /^the (leader|last in the ISR) of ([\w.-]+)$/.exec(text);
  if (member !== null) {
    return { role: member[1] === 'leader' ? 'leader' : 'last-in-isr', partition: member[2] ?? '' };
  }
  const nodes = /^nodes? ((?:\d+|controller)(?:, (?:\d+|controller))*)$/.exec(text)?.[1];
  if (nodes === undefined) return null;
  return {
    role: 'nodes',
    nodes: nodes.split(', ').map((node) => (node === 'controller' ? node : Number(node))),
  };
}

interface Reaches {
  readonly controller: boolean;
  readonly clients: boolean;
}

function reachWords({ controller, clients }: Reaches): string {
  if (controller && clients) return 'everybody';
  return controller ? 'brokers and controller' : clients ? 'brokers and clients' : 'brokers';
}

function readReach(text = ''): Reaches | null {
  switch (text) {
    case 'brokers':
      return { controller: false, clients: false };
    case 'brokers and controller':
      return { controller: true, clients: false };
    case 'brokers and clients':
      return { controller: false, clients: true };
    case 'everybody':
      return { controller: true, clients: true };
    default:
      return null;
  }
}

function faultObject(text: string): Fault | string {
  const value = parsed(text);
  if (!isObject(value)) return 'after "fault" stands a JSON object, as in schedule.json';
  const { id, kind, at, until } = value;
  if (typeof id !== 'string' || !isObject(at) || !isObject(until)) return 'a fault has an id, at and until';
  if (kind !== 'script' && !faultKinds.some((known) => known === kind)) {
    return `its kind is one of ${faultKinds.join(', ')}, script`;
  }
  return value as unknown as Fault;
}

function operationSentence(operation: ClientOperation): string {
  if (operation.f === 'poll') return 'poll';
  if (operation.f === 'send') return `send ${JSON.stringify(operation.value)} to ${operation.key}`;
  if (operation.f !== 'assign') return `operation ${JSON.stringify(operation)}`;
  const { keys, seek } = operation;
  return `assign ${keys.join(', ')}${typeof seek === 'string' ? ` from ${seek}` : ''}`;
}

function operationIn(text: string): ClientOperation | null {
  if (text === 'poll') return { f: 'poll' };
  const send = /^send (.+) to ([\w.-]+)$/.exec(text);
  if (send !== null) {
    const value = parsed(send[1] ?? '');
    const isValue = typeof value === 'string' || Number.isSafeInteger(value);
    return isValue ? { f: 'send', key: send[2] ?? '', value: value as string | number } : null;
  }
  const assign = /^assign ([\w.-]+(?:, [\w.-]+)*)(?: from (earliest|latest))?$/.exec(text);
  if (assign !== null) {
    const keys = (assign[1] ?? '').split(', ');
    return assign[2] === undefined ? { f: 'assign', keys } : { f: 'assign', keys, seek: assign[2] as Seek };
  }
  const object = /^operation (.+)$/.exec(text)?.[1];
  const value = object === undefined ? null : parsed(object);
  return isObject(value) && typeof value['f'] === 'string' ? (value as unknown as ClientOperation) : null;
}

/** `1300`, `1,300` or `812.5`. */
function numberOf(text = ''): number | null {
  const value = Number(text.replaceAll(/(?<=\d),(?=\d{3})/g, ''));
  return text !== '' && Number.isFinite(value) && value >= 0 ? value : null;
}

/** A JSON value; undefined where there is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
