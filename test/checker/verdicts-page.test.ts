import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { guaranteeOf } from '../../checker/anomalies/finding.ts';

const page = readFileSync('docs/verdicts.md', 'utf8');

it.each(Object.entries(guaranteeOf))('docs/verdicts.md defines %s, and says that it breaks %s', (kind, guarantee) => {
  const defined = page
    .split('\n')
    .some((line) => line.startsWith('| `') && line.split('|')[1]?.includes(`\`${kind}\``));
  expect(defined).toBe(true);
  const row = page.split('\n').find((line) => line.startsWith(`| ${guarantee} |`));
  if (kind !== 'malformed') expect(row).toContain(`\`${kind}\``);
});
