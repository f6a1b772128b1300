/**
 * Defects: real and invented bugs of brokers, each behind a name that a broker can be started with.
 *
 * They exist to test the checker: under the right schedule each must be found, and named for what it is, while the
 * healthy build stays green. A defect is one line here and one place in the core that asks for it.
 */
interface Defect {
  /** What the broker then does wrong. */
  readonly does: string;
  /** The bug that it re-enacts, where there was one. */
  readonly after: string | null;
}

export const defects = {
  'ack-at-leo': { does: 'acknowledges acks=all as soon as the leader itself has appended', after: null },
  'truncate-none': { does: 'starts to follow a new leader without truncating anything', after: null },
  'read-above-high-watermark': { does: 'gives consumers records that are not committed yet', after: 'KAFKA-9835' },
  'expand-without-epoch-start': {
    does: "takes a follower into the ISR before it has reached the start of the leader's epoch",
    after: 'KAFKA-7128',
  },
} as const satisfies Readonly<Record<string, Defect>>;

export type DefectName = keyof typeof defects;
export type Defects = ReadonlySet<DefectName>;

export function isDefect(name: string): name is DefectName {
  return Object.hasOwn(defects, name);
}
