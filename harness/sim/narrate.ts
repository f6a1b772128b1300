/**
 * Trace lines and messages in words: one line for each thing that decides the fate of a record.
 *
 * Offsets that end something are exclusive, as in the trace: a log that ends at 3 holds 0, 1 and 2. The legend stands in
 * `docs/scenarios.md`.
 */
import type { NodeId } from '../../broker/core/step.ts';
import type { ToldEvent, TraceLine } from '../../broker/core/trace.ts';
import { errorName } from '../../broker/protocol/index.ts';
import type { RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Lane, Message } from './network.ts';

/** What the teller has to know beyond the line. */
export interface Names {
  /** Records of the batch with that checksum. */
  valuesByHash(hash: string): readonly string[];
  /** A list of values, shortened if it is long. */
  namesOf(values: readonly string[]): string;
  /** Followers whose fetches are told one by one. */
  readonly steppedFollowers: ReadonlySet<string>;
}

const NS_PER_MS = 1e6;
const TIME_WIDTH = 12;
const NAME_WIDTH = 12;

/** `broker 2`, or the name itself of the controller and of clients. */
export function nodeName(name: string): string {
  return /^\d+$/.test(name) ? `broker ${name}` : name;
}

/** One line of a story: when, who, what. */
export function toldLine(timeNs: number, who: string, what: string): string {
  const time = `${(timeNs / NS_PER_MS).toFixed(1)} ms`;
  return `${time.padStart(TIME_WIDTH)}  ${who.padEnd(NAME_WIDTH)}  ${what}`.trimEnd();
}

/** A trace line in words; null for what is told better by the lines around it. */
export function narrateTrace(line: TraceLine, names: Names): string | null {
  switch (line.event) {
    case 'start':
      return line.node === 'controller'
        ? `starts (life ${line.boot})`
        : `starts with build ${line.build} (life ${line.boot})`;
    case 'recover':
      return recovered(line);
    case 'stop':
      return 'has shut down';
    case 'append':
      return appended(line, names);
    case 'fetch':
      return `hears that broker ${line.follower} holds all below ${line.offset}; its own log ends at ${line.leo}`;
    case 'hw':
      return `high watermark ${line.from} -> ${line.to}${line.isr === undefined ? '' : `, over the ISR ${list(line.isr)}`}`;
    case 'ack':
      return acknowledged(line);
    case 'role':
      return `${roleOf(line)}, log ends at ${line.leo}, high watermark ${line.hw}`;
    case 'truncation':
      return truncated(line);
    case 'fenced':
      return `refuses a ${line.by} of ${line.from}: it knows epoch ${line.requestEpoch}, here it is ${line.leaderEpoch}`;
    case 'log-start':
      return `log starts at ${line.to} instead of ${line.from}: ${line.reason}`;
    case 'create':
      return `creates ${line.partition} on ${list(line.replicas)}`;
    case 'delete':
      return `deletes ${line.partition}`;
    case 'election':
      return elected(line);
    case 'isr':
      return `ISR of ${line.partition} ${list(line.from)} -> ${list(line.to)} in epoch ${line.leaderEpoch} (${line.reason})`;
    case 'fence':
      return `fences broker ${line.broker} (${line.reason})`;
    case 'unfence':
      return `counts broker ${line.broker} as live`;
  }
}

/** Epoch questions and their answers always, fetches only where they are stepped one by one. */
export function narrateMessage(lane: Lane, { kind, api, body }: Message, names: Names): Told | null {
  const from = lane.from.name;
  if (api === 'OffsetForLeaderEpoch') {
    return kind === 'request'
      ? question(from, lane.to.name, body as RequestBody<'OffsetForLeaderEpoch'>)
      : epochAnswer(from, body as ResponseBody<'OffsetForLeaderEpoch'>);
  }
  if (api === 'Fetch' && kind === 'request' && names.steppedFollowers.has(from)) {
    const asked = (body as RequestBody<'Fetch'>).topics[0]?.partitions[0];
    return { who: from, what: `fetches from offset ${asked?.fetchOffset} at broker ${lane.to.name}` };
  }
  if (api === 'Fetch' && kind === 'response' && names.steppedFollowers.has(lane.to.name)) {
    return { who: from, what: `answers broker ${lane.to.name}: ${fetched(body as ResponseBody<'Fetch'>)}` };
  }
  if (api === 'Produce' && kind === 'response') {
    return { who: lane.to.name, what: produced(body as ResponseBody<'Produce'>) };
  }
  return null;
}

interface Told {
  readonly who: string;
  readonly what: string;
}

