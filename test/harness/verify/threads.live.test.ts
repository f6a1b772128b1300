/** Several threads say the same as one. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { UsageError } from '../../../harness/errors.ts';
import { verifyDirectories } from '../../../harness/verify/verify.ts';

const root = 'test/fixtures/kafka-logs';

it('partitions that several threads look at are judged as by one', async () => {
  // Each name of a partition once.
  const brokers = readdirSync(root)
    .filter((name) => !['0.11.0.3-epochs', '0.11.0.3-txn', '0.11.0.3-s3a-diverged'].includes(name))
    .map((name) => join(root, name, 'broker-1'));
  const alone = await verifyDirectories(brokers, []);
  expect(Object.keys(alone.comparisons).length).toBeGreaterThan(10);
  expect(await verifyDirectories(brokers, [], 0)).toEqual(alone);
  expect(await verifyDirectories([join(root, '0.11.0.3-s3a-diverged')], [], 0)).toMatchObject({ exit: 1 });
  await expect(verifyDirectories(['docs'], [], 0)).rejects.toThrow(UsageError);
});
