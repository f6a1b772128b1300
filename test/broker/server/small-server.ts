/**
 * The whole server (driver, connections, storage, trace) in this process, around a small core that a test brings; and the
 * smallest cores there are: one that answers each request with what it asks, one that hands its events to the test.
 */
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { CoreEvent, Effect, RequestEvent, RespondEffect } from '../../../broker/core/step.ts';
import type { RequestBody } from '../../../broker/protocol/index.ts';
import { Driver } from '../../../broker/server/driver.ts';
import { Peers } from '../../../broker/server/peers.ts';
import { Requesters } from '../../../broker/server/requesters.ts';
import { monotonicClock } from '../../../broker/server/clock.ts';
import { traceWriter } from '../../../broker/server/trace-writer.ts';
import { DataDirectory } from '../../../broker/storage/data-directory.ts';
import { temporaryDirectory } from '../storage/temporary.ts';

export interface SmallServer {
  readonly port: number;
  readonly directory: string;
  readonly driver: Driver;
  readonly trace: () => { readonly seq: number; readonly event: string }[];
}

export async function smallServer(
  step: (event: CoreEvent, nowNs: number) => readonly Effect[],
  nextDeadlineNs: () => number = () => Infinity,
): Promise<SmallServer> {
  const directory = temporaryDirectory();
  const traceFile = join(directory, 'trace.jsonl');
  const descriptor = openSync(traceFile, 'a');
  const clock = monotonicClock(process.hrtime.bigint());
  const server = createServer();
  const deliver = (event: CoreEvent): void => driver.deliver(event);
  const answers = new Requesters(deliver, pino({ level: 'silent' }));
  const peers = new Peers('broker-1.1', { response: deliver, closed: (peer) => deliver({ type: 'closed', peer }) });
  const driver = new Driver({
    core: { step, nextDeadlineNs },
    storage: new DataDirectory(join(directory, 'data'), { node: 1, clusterId: 'test' }),
    trace: traceWriter(descriptor, { node: 1, boot: 1 }, clock),
    clock,
    answers,
    peers,
    exit: () => server.close(),
  });
  answers.listenOn(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    closeSync(descriptor);
  });
  return {
    port: (server.address() as AddressInfo).port,
    directory: join(directory, 'data'),
    driver,
    trace: () =>
      readFileSync(traceFile, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { seq: number; event: string }),
  };
}

/** A request whose target is a number of the test. */
export const move = (target: number): RequestBody<'MoveLeader'> => ({ topic: 'tide', partition: 0, target });

/** Answers a MoveLeader with its own target (what the wire can hold of it), as the error code. */
export function echo(event: RequestEvent): RespondEffect {
  if (event.api !== 'MoveLeader') throw new Error(`the echo knows no ${event.api}`);
  const { origin, api, version, body } = event;
  return { type: 'respond', origin, api, version, body: { errorCode: body.target & 0x7fff, errorMessage: null } };
}

export const echoCore = (event: CoreEvent): Effect[] => (event.type === 'request' ? [echo(event)] : []);

/** Yields the events of a core as they come. */
export function eventQueue(): { push: (event: CoreEvent) => void; next: () => Promise<CoreEvent> } {
  const events: CoreEvent[] = [];
  let wake = (): void => {};
  return {
    push(event) {
      events.push(event);
      wake();
    },
    async next() {
      while (events.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return events.shift()!;
    },
  };
}
