/** What cannot be played on a target, and is refused with one clause. */
import { describe, expect, it } from 'vitest';
import type { Capabilities } from '../../../checker/results.ts';
import { faultsBeyondTarget, unseenOf, whyBeyondTarget } from '../../../harness/run/beyond-target.ts';
import { fidelityPlan } from '../../../harness/fidelity/schedules.ts';
import type { Fault, Schedule } from '../../../nemesis/schedule.ts';

const able: Capabilities = { faults: {}, guarantees: {}, triggers: {}, exposures: true };
const noMoves: Capabilities = { ...able, faults: { 'leader-move': { not: 'nobody knows how' } } };

function planWith(fault: Partial<Fault>): Schedule {
  const whole = { id: 'f1', kind: 'crash', targets: { role: 'all' }, at: { ms: 1 }, until: { ms: 2 }, ...fault };
  return { schemaVersion: 1, seed: 1, durationMs: 10, faults: [whole as Fault] };
}

describe('a plan that is played again', () => {
  it('is played where nothing of it is beyond the target', () => {
    expect(whyBeyondTarget(planWith({}), 'image:x', noMoves)).toBeNull();
  });

  it('is refused for a kind that the target cannot be given', () => {
    const capabilities = { ...able, faults: { crash: { not: 'it never comes back' } } };
    expect(whyBeyondTarget(planWith({}), 'image:x', capabilities)).toBe(
      'its fault f1 is crash, which image:x cannot be given (it never comes back)',
    );
  });

  it('is refused for a leader that it moves, in whatever fault, where none can be moved', () => {
    const move = { kind: 'handover-crash', steps: [{ step: 'move', partition: 'tide-0', to: 'leader' }] } as const;
    expect(whyBeyondTarget(planWith(move), 'image:x', noMoves)).toBe(
      'its fault f1 (handover-crash) moves a leader, which cannot be done with image:x (nobody knows how)',
    );
    expect(whyBeyondTarget(planWith({ ...move, steps: [] }), 'image:x', noMoves)).toBeNull();
  });

  it.each([
    ['at its start', { at: { await: { seen: 'hw', partition: 'tide-0', by: 1 }, fromMs: 1, deadlineMs: 2 } }],
    ['for its end', { until: { await: { seen: 'hw', partition: 'tide-0', by: 1 }, deadlineMs: 2 } }],
    [
      'in its steps',
      {
        steps: [{ step: 'await', what: { seen: 'hw', partition: 'tide-0', by: 1 }, deadlineMs: 9, otherwise: 'go-on' }],
      },
    ],
  ] as const)('is refused for what it waits for %s, where that is not shown', (_, fault) => {
    const capabilities = { ...able, triggers: { hw: { not: 'it tells none' } } };
    expect(whyBeyondTarget(planWith(fault as Partial<Fault>), 'image:x', capabilities)).toBe(
      'its fault f1 (crash) waits until the leader’s high watermark rises, which image:x does not show (it tells none)',
    );
  });

  it('is refused as a script too, whose loss of power is for every target', () => {
    const occasion = { build: 'image:x', runtime: 'docker', seed: 1, topic: 'tide' } as const;
    const { schedule } = fidelityPlan('s2', occasion);
    const noPower = { ...able, faults: { 'power-loss': { not: 'in scripts only' } } };
    expect(whyBeyondTarget(schedule, 'image:x', noPower)).toBeNull();
    const blind = { ...able, triggers: { leads: { not: 'it never says so' } } };
    expect(whyBeyondTarget(schedule, 'image:x', blind)).toContain('waits until a broker leads');
  });
});

describe('what is drawn for a target', () => {
  it('holds no kind that waits in its steps for what is not shown; what ends by the clock instead stays', () => {
    const blind = { ...able, triggers: { 'full-isr': { not: 'it has no ISR' }, 'steps-done': { not: 'who knows' } } };
    expect([...faultsBeyondTarget(blind).keys()]).toEqual(['rolling-restart', 'handover-crash', 'rejoin-crash']);
    expect(unseenOf(blind)).toEqual(['full-isr']);
    expect(faultsBeyondTarget(able).size).toBe(0);
  });
});
