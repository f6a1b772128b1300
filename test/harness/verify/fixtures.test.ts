/**
 * Log directories that Apache Kafka 0.10.2 to 4.4 wrote, against what is known to be right for each: formats v0 to v2,
 * every codec, transactions, compaction, deleted prefixes, several segments, and three that diverged.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CopyReport } from '../../../checker/logs/report.ts';
import { verifyDirectories } from '../../../harness/verify/verify.ts';

const root = 'test/fixtures/kafka-logs';

interface Expected {
  readonly brokers: Record<string, Record<string, Partial<CopyReport> & { findings: object[] }>>;
  readonly comparison: { readonly verdict: string; readonly first: object | null; readonly exit: number };
}

describe('verify-logs on what Apache Kafka wrote', () => {
  it.each(readdirSync(root))('says what is right for %s', async (name) => {
    const expected = JSON.parse(readFileSync(join(root, name, 'expected.json'), 'utf8')) as Expected;
    const document = await verifyDirectories([join(root, name)], []);
    expect(document.brokers).toMatchObject(expected.brokers);
    expect(Object.values(document.comparisons)).toEqual([expect.objectContaining(expected.comparison)]);
    expect(document.exit).toBe(expected.comparison.exit);
  });

  it('compares brokers that are given one by one just the same', async () => {
    const directory = join(root, '0.10.2.2-s1a-diverged');
    const document = await verifyDirectories([join(directory, 'broker-3'), join(directory, 'broker-2')], []);
    expect(document.exit).toBe(0);
    expect(Object.keys(document.brokers)).toEqual(['broker-2', 'broker-3']);
  });
});
