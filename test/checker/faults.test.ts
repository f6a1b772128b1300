/** Faults of a history: two lines each, of which either may be missing. */
import { describe, expect, it } from 'vitest';
import { summarizeFaults } from '../../checker/faults.ts';
import type { FaultRecord } from '../../checker/history.ts';
import type { FaultLine } from '../../checker/index-history.ts';

const line = (time: number, fault: string, phase: 'start' | 'end', more: Partial<FaultRecord> = {}): FaultLine => ({
  time,
  kind: 'crash',
  record: { fault, phase, roles: {}, nodes: { target: 1 }, ...more },
});

const whole = { fault: 'f1', kind: 'crash', nodes: { target: 1 }, startTime: 5, endTime: 9, effective: true };

describe('a fault', () => {
  it('lasts from its start to its end, and took effect where its end says so', () => {
    expect(summarizeFaults([line(5, 'f1', 'start'), line(9, 'f1', 'end', { effective: true })])).toEqual([whole]);
    const unproven = { ...whole, effective: false };
    expect(summarizeFaults([line(5, 'f1', 'start'), line(9, 'f1', 'end', { effective: false })])).toEqual([unproven]);
    expect(summarizeFaults([line(5, 'f1', 'start'), line(9, 'f1', 'end')])).toEqual([unproven]);
  });

  it('has the nodes that it struck as it began, whatever stands at its end', () => {
    const end = line(9, 'f1', 'end', { effective: true, nodes: { target: 2 } });
    expect(summarizeFaults([line(5, 'f1', 'start'), end])).toEqual([whole]);
  });

  it('without an end line has no end, and proves nothing', () => {
    const open = { ...whole, endTime: null, effective: false };
    expect(summarizeFaults([line(5, 'f1', 'start', { effective: true })])).toEqual([open]);
  });

  it('without a start line began when it ended', () => {
    const sudden = { ...whole, startTime: 9 };
    expect(summarizeFaults([line(9, 'f1', 'end', { effective: true })])).toEqual([sudden]);
  });

  it('stands where its first line stood, though others began before it ended', () => {
    const lines = [line(1, 'f1', 'start'), line(2, 'f2', 'start'), line(3, 'f2', 'end'), line(4, 'f1', 'end')];
    expect(summarizeFaults(lines).map(({ fault, startTime, endTime }) => [fault, startTime, endTime])).toEqual([
      ['f1', 1, 4],
      ['f2', 2, 3],
    ]);
  });

  it('of a line that names no nodes struck none that is known', () => {
    const { nodes: _, ...record } = line(5, 'f1', 'start').record;
    expect(summarizeFaults([{ time: 5, kind: 'crash', record: record as FaultRecord }])[0]?.nodes).toEqual({});
  });
});
