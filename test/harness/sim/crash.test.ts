import { describe, expect, it } from 'vitest';
import type { Disk } from '../../../harness/sim/disk.ts';
import { Kernel, type Core } from '../../../harness/sim/kernel.ts';

/** A node whose core breaks a rule of its own when it is woken. */
function kernelWith(onCrash?: (node: unknown, message: string) => void): Kernel {
  const kernel = new Kernel(onCrash === undefined ? {} : { onCrash });
  const boot = (_disk: Disk, _boot: number, bornNs: number): { core: Core; effects: [] } => ({
    core: {
      clientId: 'broker-1.1',
      step: () => {
        throw new Error('a high watermark above the log end');
      },
      nextDeadlineNs: () => bornNs + 1_000,
    },
    effects: [],
  });
  kernel.addNode({ id: 1, address: 'broker-1:9092', boot }).start();
  return kernel;
}

describe('a core that breaks a rule of its own', () => {
  it('takes its process down, and the kernel goes on', () => {
    const told: unknown[] = [];
    const kernel = kernelWith((node, message) => told.push([node, message]));
    kernel.runFor(5_000);
    expect(told).toEqual([[1, 'a high watermark above the log end']]);
    expect(kernel.node(1).running).toBe(false);
    kernel.node(1).start();
    expect(kernel.node(1).running).toBe(true);
  });

  it('ends everything where nobody listens', () => {
    expect(() => kernelWith().runFor(5_000)).toThrow('a high watermark above the log end');
  });
});
