/**
 * The lines of a trace that are kept as they are, and what makes a line sound (`docs/trace.md`).
 *
 * Only the fields that the checker reads are looked at: a later version may say more.
 */

export interface RoleLine {
  readonly role: 'leader' | 'follower';
  readonly leader: number | null;
  readonly leo: number;
  readonly hw: number;
  readonly isr: readonly number[];
}

export interface TruncationLine {
  readonly from: number;
  readonly to: number;
  readonly rule: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

export interface RecoverLine {
  readonly logStart: number;
  readonly flushed: number;
  readonly from: number;
  readonly to: number;
  readonly cut: string;
  readonly hw: number;
  readonly epochs: readonly (readonly [epoch: number, start: number])[];
}

export interface ElectionLine {
  readonly leader: number | null;
  readonly previousLeader: number | null;
  readonly isr: readonly number[];
  readonly clean: boolean;
  readonly reason: string;
}

export interface IsrLine {
  readonly to: readonly number[];
}

/** A parsed line, of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>;

export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(isWhole);
}

export function isBatch(value: unknown): value is { base: number; last: number; epoch: number; hash: string } {
  if (typeof value !== 'object' || value === null) return false;
  const { base, last, epoch, hash } = value as Fields;
  return isCount(base) && isCount(last) && last >= base && isWhole(epoch) && typeof hash === 'string';
}

export function isRole(fields: Fields): boolean {
  const { role, leader, leo, hw, isr } = fields;
  return (
    (role === 'leader' || role === 'follower') &&
    (leader === null || isWhole(leader)) &&
    isCount(leo) &&
    isCount(hw) &&
    isNumbers(isr)
  );
}

export function isTruncation(fields: Fields): boolean {
  const { from, to, rule, evidence } = fields;
  return isCount(from) && isCount(to) && typeof rule === 'string' && typeof evidence === 'object' && evidence !== null;
}

export function isRecover(fields: Fields): boolean {
  const { logStart, flushed, from, to, cut, hw, epochs } = fields;
  return (
    [logStart, flushed, from, to, hw].every(isCount) &&
    typeof cut === 'string' &&
    Array.isArray(epochs) &&
    epochs.every(isNumbers)
  );
}

export function isElection(fields: Fields): boolean {
  const { leader, isr, clean } = fields;
  return (leader === null || isWhole(leader)) && isNumbers(isr) && typeof clean === 'boolean';
}
