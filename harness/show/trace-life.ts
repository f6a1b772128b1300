/**
 * What the trace tells of one offset of one partition: who wrote which record there, who copied it, over whom the high
 * watermark rose, who acknowledged it, who cut it off and by which rule, and who led meanwhile.
 *
 * Lines are taken in the order of the file. Only what can decide the fate of a record is told: elections, roles and
 * changes of the ISR from the first record at the offset on, and the ones that were in force when it came.
 */
import { becauseOf } from '../report/words.ts';
import { Events, type LifeEvent, type Names } from './life.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A record as the trace knows it, and the request that brought it. */
export interface TracedRecord {
  readonly epoch: number;
  readonly hash: string;
  readonly msg: string | null;
}

/** An event whose words wait for the names of records. */
interface Told extends Omit<LifeEvent, 'text'> {
  readonly words: (names: Names) => string;
}

export class TraceLife {
  /** Records that a leader wrote at the offset, in order. */
  readonly written: TracedRecord[] = [];
  /** One past the highest offset that any log of the partition reached; 0 while nothing was written. */
  end = 0;
  /** Some line names the partition. */
  known = false;

  readonly #key: string;
  readonly #offset: number;
  readonly #told: Told[] = [];
  readonly #before = new Map<string, Told>();
  readonly #held = new Map<unknown, TracedRecord>();
  /** By leader and follower: what the leader knows the follower to hold. */
  readonly #fetched = new Map<string, number>();

  constructor(key: string, offset: number) {
    this.#key = key;
    this.#offset = offset;
  }

  /** Takes the next line of the trace. */
  take(line: unknown): void {
    if (typeof line !== 'object' || line === null) return;
    const fields = line as Fields;
    if (fields['event'] === 'start' && this.#begun && fields['boot'] !== 1)
      this.#tell(fields, () => `starts again (boot ${String(fields['boot'])})`);
    if (fields['partition'] !== this.#key) return;
    this.known = true;
    this.#takeOwn(fields);
  }

  /** The events in words. */
  events(names: Names): Events {
    const events = new Events();
    for (const { words, ...rest } of this.#told) events.add({ ...rest, text: words(names) });
    return events;
  }

  get #begun(): boolean {
    return this.written.length > 0;
  }

  #takeOwn(fields: Fields): void {
    switch (fields['event']) {
      case 'append':
        return this.#append(fields);
      case 'fetch':
        return this.#fetch(fields);
      case 'hw':
        return this.#highWatermark(fields);
      case 'ack':
        return this.#acknowledgement(fields);
      case 'truncation':
        return this.#truncation(fields);
      case 'recover':
        return this.#recovery(fields);
      case 'role':
        return this.#role(fields);
      case 'log-start':
        return this.#logStart(fields);
      case 'election':
      case 'isr':
        return this.#decision(fields);
      case 'delete':
        this.#held.delete(fields['node']);
        return this.#tell(fields, () => `deletes ${this.#key}`);
      default:
    }
  }

  #append(fields: Fields): void {
    for (const batch of list(fields['batches'])) {
      const { base, last, epoch, hash } = batch;
      if (!isNumber(base) || !isNumber(last) || !isNumber(epoch) || typeof hash !== 'string') continue;
      this.end = Math.max(this.end, last + 1);
      if (base > this.#offset || last < this.#offset) continue;
      const msg = typeof fields['msg'] === 'string' ? fields['msg'] : null;
      const copied = msg?.startsWith('broker-') === true || fields['copied'] === true;
      const record = { epoch, hash, msg };
      if (!this.#begun) for (const told of this.#before.values()) this.#told.push(told);
      if (!copied || !this.written.some((each) => each.epoch === epoch && each.hash === hash))
        this.written.push(record);
      this.#held.set(fields['node'], record);
      const where = base === last ? '' : `, in a batch of offsets ${base} to ${last}`;
      const how = copied ? 'copies' : 'appends';
      const cause = msg === null || fields['copied'] === true ? '' : copied ? `, by its fetch ${msg}` : `, for ${msg}`;
      this.#tell(
        fields,
        (names) => `${how} ${names.of(epoch, hash)} at offset ${this.#offset} of epoch ${epoch}${where}${cause}`,
      );
    }
  }

  #fetch(fields: Fields): void {
    const { node, follower, offset, leaderEpoch } = fields;
    if (!isNumber(offset)) return;
    const pair = `${String(node)} ${String(follower)} ${String(leaderEpoch)}`;
    const before = this.#fetched.get(pair) ?? 0;
    this.#fetched.set(pair, offset);
    if (before <= this.#offset && offset > this.#offset && this.#held.has(node))
      this.#tell(fields, () => `hears from broker ${String(follower)} that it holds all below ${offset}`);
  }

  #highWatermark(fields: Fields): void {
    const { from, to, isr } = fields;
    if (!isNumber(from) || !isNumber(to)) return;
    const over = Array.isArray(isr) ? `, over the ISR ${listed(isr)}` : '';
    if (from <= this.#offset && to > this.#offset)
      this.#tell(fields, () => `counts it as committed: high watermark ${from} -> ${to}${over}`);
    if (from > this.#offset && to <= this.#offset)
      this.#tell(fields, () => `no longer counts it as committed: high watermark ${from} -> ${to}${over}`);
  }

  #acknowledgement(fields: Fields): void {
    const { base, last, acks, isr, msg } = fields;
    if (!isNumber(base) || !isNumber(last) || base > this.#offset || last < this.#offset) return;
    const how = acks === -1 ? 'all' : String(acks);
    this.#tell(fields, () => `acknowledges it to ${text(msg)} (acks=${how}) with the ISR ${listed(isr)}`);
  }

  #truncation(fields: Fields): void {
    const { node, from, to, rule, evidence } = fields;
    if (!isNumber(from) || !isNumber(to) || from <= this.#offset || from === to) return;
    const record = this.#held.get(node);
    const lost = to <= this.#offset;
    if (lost) this.#held.delete(node);
    const because = becauseOf(typeof evidence === 'object' && evidence !== null ? (evidence as Fields) : {});
    const told = because === '' ? '' : `: ${because}`;
    // Of brokers that tell no trace only their own log says why.
    const why =
      rule === 'unknown'
        ? `, ${because === '' ? 'by which rule nothing tells' : because}`
        : ` by the rule ${text(rule)}${told}`;
    this.#tell(fields, (names) => {
      const what = record === undefined ? 'it' : names.of(record.epoch, record.hash);
      return `${lost ? `cuts off ${what}` : `keeps ${what}`}: its log ${from} -> ${to}${why}`;
    });
  }

