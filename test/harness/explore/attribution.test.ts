/** Which kinds of fault bring failures about, as far as counts can show it. */
import { describe, expect, it } from 'vitest';
import { Attributions } from '../../../harness/explore/attribution.ts';

function counted(runs: number, anomalous: (run: number) => boolean): Attributions {
  const attributions = new Attributions();
  for (let run = 0; run < runs; run += 1) {
    const kinds = (['crash', 'pause', 'partition'] as const).filter((_, bit) => ((run >> bit) & 1) === 1);
    attributions.add(kinds, anomalous(run));
  }
  return attributions;
}

const effects = (attributions: Attributions): Record<string, string> =>
  Object.fromEntries(attributions.all().map(({ kind, effect }) => [kind, effect]));

describe('attribution', () => {
  it('calls a kind a trigger, and another a suppressor, where the intervals lie apart', () => {
    const attributions = counted(160, (run) => (run & 1) === 1 && (run & 2) === 0);
    expect(effects(attributions)).toEqual({ crash: 'trigger', pause: 'suppressor', partition: 'none shown' });
    const [crash] = attributions.all();
    expect(crash).toMatchObject({
      kind: 'crash',
      with: { runs: 80, anomalous: 40 },
      without: { runs: 80, anomalous: 0 },
    });
  });

  it('says nothing where there are too few runs, and leaves out what was always on', () => {
    expect(effects(counted(8, (run) => (run & 1) === 1))).toEqual({
      crash: 'none shown',
      pause: 'none shown',
      partition: 'none shown',
    });
    const always = new Attributions();
    for (let run = 0; run < 50; run += 1) always.add(['crash'], true);
    expect(always.all()).toEqual([]);
  });
});
