/**
 * Everything that the checker says of a run, as text: for golden files that hold whole findings word for word, with each
 * reference and each step of a chain. What people are shown (`verdictText`) leaves some of it out.
 */
import type { Anomaly, Reference, RunResults, WhyStep } from '../../checker/results.ts';

export function findingsText(results: RunResults): string {
  const { valid, guarantees, notes, anomalies, exposures, exposuresUnknown, faults, measures } = results;
  const verdicts = Object.entries(guarantees).map(([name, verdict]) => `${name} ${String(verdict)}`);
  return [
    `valid ${String(valid)}: ${verdicts.join(', ')}`,
    ...anomalies.flatMap(anomalyLines),
    ...(exposures ?? []).map((exposure) => {
      const { key, node, leaderEpoch, highWatermark, endOffset, acknowledged, reference } = exposure;
      return `exposure of ${key}: broker ${node} in epoch ${leaderEpoch}, ${highWatermark} to ${endOffset}, acknowledged ${acknowledged.join(' to ')} ${braced([reference])}`;
    }),
    ...(exposuresUnknown === undefined ? [] : [`exposures unknown: ${exposuresUnknown}`]),
    ...faults.map(
      ({ fault, kind, nodes, startTime, endTime, effective }) =>
        `fault ${fault}: ${kind} ${JSON.stringify(nodes)}, ${startTime} to ${endTime}, effective ${effective}`,
    ),
    ...notes.map((note) => `note: ${note}`),
    `figures: ${Object.entries(measures)
      .filter(([, value]) => value !== 0)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
    '',
  ].join('\n');
}

function anomalyLines(anomaly: Anomaly): string[] {
  const { kind, guarantee, key, offset, values, labels, nodes, summary, evidence, why, consequences } = anomaly;
  return [
    `${kind}: ${anomaly.class} of ${guarantee}, key ${JSON.stringify(key)}, offset ${offset}, values ${JSON.stringify(values)}, brokers ${nodes.join(' ')}, labels ${labels.join(' ')}`,
    `  ${summary}`,
    `  seen in ${braced(evidence)}`,
    ...why.map(stepLine),
    ...consequences.map((each) => `  so ${each.count} times ${each.kind}: ${each.summary} ${braced(each.evidence)}`),
  ];
}

function stepLine({ text, time, references }: WhyStep, at: number): string {
  return `  ${at + 1}. ${text}${time === undefined ? '' : ` at ${time}`} ${braced(references)}`;
}

function braced(references: readonly Reference[]): string {
  return `{${references.map(referenceText).join(', ')}}`;
}

function referenceText(reference: Reference): string {
  switch (reference.source) {
    case 'history':
      return `history ${reference.index}`;
    case 'log':
      return `log ${reference.node}@${reference.offset} epoch ${reference.epoch}`;
    case 'trace':
    case 'observation':
      return `${reference.source} ${reference.node}.${reference.boot}:${reference.seq}`;
  }
}
