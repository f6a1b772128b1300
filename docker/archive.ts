/**
 * TAR archives: the one form in which the engine takes files and gives them back. The only file that loads tar-stream.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack } from 'tar-stream';

/** A file for an image or a volume, from memory or from this machine's disk. */
export interface ArchiveFile {
  /** Absolute, as the container will see it. */
  readonly path: string;
  readonly mode: number;
  readonly content: Uint8Array | { readonly file: string; readonly size: number };
  /** Owner in the container, as user and group; the superuser where it is not given. */
  readonly owner?: number;
}

/** A directory that must exist with an owner of its own. */
export interface ArchiveDirectory {
  readonly path: string;
  readonly mode: number;
  readonly owner: number;
}

/** A stream of a TAR archive with these directories and files, always with the same bytes for the same content. */
export function archiveOf(files: readonly ArchiveFile[], directories: readonly ArchiveDirectory[] = []): Readable {
  const archive = pack();
  const write = async (): Promise<void> => {
    for (const directory of directories) {
      const { path, mode, owner } = directory;
      const header = { name: `${path.slice(1)}/`, mode, uid: owner, gid: owner, mtime: new Date(0) };
      // One after the other: an archive that is given up has no other entry whose error nobody would hear.
      await pipeline(Readable.from([]), archive.entry({ ...header, type: 'directory' }));
    }
    for (const file of files) {
      const owner = file.owner ?? 0;
      const size = file.content instanceof Uint8Array ? file.content.length : file.content.size;
      const header = { name: file.path.slice(1), mode: file.mode, size, uid: owner, gid: owner, mtime: new Date(0) };
      const source =
        file.content instanceof Uint8Array ? Readable.from([file.content]) : createReadStream(file.content.file);
      await pipeline(source, archive.entry(header));
    }
    archive.finalize();
  };
  write().catch((error: unknown) => archive.destroy(error as Error));
  return Readable.from(archive);
}

/**
 * Writes the files of an archive below `target`, without the first part of their names (the engine puts the name of
 * the copied directory in front). Rejects when the archive ends early, or when it holds a file of another size than
 * it says: then a file changed while the engine read it. `wanted` says which files to write, by path below `target`.
 */
export async function unpack(
  archive: NodeJS.ReadableStream,
  target: string,
  wanted: (path: string) => boolean = () => true,
): Promise<void> {
  await mkdir(target, { recursive: true });
  const entries = extract();
  await Promise.all([pipeline(archive, entries), writeEntries(entries, target, wanted)]);
}

async function writeEntries(
  entries: ReturnType<typeof extract>,
  target: string,
  wanted: (path: string) => boolean,
): Promise<void> {
  for await (const entry of entries) {
    const { name, type } = entry.header;
    const parts = name
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .slice(1);
    if (parts.includes('..')) throw new Error(`an archive of the engine holds a file outside of it: ${name}`);
    const path = join(target, ...parts);
    if (type === 'file' && wanted(parts.join('/'))) {
      await mkdir(dirname(path), { recursive: true });
      await pipeline(entry, createWriteStream(path));
    } else {
      if (type === 'directory' && wanted(`${parts.join('/')}/`)) await mkdir(path, { recursive: true });
      entry.resume();
    }
  }
}
