/**
 * `broker-suicide` and `failed-start`: a broker that ended itself, or could not start, by a fault of its own.
 *
 * A broker is asked to survive whatever its environment does to it short of destroying it; one that ends itself on what
 * its peers say is out of service until somebody starts it again. Who is to blame the runtime knows: it saw how the
 * process ended. A process that its environment ended (for want of memory, by a signal of somebody else) accuses nobody.
 */
import type { Evidence, ProcessEnd } from '../evidence.ts';
import { nodeName } from '../parse-trace.ts';
import type { AnomalyKind, Reference, WhyStep } from '../results.ts';
import { emptyFinding, listed, plural, type Finding } from './finding.ts';

/** So many of a process's last lines are told. */
const maxLines = 20;

export function findEnded(evidence: Evidence): Finding[] {
  const { ends = [] } = evidence.run;
  for (const { node, detail } of ends.filter(({ blame }) => blame === 'environment'))
    evidence.notes.push(`${nodeName(node)} was ended by its environment, which accuses nobody: ${detail}`);
  const own = ends.filter(({ blame }) => blame === 'node');
  const groups = Map.groupBy(own, ({ node, phase }) => `${phase} ${node}`);
  return [...groups.values()].map((group) => endedBy(evidence, group));
}

/** What the processes said last, as steps. */
export function endedSteps({ node, detail, phase, lastLines = [], time }: ProcessEnd): WhyStep[] {
  const how = phase === 'start' ? 'did not start' : 'ended by itself';
  const name = nodeName(node);
  const first = { text: `${name.charAt(0).toUpperCase()}${name.slice(1)} ${how}: ${detail}.`, references: [] };
  const said = lastLines.slice(-maxLines).map((line) => ({ text: `It had said: ${line}`, references: [] }));
  return [time === undefined ? first : { ...first, time }, ...said];
}

function endedBy(evidence: Evidence, group: readonly ProcessEnd[]): Finding {
  const { node, phase, detail } = group[0] as ProcessEnd;
  const kind: AnomalyKind = phase === 'start' ? 'failed-start' : 'broker-suicide';
  const often = group.length === 1 ? '' : ` (${plural(group.length, 'time', 'times')})`;
  const did = phase === 'start' ? 'could not start' : 'ended itself';
  const said = (evidence.observed?.ended ?? []).filter((each) => each.node === node);
  const words = said[0]?.words ?? detail;
  const references: Reference[] = said.map(({ reference }) => reference);
  return {
    ...emptyFinding(kind, null),
    summary: `${nodeName(node)} ${did}${often}: ${words}`,
    nodes: node === 'controller' ? [] : [node],
    evidence: listed(references),
    why: listed(group.flatMap(endedSteps)),
  };
}
