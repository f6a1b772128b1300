/**
 * A replica's directory as the checker wants it: segments as byte sources, checkpoint files as numbers.
 *
 * Segments are opened when they are read, one of a replica at a time. What cannot be read or understood is noted and
 * becomes a finding: one bad file hides nothing of the others.
 */
import { closeSync, openSync, readFileSync, readSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEpochCheckpoint, parseOffsetCheckpoint, type Parsed } from '../../checker/logs/checkpoint-files.ts';
import {
  UnreadableError,
  type ReplicaCopy,
  type SegmentSource,
  type UnreadableFile,
} from '../../checker/logs/source.ts';
import { errorCode } from '../errors.ts';
import { whyUnreadable } from '../regular-file.ts';
import type { CopyPlace } from './find-copies.ts';

/** A checkpoint file of more bytes is not one. */
const checkpointMax = 1 << 26;

/** Reads what stands beside the log at `place`, and prepares its segments. `close` when done. */
export function readCopy({ name, partition, brokerDirectory, directory }: CopyPlace): {
  readonly copy: ReplicaCopy;
  readonly close: () => void;
} {
  const unreadable: UnreadableFile[] = [];
  const offsetIn = (file: string): number | null =>
    readCheckpoint(brokerDirectory, file, parseOffsetCheckpoint, unreadable)?.get(partition) ?? null;
  const files = new OpenFile();
  const copy: ReplicaCopy = {
    name,
    checkpoints: {
      highWatermark: offsetIn('replication-offset-checkpoint'),
      recoveryPoint: offsetIn('recovery-point-offset-checkpoint'),
      logStart: offsetIn('log-start-offset-checkpoint'),
      cleaner: offsetIn('cleaner-offset-checkpoint'),
      leaderEpochs: readCheckpoint(
        brokerDirectory,
        join(partition, 'leader-epoch-checkpoint'),
        parseEpochCheckpoint,
        unreadable,
      ),
    },
    segments: readSegments(directory, partition, files, unreadable),
    unreadable,
  };
  return { copy, close: () => files.close() };
}

/** Null for a file that is not there, or cannot be understood. */
function readCheckpoint<T>(
  directory: string,
  file: string,
  parse: (text: string) => Parsed<T>,
  unreadable: UnreadableFile[],
): T | null {
  let text: string;
  try {
    const path = join(directory, file);
    const reason = whyUnreadable(path, checkpointMax);
    if (reason !== null) {
      unreadable.push({ file, reason });
      return null;
    }
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOENT') unreadable.push({ file, reason: code ?? String(error) });
    return null;
  }
  const parsed = parse(text);
  if ('entries' in parsed) return parsed.entries;
  unreadable.push({ file, reason: parsed.flaw });
  return null;
}

function readSegments(
  directory: string,
  partition: string,
  files: OpenFile,
  unreadable: UnreadableFile[],
): SegmentSource[] {
  const segments: SegmentSource[] = [];
  for (const name of readdirSync(directory).filter((entry) => /^\d{20}\.log$/.test(entry))) {
    const path = join(directory, name);
    const file = `${partition}/${name}`;
    const baseOffset = Number(name.slice(0, 20));
    let size = 0;
    try {
      const reason = whyUnreadable(path, Infinity);
      if (reason !== null) {
        unreadable.push({ file, reason });
        continue;
      }
      size = statSync(path).size;
    } catch (error) {
      unreadable.push({ file, reason: errorCode(error) ?? String(error) });
      continue;
    }
    if (!Number.isSafeInteger(baseOffset)) {
      unreadable.push({ file, reason: 'its name is an offset above 2^53' });
      continue;
    }
    segments.push({ file, baseOffset, size, read: (position, into) => files.read(path, position, into) });
  }
  return segments.sort((one, other) => one.baseOffset - other.baseOffset);
}

/** The one file of a replica that is open. */
class OpenFile {
  #path: string | null = null;
  #descriptor = -1;

  read(path: string, position: number, into: Uint8Array): number {
    try {
      if (this.#path !== path) {
        this.close();
        this.#descriptor = openSync(path, 'r');
        this.#path = path;
      }
      return readSync(this.#descriptor, into, 0, into.length, position);
    } catch (error) {
      throw new UnreadableError(errorCode(error) ?? String(error), { cause: error });
    }
  }

  close(): void {
    if (this.#path === null) return;
    closeSync(this.#descriptor);
    this.#path = null;
  }
}
