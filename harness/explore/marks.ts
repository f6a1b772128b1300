/**
 * Coverage marks: situations that a night of searching should have been in, each found in the trace of a run.
 *
 * A search that finds nothing has shown something only if it has been where the bugs are: where an acknowledged record
 * was exposed, where one election followed on another's heels, where a question about an epoch met an older answer. Each
 * mark is one such situation; a search counts the runs that hit it, and names those that none did (FoundationDB's and
 * TigerBeetle's "sometimes" assertions).
 *
 * The trace of a simulated run stands in the order of virtual time, so one pass over it is enough. Only marks are made
 * from that order; verdicts are the checker's, which trusts no clock.
 *
 * Invariant: a mark says that something was met, never that it was wrong.
 */
import type { Operation } from '../../checker/history.ts';
import type { RunResults } from '../../checker/results.ts';
import type { NodeId, TraceLine } from '../../nemesis/ports.ts';
import {
  createPartitionPicture,
  epochAt,
  foldTraceLine,
  type PartitionPicture,
  type ReplicaPicture,
} from './replica-picture.ts';

/** Every mark, with what it means. */
export const marks = {
  exposure: 'a member of the ISR became follower while it held, above its own HW, an acknowledged record',
  'truncation-below-acknowledged': 'a replica truncated an acknowledged record from its log',
  'two-elections-in-a-row': 'a partition got its next leader before the one before had taken its role',
  'unacknowledged-tail-survived': 'a record that nobody had acknowledged was committed by a later leader',
  'fenced-fetch': 'a fetch was refused for its leader epoch',
  'fenced-epoch-question': 'a question for the end of an epoch was refused for its leader epoch',
  'isr-of-one': 'an ISR shrank to one replica',
  'leader-returned': 'a leader restarted and led again, with no other leader in between',
  'hw-lag-at-election': 'a new leader began below a HW that the partition had reached already',
  'leader-missed-epoch': 'a leader never heard of the epoch that followed its own',
  'follower-missed-epoch': 'a follower never heard of an epoch in between',
  'old-leader-appended': 'a leader appended a record after another had been elected',
  'epoch-answered-below': 'a follower asked for the end of an epoch that its leader does not know',
  'truncated-in-steps': 'a follower truncated twice under one leader before the logs met',
  'logs-had-parted': 'a follower held a record of another epoch than its leader at the same offset',
  'unclean-election': 'a leader was elected from outside the ISR',
  'power-loss-cut-tail': 'a log lost its end in a power loss',
  'offset-out-of-range': 'a follower asked for an offset that its leader does not have',
  'refused-by-min-isr': 'a producer was refused because the ISR was too small',
  'isr-change-at-election': 'an election overtook an ISR change that its leader had not heard of yet',
  'isr-grew-again': 'a replica came back into the ISR',
  'controller-restarted': 'the controller was started again',
  leaderless: 'a partition had no leader',
} as const;

export type Mark = keyof typeof marks;

export const allMarks = Object.keys(marks) as readonly Mark[];

/** A leader that has not said anything for longer may have had nothing to say. */
const IN_FLIGHT_NS = 100_000_000;

/** Which marks a simulated run hit. */
export function marksOf(
  trace: Iterable<TraceLine>,
  history: readonly Operation[],
  results: Pick<RunResults, 'exposures'>,
): ReadonlySet<Mark> {
  const hit = new Set<Mark>();
  if (results.exposures !== null && results.exposures.length > 0) hit.add('exposure');
  const partitions = new Map<string, PartitionWatch>();
  for (const line of trace) {
    if (line.node === 'controller' && line.event === 'start' && line.boot > 1) hit.add('controller-restarted');
    if (line.partition === undefined) continue;
    let watch = partitions.get(line.partition);
    if (watch === undefined) {
      watch = createWatch();
      partitions.set(line.partition, watch);
    }
    /* Marks look at what was true before the line. */
    if (line.node === 'controller') watchController(watch, line, hit);
    else watchBroker(watch, line.node, line, hit);
    foldTraceLine(watch.picture, line);
  }
  if (history.some(wasRefusedByMinIsr)) hit.add('refused-by-min-isr');
  return hit;
}

interface PartitionWatch {
  readonly picture: PartitionPicture;
  /** The highest HW that any leader reached. */
  highWatermark: number;
  /** An ISR change that was committed for this leader, which has not said anything about the partition since. */
  unheardChange: { readonly leader: NodeId | null; readonly time: number } | null;
  /** Who led last, and whether it was started again since. */
  lastLeader: { readonly node: NodeId; restarted: boolean } | null;
  readonly truncatedInEpoch: Map<NodeId, number>;
  readonly tails: Map<NodeId, { readonly last: number; readonly epoch: number }>;
}

function createWatch(): PartitionWatch {
  return {
    picture: createPartitionPicture(),
    highWatermark: 0,
    unheardChange: null,
    lastLeader: null,
    truncatedInEpoch: new Map(),
    tails: new Map(),
  };
}

