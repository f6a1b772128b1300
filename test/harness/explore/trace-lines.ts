/** Smallest traces for tests: lines with only the fields that matter, numbered in order. */
import type { NodeName, TraceLine } from '../../../nemesis/ports.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A line without its numbers. */
export interface Line {
  readonly node: NodeName;
  readonly event: string;
  readonly [field: string]: unknown;
}

/** Lines about partition `tide-0`, one microsecond apart. */
export function traceOf(...lines: readonly Line[]): TraceLine[] {
  return lines.map((line, index) => ({ seq: index, time: 1_000 * index, boot: 1, partition: 'tide-0', ...line }));
}

export const create = (...replicas: number[]) => ({ node: 'controller', event: 'create', replicas }) as const;

export const election = (leaderEpoch: number, leader: number | null, isr: number[], clean = true) =>
  ({ node: 'controller', event: 'election', leaderEpoch, leader, isr, clean }) as const;

export const isrChange = (leaderEpoch: number, from: number[], to: number[], msg?: string) =>
  ({ node: 'controller', event: 'isr', leaderEpoch, from, to, ...(msg === undefined ? {} : { msg }) }) as const;

export const leads = (node: number, leaderEpoch: number, leo: number, hw: number) =>
  ({ node, event: 'role', role: 'leader', leader: node, leaderEpoch, leo, hw, isr: [1, 2, 3] }) as const;

export const follows = (node: number, leader: number, leaderEpoch: number, leo: number, hw: number) =>
  ({ node, event: 'role', role: 'follower', leader, leaderEpoch, leo, hw, isr: [1, 2, 3] }) as const;

/** One record at that offset. */
export const append = (node: number, offset: number, epoch: number) =>
  ({ node, event: 'append', leaderEpoch: epoch, batches: [{ base: offset, last: offset, epoch, hash: '0' }] }) as const;

export const ack = (node: number, offset: number) =>
  ({ node, event: 'ack', base: offset, last: offset, acks: -1, isr: [1, 2, 3] }) as const;

export const hw = (node: number, from: number, to: number, leading = true) =>
  ({ node, event: 'hw', from, to, ...(leading ? { isr: [1, 2, 3] } : {}) }) as const;

export const truncation = (
  node: number,
  leaderEpoch: number,
  from: number,
  to: number,
  rule: string,
  evidence: Fields = {},
) => ({ node, event: 'truncation', leaderEpoch, from, to, rule, evidence }) as const;

export const recover = (node: number, from: number, to: number, cut = 'none') =>
  ({ node, event: 'recover', boot: 2, from, to, cut, hw: 0, logStart: 0, flushed: 0, epochs: [] }) as const;
