/**
 * Takes the pictures of one film, as the events of the trace go by.
 *
 * It is told of each event before and after the replicas have taken it in, and knows from the survey which of them are
 * worth a picture. A picture holds only what it shows: for each replica one cell per column of the axis.
 *
 * Invariant: the number of acts is bounded, however long the run.
 */
import type { Reference } from '../../checker/results.ts';
import type { OffsetAxis } from './offset-axis.ts';
import { unknownRule, type Act, type Cut, type FilmRequest, type Lane, type LaneCell, type Still } from './picture.ts';
import { batchAt, batchName, sameBatch, type ReplicaState, type Replicas } from './replicas.ts';
import type { Survey } from './survey.ts';
import type { EventOf, TraceEvent, TracedBatch } from './trace-events.ts';
import { becauseOf, span } from './words.ts';

/** Dangerous moments that get a picture of their own. */
const EXPOSED_MAX = 3;

export class Camera {
  readonly acts: Act[] = [];
  readonly #request: FilmRequest;
  readonly #survey: Survey;
  readonly #axis: OffsetAxis;
  #before: Still | null = null;

  constructor(request: FilmRequest, survey: Survey, axis: OffsetAxis) {
    this.#request = request;
    this.#survey = survey;
    this.#axis = axis;
  }

  /** The replicas are as they were just before the event. */
  before(event: TraceEvent, replicas: Replicas): void {
    if (!this.#survey.truncations.has(event) || event.event !== 'truncation') return;
    this.#before = this.#still('before', event.time, replicas, cutOf(event));
  }

  /** The replicas have taken the event in. */
  after(event: TraceEvent, replicas: Replicas): void {
    if (event === this.#survey.acknowledgement) {
      const what = this.#named(replicas.byNode.get(event.node as number), event.base);
      this.#act('acknowledged', event.time, `Broker ${event.node} acknowledges ${what}`, '', [
        this.#still('then', event.time, replicas, null),
      ]);
    }
    if (event === this.#survey.overwriting) {
      const [batch] = event.batches;
      const what = this.#named(replicas.byNode.get(event.node as number), batch?.base ?? 0);
      this.#act('overwritten', event.time, `Broker ${event.node} puts ${what}, in epoch ${batch?.epoch ?? -1}`, '', [
        this.#still('then', event.time, replicas, null),
      ]);
    }
    if (event.event === 'role') this.#exposed(event, replicas);
    if (event.event === 'election') this.#elected(event, replicas);
    if (this.#before !== null && this.#before.cut !== null && event.event === 'truncation') {
      const { cut } = this.#before;
      const cuts = cut.to < cut.from;
      const after = cuts ? [this.#still('after', event.time, replicas, null)] : [];
      const title = cuts
        ? `Broker ${cut.node} truncates its log from ${cut.from} to ${cut.to}`
        : `Broker ${cut.node} keeps its whole log, up to ${cut.to}`;
      this.#act(cuts ? 'truncated' : 'kept', event.time, title, ruleOf(cut), [this.#before, ...after]);
      this.#before = null;
    }
  }

  /** All events have gone by; `time` is that of the last one of this partition. */
  end(replicas: Replicas, time: number | null): void {
    if (time === null || replicas.byNode.size === 0) return;
    this.#act('end', time, 'In the end', '', [this.#still('then', time, replicas, null)]);
  }

  /** The dangerous moment itself, where no picture of a truncation that followed at once shows it. */
  #exposed(role: EventOf<'role'>, replicas: Replicas): void {
    if (this.acts.filter(({ kind }) => kind === 'exposed').length >= EXPOSED_MAX) return;
    const exposure = this.#request.exposures.find(({ reference }) => isReferenceTo(reference, role));
    if (exposure === undefined || !exposure.acknowledged.some((offset) => this.#survey.focus.includes(offset))) return;
    for (const event of this.#survey.truncations)
      if (event.node === role.node && event.leaderEpoch === role.leaderEpoch) return;
    const { node, leaderEpoch, acknowledged, highWatermark } = exposure;
    const title = `Broker ${node} becomes a follower in epoch ${leaderEpoch}: the dangerous moment`;
    const what = acknowledged[0] === acknowledged[1] ? 'offset' : 'offsets';
    const detail = `it holds ${what} ${span(...acknowledged)}, acknowledged, and its own high watermark is ${highWatermark}`;
    this.#act('exposed', role.time, title, detail, [this.#still('then', role.time, replicas, null)]);
  }

  /** The first leader that was elected after the acknowledgement of a lost record, and lacks it. */
  #elected(election: EventOf<'election'>, replicas: Replicas): void {
    const { firstLost } = this.#survey;
    const leader = election.leader === null ? undefined : replicas.byNode.get(election.leader);
    if (firstLost === null || leader === undefined || election.time < firstLost.time) return;
    if (this.acts.some(({ kind }) => kind === 'elected')) return;
    const { batch } = firstLost;
    const stands = batchAt(leader.batches, batch.base);
    if (stands !== null && sameBatch(stands, batch)) return;
    const value = this.#survey.valueOf.get(batchName(batch));
    const title = `Broker ${leader.node} is elected, without ${value === undefined ? 'the record' : `record ${value}`}`;
    const manner = election.clean === null ? '' : election.clean ? ' clean,' : ' unclean,';
    const detail = `epoch ${election.leaderEpoch},${manner} in-sync replicas ${election.isr.join(', ')}, ${election.reason}`;
    this.#act('elected', election.time, title, detail, [this.#still('then', election.time, replicas, null)]);
  }

  #act(kind: Act['kind'], time: number, title: string, detail: string, stills: readonly Still[]): void {
    this.acts.push({ number: this.acts.length + 1, kind, time, title, detail, stills });
  }

  #named(replica: ReplicaState | undefined, offset: number): string {
    const batch = replica === undefined ? null : batchAt(replica.batches, offset);
    const value = batch === null ? undefined : this.#survey.valueOf.get(batchName(batch));
    return `${value === undefined ? 'a record' : `record ${value}`} at offset ${offset}`;
  }

  #still(when: Still['when'], time: number, replicas: Replicas, cut: Cut | null): Still {
    return { when, cut, lanes: replicas.sorted().map((replica) => this.#lane(replica, replicas, time)) };
  }

  #lane(replica: ReplicaState, replicas: Replicas, time: number): Lane {
    const offsets = this.#axis.columns.map((column) => (column.kind === 'offset' ? column.offset : null));
    const held = offsets.map((offset) => (offset === null ? null : batchAt(replica.batches, offset)));
    const ghosts = offsets.map((offset, index) => {
      if (offset === null) return null;
      const gone = replica.removed.findLast((batch) => batch.base <= offset && offset <= batch.last) ?? null;
      const now = held[index] ?? null;
      return gone === null || (now !== null && sameBatch(gone, now)) ? null : gone;
    });
    const outage = this.#request.outages.find(
      (each) => each.node === replica.node && each.from < time && time < each.to,
    );
    return {
      node: replica.node,
      role: outage === undefined ? replica.role : outage.kind,
      leaderEpoch: replica.leaderEpoch,
      inIsr: replicas.isr.includes(replica.node),
      leo: replica.leo,
      hw: replica.hw,
      cells: held.map((batch, index) => this.#cell(batch, offsets[index] ?? null, replicas)),
      ghosts: ghosts.map((batch, index) => this.#cell(batch, offsets[index] ?? null, replicas)),
    };
  }

  #cell(batch: TracedBatch | null, offset: number | null, replicas: Replicas): LaneCell | null {
    if (batch === null || offset === null) return null;
    const name = batchName(batch);
    return {
      offset,
      epoch: batch.epoch,
      value: this.#survey.valueOf.get(name) ?? null,
      acknowledged: replicas.isAcknowledged(batch),
      lost: this.#survey.lost.has(name),
      diverged: this.#request.divergenceFound && this.#divergesAt(offset, batch),
    };
  }

  /** In the end one replica holds this batch here, and another holds a different one. */
  #divergesAt(offset: number, batch: TracedBatch): boolean {
    const ends = this.#survey.final.sorted().map((replica) => batchAt(replica.batches, offset));
    const here = ends.filter((each) => each !== null);
    return here.some((each) => sameBatch(each, batch)) && here.some((each) => !sameBatch(each, batch));
  }
}

function isReferenceTo(reference: Reference, event: TraceEvent): boolean {
  if (reference.source !== 'trace' && reference.source !== 'observation') return false;
  return reference.node === event.node && reference.boot === event.boot && reference.seq === event.seq;
}

/** Of brokers that tell no trace only their own log says by which rule they cut. */
function ruleOf({ rule, because }: Cut): string {
  if (rule === unknownRule) return because === '' ? 'by which rule, nothing tells' : because;
  return `rule ${rule}${because === '' ? '' : `: ${because}`}`;
}

function cutOf({ node, from, to, rule, evidence }: EventOf<'truncation'>): Cut {
  return { node: node as number, from, to, rule, because: becauseOf(evidence) };
}
