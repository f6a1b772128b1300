/**
 * The history of a play: what its scripted clients sent, read and were told, as the recorder of a run would write it.
 *
 * A client of a scenario may have several requests under way, a process of a history only one: so a client that is busy
 * speaks as a second process, and one that got `info` as a fresh one. `bob` who reads is assigned the partition at his
 * offset and polls once.
 */
import type { Key, MicroOp, Operation } from '../../checker/history.ts';
import { errorName } from '../../broker/protocol/index.ts';
import { pollVerdict, sendVerdict } from '../client/verdicts.ts';
import type { Acks } from '../client/verdicts.ts';

/** A produce request as it was sent. */
export interface SentBatch {
  readonly client: string;
  readonly key: Key;
  readonly values: readonly string[];
  readonly acks: Acks;
  readonly node: number;
  /** The message that carries it. */
  readonly msg: string;
}

/** What a consumer was answered; `error` is an error code, or null where no answer came. */
export interface ReadAnswer {
  readonly key: Key;
  readonly node: number;
  readonly errorCode: number | null;
  readonly records: readonly (readonly [offset: number, value: string])[];
}

type NewOperation = Omit<Operation, 'index' | 'time'>;

export class PlayHistory {
  readonly operations: Operation[] = [];
  /** Processes that have nothing under way, by client. */
  readonly #idle = new Map<string, number>();
  #nextProcess = 0;
  /** Sends that wait for their answer, by message. */
  readonly #open = new Map<string, { readonly sent: SentBatch; readonly process: number }>();
  /** Which process sent a message: the trace names messages by clients, the checker looks for processes. */
  readonly #processOf = new Map<string, number>();

  sends(sent: SentBatch, timeNs: number): void {
    const process = this.#take(sent.client);
    const { acks, msg } = sent;
    this.#processOf.set(msg, process);
    this.#add({ process, type: 'invoke', f: 'send', value: sendsOf(sent), acks }, timeNs);
    this.#open.set(msg, { sent, process });
    /* Nothing is awaited at acks=0: it is done when it is handed over. */
    if (acks === 0) this.#complete(msg, 'ok', sendsOf(sent, null), undefined, timeNs);
  }

  isAnswered(msg: string, errorCode: number, baseOffset: number, timeNs: number): void {
    const open = this.#open.get(msg);
    if (open === undefined) return;
    const type = sendVerdict(errorCode, open.sent.acks, true);
    const value = type === 'ok' ? sendsOf(open.sent, baseOffset) : sendsOf(open.sent);
    this.#complete(msg, type, value, type === 'ok' ? undefined : errorName(errorCode), timeNs);
  }

  isDisconnected(msg: string, timeNs: number): void {
    const open = this.#open.get(msg);
    if (open === undefined) return;
    const { acks } = open.sent;
    this.#complete(msg, sendVerdict('disconnect', acks, true), sendsOf(open.sent), 'disconnect', timeNs);
  }

  /** A consumer begins to read; what is answered is told to the function that this answers with. */
  reads(client: string, key: Key, offset: number, timeNs: number): (answer: ReadAnswer, timeNs: number) => void {
    const process = this.#take(client);
    const assigned = { process, f: 'assign', value: [key] };
    this.#add({ ...assigned, type: 'invoke', seek: { [key]: offset } }, timeNs);
    this.#add({ ...assigned, type: 'ok' }, timeNs);
    this.#add({ process, type: 'invoke', f: 'poll', value: [['poll']] }, timeNs);
    return ({ errorCode, records, node }, endNs) => {
      const type = pollVerdict(errorCode ?? 'disconnect', true);
      const polled: MicroOp = ['poll', records.length === 0 ? {} : { [key]: records }];
      const error = errorCode === null ? 'disconnect' : errorName(errorCode);
      this.#add({ process, type, f: 'poll', value: [polled], node, ...(type === 'ok' ? {} : { error }) }, endNs);
      if (type !== 'info') this.#idle.set(client, process);
    };
  }

  /** `client-alice#3` by the process that alice was: `client-4#3`. */
  byProcess(msg: string): string {
    const process = this.#processOf.get(msg);
    return process === undefined ? msg : `client-${process}${msg.slice(msg.lastIndexOf('#'))}`;
  }

  #complete(
    msg: string,
    type: 'ok' | 'fail' | 'info',
    value: readonly MicroOp[],
    error: string | undefined,
    timeNs: number,
  ): void {
    const open = this.#open.get(msg);
    if (open === undefined) return;
    this.#open.delete(msg);
    const { sent, process } = open;
    const told = { process, type, f: 'send', value, acks: sent.acks, node: sent.node, msg: this.byProcess(msg) };
    this.#add({ ...told, ...(error === undefined ? {} : { error }) }, timeNs);
    if (type !== 'info') this.#idle.set(sent.client, process);
  }

  #take(client: string): number {
    const idle = this.#idle.get(client);
    this.#idle.delete(client);
    return idle ?? this.#nextProcess++;
  }

  #add(operation: NewOperation, timeNs: number): void {
    this.operations.push({ index: this.operations.length, time: timeNs, ...operation });
  }
}

/** Micro-operations of a batch; with its first offset (null: not told) where its records went. */
function sendsOf({ key, values }: SentBatch, baseOffset?: number | null): MicroOp[] {
  return values.map((value, at): MicroOp => {
    if (baseOffset === undefined) return ['send', key, value];
    return ['send', key, [baseOffset === null ? null : baseOffset + at, value]];
  });
}
