/** When a fault of ours may be why a broker lost its session. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Handled } from '../../../harness/run/handled.ts';

let nowMs: number;
let handled: Handled;

beforeEach(() => {
  nowMs = 1_000;
  handled = new Handled(() => nowMs);
});

describe('a node', () => {
  it('that no fault touches is not handled', () => {
    handled.note({ port: 'links', cuts: [{ from: 1, to: 2 }] });
    handled.note({ port: 'process', verb: 'kill', node: 1 });
    handled.note({ port: 'process', verb: 'start', node: 1 });
    expect(handled.isHandled(1, 5_000)).toBe(false);
  });

  it.each(['resume', 'kill'] as const)('that is paused is handled, and for a while after the %s', (verb) => {
    handled.note({ port: 'process', verb: 'pause', node: 2 });
    nowMs = 60_000;
    expect(handled.isHandled(2, 4_000)).toBe(true);
    expect(handled.isHandled(1, 4_000)).toBe(false);
    handled.note({ port: 'process', verb, node: 2 });
    nowMs = 64_000;
    expect(handled.isHandled(2, 4_000)).toBe(true);
    nowMs = 64_001;
    expect(handled.isHandled(2, 4_000)).toBe(false);
  });

  it.each([
    { from: 3, to: 'controller' },
    { from: 'controller', to: 3 },
  ] as const)('that is cut off from the controller is handled, and for a while after it was healed', (cut) => {
    handled.note({ port: 'links', cuts: [cut, { from: 'clients', to: 'controller' }] });
    nowMs = 60_000;
    expect(handled.isHandled(3, 4_000)).toBe(true);
    handled.note({ port: 'links', cuts: [] });
    nowMs = 64_000;
    expect(handled.isHandled(3, 4_000)).toBe(true);
    nowMs = 64_001;
    expect(handled.isHandled(3, 4_000)).toBe(false);
  });

  it('that stays cut off while other cuts change stays handled', () => {
    handled.note({ port: 'links', cuts: [{ from: 3, to: 'controller' }] });
    handled.note({ port: 'links', cuts: [{ from: 'controller', to: 3 }] });
    nowMs = 60_000;
    expect(handled.isHandled(3, 4_000)).toBe(true);
  });
});
