/**
 * The twin of the rule of expected losses: which acknowledged records are lost, and which of these losses are allowed,
 * over plays of the real cores under random schedules that kill, cut, cut power and elect uncleanly.
 *
 * It replays a node's lines from the start for every question: what did its log hold after this line?
 */
import type { CheckInput } from '../../../checker/check.ts';
import type { Operation } from '../../../checker/history.ts';
import { Play } from '../../../harness/sim/play.ts';
import { scenarioDefaults } from '../../../harness/sim/scenario-settings.ts';
import { parseStep } from '../../../harness/sim/scenario-steps.ts';
import { inputOf, playedSteps } from '../played.ts';
import type { Found, RunFamily } from './family.ts';
import { actsOf, sentBy } from './operations.ts';
import type { Draws } from './random.ts';

export const excuses: RunFamily = {
  name: 'excuses',
  kinds: ['violation', 'expected', 'committed-overwritten'],
  generate,
  judge,
};

const key = 'tide-0';

function generate(draws: Draws): CheckInput {
  const settings = {
    ...scenarioDefaults,
    minInsyncReplicas: 1,
    uncleanElection: draws.chance(0.7),
    replicaLagTimeMaxMs: 2000,
    highWatermarkCheckpointIntervalMs: 5000,
  };
  const play = new Play(draws.pick(['hw', 'hw', 'hw-elect', 'kip101', 'epoch']), 3, settings);
  play.start();
  const steps = ['topic tide with replicas 1, 2, 3', 'produce', 'run for 20 ms'];
  const cruel = draws.chance(0.5);
  for (let count = 4 + draws.below(14); count > 0; count -= 1) steps.push(...drawn(draws, cruel));
  const nodes = ['1', '2', '3', 'controller'];
  const mend = [
    ...nodes.flatMap((from) => nodes.map((to) => `heal ${from} to ${to}`)),
    ...nodes.flatMap((id) => [`resume ${id}`, `start ${id}`]),
    'run for 5000 ms',
  ];
  const all = steps.map((text, at) => (text === 'produce' ? `produce m${at} by client${at}` : text));
  const act = (text: string) => (): void => parseStep(text)?.(play);
  const clients = playedSteps(play, all.map(act));
  playedSteps(play, mend.map(act));
  return inputOf(play, clients, settings);
}

/** Whole disasters only where it is meant to be cruel. */
function drawn(draws: Draws, cruel: boolean): string[] {
  const [one, two, three] = draws.pick([
    ['1', '2', '3'],
    ['2', '3', '1'],
    ['3', '1', '2'],
    ['1', '3', '2'],
    ['3', '2', '1'],
  ]);
  switch (draws.chance(0.1) ? 11 : draws.below(cruel ? 14 : 12)) {
    case 0:
    case 1:
      return ['produce', `run for ${1 + draws.below(30)} ms`];
    case 2:
      return ['produce'];
    case 3:
      return [`run for ${draws.pick([100, 700, 2500])} ms`];
    case 4:
      return [`kill ${one}`];
    case 5:
    case 6:
      return [`start ${one}`, `run for ${draws.pick([1, 50, 1500])} ms`];
    case 7:
      return [`power off ${one}`];
    case 8:
      return [draws.pick([`flush ${one}`, `checkpoint ${one}`])];
    case 9:
      return [`cut ${one} to ${two}`, 'produce'];
    case 10:
      return [`heal ${one} and ${two}`];
    case 11:
      return ['produce', 'run for 3 ms', `move leader to ${one}`, 'run for 1 ms', `kill ${one}`, 'run for 1800 ms'];
    case 12:
      return [
        `kill ${one}`,
        `kill ${two}`,
        'run for 2500 ms',
        'produce',
        'run for 100 ms',
        `${draws.pick(['power off', 'kill'])} ${three}`,
        `start ${draws.pick([one, three])}`,
        'run for 2500 ms',
        'produce',
      ];
    default:
      return [
        'produce',
        'run for 5 ms',
        `flush ${two}`,
        `power off ${one}`,
        `power off ${two}`,
        `power off ${three}`,
        'run for 2000 ms',
        `start ${one}`,
        'run for 1500 ms',
        'produce',
      ];
  }
}

type Line = Record<string, unknown> & {
  readonly node: number | 'controller';
  readonly boot: number;
  readonly event: string;
};

interface Lines {
  of(node: unknown): readonly Line[];
  readonly elections: readonly Line[];
}

