/**
 * A suite of JUnit XML as data, and the document that suites become: what CI systems understand of it, and no more.
 *
 * One case has one outcome, since most readers show no second. Texts are bounded here.
 */
import type { BuildResults } from '../../checker/results.ts';
import { counted, kindsInWords, shortened } from './words.ts';
import { element, xmlDocument, type Xml } from './xml.ts';

const CHARACTERS_MAX = 500;

export interface Suite {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
}

export interface Case {
  readonly name: string;
  readonly className: string;
  readonly outcome: Outcome;
  /** What is worth knowing of a case that passed. */
  readonly output?: string;
}

/** Null: passed. */
export type Outcome = null | {
  readonly is: 'failure' | 'error' | 'skipped';
  readonly type?: string;
  readonly message: string;
  readonly details?: string;
};

/** The document, with its counts. */
export function suitesDocument(suites: readonly Suite[]): string {
  const counts = countsOf(suites.flatMap(({ cases }) => cases));
  return xmlDocument(element('testsuites', { name: 'tidemark', ...counts }, ...suites.map(suiteElement)));
}

/** Whether a case failed, or could not be judged. */
export function isRed({ outcome }: Case): boolean {
  return outcome !== null && outcome.is !== 'skipped';
}

/** The positive control: it fails where it did not break. */
export function controlCase(control: BuildResults, className: string): Case {
  const { build, anomalous, runs } = control;
  return {
    name: 'the control shows the flaw',
    className,
    outcome:
      anomalous > 0
        ? null
        : {
            is: 'failure',
            type: 'control-silent',
            message: `the control ${short(build)} broke no promise in ${counted(runs, 'run')}, so this comparison proves nothing`,
          },
    output: `${short(build)} broke a promise in ${anomalous} of ${counted(runs, 'run')}, as it is expected to: ${kindsInWords(control)}`,
  };
}

function suiteElement({ name, properties, cases }: Suite): Xml {
  return element(
    'testsuite',
    { name: short(name), ...countsOf(cases) },
    element(
      'properties',
      {},
      ...Object.entries(properties).map(([key, value]) =>
        element('property', { name: key, value: shortened(value, 4 * CHARACTERS_MAX) }),
      ),
    ),
    ...cases.map(caseElement),
  );
}

function caseElement({ name, className, outcome, output }: Case): Xml {
  const children = [
    ...(outcome === null
      ? []
      : [
          element(
            outcome.is,
            { message: outcome.message, type: outcome.type },
            ...(outcome.details === undefined ? [] : [outcome.details]),
          ),
        ]),
    ...(output === undefined ? [] : [element('system-out', {}, output)]),
  ];
  return element('testcase', { classname: short(className), name: short(name) }, ...children);
}

function countsOf(cases: readonly Case[]): Readonly<Record<string, number>> {
  const count = (is: 'failure' | 'error' | 'skipped'): number =>
    cases.filter(({ outcome }) => outcome?.is === is).length;
  return { tests: cases.length, failures: count('failure'), errors: count('error'), skipped: count('skipped') };
}

/** Jenkins takes dots in it for packages, of which a version has too many. */
export function classOf(runtime: string, name: string): string {
  return `tidemark.${runtime}.${name}`.replaceAll(/(?<=\..*\..*)\./g, '_');
}

/** A text, and the command that shows it again. */
export function withCommand(text: string, command: string | null): string {
  const again = command === null ? [] : [`again: ${shortened(command, 4 * CHARACTERS_MAX)}`];
  return [...(text === '' ? [] : [text]), ...again].join('\n');
}

export function short(text: string): string {
  return shortened(text, CHARACTERS_MAX);
}
