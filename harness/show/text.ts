/** A record's life as text for people: one line for each event, with its moment, who, what and where it stands written. */
import { counted, referenceInWords } from '../report/words.ts';
import type { Life, LifeEvent, LifeReference } from './life.ts';

const logLinesMax = 8;

export function lifeText({ key, offset, values, events, notes }: Life): string {
  const timed = events.filter(({ time }) => time !== null);
  const after = events.filter(({ time, event }) => time === null && event !== 'log-line');
  const logs = events.filter(({ time, event }) => time === null && event === 'log-line');
  const held = values.length === 0 ? 'nobody knows its value' : values.join(', then or instead ');
  return [
    `${key}, offset ${offset}: ${held}`,
    '',
    ...linesOf(timed),
    ...(after.length === 0 ? [] : ['', 'After everything:', ...linesOf(after)]),
    ...(logs.length === 0 ? [] : ['', 'In the logs of the nodes, on clocks of their own:', ...linesOfLogs(logs)]),
    ...(notes.length === 0 ? [] : ['', 'Notes:', ...notes.map((note) => `  ${note}`)]),
    '',
  ].join('\n');
}

/** The first of each node; brokers that log every fetch would fill the screen. */
function linesOfLogs(logs: readonly LifeEvent[]): string[] {
  return [...new Set(logs.map(({ who }) => who))].flatMap((node) => {
    const all = logs.filter(({ who }) => who === node);
    const left = all.length - logLinesMax;
    return [
      ...linesOf(all.slice(0, logLinesMax)),
      ...(left > 0 ? [`               ${node}: ${counted(left, 'more line')}; --json has all that are listed`] : []),
    ];
  });
}

function linesOf(events: readonly LifeEvent[]): string[] {
  const widest = Math.max(0, ...events.map(({ who }) => who.length));
  return events.map(({ time, who, text, reference }) => {
    const moment = time === null ? ' '.repeat(13) : `${(time / 1e9).toFixed(6)} s`.padStart(13);
    return `${moment}  ${who.padEnd(widest)}  ${text}  [${written(reference)}]`;
  });
}

function written(reference: LifeReference): string {
  return reference.source === 'file' ? `${reference.path}:${reference.line}` : referenceInWords(reference);
}