function judge(input: CheckInput): Found {
  const all = [...(input.trace ?? [])].map((line) => JSON.parse(line as string) as Line);
  const own = new Map(
    [1, 2, 3].map((node) => [node, all.filter((line) => line.node === node && line['partition'] === key)]),
  );
  const lines: Lines = {
    of: (node) => own.get(node as number) ?? [],
    elections: all
      .filter(({ event }) => event === 'election')
      .sort((x, y) => (x['leaderEpoch'] as number) - (y['leaderEpoch'] as number)),
  };
  const found: Found = { present: [], near: [] };
  if (input.run.settled !== true) return found;
  const troubled = all.some((line) => line['clean'] === false || line['cut'] === 'power-loss');
  const history = [...input.history].map((line) => (typeof line === 'string' ? JSON.parse(line) : line) as Operation);
  for (const sent of actsOf(history).flatMap(sentBy)) {
    if (sent.act.type !== 'ok' || !sent.all) continue;
    const verdict = judgeValue(lines, sent.act.completion?.msg ?? '', sent.offset as number);
    if (verdict === 'violation' || verdict === 'expected') found.present.push(`${verdict} ${sent.value}`);
    else if (verdict !== null) found.near.push(...verdict);
    // Something was there that might have excused a loss, and it excused none.
    if (verdict !== 'expected' && troubled) found.near.push('expected');
  }
  judgeOverwritten(lines, troubled, found);
  return found;
}

/** Whether some record that a leader had counted as committed gave way to one of a later epoch, against the rule. */
function judgeOverwritten(lines: Lines, troubled: boolean, found: Found): void {
  const appended = [1, 2, 3].flatMap((node) =>
    lines
      .of(node)
      .flatMap((line) => (line.event === 'append' ? (line['batches'] as { base: number; epoch: number }[]) : [])),
  );
  const records = new Map(appended.map(({ base, epoch }) => [`${base} ${epoch}`, { offset: base, epoch }]));
  for (const { offset, epoch } of records.values()) {
    const others = appended.filter((each) => each.base === offset && each.epoch !== epoch).map((each) => each.epoch);
    if (others.length === 0) continue;
    const commits = [1, 2, 3].flatMap((node) => commitsOf(lines.of(node), offset, epoch));
    const first = commits.toSorted((x, y) => (x['leaderEpoch'] as number) - (y['leaderEpoch'] as number))[0];
    // What a checkpoint file says counts only where no other history of the log can have written it.
    const counted = commits.filter((line) => !(troubled && line.event === 'role'));
    const taken = counted.some((line) => others.some((other) => other > (line['leaderEpoch'] as number)));
    const promised = {
      offset,
      epoch,
      isr: (first?.['isr'] ?? []) as number[],
      madeIn: first?.['leaderEpoch'] as number,
    };
    if (taken && classOf(lines, promised) === 'violation') found.present.push('committed-overwritten once');
    else found.near.push('committed-overwritten');
  }
}

/** For each time that the log held the record: the first line by which its broker, as leader, counted it as committed. */
function commitsOf(own: readonly Line[], offset: number, epoch: number): Line[] {
  const found: Line[] = [];
  let open = true;
  for (const [at, line] of own.entries()) {
    if (logAt(own, at).get(offset) !== epoch) {
      open = true;
      continue;
    }
    const highWatermark =
      line.event === 'hw' && line['isr'] !== undefined ? line['to'] : line['role'] === 'leader' ? line['hw'] : -1;
    if (open && (highWatermark as number) > offset) {
      found.push(line);
      open = false;
    }
  }
  return found;
}

/** The class of the loss; of a record that is not lost, which one it has nearly been: some replica had thrown it away. */
function judgeValue(lines: Lines, msg: string, offset: number): 'violation' | 'expected' | string[] | null {
  const node = [1, 2, 3].find((each) => lines.of(each).some((line) => line.event === 'ack' && line['msg'] === msg));
  const at = lines.of(node).findIndex((line) => line.event === 'ack' && line['msg'] === msg);
  const ack = lines.of(node)[at] as Line;
  const epoch = logAt(lines.of(node), at).get(offset) as number;
  const holds = (who: unknown, place: number): boolean => logAt(lines.of(who), place).get(offset) === epoch;
  const last = (who: unknown): number => lines.of(who).length - 1;
  const final = lines.elections.at(-1)?.['leader'];
  if (holds(final, last(final))) {
    const gone = [1, 2, 3].some((who) => wasRemoved(lines.of(who), (place) => holds(who, place)));
    return gone ? ['violation'] : null;
  }
  return classOf(lines, { offset, epoch, isr: ack['isr'] as number[], madeIn: ack['leaderEpoch'] as number });
}

