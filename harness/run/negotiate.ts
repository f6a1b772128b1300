/**
 * Asks every broker what it serves, so that it can be spoken to: the first thing that a run does with a cluster.
 *
 * ApiVersions 0 is understood by every broker since Kafka 0.10. A broker that does not answer is asked again for a while,
 * since it may be coming up; one that answers with something else, and one with which no version is shared, are clear
 * errors at once.
 */
import pRetry from 'p-retry';
import type { ResponseBody } from '../../broker/protocol/index.ts';
import type { Address, NodeId } from '../../nemesis/ports.ts';
import { heardInWords, strangeAnswer, strangeAnswersMax } from '../../docker/agent/heard.ts';
import { adminClientId, retryPauseMs } from '../client/admin-requests.ts';
import { negotiate, type Versions } from '../client/negotiation.ts';
import { EnvironmentError } from '../errors.ts';
import { roundTrip, StrangeAnswer } from './sockets.ts';

interface NegotiateOptions {
  /** How long to wait for all brokers to answer. */
  readonly timeoutMs: number;
  /** How long one broker may take for one answer. */
  readonly requestTimeoutMs?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** The versions that all of these brokers serve. Rejects with one line that names the broker, or the API and its ranges. */
export async function negotiateVersions(
  addresses: ReadonlyMap<NodeId, Address>,
  { timeoutMs, requestTimeoutMs = 1_000, signal }: NegotiateOptions,
): Promise<Versions> {
  const attempt = (address: Address): Promise<ResponseBody<'ApiVersions'>> =>
    roundTrip(address, adminClientId, { api: 'ApiVersions', version: 0, body: question }, requestTimeoutMs, signal);
  const answers = await Promise.all(
    [...addresses].map(async ([node, address]) => {
      let strange = 0;
      const answer = await pRetry(() => attempt(address), {
        shouldRetry({ error }) {
          strange = error instanceof StrangeAnswer ? strange + 1 : 0;
          return strange < strangeAnswersMax;
        },
        retries: Infinity,
        factor: 1,
        minTimeout: retryPauseMs,
        maxTimeout: retryPauseMs,
        maxRetryTime: timeoutMs,
        ...(signal === undefined ? {} : { signal }),
      }).catch((error: Error) => {
        if (signal?.aborted === true) throw error;
        if (strange === strangeAnswersMax && error instanceof StrangeAnswer) {
          const where = `${address.host}:${address.port}`;
          throw new EnvironmentError(strangeAnswer(`broker ${node}`, where, heardInWords(error.heard)));
        }
        throw new EnvironmentError(`broker ${node} does not say which versions it serves: ${error.message}`);
      });
      return [node, answer] as const;
    }),
  );
  const { versions, refusal } = negotiate(new Map(answers));
  if (versions === null) throw new EnvironmentError(refusal);
  return versions;
}

const question = { clientSoftwareName: '', clientSoftwareVersion: '' };
