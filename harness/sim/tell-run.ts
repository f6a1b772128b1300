/**
 * A simulated run told in words: not everything, only what decides the fate of the records in question.
 *
 * In question is what the checker names: a partition and an offset of each anomaly. Of these partitions are told who was
 * elected and took which role, what was truncated, how the ISR changed, which broker went and came; and of these offsets
 * who wrote, acknowledged, committed, sent and read them. Where a play shows no anomaly, what was in question in the
 * plays before is told of it, so that the builds can be held beside each other.
 *
 * Bound: at most {@link MOST_LINES} lines.
 */
import type { FaultRecord, MicroOp, Operation } from '../../checker/history.ts';
import type { TraceLine } from '../../broker/core/trace.ts';
import type { Judgement } from './judgement.ts';
import { narrateTrace, nodeName, toldLine } from './narrate.ts';
import type { Names } from './narrate.ts';
import type { Simulation } from './simulation.ts';

/** A partition, and an offset of it where the anomaly has one. */
export interface InQuestion {
  readonly key: string;
  readonly offset: number | null;
}

const MOST_LINES = 250;
const MOST_IN_QUESTION = 5;

/** What the anomalies are about, violations first. */
export function inQuestion({ anomalies }: Judgement): InQuestion[] {
  const ranked = anomalies.toSorted((a, b) => Number(a.class === 'expected') - Number(b.class === 'expected'));
  const found = ranked.flatMap(({ key, offset }) => (key === null ? [] : [{ key, offset }]));
  const distinct = found.filter(
    (each, at) => found.findIndex(({ key, offset }) => key === each.key && offset === each.offset) === at,
  );
  return distinct.slice(0, MOST_IN_QUESTION);
}

/** The lines of a run that decide, in the order of their times. */
export function tellRun({ history, trace }: Simulation, questions: readonly InQuestion[]): string[] {
  const names = namesIn(history, trace as Iterable<unknown> as Iterable<TraceLine>);
  /* Of one partition, nobody has to be told which. */
  const severalKeys = new Set(questions.map(({ key }) => key)).size > 1;
  const told: { readonly time: number; readonly line: string }[] = [];
  for (const line of trace as Iterable<unknown> as Iterable<TraceLine>) {
    if (!decides(line, questions)) continue;
    const what = narrateTrace(narrowed(line, questions), names);
    if (what === null) continue;
    const where = severalKeys && 'partition' in line ? ` (${line.partition})` : '';
    told.push({ time: line.time, line: toldLine(line.time, nodeName(String(line.node)), `${what}${where}`) });
  }
  for (const operation of history) {
    const what = operationInWords(operation, questions);
    if (what !== null) told.push({ time: operation.time, line: toldLine(operation.time, whoOf(operation), what) });
  }
  const lines = told.toSorted((a, b) => a.time - b.time).map(({ line }) => line);
  if (lines.length <= MOST_LINES) return lines;
  const half = MOST_LINES / 2;
  return [...lines.slice(0, half), `(${lines.length - MOST_LINES} lines are left out)`, ...lines.slice(-half)];
}

function decides(line: TraceLine, questions: readonly InQuestion[]): boolean {
  if (line.event === 'start' || line.event === 'stop' || line.event === 'fence' || line.event === 'unfence')
    return true;
  if (!('partition' in line)) return false;
  return questions.some(({ key, offset }) => key === line.partition && concerns(line, offset));
}

/** An append without the batches that are not in question: a follower takes many at once. */
function narrowed(line: TraceLine, questions: readonly InQuestion[]): TraceLine {
  if (line.event !== 'append') return line;
  const asked = questions.filter(({ key }) => key === line.partition).map(({ offset }) => offset ?? -1);
  const batches = line.batches.filter(({ base, last }) => asked.some((offset) => base <= offset && offset <= last));
  return { ...line, batches };
}

