/**
 * One fresh round trip to a node: a new connection, one ApiVersions request, its answer.
 *
 * The request is written by hand, byte by byte: a probe must not depend on the code that it probes. Whatever answers
 * with the same correlation id is alive and reachable; what it answers does not matter.
 */
import { createConnection } from 'node:net';
import { heardInWords } from './heard.ts';
import type { ProbeResult, ProbeTarget } from './messages.ts';

const correlationId = 1;
const responseBytesMax = 1 << 20;

export function probe(target: ProbeTarget, clientId: string, timeoutMs: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const startMs = performance.now();
    const socket = createConnection({ host: target.host, port: target.port });
    let received = Buffer.alloc(0);
    const finish = (result: Omit<ProbeResult, 'name'>): void => {
      clearTimeout(deadline);
      socket.destroy();
      resolve({ name: target.name, ...result });
    };
    const deadline = setTimeout(() => finish({ ok: false, error: `no answer within ${timeoutMs} ms` }), timeoutMs);
    socket.once('connect', () => socket.write(apiVersionsRequest(clientId)));
    socket.once('error', (error) => finish({ ok: false, error: error.message }));
    socket.once('close', () => finish({ ok: false, error: 'the connection was closed without an answer', ...rest() }));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const problem = responseProblem(received);
      if (problem === 'incomplete') return;
      const roundTripMs = performance.now() - startMs;
      finish(problem === null ? { ok: true, roundTripMs } : { ok: false, error: problem, ...rest() });
    });
    /** What came, though it was no answer. */
    const rest = (): Pick<ProbeResult, 'heard'> => (received.length === 0 ? {} : { heard: heardInWords(received) });
  });
}

/** ApiVersions (18) version 0: size, api key, api version, correlation id, client id; the body is empty. */
export function apiVersionsRequest(clientId: string): Buffer {
  const name = Buffer.from(clientId, 'utf8');
  const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + name.length);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(18, 4);
  request.writeInt16BE(0, 6);
  request.writeInt32BE(correlationId, 8);
  request.writeInt16BE(name.length, 12);
  name.copy(request, 14);
  return request;
}

/** Null for a complete answer to our request. */
function responseProblem(received: Buffer): string | null {
  if (received.length < 4) return 'incomplete';
  const size = received.readInt32BE(0);
  if (size < 4 || size > responseBytesMax) return `the answer is not of this protocol (size ${size})`;
  if (received.length < 4 + size) return 'incomplete';
  return received.readInt32BE(4) === correlationId ? null : 'the answer belongs to another request';
}
