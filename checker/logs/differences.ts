/**
 * Where replicas part, and how: the book that is kept while their batches are walked through side by side.
 *
 * At every step each replica that can be compared belongs to a *side*: those that hold the same bytes. As long as there is
 * one side, they agree. A new grouping opens a difference, whose first differing record is sought inside of the batches;
 * one side again ends it.
 */
import { decode, type Decompressors, type LogRecord } from './contents.ts';
import type { Frame } from './frame.ts';
import type { Lane } from './lane.ts';
import type { Difference, Pair, Side } from './report.ts';
import { differencesOf, shownRecord } from './shown.ts';
import type { SegmentSource } from './source.ts';

/** Differences that are kept in full; all are counted. */
const kept = 100;

/** A replica at a step: which side it is on, and whether its batch can be looked at. */
export interface Standing {
  readonly lane: Lane;
  readonly side: number;
  /** `batch`: it stands at one. `nothing`: it holds nothing here. `past`: what it holds was passed already. */
  readonly holds: 'batch' | 'nothing' | 'past';
}

export class Differences {
  readonly list: Difference[] = [];
  total = 0;
  /** How they are grouped while they are on different sides. */
  #open: string | null = null;
  /** The side that each replica was on when the replicas parted last. */
  #parting = new Map<Lane, number>();
  readonly #decompressors: Decompressors;
  readonly #lanes: readonly Lane[];
  /** For each two replicas, by their names in either order, where they first part. */
  readonly #parted = new Map<string, number>();

  constructor(lanes: readonly Lane[], decompressors: Decompressors) {
    this.#lanes = lanes;
    this.#decompressors = decompressors;
  }

