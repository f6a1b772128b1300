/**
 * Single requests of the harness in the kernel: a connection of its own for each, one question, its answer or none.
 */
import type { ApiName, RequestBody, ResponseBody } from '../../broker/protocol/index.ts';
import { Dialling } from './dialling.ts';
import type { Kernel } from './kernel.ts';
import type { Endpoint } from './network.ts';

const NS_PER_MS = 1e6;

/** What came of a request: its answer, or why there is none. */
export type Answer<A extends ApiName> =
  | { readonly body: ResponseBody<A>; readonly failure?: undefined }
  | { readonly body?: undefined; readonly failure: string };

export interface Question<A extends ApiName> {
  /** The client id: as in `client-admin`. */
  readonly from: string;
  /** From where in the matrix of links it is sent. */
  readonly place: number;
  readonly address: string;
  readonly api: A;
  readonly version: number;
  readonly body: RequestBody<A>;
  readonly timeoutMs: number;
}

/** Asks once, and tells `done` once, after `timeoutMs` at the latest. */
export function ask<A extends ApiName>(kernel: Kernel, question: Question<A>, done: (answer: Answer<A>) => void): void {
  const { from, place, address, api, version, body, timeoutMs } = question;
  const where = `${api} to ${address}`;
  let over = false;
  const finish = (answer: Answer<A>): void => {
    if (over) return;
    over = true;
    dialling.end();
    done(answer);
  };
  const endpoint: Endpoint = {
    name: from,
    place,
    boot: 1,
    running: true,
    arrive(lane, message) {
      if (over) return;
      if (message.kind === 'end') {
        finish({ failure: `${where}: the connection ended` });
        return;
      }
      kernel.options.onMessage?.(lane, message);
      finish({ body: message.body as ResponseBody<A> });
    },
  };
  const dialling = new Dialling(kernel, endpoint, address, (connection) => {
    if (connection === null) finish({ failure: `${where}: connection refused` });
    else kernel.sendRequest(connection.requests, { correlationId: 0, clientId: from }, api, version, body);
  });
  kernel.at(kernel.nowNs + timeoutMs * NS_PER_MS, from, () =>
    finish({ failure: `${where}: no answer within ${timeoutMs} ms` }),
  );
}
