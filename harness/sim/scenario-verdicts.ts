/**
 * The verdicts of the scenario language: what the checker is expected to find, in the anomalies' own names.
 *
 * They are judged over everything that was played, so they stand after the last step. The patterns are those of one
 * table, as with steps and conditions; the same words serve plays of steps and whole simulated runs.
 *
 * An anomaly that is expected to be found may be named by its kind alone, or also by its values and its offset; what is
 * said of it has to be exactly so.
 */
import type { JudgedAnomaly, Judgement } from './judgement.ts';

export interface VerdictOutcome {
  readonly holds: boolean;
  /** What the checker found. */
  readonly actual: string;
}

/** Judged over a play; `named` collects the anomalies that expectations have spoken of. */
export type VerdictExpectation = (judgement: Judgement, named: Set<object>) => VerdictOutcome;

interface VerdictKind {
  readonly usage: string;
  readonly pattern: RegExp;
  readonly check: (judgement: Judgement, words: Words, named: Set<object>) => VerdictOutcome;
}

interface Words {
  readonly [name: string]: string | undefined;
}

/** Kind, values, offset and partition of an anomaly. */
const ANOMALY =
  '(?<kind>[A-Za-z]\\w*(?:-\\w+)*)(?: of (?<values>[\\w.-]+(?:, [\\w.-]+)*))?(?: at (?<offset>\\d+))?(?: in (?<key>[\\w.-]+-\\d+))?';

const kinds: readonly VerdictKind[] = [
  {
    usage: 'nothing is broken',
    pattern: /^nothing is broken$/,
    check: (judgement) => ({ holds: judgement.valid === true, actual: verdictInWords(judgement) }),
  },
  {
    usage: 'verdict is valid|not valid|unknown',
    pattern: /^verdict is (?<verdict>valid|not valid|unknown)$/,
    check: (judgement, { verdict }) => ({
      holds: answerOf(judgement) === verdict,
      actual: verdictInWords(judgement),
    }),
  },
  {
    usage: '<anomaly>[ of <value>, <value>][ at <offset>] is a violation|expected[, labelled <label>]',
    pattern: new RegExp(`^${ANOMALY} is (?<class>a violation|expected)(?:, labelled (?<label>[\\w-]+))?$`),
    check: (judgement, words, named) => {
      const wanted = words['class'] === 'expected' ? 'expected' : 'violation';
      const { label } = words;
      const found = judgement.anomalies.filter(
        (each) => isMeant(each, words) && each.class === wanted && (label === undefined || each.labels.includes(label)),
      );
      for (const each of found) named.add(each);
      return { holds: found.length > 0, actual: verdictInWords(judgement) };
    },
  },
  {
    usage: '<anomaly> follows from <anomaly>[ of <value>, <value>][ at <offset>]',
    pattern: new RegExp(`^(?<follows>[A-Za-z]\\w*(?:-\\w+)*) follows from ${ANOMALY}$`),
    check: (judgement, words) => {
      const following = judgement.anomalies
        .filter((each) => isMeant(each, words))
        .flatMap(({ consequences }) => consequences.filter(({ kind }) => kind === words['follows']));
      return { holds: following.length > 0, actual: verdictInWords(judgement) };
    },
  },
  {
    usage: 'nothing else is broken',
    pattern: /^nothing else is broken$/,
    check: ({ anomalies }, _, named) => {
      const unnamed = anomalies.filter((each) => each.class === 'violation' && !named.has(each));
      return { holds: unnamed.length === 0, actual: unnamed.map(anomalyInWords).join('; ') };
    },
  },
];

export const verdictUsages: readonly string[] = kinds.map(({ usage }) => usage);

/** Reads what is expected of the checker; null when no pattern fits. `demandPartition` throws where there is none of that name. */
export function parseVerdict(text: string, demandPartition: (key: string) => void): VerdictExpectation | null {
  for (const { pattern, check } of kinds) {
    const groups = pattern.exec(text);
    if (groups === null) continue;
    const words: Words = groups.groups ?? {};
    if (words['key'] !== undefined) demandPartition(words['key']);
    return (judgement, named) => check(judgement, words, named);
  }
  return null;
}

/** The judgement as it is told at the end of a play: the verdict, then each anomaly. */
export function tellJudgement(judgement: Judgement): string[] {
  const doubts = judgement.valid === 'unknown' ? judgement.notes : [];
  return [
    `The checker says: ${answerOf(judgement)}.`,
    ...judgement.anomalies.slice(0, MOST_TOLD).map((each) => `  ${anomalyInWords(each)}`),
    ...(judgement.anomalies.length > MOST_TOLD ? [`  and ${judgement.anomalies.length - MOST_TOLD} more`] : []),
    ...doubts.slice(0, MOST_TOLD).map((note) => `  ${note}`),
  ];
}

/** So many anomalies are told of one play. */
const MOST_TOLD = 20;

function answerOf({ valid }: Judgement): string {
  return valid === 'unknown' ? 'unknown' : valid ? 'valid' : 'not valid';
}

function verdictInWords(judgement: Judgement): string {
  const [headline = '', ...rest] = tellJudgement(judgement);
  return rest.length === 0 ? headline.replace(/\.$/, '') : `${headline} ${rest.map((line) => line.trim()).join('; ')}`;
}

/** `lost-acked-write of m2 at 1: a violation [lost-tail]; from it follow inconsistent-offsets`. */
function anomalyInWords(anomaly: JudgedAnomaly): string {
  const labels = anomaly.labels.length === 0 ? '' : ` [${anomaly.labels.join(', ')}]`;
  const consequences = anomaly.consequences.map(({ kind }) => kind).join(', ');
  const following = consequences === '' ? '' : `; from it follow ${consequences}`;
  return `${nameOf(anomaly)}: ${anomaly.class === 'expected' ? 'expected' : 'a violation'}${labels}${following}`;
}

/** As an expectation would name it. */
function nameOf({ kind, values, offset }: JudgedAnomaly): string {
  const named = values.length === 0 ? '' : ` of ${values.slice(0, MOST_TOLD).join(', ')}`;
  return `${kind}${named}${offset === null ? '' : ` at ${offset}`}`;
}

function isMeant(anomaly: JudgedAnomaly, { kind, values, offset, key }: Words): boolean {
  if (anomaly.kind !== kind) return false;
  if (offset !== undefined && anomaly.offset !== Number(offset)) return false;
  if (key !== undefined && anomaly.key !== key) return false;
  if (values === undefined) return true;
  const meant = values.split(', ').toSorted();
  const found = anomaly.values.map(String).toSorted();
  return meant.length === found.length && meant.every((value, at) => value === found[at]);
}
