/**
 * What `verify-logs` found, in words: a headline, a line for each partition, and a paragraph for each finding that says
 * where, what, and shows the records.
 *
 * Pure: the same document gives the same text.
 */
import { exitOfFinding, type Finding } from '../../checker/logs/findings.ts';
import type { Comparison, CopyReport, Difference, ShownRecord } from '../../checker/logs/report.ts';
import type { VerifyDocument } from './document.ts';

/** Paragraphs of one kind about one partition; more are only counted. */
const shownMax = 20;

export function verifyText(document: VerifyDocument): string {
  const lines = [headline(document), ''];
  for (const [partition, comparison] of Object.entries(document.comparisons)) {
    const copies = copiesOf(document, partition);
    const paragraphs = [
      ...differenceParagraphs(partition, comparison, copies),
      ...copies.flatMap(([name, copy]) => findingParagraphs(partition, name, copy)),
      ...comparison.notes.flatMap((note) => ['', `  note: ${note}`]),
    ];
    lines.push(`${partition}: ${summary(copies, comparison)}`, ...paragraphs);
    if (paragraphs.length > 0) lines.push('');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

type Copies = readonly (readonly [name: string, copy: CopyReport])[];

function copiesOf({ brokers }: VerifyDocument, partition: string): Copies {
  return Object.entries(brokers).flatMap(([name, logs]) => {
    const copy = logs[partition];
    return copy === undefined ? [] : [[name, copy] as const];
  });
}

function headline({ exit, brokers, comparisons }: VerifyDocument): string {
  const all = Object.values(comparisons);
  const over = `${count(all.length, 'partition')} on ${count(Object.keys(brokers).length, 'broker')}`;
  const of = (code: number): string => `${all.filter((comparison) => comparison.exit === code).length} of ${over}`;
  if (exit === 1) return `Not valid: ${of(1)} with records that differ or a log that is damaged.`;
  if (exit === 2) return `Unknown: ${of(2)} with a log that cannot be read to its end, or ends before the others.`;
  if (all.every(({ verdict }) => verdict === 'not-compared')) {
    return `Valid: ${over}; every log is sound. None has a second replica here to be compared with.`;
  }
  return `Valid: ${over}; every log is sound, and replicas hold the same.`;
}

function summary(copies: Copies, { verdict, pairs, compacted }: Comparison & { compacted: boolean }): string {
  const how = compacted ? ', compared by records since the topic is compacted' : '';
  const prefix = Math.min(...pairs.map(({ agreeUntil }) => agreeUntil));
  const extents = extentsOf(copies);
  switch (verdict) {
    case 'agree':
      return `${copies.length} replicas agree${how}; ${extents}`;
    case 'not-compared':
      return `one replica, nothing to compare it with; ${extents}`;
    case 'length':
      return `the replicas agree below offset ${prefix} and end differently${how}; ${extents}`;
    case 'diverge':
      return `the replicas DIVERGE at offset ${prefix}${how}; ${extents}`;
  }
}

function extentsOf(copies: Copies): string {
  const extents = copies.map(([, { logStart, leo }]) => `log start ${logStart}, LEO ${leo}`);
  if (new Set(extents).size === 1) return extents[0] as string;
  return copies.map(([name], at) => `${name}: ${extents[at]}`).join('; ');
}

function differenceParagraphs(partition: string, comparison: Comparison, copies: Copies): string[] {
  const { differences, differencesTotal } = comparison;
  const lines = differences
    .slice(0, shownMax)
    .flatMap((difference, at) => ['', ...differenceLines(partition, difference, differences[at + 1] ?? null, copies)]);
  const more = differencesTotal - Math.min(differences.length, shownMax);
  return more > 0 ? [...lines, '', `  … and ${count(more, 'more difference')}`] : lines;
}

function differenceLines(partition: string, difference: Difference, next: Difference | null, copies: Copies): string[] {
  const { offset, what, committed, sides, agreeAgainAt } = difference;
  const marks = copies.flatMap(([name, { hw }]) => (hw === null ? [] : [`${name} ${hw}`])).join(', ');
  const where = committed
    ? ` It lies below the checkpointed high watermarks (${marks}): COMMITTED RECORDS DIFFER.`
    : '';
  const extent = extentInWords(agreeAgainAt, next);
  const width = Math.max(...sides.map((side) => side.copies.join(', ').length));
  return [
    `  replica-divergence at offset ${offset} of ${partition}: ${differ(what)}.${where} ${extent}`,
    ...sides.map((side) => `    ${side.copies.join(', ').padEnd(width)}  ${recordText(side.record)}`),
  ];
}

/** A difference ends where all agree again, or where other replicas than before stand together. */
function extentInWords(agreeAgainAt: number | null, next: Difference | null): string {
  if (agreeAgainAt !== null) return `They agree again from ${agreeAgainAt} on.`;
  return next === null ? 'They do not agree again.' : `From ${next.offset} on they differ in another way.`;
}

function differ(what: readonly string[]): string {
  return what[0] === 'missing' ? 'a record is missing' : `the replicas differ in ${what.join(', ')}`;
}

function recordText(record: ShownRecord | null): string {
  if (record === null) return 'nothing that can be read at this offset';
  const { key, value, headers, timestamp, epoch, file, position, sound } = record;
  const parts = [`value ${quoted(value)}`];
  if (key !== null) parts.unshift(`key ${quoted(key)}`);
  if (headers.length > 0) parts.push(`headers ${headers.map(([k, v]) => `${quoted(k)}: ${quoted(v)}`).join(', ')}`);
  if (timestamp >= 0) parts.push(`timestamp ${timestamp}`);
  if (epoch !== null) parts.push(`epoch ${epoch}`);
  return `${parts.join(', ')} (${file} at ${position}${sound ? '' : ', checksum wrong'})`;
}

function quoted(text: string | null): string {
  return text === null ? 'null' : JSON.stringify(text);
}

function findingParagraphs(partition: string, name: string, { findings, findingsTotal }: CopyReport): string[] {
  const lines = findings.slice(0, shownMax).flatMap((finding) => {
    const weight = exitOfFinding[finding.name] === 0 ? ' (a note: the exit code does not change)' : '';
    return ['', `  ${finding.name} on ${name}: ${findingText(finding, partition)}${weight}`];
  });
  const more = findingsTotal - Math.min(findings.length, shownMax);
  return more > 0 ? [...lines, '', `  … and ${count(more, 'more finding')} on ${name}`] : lines;
}

function findingText(finding: Finding, partition: string): string {
  switch (finding.name) {
    case 'crc-mismatch':
      return `the batch at offset ${finding.offset} does not match its checksum, 0x${finding.stored.toString(16)}; ${place(finding)}.`;
    case 'epoch-regression':
      return `at offset ${finding.offset} the leader epoch falls from ${finding.from} to ${finding.to}; ${place(finding)}.`;
    case 'offset-gap': {
      const { offset, last } = finding;
      const which = offset === last ? `offset ${offset} is missing` : `offsets ${offset} to ${last} are missing`;
      return `${which}, and nothing says that the topic is compacted; ${place(finding)}.`;
    }
    case 'offset-regression':
      return `a batch begins at offset ${finding.offset} where ${finding.expected} was to come; ${place(finding)}.`;
    case 'segment-mismatch':
      return `a file that is named for offset ${finding.expected} begins with offset ${finding.offset}; ${finding.file}.`;
    case 'torn-tail':
      return `the log ends in ${count(finding.bytes, 'byte')} that are no whole batch, where offset ${finding.offset} was to come; ${place(finding)}.`;
    case 'unreadable':
      return `${finding.reason}; ${finding.position === null ? finding.file : `${finding.file} at ${finding.position}`}.`;
    case 'checkpoint-mismatch':
      return `leader-epoch-checkpoint of ${partition} says ${epochText(finding.checkpoint)} for offset ${finding.offset}, the log ${epochText(finding.log)}.`;
    case 'checkpoint-beyond-log':
      return `${finding.file} says ${finding.offset}, and the log ends at ${finding.leo}.`;
  }
}

function place({ file, position }: { readonly file: string; readonly position: number }): string {
  return `${file} at ${position}`;
}

function epochText(epoch: number | null): string {
  return epoch === null ? 'nothing' : `epoch ${epoch}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
