/**
 * A stage for the conductor: it performs nothing, but keeps the books that a runtime would keep, and answers.
 *
 * Tests push trace lines and let time pass; the stage gives `deadline` events when the conductor asks for them, answers
 * actions at once (or when told to), and remembers the state of every link and process that the actions led to.
 */
import { conduct, createConductor, isFinished, nextDeadlineNs } from '../../nemesis/conductor.ts';
import type { ConductorEvent, ConductorState, FaultRecord } from '../../nemesis/conductor.ts';
import type { Action, Evidence, NodeName, TraceLine } from '../../nemesis/ports.ts';
import type { Fault, Schedule } from '../../nemesis/schedule.ts';
import { nameOfCut } from '../../nemesis/topologies.ts';

const MS = 1_000_000;
const partitions = ['tide-0', 'tide-1'];
const brokers = [1, 2, 3];

export interface Stage {
  readonly state: ConductorState;
  readonly log: string[];
  readonly records: FaultRecord[];
  /** Actions that wait for an answer. */
  readonly open: { readonly id: string; readonly action: Action }[];
  /** Cuts and slow links in force, and processes that do not run, as the actions left them. */
  readonly cuts: Set<string>;
  readonly slow: Set<string>;
  readonly stopped: Map<NodeName, string>;
  nowMs(): number;
  give(event: ConductorEvent): void;
  trace(node: NodeName, event: string, fields?: Record<string, unknown>): void;
  /** Lets time pass, with every deadline on the way. */
  pass(ms: number): void;
  answer(evidence?: Evidence): void;
}

export function createStage(schedule: Schedule, options: { answers: boolean } = { answers: true }): Stage {
  const state = createConductor(schedule, { brokers, partitions });
  let nowNs = 5_000 * MS;
  let seq = 0;
  const stage: Stage = {
    state,
    log: [],
    records: [],
    open: [],
    cuts: new Set(),
    slow: new Set(),
    stopped: new Map(),
    nowMs: () => nowNs / MS - 5_000,
    give(event) {
      for (const effect of conduct(state, event, nowNs)) {
        if (effect.type === 'record') {
          stage.records.push(effect.value);
          stage.log.push(`${stage.nowMs()} ${effect.value.phase} ${effect.value.fault}`);
        } else {
          stage.open.push(effect);
          stage.log.push(`${stage.nowMs()} ${describeAction(effect.action)}`);
        }
      }
      if (nextDeadlineNs(state) <= nowNs) throw new Error(`a deadline in the past at ${stage.nowMs()} ms`);
      if (options.answers) while (stage.open.length > 0) stage.answer();
    },
    trace(node, event, fields = {}) {
      seq += 1;
      const line: TraceLine = { seq, time: nowNs, node, boot: 1, event, ...fields };
      stage.give({ type: 'trace', line });
    },
    pass(ms) {
      const untilNs = nowNs + ms * MS;
      while (nextDeadlineNs(state) <= untilNs) {
        nowNs = nextDeadlineNs(state);
        stage.give({ type: 'deadline' });
      }
      nowNs = untilNs;
    },
    answer(evidence) {
      const act = stage.open.shift();
      if (act === undefined) throw new Error('no action waits for an answer');
      stage.give({ type: 'acted', id: act.id, evidence: evidence ?? perform(stage, act.action) });
    },
  };
  return stage;
}

/** What a runtime would do and say. Every cut that is lifted has swallowed one packet, every slow link delayed one. */
function perform(stage: Stage, action: Action): Evidence {
  if (action.port === 'links') {
    const dropped = replaceBy(stage.cuts, action.cuts.map(nameOfCut));
    const slowed = replaceBy(stage.slow, (action.slow ?? []).map(nameOfCut));
    return { effective: true, facts: { dropped, slowed } };
  }
  if (action.port === 'process') {
    if (action.verb === 'start' || action.verb === 'resume') stage.stopped.delete(action.node);
    else stage.stopped.set(action.node, action.verb);
  }
  return { effective: true, facts: {} };
}

/** The links wanted from now on; one packet for each that is no longer. */
function replaceBy(links: Set<string>, wanted: readonly string[]): Record<string, number> {
  const lifted = [...links].filter((name) => !wanted.includes(name));
  links.clear();
  for (const name of wanted) links.add(name);
  return Object.fromEntries(lifted.map((name) => [name, 1]));
}

function describeAction(action: Action): string {
  switch (action.port) {
    case 'links': {
      const slow = (action.slow ?? []).map((link) => `${nameOfCut(link)} by ${link.delayMs}`);
      const cuts = `links [${action.cuts.map(nameOfCut).join(' ')}]`;
      return slow.length === 0 ? cuts : `${cuts} slow [${slow.join(' ')}]`;
    }
    case 'process':
      return `${action.verb} ${action.node}`;
    case 'leadership':
      return `move ${action.partition} to ${action.to}`;
    case 'load':
      return `call ${action.operation}`;
  }
}

export function scheduleOf(durationMs: number, ...faults: readonly Fault[]): Schedule {
  return { schemaVersion: 1, seed: 0, durationMs, faults };
}

/** Three brokers in sync: 1 leads tide-0, 2 leads tide-1. */
export function healthy(stage: Stage): void {
  elect(stage, 'tide-0', 1, 0, [1, 2, 3], [1, 2, 3]);
  elect(stage, 'tide-1', 2, 0, [2, 3, 1], [2, 3, 1]);
}

/** The controller elects; the brokers in `heard` take their roles. */
export function elect(
  stage: Stage,
  partition: string,
  leader: number,
  leaderEpoch: number,
  isr: readonly number[],
  heard: readonly number[],
): void {
  const replicas = partition === 'tide-0' ? [1, 2, 3] : [2, 3, 1];
  if (leaderEpoch === 0) stage.trace('controller', 'create', { partition, replicas });
  stage.trace('controller', 'election', { partition, leaderEpoch, leader, isr, clean: true });
  for (const node of heard) takeRole(stage, partition, node, leader, leaderEpoch);
}

export function takeRole(stage: Stage, partition: string, node: number, leader: number, leaderEpoch: number): void {
  const role = node === leader ? 'leader' : 'follower';
  stage.trace(node, 'role', { partition, leaderEpoch, role, leader, leo: 3, hw: 3, isr: [1, 2, 3] });
}

export function acknowledge(stage: Stage, partition: string, node: number): void {
  stage.trace(node, 'ack', { partition, leaderEpoch: 0, base: 3, last: 3, acks: -1, isr: [1, 2, 3] });
}

/** Lets time pass until the conductor has finished, within a bound. */
export function finish(stage: Stage, boundMs: number): void {
  for (let passed = 0; !isFinished(stage.state); passed += 100) {
    if (passed > boundMs) throw new Error(`not finished after ${boundMs} ms`);
    stage.pass(100);
  }
}
