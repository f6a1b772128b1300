/**
 * Defects: real and invented bugs of brokers, each behind a name that a broker can be started with.
 *
 * They exist to test the checker: under the right schedule each must be found, and named for what it is, while the
 * healthy build stays green. A defect is one line here and one place in the core, in the controller, or in each of them,
 * that asks for it; all nodes of a cluster get the same names, and each heeds those that are its own.
 */
interface Defect {
  /** What the broker, or the controller, then does wrong. */
  readonly does: string;
  /** The bug that it re-enacts, where there was one. */
  readonly after: string | null;
}

export const defects = {
  /* ---- Where a follower's log ends ---- */
  'truncate-none': { does: 'starts to follow a new leader without truncating anything', after: null },
  'truncate-one-too-many': { does: "cuts one record more than its leader's answer tells it to", after: null },
  'truncate-one-too-few': { does: 'keeps one record beyond the place where the logs part', after: null },
  'truncate-for-new-leader-only': {
    does: 'truncates only when another broker leads, not when the same one leads again in a new epoch',
    after: 'KAFKA-7164',
  },
  'truncate-unowned': {
    does: "truncates by a former leader's answer a partition that it follows from another by now, or leads",
    after: 'KAFKA-13207',
  },
  'ask-current-epoch': {
    does: 'asks where the current epoch ends, instead of the epoch of its last record',
    after: null,
  },
  'note-own-epoch': {
    does: "notes copied records under the epoch of its leader, instead of the records' own",
    after: null,
  },
  'no-epoch-start': { does: 'does not note where its epoch starts when it is elected', after: 'KAFKA-7415' },
  'unknown-epoch-ends-at-end': {
    does: 'answers the question for an epoch that it cannot place with the end of its log',
    after: 'KAFKA-6857',
  },
  'unfenced-requests': { does: 'serves requests that come from another epoch', after: 'KAFKA-7395' },
  'stamp-previous-epoch': { does: 'stamps what it appends with the epoch of the record before', after: null },
  'start-empty': { does: 'takes its logs for torn when it starts, and begins them anew', after: 'KAFKA-14139' },

  /* ---- What counts as committed ---- */
  'high-watermark-at-end': { does: 'takes all that it has appended for committed', after: null },
  'high-watermark-of-majority': {
    does: 'takes for committed what a majority of the replicas holds, instead of the whole ISR',
    after: null,
  },
  'high-watermark-falls': {
    does: 'starts from nothing with its high watermark when it is elected',
    after: 'Liftbridge #319',
  },
  'commit-all-on-election': {
    does: 'takes all that it holds when it is elected for committed',
    after: 'Redpanda #3036',
  },
  'checkpoint-end-offset': { does: 'writes the end of its log as its high watermark to the disk', after: 'KAFKA-851' },
  'count-sent-as-held': { does: 'takes what it sends to a follower for held by it', after: null },
  'ignore-pending-isr': {
    does: 'does not wait for followers that it has proposed for the ISR (KIP-497)',
    after: null,
  },
  'shrink-before-commit': {
    does: 'stops waiting for followers as soon as it has proposed an ISR without them (KIP-497)',
    after: null,
  },
  'forget-pending-isr': {
    does: 'forgets the ISR that it has proposed when the controller says again what it had said before',
    after: 'KAFKA-12686',
  },

  /* ---- Who is in sync, and who leads ---- */
  'expand-without-epoch-start': {
    does: "takes a follower into the ISR before it has reached the start of the leader's epoch",
    after: 'KAFKA-7128',
  },
  'expand-at-once': { does: 'takes every follower that fetches into the ISR, however far it is behind', after: null },
  'stale-partition-epoch': {
    does: 'never learns the epoch of an ISR that changed, so that no later change is accepted',
    after: 'KAFKA-2729',
  },
  'bounce-undetected': {
    does: 'takes a broker that came back quickly for one that was never away (the controller)',
    after: 'KAFKA-7235',
  },
  'rejoin-while-fenced': {
    does: 'takes brokers into the ISR that are fenced or shutting down (the leader, and the controller)',
    after: 'KAFKA-13916',
  },
  'elect-outside-isr': {
    does: 'elects the first live replica, in the ISR or not, and calls it clean (the controller)',
    after: null,
  },

  /* ---- What clients are told ---- */
  'ack-at-leo': { does: 'acknowledges acks=all as soon as the leader itself has appended', after: null },
  'ack-below-min-isr': { does: 'acknowledges acks=all however small the ISR is', after: null },
  'ack-after-deposition': {
    does: 'lets producers wait on when it is deposed, and acknowledges when it leads again',
    after: 'KAFKA-1148',
  },
  'deny-append': {
    does: 'tells a producer whose record it has appended that it was not, when it is deposed',
    after: null,
  },
  'answer-high-watermark': {
    does: 'tells the producer its high watermark as the offset of the record',
    after: null,
  },
  'read-above-high-watermark': { does: 'gives consumers records that are not committed yet', after: 'KAFKA-9835' },
} as const satisfies Readonly<Record<string, Defect>>;

export type DefectName = keyof typeof defects;
export type Defects = ReadonlySet<DefectName>;

export function isDefect(name: string): name is DefectName {
  return Object.hasOwn(defects, name);
}

/** The defects of those names. Throws one clear line for a name that is none. */
export function defectsNamed(names: readonly string[]): Defects {
  return new Set(
    names.map((name) => {
      if (isDefect(name)) return name;
      throw new Error(`there is no defect "${name}": use ${Object.keys(defects).join(', ')}`);
    }),
  );
}