  #recovery(fields: Fields): void {
    const { node, from, to, cut, hw } = fields;
    if (!this.#begun || !isNumber(from) || !isNumber(to)) return;
    const lost = from > this.#offset && to <= this.#offset;
    if (lost) this.#held.delete(node);
    const has = lost ? `has lost it (${text(cut)})` : to > this.#offset ? 'still has it' : 'does not have it';
    this.#tell(fields, () => `${has} at its start: its log ends at ${to}, high watermark ${text(hw)}`);
  }

  #role(fields: Fields): void {
    const { role, leader, leo, hw, leaderEpoch } = fields;
    if (!this.#begun || !isNumber(leo)) return;
    const what = role === 'leader' ? 'leads' : leader === null ? 'has no leader' : `follows broker ${text(leader)}`;
    const has = leo > this.#offset ? 'reaches over it' : 'ends before it';
    this.#tell(
      fields,
      () =>
        `${what} in epoch ${text(leaderEpoch)}; its log ${has} (ends at ${leo}), high watermark ${hw === null ? 'not seen' : text(hw)}`,
    );
  }

  #logStart(fields: Fields): void {
    const { from, to, reason } = fields;
    if (!isNumber(from) || !isNumber(to) || from > this.#offset || to <= this.#offset) return;
    this.#tell(fields, () => `drops it: the log starts at ${to} instead of ${from} (${text(reason)})`);
  }

  /** Of the controller. What was decided last before the first record is told as what was in force. */
  #decision(fields: Fields): void {
    const { event, leader, isr, to, clean, reason, leaderEpoch } = fields;
    const words = (): string =>
      event === 'election'
        ? `elects ${leader === null ? 'nobody' : `broker ${text(leader)}`} in epoch ${text(leaderEpoch)}${clean === false ? ', uncleanly' : ''} (${text(reason)}), ISR ${listed(isr)}`
        : `commits the ISR ${listed(to)} in epoch ${text(leaderEpoch)} (${text(reason)})`;
    if (this.#begun) return this.#tell(fields, words);
    if (event === 'election') this.#before.clear();
    this.#before.set(String(event), told(fields, words));
  }

  #tell(fields: Fields, words: Told['words']): void {
    this.#told.push(told(fields, words));
  }
}

function told(fields: Fields, words: Told['words']): Told {
  const { time, node, event } = fields;
  return {
    time: isNumber(time) ? time : 0,
    who: node === 'controller' ? 'controller' : `broker ${text(node)}`,
    event: String(event),
    words,
    reference: {
      source: typeof fields['source'] === 'string' ? 'observation' : 'trace',
      node: isNumber(node) ? node : 'controller',
      boot: numberIn(fields['boot']),
      seq: numberIn(fields['seq']),
    },
  };
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'object' && each !== null) : [];
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function numberIn(value: unknown): number {
  return isNumber(value) ? value : 0;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
}

function listed(value: unknown): string {
  return Array.isArray(value) ? `[${value.join(', ')}]` : text(value);
}
