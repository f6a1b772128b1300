/**
 * Exposures of brokers that tell no trace, from what was seen of them.
 *
 * The rule is the one of `exposures.ts`. What a broker held when it became follower is put together from several sources:
 * its roles from its own answers and log lines, the end of its log from its files, its high watermark from its log lines.
 * A role is often seen after the truncation that it led to, so the end and the high watermark are taken from before both.
 *
 * Where no high watermark of the broker was seen since it started, nobody knows whether it was an exposure: such moments
 * are counted, and where nothing but such moments is known, so is the whole. None is ever guessed.
 */
import {
  lastBy,
  type Observations,
  type SeenAck,
  type SeenElection,
  type SeenPartition,
  type SeenReplica,
  type SeenRole,
  type SeenTruncation,
} from './observations.ts';
import { acksAll } from './index-history.ts';
import type { Exposure } from './results.ts';

export interface ObservedExposures {
  /** Null when it cannot be known whether there was one. */
  readonly exposures: readonly Exposure[] | null;
  /** What is not known of them, or null. */
  readonly doubt: string | null;
}

/** A log that does not name the leader, and an election, are seen within so long of the role that they belong to. */
const lateNs = 500e6;

/** A role that its broker's metadata tells may be so much older than the moment at which it is seen. */
const pollNs = 100e6;

/** A role that its broker's log tells is as new as it seems, but for the way of two lines to here. */
const promptNs = 20e6;

export function findObservedExposures({ partitions, damage }: Observations): ObservedExposures {
  const found: Exposure[] = [];
  let dark = 0;
  let seen = false;
  for (const partition of partitions.values()) {
    for (const [node, replica] of partition.byNode) {
      seen ||= replica.highWatermarks.length > 0;
      for (const turn of turnsOf(replica.roles, node)) {
        const exposure = exposureOf(partition, node, replica, turn);
        if (exposure === 'dark') dark += 1;
        else if (exposure !== null) found.push(exposure);
      }
    }
  }
  found.sort((x, y) => byText(x.key, y.key) || x.leaderEpoch - y.leaderEpoch || x.node - y.node);
  const missing = damage.length === 0 ? null : 'observations are missing';
  if (found.length > 0) return { exposures: found, doubt: dark === 0 ? missing : darkMoments(dark) };
  if (dark > 0) {
    const why = seen ? darkMoments(dark) : 'no high watermark of a follower was seen';
    return { exposures: null, doubt: why };
  }
  return { exposures: missing === null ? found : null, doubt: missing };
}

function darkMoments(count: number): string {
  const moments = count === 1 ? 'at one moment at which a broker' : `at ${count} moments at which brokers`;
  return `${moments} became follower, its high watermark was not known`;
}

/** A broker began to follow: another leader than before, or anew after a start. */
interface Turn {
  readonly role: SeenRole;
  readonly leader: number;
  /** When it was first seen to follow, and when it was last seen to do something else. */
  readonly time: number;
  readonly prompt: boolean;
  readonly after: number;
  readonly until: number;
}

function turnsOf(roles: readonly SeenRole[], node: number): Turn[] {
  const turns: (Omit<Turn, 'until'> & { until: number })[] = [];
  let before: SeenRole | null = null;
  // A log line that does not name the leader is the earlier sign of what an answer says a moment later.
  let sign: SeenRole | null = null;
  for (const role of roles) {
    if (role.role === 'follower' && role.leader === undefined) {
      sign = role;
      continue;
    }
    const leader = role.role === 'leader' ? node : (role.leader ?? null);
    const same = before?.role === role.role && before.leader === leader && before.boot === role.boot;
    if (!same) {
      const last = turns.at(-1);
      if (last !== undefined && last.until === Infinity) last.until = role.time;
      if (role.role === 'follower' && leader !== null && leader !== node) {
        const { time, prompt } = sign !== null && role.time - sign.time < lateNs ? sign : role;
        turns.push({ role, leader, time, prompt, after: before?.time ?? -Infinity, until: Infinity });
      }
    }
    before = { ...role, leader };
    sign = null;
  }
  return turns;
}

