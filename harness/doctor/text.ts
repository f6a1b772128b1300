/**
 * What `doctor` found, in words: one line for each thing, what can be run here, and the matrix of what can be done to each
 * kind of broker and known of it, with its reasons as notes below.
 *
 * Pure: the same document gives the same text.
 */
import type { Able } from '../../checker/results.ts';
import { aligned } from '../aligned.ts';
import { awaitedWords } from '../../nemesis/awaited.ts';
import type { Check, DoctorDocument, Runnable, TargetDocument } from './document.ts';

export function doctorText({ checks, runs, targets }: DoctorDocument): string {
  return [
    'This machine',
    ...aligned(checks.map(checkLine)),
    '',
    'What can be run here',
    ...aligned(runs.map(runLine)),
    '',
    ...matrix(targets),
    '',
  ].join('\n');
}

const checkNames: Readonly<Record<Check['name'], string>> = {
  node: 'Node',
  memory: 'memory',
  disk: 'disk',
  engine: 'engine',
  nft: 'nft',
  containers: 'containers',
  images: 'images',
  java: 'Java',
  maven: 'Maven',
  kafka: 'Kafka',
};

const marks: Readonly<Record<Check['state'], string>> = { ok: 'ok', low: 'LOW', missing: 'MISSING', unknown: '?' };

function checkLine({ name, state, found, remedy }: Check): string[] {
  return [checkNames[name], marks[state], remedy === null ? found : `${found}; ${remedy}`];
}

function runLine({ name, able, line }: Runnable): string[] {
  return [name, able ? 'yes' : 'NO', line];
}

/** Reasons by number, each once. */
class Notes {
  readonly #reasons: string[] = [];

  numberOf(reason: string): number {
    const known = this.#reasons.indexOf(reason);
    return known === -1 ? this.#reasons.push(reason) : known + 1;
  }

  lines(): string[] {
    return this.#reasons.map((reason, at) => `  (${at + 1}) ${reason}`);
  }
}

function matrix(targets: DoctorDocument['targets']): string[] {
  const notes = new Notes();
  const cell = (able: Able | undefined, part?: string): string => {
    if (able === undefined) return '?';
    if (able !== true) return `no (${notes.numberOf(able.not)})`;
    return part === undefined ? 'yes' : `in part (${notes.numberOf(`not checked: ${part}`)})`;
  };
  const section = (
    title: string,
    of: (target: TargetDocument) => Readonly<Record<string, Able>>,
    partOf: (target: TargetDocument, name: string) => string | undefined = () => undefined,
  ): string[][] => {
    const names = [...new Set(targets.flatMap((target) => Object.keys(of(target))))];
    const rows = names.map((name) => [
      `  ${rowName(name)}`,
      ...targets.map((target) => cell(of(target)[name], partOf(target, name))),
    ]);
    return [[title, ''], ...rows];
  };
  const rows = [
    ['What can be done and known', ...targets.map(({ name }) => name)],
    ...section('faults', ({ capabilities }) => capabilities.faults),
    ...section(
      'guarantees',
      ({ capabilities }) => capabilities.guarantees,
      ({ partly }, name) => partly[name],
    ),
    ...section('a plan can wait until', ({ capabilities }) => capabilities.triggers),
    ['exposures are counted', ...targets.map(({ capabilities }) => cell(capabilities.exposures))],
  ];
  const reasons = notes.lines();
  return [...aligned(rows, ''), ...(reasons.length === 0 ? [] : ['', ...reasons])];
}

function rowName(name: string): string {
  const words: Readonly<Record<string, string>> = awaitedWords;
  return words[name] ?? name;
}
