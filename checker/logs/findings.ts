/**
 * What can be wrong with the log of one replica, by name, and what each name means for the exit code.
 *
 * A finding says where (file and position, offset) and what (the numbers that contradict each other). Findings about
 * checkpoint files are told and change no exit code: the log is what counts.
 */

interface Place {
  readonly file: string;
  readonly position: number;
}

export type Finding =
  /** The bytes of a batch do not match its checksum. */
  | ({ readonly name: 'crc-mismatch'; readonly offset: number; readonly stored: number } & Place)
  /** The leader epoch falls. */
  | ({ readonly name: 'epoch-regression'; readonly offset: number; readonly from: number; readonly to: number } & Place)
  /** No record from `offset` to `last`, in a log that is not compacted. */
  | ({ readonly name: 'offset-gap'; readonly offset: number; readonly last: number } & Place)
  /** A batch begins below the end of the one before. */
  | ({ readonly name: 'offset-regression'; readonly offset: number; readonly expected: number } & Place)
  /** A file begins with a batch that its name does not allow. */
  | ({ readonly name: 'segment-mismatch'; readonly offset: number; readonly expected: number } & Place)
  /** The last bytes of a file are no whole batch. `offset` is the next that was to come. */
  | ({ readonly name: 'torn-tail'; readonly offset: number; readonly bytes: number } & Place)
  | {
      readonly name: 'unreadable';
      readonly offset: number | null;
      readonly file: string;
      readonly position: number | null;
      readonly reason: string;
    }
  /** The leader-epoch-checkpoint says another epoch than the log; null for none. */
  | {
      readonly name: 'checkpoint-mismatch';
      readonly offset: number;
      readonly log: number | null;
      readonly checkpoint: number | null;
    }
  /** A checkpoint file speaks of an offset that the log does not reach. */
  | {
      readonly name: 'checkpoint-beyond-log';
      readonly offset: number;
      readonly file: string;
      readonly leo: number;
    };

export type FindingName = Finding['name'];

/** The exit code that a finding asks for. */
export const exitOfFinding: Readonly<Record<FindingName, 0 | 1 | 2>> = {
  'crc-mismatch': 1,
  'epoch-regression': 1,
  'offset-gap': 1,
  'offset-regression': 1,
  'segment-mismatch': 1,
  'torn-tail': 2,
  unreadable: 2,
  'checkpoint-mismatch': 0,
  'checkpoint-beyond-log': 0,
};

/** How many findings of one replica are kept in full; all are counted. */
const kept = 100;

/** The findings of one replica. */
export class Findings {
  readonly list: Finding[] = [];
  total = 0;
  exit: 0 | 1 | 2 = 0;

  add(finding: Finding): void {
    this.total += 1;
    this.exit = worse(this.exit, exitOfFinding[finding.name]);
    if (this.list.length < kept) this.list.push(finding);
  }
}

/** 1 before 2 before 0. */
export function worse(one: 0 | 1 | 2, other: 0 | 1 | 2): 0 | 1 | 2 {
  if (one === 1 || other === 1) return 1;
  return one === 2 || other === 2 ? 2 : 0;
}
