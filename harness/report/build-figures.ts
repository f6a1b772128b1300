/**
 * The figures of one build as columns of a table, the same in the report of a comparison and in that of a night.
 */
import type { BuildResults } from '../../checker/results.ts';
import { html, type Markup } from './html.ts';
import { exercisedInWords, intervalInWords, kindsInWords, rateInWords } from './words.ts';

export const figureHeads: readonly string[] = [
  'runs',
  'exercised',
  'broke a promise',
  'unknown',
  'rate',
  '95 % interval',
  'violations, in so many runs',
];

export function figureCells(build: BuildResults): readonly Markup[] {
  const { runs, anomalous, unknown } = build;
  const numbers = [runs, exercisedInWords(build), anomalous, unknown, rateInWords(build)];
  return [
    ...numbers.map((number) => html`<td class="number">${number}</td>`),
    ...[intervalInWords(build), kindsInWords(build)].map((words) => html`<td>${words}</td>`),
  ];
}
