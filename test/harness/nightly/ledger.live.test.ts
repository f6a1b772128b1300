/** A ledger in a process that may write no more than so many bytes, as on a disk that becomes full. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pairOf } from './pairs.ts';

it('takes no half of a line for a whole one, and leaves none behind', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-ledger-'));
  const path = join(directory, 'ledger.jsonl');
  const line = { cell: 'a.b.c', pair: pairOf(1, false, true), telling: 2, tookMs: 5, usedMs: 10 };
  const program = `
    import { openLedger } from ${JSON.stringify(join(import.meta.dirname, '../../../harness/nightly/ledger.ts'))};
    const ledger = openLedger(${JSON.stringify(path)});
    let taken = 0;
    try {
      for (; taken < 100; taken += 1) ledger.append(${JSON.stringify(line)});
    } catch (error) {
      console.log(taken, error.message);
    }`;
  // Where a limit is met, a write takes what fits, and only the next one fails.
  const limited = `trap '' XFSZ; ulimit -f 4; exec "$0" --input-type=module --eval "$1"`;
  try {
    const { stdout, stderr } = spawnSync('bash', ['-c', limited, process.execPath, program], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const whole = `${JSON.stringify(line)}\n`;
    const fitting = Math.floor(4096 / whole.length);
    expect(stdout).toMatch(new RegExp(`^${fitting} cannot write .*ledger\\.jsonl: EFBIG`));
    expect(readFileSync(path, 'utf8')).toBe(whole.repeat(fitting));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
