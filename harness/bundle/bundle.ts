/**
 * A stored run or comparison as one `.tar.gz`, for a colleague or an archive.
 *
 * The same files always give the same bytes: names are sorted, times and owners are left out, and no path of this
 * machine stands in a header. Files go through in pieces, whatever their size.
 *
 * Invariant: what stands at the target is whole or not there, and nothing is ever overwritten.
 */
import { createWriteStream, existsSync, linkSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { archiveOf } from '../../docker/archive.ts';
import { EnvironmentError, InterruptedError, UsageError, environmentErrorFrom, isSystemError } from '../errors.ts';
import { readResults } from '../report/read-results.ts';
import { shownPath } from '../shown-path.ts';
import { contentsOf, type BundleContents } from './contents.ts';

export interface Bundle {
  readonly path: string;
  readonly bytes: number;
  /** The one folder that the bundle unpacks to. */
  readonly name: string;
  readonly contents: BundleContents;
}

export interface BundleRequest {
  /** As it was named; a link such as `store/latest` is followed. */
  readonly directory: string;
  /** Where the bundle goes; its name follows from the folder's where this is not given. */
  readonly out: string | undefined;
  readonly signal: AbortSignal;
}

/** Packs the folder. Throws one clear line for what is no run, and where there is something at the target. */
export async function writeBundle({ directory, out, signal }: BundleRequest): Promise<Bundle> {
  const root = demandRun(directory);
  const name = nameOf(root);
  const path = resolve(out ?? `${name}.tar.gz`);
  demandFree(path);
  const contents = contentsOf(root);
  const lacking = contents.left.find(({ needed }) => needed);
  if (lacking !== undefined) {
    const { name: what, why } = lacking;
    throw new UsageError(
      `${shownPath(join(root, what))} cannot be packed, and is needed: ${why}; put a copy in its place`,
    );
  }
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const archive = archiveOf(
      contents.files.map((file) => ({
        path: `/${name}/${file.name}`,
        mode: 0o644,
        content: { file: file.path, size: file.size },
      })),
      ['', ...contents.directories].map((below) => ({
        path: `/${name}${below === '' ? '' : `/${below}`}`,
        mode: 0o755,
        owner: 0,
      })),
    );
    await pipeline(archive, createGzip(), createWriteStream(temporary, { flags: 'wx' }), { signal });
    const bytes = statSync(temporary).size;
    moveTo(temporary, path);
    return { path, bytes, name, contents };
  } catch (error) {
    rmSync(temporary, { force: true });
    if (signal.aborted) throw new InterruptedError();
    if (error instanceof UsageError) throw error;
    if (isSystemError(error)) throw environmentErrorFrom(error, `cannot pack ${shownPath(root)} into ${path}`);
    const why = error instanceof Error ? error.message : String(error);
    throw new EnvironmentError(
      `cannot pack ${shownPath(root)}: a file changed meanwhile (${why}); wait until its run has ended`,
      { cause: error },
    );
  }
}

/** The folder, free of links. A history is enough: a run that was killed has no results yet, and can be checked. */
function demandRun(directory: string): string {
  let root: string;
  try {
    root = realpathSync(directory);
  } catch {
    throw new UsageError(
      `there is no ${directory}: name the folder of a run, comparison or night, such as store/latest`,
    );
  }
  const histories = ['history.jsonl', 'history.jsonl.zst', 'history.edn'];
  if (!histories.some((name) => existsSync(join(root, name)))) readResults(join(directory, 'results.json'));
  return root;
}

/** `run-2026-11-30T101019227Z`; of a run in a comparison `2026-11-30T101015239Z-control-1`, in a night with its cell between. */
function nameOf(root: string): string {
  const names = root.split('/').filter((name) => name !== 'runs');
  const isWithinNight = [-1, -2, -3].findIndex((at) => hasTime.test(names.at(at) ?? '')) === 2;
  return names.slice(isWithinNight ? -3 : -2).join('-');
}

const hasTime = /\d{4}-\d\d-\d\dT\d{9}Z/;

function demandFree(path: string): void {
  if (existsSync(path)) throw new UsageError(`${path} is there already: remove it, or choose another with --out`);
  if (!existsSync(dirname(path)))
    throw new UsageError(`there is no folder ${dirname(path)}: make it, or choose another with --out`);
}

/** A link fails where something is in its way, which a rename does not; but not every file system has links. */
function moveTo(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
    rmSync(temporary);
  } catch {
    demandFree(path);
    renameSync(temporary, path);
  }
}
