/**
 * Asks one node the same question, again and again, on one kept connection.
 *
 * Each node has a poller of its own, so that one that is paused or cut off holds up nobody. An answer that does not come
 * in time ends its connection, since TCP may take half a minute to notice that a link has healed; then a new one is
 * tried after a pause.
 *
 * Invariant: at most one request is under way, and after `close` no socket and no timer is left.
 */
import { connect, type Socket } from 'node:net';
import { FrameSplitter, decodeResponse, encodeRequest, frame } from '../../broker/protocol/index.ts';
import type { ApiName, RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import type { Address } from '../../nemesis/ports.ts';

export interface PollerOptions<A extends ApiName> {
  readonly address: Address;
  readonly api: A;
  readonly version: number;
  readonly question: RequestBody<A>;
  /** From an answer to the next question. */
  readonly pauseMs: number;
  readonly answerTimeoutMs: number;
  readonly onAnswer: (answer: ResponseBody<A>) => void;
}

export interface Poller {
  close(): void;
}

/** Until a node is tried again that did not answer. */
const retryMs = 150;
const answerBytesMax = 16 * 1024 * 1024;
const clientId = 'client-observer';

export function poll<A extends ApiName>(options: PollerOptions<A>): Poller {
  const { address, api, version, question, pauseMs, answerTimeoutMs, onAnswer } = options;
  let socket: Socket | null = null;
  let timer: NodeJS.Timeout | undefined;
  let correlationId = 0;
  let closed = false;

  const giveUp = (): void => {
    socket?.destroy();
    socket = null;
    next(open, retryMs);
  };
  const next = (step: () => void, ms: number): void => {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(step, ms);
  };
  const ask = (): void => {
    correlationId += 1;
    const header = { correlationId, clientId };
    socket?.write(frame(encodeRequest(api, version, header, question)));
    next(giveUp, answerTimeoutMs);
  };
  const open = (): void => {
    const splitter = new FrameSplitter(answerBytesMax);
    const opened = connect({ host: address.host, port: address.port, noDelay: true });
    socket = opened;
    const lost = (): void => {
      if (socket === opened) giveUp();
    };
    opened.on('connect', ask);
    opened.on('error', lost);
    opened.on('close', lost);
    opened.on('data', (chunk: Buffer) => {
      let answers: ResponseBody<A>[];
      try {
        answers = splitter.push(chunk).map((payload) => decodeResponse(api, version, payload).body);
      } catch {
        // Not of this protocol, or not of this version: a node that speaks so is asked anew, like one that does not answer.
        lost();
        return;
      }
      if (closed || answers.length === 0) return;
      next(ask, pauseMs);
      for (const answer of answers) onAnswer(answer);
    });
    next(giveUp, answerTimeoutMs);
  };

  open();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      socket?.destroy();
      socket = null;
    },
  };
}
