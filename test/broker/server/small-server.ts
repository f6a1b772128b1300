/** The whole server (driver, connections, storage, trace) in this process, around a small core that a test brings. */
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { CoreEvent, Effect } from '../../../broker/core/step.ts';
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
