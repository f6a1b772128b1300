import { describe, expect, it } from 'vitest';
import { parsePromises, parseRunFile } from '../../harness/run-file-schema.ts';

describe('the schema of run.json', () => {
  it('takes what it knows and names what does not fit', () => {
    expect(parseRunFile({ configuration: {}, settled: true, healMs: 3 })).toHaveProperty('file.settled', true);
    expect(parseRunFile({ configuration: {}, settleMs: 'long' })).toHaveProperty(
      'flaw',
      expect.stringMatching(/^settleMs: /),
    );
  });

  it('takes the defaults for promises that a configuration does not make', () => {
    expect(parsePromises({ acks: 1, minInsyncReplicas: 'two' })).toEqual({
      acks: 1,
      minInsyncReplicas: 2,
      uncleanElection: false,
    });
  });
});
