/**
 * What shrinking found, in lines for people: the smallest plan with its load, why it fails, and beside it the nearest
 * plan that passes.
 */
import type { WhyStep } from '../../checker/results.ts';
import { describeSchedule } from '../../nemesis/describe.ts';
import { counted } from '../report/words.ts';
import type { PlannedOperation } from '../sim/simulation.ts';
import type { Case } from './case.ts';
import type { Shrunk } from './shrink.ts';

/** `212 faults → 6, 2310 operations → 1, 5 brokers → 3, 311 runs, 4.1 s`. */
export function headline({ original, smallest, runs, ms, complete }: Shrunk): string {
  const { faults, operations, brokers, partitions, threads } = original;
  const parts = [
    `${counted(faults, 'fault')} → ${smallest.schedule.faults.length}`,
    `${counted(operations, 'operation')} → ${smallest.load.operations.length}`,
    change(brokers, smallest.config.brokers, 'brokers'),
    change(partitions, smallest.config.partitions, 'partitions'),
    change(threads, smallest.config.concurrency, 'threads'),
    counted(runs, 'run'),
    `${(ms / 1000).toFixed(1)} s`,
  ].filter((part) => part !== '');
  return `${parts.join(', ')}${complete ? '' : ' (it ended early: it may be made smaller still)'}`;
}

/** The plan, line by line: what it runs on, the faults, the operations. */
export function planLines({ config, schedule, load, late = [] }: Case): string[] {
  const [, ...faults] = describeSchedule(schedule).trimEnd().split('\n');
  return [
    `${config.brokers} brokers, ${config.replicationFactor} replicas, min.insync.replicas ${config.minInsyncReplicas}, seed ${config.seed}`,
    ...load.operations.map(operationLine),
    ...faults,
    ...late.map(({ message, byMs }) => `${message} is late by ${byMs} ms`),
    `all is healed at ${schedule.durationMs} ms`,
  ];
}

/**
 * Two plans as one list: what both hold once, what differs under its own name. Equal lines at both ends are taken first,
 * so that of four equal waits the one that differs is shown where it stands.
 */
export function sideBySide(failing: Case, passing: Case): string[] {
  const [fails, passes] = [planLines(failing), planLines(passing)];
  const shorter = Math.min(fails.length, passes.length);
  let head = 0;
  while (head < shorter && fails[head] === passes[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && fails.at(-1 - tail) === passes.at(-1 - tail)) tail += 1;
  const both = (line: string): string => `        ${line}`;
  return [
    ...fails.slice(0, head).map(both),
    ...apart(fails.slice(head, fails.length - tail), passes.slice(head, passes.length - tail)),
    ...fails.slice(fails.length - tail).map(both),
  ];
}

/** The lines between, where each line of the one plan is looked for in the other from where the last was found. */
function apart(fails: readonly string[], passes: readonly string[]): string[] {
  const lines: string[] = [];
  let other = 0;
  for (const line of fails) {
    const found = passes.indexOf(line, other);
    if (found < 0) {
      lines.push(`fails   ${line}`);
      continue;
    }
    for (const only of passes.slice(other, found)) lines.push(`passes  ${only}`);
    lines.push(`        ${line}`);
    other = found + 1;
  }
  return [...lines, ...passes.slice(other).map((line) => `passes  ${line}`)];
}

/** Why it fails, for people who may be new to it: the first line that speaks of a high watermark says what that is. */
export function storyLines(why: readonly WhyStep[]): string[] {
  const lines = why.map(({ text }) => text);
  const first = lines.findIndex((line) => highWatermark.test(line));
  return lines.map((line, index) => (index === first ? line.replace(highWatermark, `$& (${itsMeaning})`) : line));
}

const highWatermark = /\bhigh watermark\b(?: of broker \d+|(?: was)? \d+)?/;
const itsMeaning =
  'the smallest log end of the in-sync replicas, as far as a broker has heard: consumers see only what lies below';

function operationLine({ atMs, thread, operation }: PlannedOperation): string {
  const head = `thread ${thread} at ${Math.round(atMs * 1_000) / 1_000} ms:`;
  switch (operation.f) {
    case 'send':
      return `${head} sends ${operation.value} to ${operation.key}`;
    case 'poll':
      return `${head} polls`;
    case 'assign':
      return `${head} reads ${operation.keys.join(', ')}`;
  }
}

function change(before: number, after: number, what: string): string {
  return before === after ? '' : `${before} ${what} → ${after}`;
}
