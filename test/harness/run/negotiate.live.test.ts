import { afterEach, beforeEach, expect, it } from 'vitest';
import { advertisedVersions, apis } from '../../../broker/protocol/index.ts';
import { EnvironmentError } from '../../../harness/errors.ts';
import { negotiateVersions } from '../../../harness/run/negotiate.ts';
import { closedPort, startLittleBroker, type LittleBroker } from './little-broker.ts';

let brokers: readonly LittleBroker[];

beforeEach(async () => {
  brokers = await Promise.all([1, 2].map((node) => startLittleBroker(1, node)));
  for (const broker of brokers) broker.answers.ApiVersions = () => advertisedVersions();
});
afterEach(async () => {
  await Promise.all(brokers.map((broker) => broker.close()));
});

const addresses = (): Map<number, { host: string; port: number }> =>
  new Map(brokers.map((broker, index) => [index + 1, broker.address]));

it('every broker is asked, in the version that all understand, until it answers', async () => {
  let questions = 0;
  brokers[1]!.mood = () => ((questions += 1) <= 2 ? 'hang-up' : 'answer');
  const spoken: number[] = [];
  brokers[0]!.answers.ApiVersions = (_body, version) => {
    spoken.push(version);
    return advertisedVersions();
  };
  const { client } = await negotiateVersions(addresses(), { timeoutMs: 5_000 });
  expect(client).toEqual({ Produce: 7, Fetch: 11, ListOffsets: 5, Metadata: 7 });
  expect(spoken).toEqual([0]);
  expect(questions).toBe(3);
});

it('brokers without a common version are an error of one line', async () => {
  brokers[1]!.answers.ApiVersions = () => ({
    ...advertisedVersions(),
    apiKeys: advertisedVersions().apiKeys.map((range) =>
      range.apiKey === apis.Produce.key ? { ...range, minVersion: 13, maxVersion: 14 } : range,
    ),
  });
  await expect(negotiateVersions(addresses(), { timeoutMs: 5_000 })).rejects.toThrow(
    'no version of Produce is common to all: this client speaks 2 to 7, broker 1 serves 0 to 7, broker 2 serves 13 to 14',
  );
});

it('a broker that never answers is named', async () => {
  const gone = addresses().set(3, { host: '127.0.0.1', port: await closedPort() });
  await expect(negotiateVersions(gone, { timeoutMs: 100 })).rejects.toThrow(
    /^broker 3 does not say which versions it serves: ApiVersions to 127\.0\.0\.1:\d+: /u,
  );
});

it('a port where something else is spoken is said to be at once, with what was heard and the remedy', async () => {
  brokers[1]!.mood = () => 'garbage';
  const startMs = performance.now();
  await expect(negotiateVersions(addresses(), { timeoutMs: 60_000 })).rejects.toThrow(
    new EnvironmentError(
      `broker 2 does not speak Kafka's protocol at 127.0.0.1:${brokers[1]!.port}: asked 5 times, it answered "HTTP/1.1 400 Bad Request\\r\\n\\r\\n"; see to it that this port is a Kafka listener without TLS (PLAINTEXT)`,
    ),
  );
  expect(performance.now() - startMs).toBeLessThan(5_000);
});

it('a few strange answers before it speaks do no harm', async () => {
  let questions = 0;
  brokers[1]!.mood = () => ((questions += 1) <= 3 ? 'garbage' : 'answer');
  await negotiateVersions(addresses(), { timeoutMs: 5_000 });
  expect(questions).toBe(4);
});
