import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../harness/errors.ts';
import { cellsOf } from '../../../harness/nightly/cells.ts';
import type { NightConfig } from '../../../harness/nightly/config.ts';

const config: NightConfig = {
  budget: '3h',
  seeds: { count: 1 },
  builds: { x: { control: { build: 'epoch', defect: 'ack-at-leo' }, candidate: { build: 'epoch' } } },
  workloads: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`w${index}`, {}])),
  faults: { a: {}, b: { nemesis: 'crash' } },
};

const cells = (count: number) => cellsOf(config, { file: 'n.json', runtime: 'sim', seeds: { from: 1, count } });

describe('the cells of a night', () => {
  it('are one for each pair of builds under each workload and each set of faults', async () => {
    const made = await cells(9_090);
    expect(made.map(({ name }) => name).slice(0, 3)).toEqual(['x.w0.a', 'x.w0.b', 'x.w1.a']);
    expect(made).toHaveLength(22);
    // The two sides differ in a bug of one of them, which no command of `compare` could say.
    expect(made[0]).toMatchObject({ sameBuilds: false, command: null });
  });

  it('are refused where their ledger could not be read again', async () => {
    await expect(cells(9_091)).rejects.toThrow(UsageError);
    await expect(cells(9_091)).rejects.toThrow(
      'n.json: seeds.count: 22 cells make 200002 pairs, and 200000 are the most',
    );
  });
});