function watchController(watch: PartitionWatch, line: TraceLine, hit: Set<Mark>): void {
  const { picture } = watch;
  if (line.event === 'isr') {
    const [from, to] = [line['from'] as readonly NodeId[], line['to'] as readonly NodeId[]];
    if (to.length === 1 && from.length > 1) hit.add('isr-of-one');
    if (to.length > from.length) hit.add('isr-grew-again');
    const proposed = line.msg?.startsWith('broker-') === true;
    watch.unheardChange = proposed ? { leader: picture.leader, time: line.time } : null;
    return;
  }
  if (line.event !== 'election') return;
  const isr = line['isr'] as readonly NodeId[];
  if (isr.length === 1 && picture.isr.length > 1) hit.add('isr-of-one');
  if (line['clean'] === false) hit.add('unclean-election');
  const leader = line['leader'] as NodeId | null;
  if (leader === null) hit.add('leaderless');
  else {
    if (picture.leader !== null && !picture.leaderKnows) hit.add('two-elections-in-a-row');
    if (leader === watch.lastLeader?.node && watch.lastLeader.restarted) hit.add('leader-returned');
    watch.lastLeader = { node: leader, restarted: false };
  }
  const sinceNs = watch.unheardChange === null ? Infinity : line.time - watch.unheardChange.time;
  if (sinceNs < IN_FLIGHT_NS) hit.add('isr-change-at-election');
  watch.unheardChange = null;
}

function watchBroker(watch: PartitionWatch, node: NodeId, line: TraceLine, hit: Set<Mark>): void {
  const { picture } = watch;
  const replica = picture.replicas.get(node);
  if (node === watch.unheardChange?.leader) watch.unheardChange = null;
  switch (line.event) {
    case 'role':
      if (replica !== undefined) watchRole(watch, node, replica, line, hit);
      return;
    case 'append':
      if (replica?.role === 'leader' && replica.epoch < picture.epoch) hit.add('old-leader-appended');
      return;
    case 'hw': {
      // Only a leader says over which replicas.
      if (line['isr'] === undefined) return;
      const to = line['to'] as number;
      watch.highWatermark = Math.max(watch.highWatermark, to);
      const tail = watch.tails.get(node);
      if (tail !== undefined && tail.epoch === replica?.epoch && to > tail.last)
        hit.add('unacknowledged-tail-survived');
      return;
    }
    case 'truncation':
      watchTruncation(watch, node, replica, line, hit);
      return;
    case 'recover':
      if (watch.lastLeader?.node === node) watch.lastLeader.restarted = true;
      if (line['cut'] === 'power-loss' && (line['to'] as number) < (line['from'] as number))
        hit.add('power-loss-cut-tail');
      return;
    case 'fenced':
      if (line['by'] === 'Fetch') hit.add('fenced-fetch');
      if (line['by'] === 'OffsetForLeaderEpoch') hit.add('fenced-epoch-question');
      return;
    default:
  }
}

function watchRole(
  watch: PartitionWatch,
  node: NodeId,
  replica: ReplicaPicture,
  line: TraceLine,
  hit: Set<Mark>,
): void {
  const epoch = line.leaderEpoch ?? -1;
  const { picture } = watch;
  if (replica.role !== null && epoch > replica.epoch + 1) {
    hit.add(replica.role === 'leader' ? 'leader-missed-epoch' : 'follower-missed-epoch');
  }
  watch.tails.delete(node);
  if (line['role'] === 'leader') {
    if ((line['hw'] as number) < watch.highWatermark) hit.add('hw-lag-at-election');
    const tail = replica.log.findLast((batch) => batch.epoch < epoch);
    const acknowledged = tail !== undefined && picture.acknowledged.get(tail.base) === tail.epoch;
    if (tail !== undefined && !acknowledged && tail.last >= (line['hw'] as number)) {
      watch.tails.set(node, { last: tail.last, epoch });
    }
    return;
  }
  const leader = picture.replicas.get(line['leader'] as NodeId);
  if (leader !== undefined && haveParted(replica, leader)) hit.add('logs-had-parted');
}

function watchTruncation(
  watch: PartitionWatch,
  node: NodeId,
  replica: ReplicaPicture | undefined,
  line: TraceLine,
  hit: Set<Mark>,
): void {
  const [from, to] = [line['from'] as number, line['to'] as number];
  const rule = line['rule'] as string;
  const epoch = line.leaderEpoch ?? -1;
  if (rule === 'offset-out-of-range') hit.add('offset-out-of-range');
  if (rule === 'leader-epoch') {
    const { question, answer } = line['evidence'] as {
      readonly question?: { readonly epoch: number };
      readonly answer?: { readonly epoch: number };
    };
    if (question !== undefined && answer !== undefined && answer.epoch < question.epoch)
      hit.add('epoch-answered-below');
  }
  if (to >= from) return;
  const lost = replica?.log.some(
    (batch) => batch.last >= to && watch.picture.acknowledged.get(batch.base) === batch.epoch,
  );
  if (lost === true) hit.add('truncation-below-acknowledged');
  if (watch.truncatedInEpoch.get(node) === epoch) hit.add('truncated-in-steps');
  watch.truncatedInEpoch.set(node, epoch);
}

/** Some offset that both hold was written in different epochs. */
function haveParted(one: ReplicaPicture, other: ReplicaPicture): boolean {
  /* Where two logs agree at their last common offset they agree below it, but for a bug; so the newest decides. */
  const end = Math.min(one.leo, other.leo);
  if (end === 0) return false;
  return epochAt(one, end - 1) !== epochAt(other, end - 1);
}

function wasRefusedByMinIsr(operation: Operation): boolean {
  return operation.error?.startsWith('NOT_ENOUGH_REPLICAS') === true;
}
