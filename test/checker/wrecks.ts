/**
 * What is left of a tale when its harness had a bad day as well: logs that were cut, planted in, not all copied or read
 * too early; a trace with a hole; a run that was stopped, did not settle, or names leaders that its trace does not.
 *
 * There is no twin of these: what is said of them stands word for word in golden files.
 */
import { encodeBatch } from '../../broker/protocol/index.ts';
import type { CheckInput } from '../../checker/check.ts';
import type { ReplicaFiles } from '../../checker/final-logs.ts';
import { key, type Story } from './story.ts';
import { Tale } from './twins/tales.ts';
import type { Draws } from './twins/random.ts';

export function wreck(draws: Draws): CheckInput {
  const { story } = new Tale(draws);
  const whole = story.input();
  return { ...whole, ...runOf(draws, whole), ...logsOf(draws, story), trace: traceOf(draws, story) };
}

function runOf(draws: Draws, { run, promises }: CheckInput): Pick<CheckInput, 'run' | 'promises'> {
  const settled = draws.pick([true, true, true, false, null]);
  return {
    run: {
      ...run,
      settled,
      completed: settled === null ? false : draws.pick([true, true, false]),
      healed: draws.pick([true, true, false]),
      finalReadComplete: draws.pick([null, true, true, false]),
      logsCollected: draws.pick([null, true, true, false]),
      finalLeaders: draws.pick([{}, { [key]: 1 }, { [key]: 2 }, { [key]: null }]),
      residual: draws.chance(0.1) ? ['a cut between brokers 1 and 2'] : [],
      error: draws.chance(0.1) ? 'the disk is full' : null,
    },
    promises: { ...promises, acks: draws.pick(['all', 'all', 1]) },
  };
}

function traceOf(draws: Draws, story: Story): readonly string[] | null {
  const hole = draws.below(story.trace.length);
  return draws.pick([story.trace, story.trace, story.trace.filter((_, at) => at !== hole), null]);
}

function logsOf(draws: Draws, story: Story): Pick<CheckInput, 'logs'> {
  if (draws.chance(0.15)) return { logs: null };
  const files = story.files().filter(() => !draws.chance(0.1));
  return { logs: { nodes: files.map(({ node }) => node), files: files.map((file) => damaged(draws, file)) } };
}

function damaged(draws: Draws, file: ReplicaFiles): ReplicaFiles {
  const bytes = file.segments[0]?.bytes ?? new Uint8Array();
  const withBytes = (changed: Uint8Array): ReplicaFiles => ({
    ...file,
    segments: [{ baseOffset: 0, bytes: changed }],
  });
  switch (draws.below(9)) {
    case 0:
      return withBytes(bytes.slice(0, Math.max(0, bytes.length - 1 - draws.below(90))));
    case 1:
      return withBytes(bytes.map((byte, at) => (at === bytes.length - 1 - draws.below(40) ? byte ^ 1 : byte)));
    case 2:
      return { ...file, logStart: draws.below(4) };
    case 3:
      return withBytes(Uint8Array.from([...bytes, ...plantedBatch(draws)]));
    case 4:
      return {
        ...file,
        epochs: [
          [0, 0],
          [draws.below(3), draws.below(4)],
        ],
      };
    default:
      return file;
  }
}

function plantedBatch(draws: Draws): Uint8Array {
  const value = draws.below(2) === 0 ? String(900 + draws.below(3)) : String(1 + draws.below(4));
  const records = [{ key: null, value }];
  return encodeBatch({ baseOffset: 2 + draws.below(5), leaderEpoch: draws.below(4), records });
}