type Line<E extends ToldEvent['event']> = ToldEvent & { readonly event: E };

function recovered(line: Line<'recover'>): string {
  const lost = line.cut === 'none' ? '' : `, it ended at ${line.from} before (${line.cut})`;
  const epochs = line.epochs.map(([epoch, start]) => `${epoch} ${start}`).join(', ');
  const known = epochs === '' ? '' : `, epochs ${epochs}`;
  return `finds its log to end at ${line.to}${lost}; flushed up to ${line.flushed}, high watermark ${line.hw}${known}`;
}

function appended(line: Line<'append'>, names: Names): string {
  const batches = line.batches.map(({ base, last, epoch, hash }) => {
    const values = names.namesOf(names.valuesByHash(hash));
    return `${values} at ${base === last ? base : `${base} to ${last}`} in epoch ${epoch}`;
  });
  return `appends ${batches.join('; ')}`;
}

function acknowledged(line: Line<'ack'>): string {
  const offsets = line.base === line.last ? `offset ${line.base}` : `offsets ${line.base} to ${line.last}`;
  return `acknowledges ${offsets}, ISR ${list(line.isr)}`;
}

function roleOf(line: Line<'role'>): string {
  if (line.role === 'leader') return `leads in epoch ${line.leaderEpoch}`;
  return `follows ${line.leader === null ? 'nobody' : `broker ${line.leader}`} in epoch ${line.leaderEpoch}`;
}

function truncated({ from, to, rule, evidence }: Line<'truncation'>): string {
  const what = to < from ? `TRUNCATES from ${from} to ${to}` : `keeps its log up to ${from}`;
  return `${what}: ${because(rule, evidence)}`;
}

function because(rule: string, evidence: Line<'truncation'>['evidence']): string {
  if ('highWatermark' in evidence) {
    const when = rule === 'high-watermark-on-election' ? ' when it was elected' : '';
    return `its own high watermark was ${evidence.highWatermark}${when}`;
  }
  if ('question' in evidence) {
    const { leader, question: asked, answer } = evidence;
    const end = answer.endOffset < 0 ? 'it does not know' : endInWords(answer.epoch, answer.endOffset);
    return `asked where epoch ${asked.epoch} ends, broker ${leader} said: ${end}`;
  }
  return `the log of broker ${evidence.leader} goes from ${evidence.leaderStart} to ${evidence.leaderEnd}`;
}

function elected(line: Line<'election'>): string {
  const leader = line.leader === null ? 'nobody' : `broker ${line.leader}`;
  const unclean = line.clean ? '' : ', UNCLEAN';
  return `elects ${leader} in epoch ${line.leaderEpoch}, ISR ${list(line.isr)}${unclean} (${line.reason})`;
}

function question(from: string, to: string, body: RequestBody<'OffsetForLeaderEpoch'>): Told | null {
  const asked = body.topics[0]?.partitions[0];
  return asked === undefined ? null : { who: from, what: `asks broker ${to} where epoch ${asked.leaderEpoch} ends` };
}

function epochAnswer(from: string, body: ResponseBody<'OffsetForLeaderEpoch'>): Told | null {
  const answer = body.topics[0]?.partitions[0];
  if (answer === undefined) return null;
  if (answer.errorCode !== 0) return { who: from, what: `answers ${errorName(answer.errorCode)}` };
  if (answer.endOffset < 0) return { who: from, what: 'answers that it does not know' };
  return { who: from, what: `answers that ${endInWords(answer.leaderEpoch, answer.endOffset)}` };
}

/** Before KIP-279 an answer does not say which epoch it is about. */
function endInWords(epoch: number, endOffset: number): string {
  return `${epoch < 0 ? 'it' : `epoch ${epoch}`} ends at ${endOffset}`;
}

function fetched(body: ResponseBody<'Fetch'>): string {
  const answer = body.responses[0]?.partitions[0];
  if (answer === undefined) return 'nothing';
  if (answer.errorCode !== 0) return errorName(answer.errorCode);
  const count = answer.records?.batches.reduce((sum, { recordCount }) => sum + recordCount, 0) ?? 0;
  return `${count === 0 ? 'no' : count} record${count === 1 ? '' : 's'}, high watermark ${answer.highWatermark}`;
}

function produced(body: ResponseBody<'Produce'>): string {
  const answer = body.responses[0]?.partitionResponses[0];
  if (answer === undefined) return 'is told nothing';
  return answer.errorCode === 0
    ? `is told: written at offset ${answer.baseOffset}`
    : `is told: ${errorName(answer.errorCode)}`;
}

function list(ids: readonly NodeId[]): string {
  return ids.join(',');
}
