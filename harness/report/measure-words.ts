/** What the figures of a run are called for people; `results.json` has their short names. */

const words: Readonly<Record<string, string>> = {
  operationsOk: 'operations that succeeded',
  operationsFail: 'operations that failed',
  operationsInfo: 'operations of which nobody knows',
  sendsOk: 'sends that were acknowledged',
  sendsFail: 'sends that failed',
  sendsInfo: 'sends of which nobody knows',
  polledRecords: 'records in polls',
  acknowledged: 'acknowledged records',
  recordsRead: 'records that were read',
  unseen: 'acknowledged records that nobody read',
  lostUnpromised: 'records lost without a promise (acks 0 or 1)',
  realtimeLagMs: 'longest lag of a reader (ms)',
  sendSkips: 'sends with other records between those of one operation',
  skipsUnderSubscribe: 'skips under subscribe',
  stepsBackUnderSubscribe: 'steps back under subscribe',
  positionsOutOfRange: 'positions out of range',
  uncleanElections: 'unclean elections',
  traceLines: 'lines of the trace',
  electionsSeen: 'elections that were seen',
  truncationsSeen: 'truncations that were seen',
  observations: 'lines of the observations',
  settleMs: 'time to settle (ms)',
  'G1c-offsets': 'circles that need the order of offsets (G1c-offsets)',
};

/** A name that is not in the list is taken apart into its words. */
export function measureInWords(name: string): string {
  return (
    words[name] ??
    name.replaceAll(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)
  );
}
