/**
 * Power loss of a broker that others wrote: what it had not surely flushed is cut from its logs, while it is stopped.
 *
 * Kafka leaves flushing to the page cache, and writes down up to where each log is surely on disk: its recovery point.
 * Whatever lies above may be gone after a power loss, so all of it goes, at the boundary of a batch. Checkpoint files
 * stay, since Kafka flushes those when it writes them, and so does the log of KRaft, which is flushed before it is
 * acknowledged. Indexes and the rest are made anew when the broker finds that it did not end in good order.
 *
 * Invariant: nothing below a recovery point is touched. For scripted schedules only: what a real disk would have kept
 * beyond that, nobody knows.
 */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Container } from 'dockerode';
import { readHeader } from './agent/segment-headers.ts';
import { archiveOf, unpack } from './archive.ts';
import type { ArchiveFile } from './archive.ts';

const recoveryPointsFile = 'recovery-point-offset-checkpoint';
const raftLog = '__cluster_metadata-0';

/** Cuts the logs of a broker whose process is stopped; answers with the bytes that went, by file. */
export async function cutToFlushed(
  container: Container,
  logDirectory: string,
  owner: number,
): Promise<Readonly<Record<string, number>>> {
  const copy = await mkdtemp(join(tmpdir(), 'tidemark-power-loss-'));
  try {
    await unpack(await container.getArchive({ path: logDirectory }), copy, isWanted);
    const cut = await cutsOf(copy);
    const files = cut.map(({ path, kept }): ArchiveFile => ({ path: `/${path}`, mode: 0o644, content: kept, owner }));
    if (files.length > 0) await container.putArchive(archiveOf(files), { path: logDirectory });
    return Object.fromEntries(cut.map(({ path, gone }) => [path, gone]));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Offsets by `topic-partition`, as a checkpoint file of version 0 has them; before it is first written it may be empty. */
export function readRecoveryPoints(text: string): ReadonlyMap<string, number> {
  if (text === '') return new Map();
  const [version, , ...lines] = text.split('\n');
  if (version !== '0') throw new Error(`${recoveryPointsFile} has version ${version}, not 0`);
  return new Map(
    lines.flatMap((line): [string, number][] => {
      const [, topic, partition, offset] = /^(\S+) (\d+) (\d+)$/.exec(line) ?? [];
      return topic === undefined ? [] : [[`${topic}-${partition}`, Number(offset)]];
    }),
  );
}

/** How many bytes of a segment hold records below that offset, in whole batches. */
export function bytesBelow(segment: Uint8Array, offset: number): number {
  let position = 0;
  for (;;) {
    const header = readHeader(segment.subarray(position));
    if (typeof header === 'string' || header.last >= offset || position + header.bytes > segment.length)
      return position;
    position += header.bytes;
  }
}

interface CutFile {
  readonly path: string;
  readonly kept: Uint8Array;
  readonly gone: number;
}

/** A log of which nothing is written down was never flushed. */
async function cutsOf(directory: string): Promise<CutFile[]> {
  const points = readRecoveryPoints(await readFile(join(directory, recoveryPointsFile), 'utf8').catch(() => '0\n0\n'));
  const cuts: CutFile[] = [];
  for (const log of await readdir(directory, { withFileTypes: true })) {
    if (!log.isDirectory()) continue;
    for (const name of await readdir(join(directory, log.name))) {
      const segment = await readFile(join(directory, log.name, name));
      const kept = segment.subarray(0, bytesBelow(segment, points.get(log.name) ?? 0));
      const gone = segment.length - kept.length;
      if (gone > 0) cuts.push({ path: `${log.name}/${name}`, kept, gone });
    }
  }
  return cuts;
}

function isWanted(path: string): boolean {
  return path === recoveryPointsFile || (/^[^/]+-\d+\/\d+\.log$/.test(path) && !path.startsWith(`${raftLog}/`));
}