function exposureOf(
  partition: SeenPartition,
  node: number,
  replica: SeenReplica,
  turn: Turn,
): Exposure | 'dark' | null {
  const { role, leader } = turn;
  const elected = partition.elections.findLast((each) => each.leader === leader && each.time <= turn.time + lateNs);
  // It may have followed a poll earlier, but no earlier than its leader was elected.
  const lag = turn.prompt ? 0 : pollNs;
  const earliest = Math.max(turn.time - lag, turn.after, elected?.time ?? -Infinity);
  const began = Math.min(earliest, turn.time);
  const epoch = role.epoch ?? elected?.epoch ?? null;
  const cut = cutOf(partition, node, replica, turn, began);
  const at = cut === null ? began : Math.min(cut.time, began);
  // The end of its log stood still from the end of its old leader on.
  const end = cut?.from ?? lastBy(replica.ends, began)?.offset ?? 0;
  const isr = lastBy(partition.isrs, Math.max(turn.time, elected?.time ?? -Infinity))?.isr ?? [];
  if (!isr.includes(node)) return null;
  const isEarlier = earlierThan(partition, turn, elected, began, epoch);
  const risky = partition.acks.filter(
    (ack) => ack.acks !== 0 && ack.base < end && ack.isr.includes(node) && isEarlier(ack),
  );
  if (risky.length === 0) return null;
  const highWatermark = highWatermarkAt(partition, node, replica, role.boot, at);
  if (highWatermark === null) return 'dark';
  const above = risky.filter(({ last }) => last >= highWatermark);
  if (above.length === 0 || end <= highWatermark) return null;
  return {
    key: partition.key,
    node,
    leaderEpoch: epoch ?? -1,
    highWatermark,
    endOffset: end,
    acknowledged: [
      Math.max(Math.min(...above.map(({ base }) => base)), highWatermark),
      Math.min(Math.max(...above.map(({ last }) => last)), end - 1),
    ],
    reference: role.reference,
  };
}

/** The truncation that the turn led to: the first from then on, if the broker appended nothing between the two. */
function cutOf(
  { truncations }: SeenPartition,
  node: number,
  { ends }: SeenReplica,
  { role, time, prompt, after, until }: Turn,
  began: number,
): SeenTruncation | null {
  const from = Math.max(began - (prompt ? promptNs : pollNs), after);
  const cut = truncations.find(
    (each) =>
      each.node === node && each.boot === role.boot && each.from !== null && each.time >= from && each.time < until,
  );
  if (cut === undefined) return null;
  // What is appended before a late role is seen may have come from the leader that is followed already.
  const first = prompt ? Math.min(time, cut.time) : time;
  const last = Math.max(time, cut.time);
  const appended = ends.some((end) => end.time > first && end.time < last);
  return appended ? null : cut;
}

/**
 * The last that was seen of it in this boot. What it acknowledged itself under acks=all, as the leader, was below it. As a
 * leader it says nothing of it: if it has led since without acknowledging anything, nobody knows.
 */
function highWatermarkAt(
  { acks }: SeenPartition,
  node: number,
  { roles, highWatermarks }: SeenReplica,
  boot: number,
  at: number,
): number | null {
  const told = lastBy(highWatermarks, at);
  const acknowledged = acks.findLast((ack) => ack.node === node && ack.acks === acksAll && ack.time <= at) ?? null;
  const started = roles.find((role) => role.boot === boot)?.time ?? at;
  let highWatermark: number | null = told?.boot === boot ? told.offset : null;
  let time = told?.boot === boot ? told.time : -Infinity;
  if (acknowledged !== null && acknowledged.time >= Math.max(started, time)) {
    highWatermark = Math.max(highWatermark ?? 0, acknowledged.last + 1);
    time = acknowledged.time;
  }
  const hasLed = roles.some((role) => role.role === 'leader' && role.time > time && role.time <= at);
  return hasLed ? null : highWatermark;
}

/**
 * Whether something was acknowledged in an earlier epoch. The epoch of an acknowledgement is the one that metadata last
 * told, so those of the new leader itself may carry an old one: of these only what came before the reign of another counts.
 */
function earlierThan(
  { elections }: SeenPartition,
  { leader }: Turn,
  elected: SeenElection | undefined,
  began: number,
  epoch: number | null,
): (ack: SeenAck) => boolean {
  const before = elected === undefined ? undefined : elections[elections.indexOf(elected) - 1];
  const ownUntil = before === undefined || before.leader === leader ? began : before.time;
  return (ack) => {
    if (ack.node === leader) return ack.time < ownUntil;
    if (ack.epoch !== null && epoch !== null && ack.epoch !== epoch) return ack.epoch < epoch;
    return ack.time <= began + lateNs;
  };
}

/** By code unit: an order of its own for each language would make results differ from machine to machine. */
function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
