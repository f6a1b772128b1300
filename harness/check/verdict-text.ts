/**
 * A run's results as text for people: verdict, guarantees, anomalies with their causes, exposures, figures.
 *
 * Pure: the same results give the same text, so that golden files can hold it.
 */
import { measureInWords } from '../report/measure-words.ts';
import { buildInWords, defectsOf, referenceInWords } from '../report/words.ts';
import type { Anomaly, Guarantee, GuaranteeVerdict, Reference, RunResults } from '../../checker/results.ts';

const maxAnomalies = 20;

export function verdictText(results: RunResults): string {
  return [
    headline(results),
    '',
    ...guaranteeLines(results.guarantees),
    ...anomalySection(results.anomalies),
    ...exposureSection(results),
    ...faultSection(results),
    ...section('Figures', figures(results)),
    ...section('Notes', results.notes),
    ...(results.run.command === null ? [] : ['', `Again: ${results.run.command}`]),
    '',
  ].join('\n');
}

function headline({ valid, run, anomalies }: RunResults): string {
  const violations = anomalies.filter((anomaly) => anomaly.class === 'violation').length;
  const subject =
    run.build === 'unknown'
      ? `the log behind ${run.name}`
      : `${run.name} (build ${buildInWords(run.build, defectsOf(run))})`;
  const expected = anomalies.filter((anomaly) => anomaly.class === 'expected').length;
  const besides = expected === 0 ? '' : ` What it lost, the configuration allows (${expected} listed).`;
  if (valid === true) return `Valid: ${subject} kept every promise that was checked.${besides}`;
  if (valid === 'unknown') return `Unknown: nothing proves that ${subject} broke a promise, nor that it kept them all.`;
  return `Not valid: ${subject} broke its word, ${violations === 1 ? 'one violation' : `${violations} violations`}.`;
}

const words: Readonly<Record<string, string>> = {
  true: 'kept',
  false: 'BROKEN',
  unknown: 'unknown',
  'not-checked': 'not checked',
};

function guaranteeLines(guarantees: Readonly<Record<Guarantee, GuaranteeVerdict>>): string[] {
  return Object.entries(guarantees).map(([name, verdict]) => `  ${name.padEnd(13)} ${words[String(verdict)]}`);
}

function anomalySection(anomalies: readonly Anomaly[]): string[] {
  const shown = anomalies.slice(0, maxAnomalies);
  const more = anomalies.length - shown.length;
  return [...shown.flatMap(anomalyLines), ...(more > 0 ? ['', `${more} more anomalies: see results.json.`] : [])];
}

function anomalyLines(anomaly: Anomaly): string[] {
  const labels = anomaly.labels.length === 0 ? '' : ` [${anomaly.labels.join(', ')}]`;
  const allowed =
    anomaly.class === 'expected' && anomaly.kind !== 'malformed' ? ' (expected: the configuration allows it)' : '';
  return [
    '',
    `${anomaly.kind}${labels}${allowed}`,
    `  ${anomaly.summary}.`,
    ...anomaly.why.map((step, at) => `  ${String(at + 1).padStart(2)}. ${step.text}${referencesText(step.references)}`),
    ...anomaly.consequences.map(
      ({ kind, count, summary }) => `   → ${kind}${count > 1 ? ` (${count} times)` : ''}: ${summary}.`,
    ),
    ...(anomaly.why.length === 0 && anomaly.evidence.length > 0
      ? [`  see${referencesText(anomaly.evidence.slice(0, 6))}`]
      : []),
  ];
}

function referencesText(references: readonly Reference[]): string {
  return references.length === 0 ? '' : ` {${references.map(referenceInWords).join(', ')}}`;
}

function exposureSection({ exposures, exposuresUnknown = 'there is no trace' }: RunResults): string[] {
  if (exposures === null) return ['', `Exposures: unknown, ${exposuresUnknown}.`];
  if (exposures.length === 0) return ['', 'Exposures: none. This run did not exercise the high watermark flaw.'];
  const lines = exposures.slice(0, 5).map((exposure) => {
    const { key, node, leaderEpoch, highWatermark, endOffset, acknowledged } = exposure;
    const [first, last] = acknowledged;
    const risk = first === last ? `offset ${first}` : `offsets ${first} to ${last}`;
    return `  broker ${node} became follower in epoch ${leaderEpoch} of ${key} with high watermark ${highWatermark} and end ${endOffset}; acknowledged at ${risk}`;
  });
  const more = exposures.length - lines.length;
  return ['', `Exposures: ${exposures.length}`, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])];
}

function faultSection({ faults }: RunResults): string[] {
  if (faults.length === 0) return [];
  const lines = faults.map(({ fault, kind, nodes, effective }) => {
    const where = Object.entries(nodes).map(([role, node]) => (role === node ? role : `${role} ${String(node)}`));
    return `  ${fault}: ${kind}${where.length === 0 ? '' : ` (${where.join('; ')})`}${effective ? '' : ', ineffective'}`;
  });
  return ['', `Faults: ${faults.length}`, ...lines];
}

function figures({ measures }: RunResults): string[] {
  const named = Object.entries(measures).map(([name, value]) => [measureInWords(name), value] as const);
  const widest = Math.max(0, ...named.map(([name]) => name.length));
  return named.map(([name, value]) => `${name.padEnd(widest)}  ${Math.round(value * 1000) / 1000}`);
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}
