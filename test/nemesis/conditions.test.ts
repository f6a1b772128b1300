import { describe, expect, it } from 'vitest';
import { comesWithRecords, holds, markOf, mayBeShownBy } from '../../nemesis/conditions.ts';
import type { TraceLine } from '../../nemesis/ports.ts';
import type { Condition } from '../../nemesis/schedule.ts';
import { createView, foldLine } from '../../nemesis/view.ts';
import type { ClusterView } from '../../nemesis/view.ts';

const partition = 'tide-0';
const groups = { leader: [1], follower: [2] };
const lineOf = (node: TraceLine['node'], fields: Record<string, unknown>): TraceLine =>
  ({ seq: 0, time: 0, node, boot: 1, partition, leaderEpoch: 1, ...fields }) as unknown as TraceLine;

const conditions: readonly Condition[] = [
  { seen: 'full-isr' },
  { seen: 'leader-change', partition },
  { seen: 'isr-size', partition, atMost: 1 },
  { seen: 'hw', partition, by: 1 },
  { seen: 'truncation', partition },
  { seen: 'ack', partition, by: 'leader' },
  { seen: 'leads', partition, node: 'leader' },
  { seen: 'follows', partition, node: 'follower', leader: 'leader' },
  { seen: 'steps-done' },
];

/** Each brings about what one or the other condition waits for. */
const lines: readonly TraceLine[] = [
  lineOf(1, { event: 'fetch', from: 2 }),
  lineOf(1, { event: 'append', batches: [{ base: 0, last: 4 }] }),
  lineOf(1, { event: 'ack', acks: -1, base: 0, last: 4 }),
  lineOf(1, { event: 'hw', from: 0, to: 5 }),
  lineOf(2, { event: 'truncation', from: 5, to: 0 }),
  lineOf(1, { event: 'role', role: 'leader', leader: 1, leo: 0, hw: 0 }),
  lineOf(2, { event: 'role', role: 'follower', leader: 1, leo: 0, hw: 0 }),
  lineOf('controller', { event: 'isr', from: [1, 2], to: [1] }),
  lineOf('controller', { event: 'election', leader: 1, isr: [1, 2], leaderEpoch: 2 }),
];

/** Elected, and no role taken yet. */
function electedView(): ClusterView {
  const view = createView([partition]);
  foldLine(view, lineOf('controller', { event: 'create', replicas: [1, 2] }));
  foldLine(view, lineOf('controller', { event: 'election', leader: 1, isr: [1, 2] }));
  return view;
}

describe('what a fault waits for', () => {
  it('is never shown by a line of which nobody expects it', () => {
    const shown = new Set<string>();
    for (const condition of conditions) {
      for (const line of lines) {
        const view = electedView();
        const mark = markOf(condition, view);
        const before = holds(condition, view, mark, groups, false);
        foldLine(view, line);
        if (holds(condition, view, mark, groups, false) === before) continue;
        shown.add(condition.seen);
        expect(mayBeShownBy(condition, line.event), `${condition.seen} by ${line.event}`).toBe(true);
      }
    }
    expect([...shown].toSorted()).toEqual(['ack', 'follows', 'hw', 'isr-size', 'leader-change', 'leads', 'truncation']);
  });

  it('is not looked for in what comes with every record, unless it is that', () => {
    const common = lines.filter(({ event }) => comesWithRecords(event)).map(({ event }) => event);
    expect(common).toEqual(['fetch', 'append', 'ack', 'hw']);
    const expected = common.flatMap((event) => conditions.filter((each) => mayBeShownBy(each, event)));
    expect(expected.map(({ seen }) => seen)).toEqual(['ack', 'hw']);
  });
});
