/**
 * What every container of ours is bounded by: memory and processes, and where it can be all else that a program could
 * take or change.
 *
 * Memory and swap are one bound, so that a program that needs more is ended instead of slowing down the machine.
 */
import type { HostConfig } from 'dockerode';
import type { ContainerPlan } from './targets/target.ts';

type Limits = Pick<ContainerPlan, 'memoryMb' | 'pidsMax'>;

const megabyte = 1 << 20;

/** Memory and processes; nobody reads the engine's own log: the streams are attached. */
export function limited({ memoryMb, pidsMax }: Limits): HostConfig {
  return {
    Memory: memoryMb * megabyte,
    MemorySwap: memoryMb * megabyte,
    PidsLimit: pidsMax,
    LogConfig: { Type: 'none', Config: {} },
  };
}

/** The same, without any capability or new privilege, on a root that cannot be written. */
export function bounded(limits: Limits): HostConfig {
  return {
    ...limited(limits),
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    ReadonlyRootfs: true,
    RestartPolicy: { Name: 'no' },
  };
}