function concerns(line: TraceLine, offset: number | null): boolean {
  switch (line.event) {
    case 'append':
      return offset !== null && line.batches.some(({ base, last }) => base <= offset && offset <= last);
    case 'ack':
      return offset !== null && line.base <= offset && offset <= line.last;
    case 'hw':
      return offset !== null && Math.min(line.from, line.to) <= offset && offset < Math.max(line.from, line.to);
    case 'truncation':
      /* That a replica kept the record in question may be what decides. */
      return line.to < line.from || (offset !== null && offset < line.from);
    case 'recover':
      return line.to < line.from || line.flushed < line.to;
    case 'fetch':
    case 'fenced':
      return false;
    case 'start':
    case 'stop':
    case 'fence':
    case 'unfence':
    case 'role':
    case 'election':
    case 'isr':
    case 'log-start':
    case 'create':
    case 'delete':
      return true;
  }
}

function operationInWords(operation: Operation, questions: readonly InQuestion[]): string | null {
  if (operation.process === 'nemesis') return faultInWords(operation);
  const { type, f, value, error, node } = operation;
  if (type === 'invoke' || !Array.isArray(value)) return null;
  const where = node === undefined ? '' : ` at broker ${node}`;
  const seen = (value as readonly MicroOp[]).flatMap((micro) => recordsIn(micro));
  const concerned = seen.filter(({ key, offset }) =>
    questions.some((each) => each.key === key && each.offset === offset),
  );
  if (concerned.length === 0) return null;
  const records = concerned.map((each) => `${String(each.value)} at ${each.offset} of ${each.key}`).join(', ');
  if (f === 'send') return `is told${where}: written, ${records}${error === undefined ? '' : ` (${type}: ${error})`}`;
  return `reads${where}: ${records}`;
}

function recordsIn(micro: MicroOp): { readonly key: string; readonly offset: number; readonly value: unknown }[] {
  if (!Array.isArray(micro)) return [];
  if (micro[0] === 'send') {
    const [, key, sent] = micro;
    return Array.isArray(sent) && typeof sent[0] === 'number'
      ? [{ key: key ?? '', offset: sent[0], value: sent[1] }]
      : [];
  }
  if (micro[0] !== 'poll' || micro[1] === undefined) return [];
  const polled = micro[1] as Readonly<Record<string, readonly (readonly [offset: number, value: unknown])[]>>;
  return Object.entries(polled).flatMap(([key, records]) => records.map(([offset, value]) => ({ key, offset, value })));
}

function faultInWords({ f, value }: Operation): string | null {
  if (value === null || Array.isArray(value)) return null;
  const { fault, phase, nodes, effective } = value as FaultRecord;
  const hit = Object.entries(nodes).map(([role, node]) => `${role} ${String(node)}`);
  const aimed = hit.length === 0 ? '' : ` (${hit.join('; ')})`;
  if (phase === 'start') return `${f} ${fault} begins${aimed}`;
  return `${f} ${fault} ends${effective === false ? ', and had no effect' : ''}`;
}

function whoOf({ process }: Operation): string {
  return process === 'nemesis' ? 'nemesis' : `client ${process}`;
}

/** Values by the checksum of their batch: the leader's append names the message, the history what was in it. */
function namesIn(history: readonly Operation[], trace: Iterable<TraceLine>): Names {
  const valuesByMessage = new Map<string, string[]>();
  for (const { f, msg, value } of history) {
    if (f !== 'send' || msg === undefined || !Array.isArray(value)) continue;
    valuesByMessage.set(msg, (value as readonly MicroOp[]).flatMap(sentValue));
  }
  const byHash = new Map<string, readonly string[]>();
  for (const line of trace) {
    if (line.event !== 'append' || line.msg === undefined) continue;
    const values = valuesByMessage.get(line.msg);
    const [batch] = line.batches;
    if (values !== undefined && batch !== undefined) byHash.set(batch.hash, values);
  }
  return {
    valuesByHash: (hash) => byHash.get(hash) ?? ['a record'],
    namesOf: (values) => values.join(', '),
    steppedFollowers: new Set(),
  };
}

function sentValue(micro: MicroOp): string[] {
  if (!Array.isArray(micro) || micro[0] !== 'send') return [];
  const sent: unknown = micro[2];
  return [String(Array.isArray(sent) ? sent[1] : sent)];
}
