/**
 * Why mutants may live, so that a tool can hold it against what lives.
 *
 * Each source has a file of reasons in `test/mutation/survivors`: a sentence, and under it, indented, the mutants that it
 * speaks of; an empty line ends the group. A mutant is told as its kind with the line of the source, and the line as it
 * becomes, so that a reason outlives other changes of the file and dies with its line. Where one line stands in a file
 * several times, each place needs an entry of its own: one reason never covers more than was looked at.
 */

/** What Stryker's report says of one source. */
interface MeasuredFile {
  readonly source: string;
  readonly mutants: readonly Mutant[];
}

/** A mutant of a report; lines and columns count from 1. */
interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** The report of Stryker, as far as it is read here. */
export interface Report {
  readonly files: Readonly<Record<string, MeasuredFile>>;
}

/** What became of the mutants of one source. */
export interface Measured {
  readonly mutants: number;
  readonly killed: number;
  /** What lives, told as in the files of reasons. */
  readonly living: readonly string[];
}

/** The mutants that one sentence speaks of. */
export interface Reason {
  readonly why: string;
  readonly mutants: readonly string[];
}

/** What a report and the reasons disagree on. */
export interface Disagreement {
  /** What lives without a reason. */
  readonly unreasoned: readonly string[];
  /** Reasons whose mutant does not live, or no longer exists. */
  readonly stale: readonly string[];
}

const indent = '    ';

/** What stands in a report; null where it is none, or only a part of one. */
export function parseReport(text: string): Report | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { files } = (value ?? {}) as { readonly files?: unknown };
  if (typeof files !== 'object' || files === null) return null;
  const whole = Object.values(files).every(
    (file: Partial<MeasuredFile> | null) =>
      typeof file?.source === 'string' && Array.isArray(file.mutants) && file.mutants.every(isMutant),
  );
  return whole ? (value as Report) : null;
}

function isMutant(mutant: Partial<Mutant> | null): boolean {
  const { start, end } = mutant?.location ?? {};
  const lines = [start?.line, end?.line, start?.column, end?.column];
  return typeof mutant?.mutatorName === 'string' && typeof mutant.status === 'string' && lines.every(Number.isInteger);
}

/** Counts the mutants of one source; one that cannot even be loaded, or that never ends, is killed. */
export function measure({ source, mutants }: MeasuredFile): Measured {
  const lines = source.split('\n');
  const living = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const counted = mutants.filter(({ status }) => status !== 'Ignored');
  return {
    mutants: counted.length,
    killed: counted.length - living.length,
    living: living.map((mutant) => tellMutant(lines, mutant)),
  };
}

/** Reads a file of reasons; throws with a line's number where it has another form. */
export function readReasons(text: string): Reason[] {
  const reasons: { why: string; mutants: string[] }[] = [];
  let inGroup = false;
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (line.trim() === '') {
      if (inGroup && reasons.at(-1)!.mutants.length === 0) throw new Error(`line ${at}: a reason without a mutant`);
      inGroup = false;
    } else if (!line.startsWith(' ')) {
      if (!inGroup) reasons.push({ why: line, mutants: [] });
      else if (reasons.at(-1)!.mutants.length > 0)
        throw new Error(`line ${at + 1}: an empty line must precede a reason`);
      else reasons.at(-1)!.why += ` ${line}`;
      inGroup = true;
    } else {
      if (!inGroup) throw new Error(`line ${at + 1}: a mutant without a reason`);
      const becomes = lines[at + 1] ?? '';
      if (!becomes.startsWith(`${indent}-> `)) throw new Error(`line ${at + 2}: not what the line becomes`);
      reasons.at(-1)!.mutants.push(`${line}\n${becomes}`);
      at += 1;
    }
  }
  return reasons;
}

/** Each mutant that lives needs a reason of its own, and each reason a mutant that lives. */
export function disagreement(living: readonly string[], reasons: readonly Reason[]): Disagreement {
  const open = [...living];
  const stale: string[] = [];
  for (const mutant of reasons.flatMap(({ mutants }) => mutants)) {
    const at = open.indexOf(mutant);
    if (at === -1) stale.push(mutant);
    else open.splice(at, 1);
  }
  return { unreasoned: open, stale };
}

/** The line of the source that a mutant in a file of reasons begins with. */
export function lineOf(mutant: string): string {
  return /^\s*\w+: (.*)/.exec(mutant)?.[1] ?? '';
}

function tellMutant(lines: readonly string[], { mutatorName, replacement, location }: Mutant): string {
  const { start, end } = location;
  const line = lines[start.line - 1]!;
  const rest = lines[end.line - 1]!.slice(end.column - 1);
  const becomes = `${line.slice(0, start.column - 1)}${replacement ?? ''}${rest}`.split('\n')[0]!;
  return `${indent}${mutatorName}: ${line.trim()}\n${indent}-> ${becomes.trim()}`;
}