/** From when on a record had to be kept, and on whom that relied. */
interface Promised {
  readonly offset: number;
  readonly epoch: number;
  readonly isr: readonly number[];
  readonly madeIn: number;
}

/** Whether the loss of a record is allowed. */
function classOf(lines: Lines, { offset, epoch, isr, madeIn }: Promised): 'violation' | 'expected' {
  const holds = (who: unknown, place: number): boolean => logAt(lines.of(who), place).get(offset) === epoch;
  const last = (who: unknown): number => lines.of(who).length - 1;
  const removed = [1, 2, 3].filter(
    (who) => lines.of(who).some((_, place) => holds(who, place)) && !holds(who, last(who)),
  );
  for (const who of removed) {
    const place = lastRemoval(lines.of(who), (each) => holds(who, each));
    if (lines.of(who)[place]?.event !== 'truncation') continue;
    const { justified, leader } = justification(lines, who, place, offset, epoch);
    if (!justified && (isr.includes(who) || leader === who)) return 'violation';
  }
  const lacking = lines.elections.find((line) => {
    const later = (line['leaderEpoch'] as number) > madeIn && line['leader'] !== null;
    return later && !holds(line['leader'], placeOf(lines, line['leader'], line['leaderEpoch'] as number));
  });
  if (lacking === undefined) return 'violation';
  const leader = lacking['leader'] as number;
  if (lacking['clean'] === false && !isr.includes(leader)) return 'expected';
  return lostToStorage(lines, leader, placeOf(lines, leader, lacking['leaderEpoch'] as number), offset, epoch)
    ? 'expected'
    : 'violation';
}

/** Offsets and their epochs, as the log of these lines' broker stood after the line at `place`. */
function logAt(own: readonly Line[], place: number): Map<number, number> {
  let log = new Map<number, number>();
  for (const line of own.slice(0, place + 1)) {
    if (line.event === 'append') {
      for (const { base, last, epoch } of line['batches'] as { base: number; last: number; epoch: number }[])
        for (let offset = base; offset <= last; offset += 1) log.set(offset, epoch);
    }
    if (line.event === 'truncation' || line.event === 'recover')
      log = new Map([...log].filter(([offset]) => offset < (line['to'] as number)));
    if (line.event === 'log-start') log = new Map([...log].filter(([offset]) => offset >= (line['to'] as number)));
  }
  return log;
}

function wasRemoved(own: readonly Line[], holds: (place: number) => boolean): boolean {
  return own.some((_, place) => place > 0 && holds(place - 1) && !holds(place));
}

function lastRemoval(own: readonly Line[], holds: (place: number) => boolean): number {
  return own.findLastIndex((_, place) => place > 0 && holds(place - 1) && !holds(place));
}

/** The line after which the log of a leader counts for its epoch. */
function placeOf(lines: Lines, leader: unknown, epoch: number): number {
  const own = lines.of(leader);
  const taken = own.findIndex(
    (line) => line.event === 'role' && line['role'] === 'leader' && line['leaderEpoch'] === epoch,
  );
  if (taken !== -1) return taken;
  const later = own.findIndex((line) => line.event === 'role' && (line['leaderEpoch'] as number) > epoch);
  return later === -1 ? own.length - 1 : later - 1;
}

function justification(
  lines: Lines,
  node: number,
  place: number,
  offset: number,
  epoch: number,
): { readonly justified: boolean; readonly leader: unknown } {
  const own = lines.of(node);
  const role = own.findLast((line, at) => at <= place && line.event === 'role' && line.boot === own[place]?.boot);
  const leader = role?.['role'] === 'leader' ? node : role?.['leader'];
  if (role === undefined || leader === null || leader === undefined || leader === node)
    return { justified: false, leader };
  const followed = role['leaderEpoch'] as number;
  const theirs = lines.of(leader);
  const wrote = theirs.some((_, at) => logAt(theirs, at).get(offset) === epoch);
  const held = epoch === followed ? wrote : logAt(theirs, placeOf(lines, leader, followed)).get(offset) === epoch;
  return { justified: !held, leader };
}

/** The last time that the leader had the record before its log counted, a power loss took it before it was flushed. */
function lostToStorage(lines: Lines, leader: number, place: number, offset: number, epoch: number): boolean {
  const own = lines.of(leader);
  const holds = (at: number): boolean => logAt(own, at).get(offset) === epoch;
  const lost = own.findLastIndex((_, at) => at > 0 && at <= place && holds(at - 1) && !holds(at));
  const line = own[lost];
  return line?.event === 'recover' && line['cut'] === 'power-loss' && offset >= (line['flushed'] as number);
}