  /** True while replicas are on different sides. */
  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** Takes note of the sides at `offset`. */
  note(standings: readonly Standing[], offset: number): void {
    if (standings.length < 2) return;
    const sides = new Set(standings.map(({ side }) => side));
    if (sides.size === 1) {
      this.#close(standings, offset);
      return;
    }
    const grouping = groupingOf(standings);
    if (grouping === this.#open) return;
    this.#open = grouping;
    this.#parting = new Map(standings.map(({ lane, side }) => [lane, side]));
    this.total += 1;
    if (this.list.length === kept) return;
    const readings = readSides(standings, this.#decompressors);
    this.list.push(describe(standings, readings, this.#part(readings, offset)));
  }

  /** Every two replicas, and up to where they hold the same. */
  pairs(): Pair[] {
    const pairs: Pair[] = [];
    for (const [index, one] of this.#lanes.entries()) {
      for (const other of this.#lanes.slice(index + 1)) {
        const from = Math.max(one.ledger.logStart, other.ledger.logStart);
        const end = Math.min(one.ledger.leo, other.ledger.leo);
        const agreeUntil = this.#parted.get(pairName(one, other)) ?? Math.max(from, end);
        pairs.push({ copies: [one.name, other.name], from, agreeUntil });
      }
    }
    return pairs;
  }

  /** The replicas that are left hold the same. If only one side of those that parted is left, nobody agrees with it again. */
  #close(standings: readonly Standing[], offset: number): void {
    if (this.#open === null) return;
    this.#open = null;
    const met = new Set(standings.flatMap(({ lane }) => this.#parting.get(lane) ?? []));
    if (met.size < 2) return;
    if (this.total === this.list.length) this.list.push({ ...(this.list.pop() as Difference), agreeAgainAt: offset });
  }

  /**
   * Notes for any two replicas on different sides where they part: others may have parted earlier in the same batch, or
   * begin within it. Answers with the first of these places.
   */
  #part(readings: readonly Reading[], offset: number): PartingPlace {
    const places: PartingPlace[] = [];
    for (const [index, one] of readings.entries()) {
      for (const other of readings.slice(index + 1)) {
        for (const mine of one.lanes) {
          for (const theirs of other.lanes) {
            const place = partingPlace(one, other, Math.max(offset, mine.ledger.logStart, theirs.ledger.logStart));
            places.push(place);
            for (const name of [pairName(mine, theirs), pairName(theirs, mine)]) {
              if (!this.#parted.has(name)) this.#parted.set(name, place.offset);
            }
          }
        }
      }
    }
    return places.reduce((first, place) => (place.offset < first.offset ? place : first));
  }
}

function pairName(one: Lane, other: Lane): string {
  return `${one.name}\n${other.name}`;
}

/** The same text for the same grouping, whatever the sides are called. */
function groupingOf(standings: readonly Standing[]): string {
  const names = new Map<number, number>();
  return JSON.stringify(
    standings.map(({ lane, side }) => {
      if (!names.has(side)) names.set(side, names.size);
      return [lane.name, names.get(side)];
    }),
  );
}

interface Reading {
  readonly standing: Standing;
  readonly lanes: readonly Lane[];
  readonly records: readonly LogRecord[];
  readonly problem: string | null;
}

interface PartingPlace {
  readonly offset: number;
  readonly what: readonly string[];
}

function describe(standings: readonly Standing[], readings: readonly Reading[], place: PartingPlace): Difference {
  const { offset, what } = place;
  const sides: Side[] = readings.map(({ standing, lanes, records }) => {
    const copies = lanes.map(({ name }) => name);
    const record = records.find((candidate) => candidate.offset === offset);
    return { copies, record: record === undefined ? null : shownAt(standing.lane, record) };
  });
  return { offset, what, committed: isCommitted(standings, offset), sides, agreeAgainAt: null };
}

function readSides(standings: readonly Standing[], decompressors: Decompressors): Reading[] {
  const bySide = new Map<number, Standing[]>();
  for (const standing of standings) {
    const members = bySide.get(standing.side) ?? [];
    members.push(standing);
    bySide.set(standing.side, members);
  }
  return [...bySide.values()].map((members) => {
    const standing = members[0] as Standing;
    const lanes = members.map(({ lane }) => lane);
    if (standing.holds !== 'batch') return { standing, lanes, records: [], problem: null };
    const { window, at, frame } = standing.lane.stream;
    return { standing, lanes, ...decode(window, at, frame, decompressors) };
  });
}

function shownAt({ stream, sound }: Lane, record: LogRecord): Side['record'] {
  const { segment, position, frame } = stream;
  return shownRecord(record, frame, { file: (segment as SegmentSource).file, position, sound });
}

/** The first offset from `from` on at which two sides do not hold the same record, as far as their batches overlap. */
function partingPlace(one: Reading, other: Reading, from: number): PartingPlace {
  const sides = [one, other];
  if (sides.every(({ standing }) => standing.holds !== 'past')) {
    const limit = Math.min(endOf(one), endOf(other));
    const offsets = new Set(sides.flatMap(({ records }) => records.map(({ offset }) => offset)));
    for (const offset of [...offsets].filter((each) => each >= from && each < limit).sort((x, y) => x - y)) {
      const what = differenceAt(one, other, offset);
      if (what.length > 0) return { offset, what };
    }
  }
  return { offset: from, what: headerDifferences(sides) };
}

/** Exclusive: what a side holds from there on is not known yet. */
function endOf({ standing, problem }: Reading): number {
  const { frame } = standing.lane.stream;
  if (standing.holds === 'nothing') return frame.base;
  return problem === null || !standing.lane.sound ? frame.last + 1 : frame.base;
}

function differenceAt(one: Reading, other: Reading, offset: number): string[] {
  const [mine, theirs] = [one, other].map(({ records }) => records.find((record) => record.offset === offset));
  if (mine === undefined || theirs === undefined) return ['missing'];
  const sameEpoch = one.standing.lane.stream.frame.epoch === other.standing.lane.stream.frame.epoch;
  return [...differencesOf(mine, theirs), ...(sameEpoch ? [] : ['epoch'])];
}

/** The records are the same, or cannot be read: then the batches differ in something that stands around them. */
function headerDifferences(readings: readonly Reading[]): string[] {
  const frames = readings
    .filter(({ standing }) => standing.holds === 'batch')
    .map(({ standing }) => standing.lane.stream.frame);
  if (frames.length < 2) return ['batch bounds'];
  const [one, other] = frames as [Frame, Frame];
  const what = headerFields.filter(([, of]) => of(one) !== of(other)).map(([name]) => name);
  return what.length > 0 ? what : ['bytes'];
}

const headerFields: readonly (readonly [string, (frame: Frame) => unknown])[] = [
  ['epoch', (frame) => frame.epoch],
  ['format', (frame) => frame.magic],
  ['batch bounds', (frame) => `${frame.base} ${frame.last}`],
  ['attributes', (frame) => frame.attributes],
  ['producer', (frame) => `${frame.producerId} ${frame.producerEpoch} ${frame.baseSequence}`],
  ['record count', (frame) => frame.count],
  ['timestamp', (frame) => `${frame.baseTimestamp} ${frame.maxTimestamp}`],
  ['checksum', (frame) => frame.crc],
];

/** True if two sides have a replica each whose high watermark is above `offset`. */
function isCommitted(standings: readonly Standing[], offset: number): boolean {
  const sides = new Set(
    standings.filter(({ lane }) => (lane.copy.checkpoints.highWatermark ?? 0) > offset).map(({ side }) => side),
  );
  return sides.size > 1;
}
