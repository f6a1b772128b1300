/**
 * The few ways in which this broker touches the file system, each with the guarantee that it gives.
 *
 * A small file is never changed in place: it is written beside itself, flushed, renamed over the old one, and the
 * directory is flushed (KAFKA-16541 is what happens without). So a process killed at any instant, or a power loss,
 * leaves the old text or the new one, never half of it.
 *
 * Invariant: whatever the disk, or the text found on it, does wrong becomes one {@link StorageError} of one line that
 * names the file and the remedy. What is left to crash is our own mistake.
 */
import * as fs from 'node:fs';
import { dirname } from 'node:path';

/** Something about the data directory makes it impossible to go on. The message is one line for a person. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/** Runs `act`, and tells of a failure of the operating system as a {@link StorageError}: what was tried, and where. */
export function onDisk<T>(what: string, path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Error && 'syscall' in error && 'code' in error) {
      throw new StorageError(`cannot ${what} ${path}: ${error.message}; ${remedyOf(String(error.code))}`, {
        cause: error,
      });
    }
    throw error;
  }
}

function remedyOf(code: string): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'make room on the disk, then start the node again';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'let this user write to it';
  if (code === 'EIO') return 'the disk is failing: give the node another data directory';
  if (code === 'EMFILE' || code === 'ENFILE') return 'raise the limit of open files';
  return 'check the data directory of this node';
}

/** The text of a file, or undefined when there is none. */
export function readText(path: string): string | undefined {
  return onDisk('read', path, () => {
    try {
      return fs.readFileSync(path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  });
}

/** Replaces a file as a whole; when this returns, the new text is on the disk. */
export function replaceFile(path: string, text: string): void {
  onDisk('write', path, () => {
    writeBeside(path, text, true);
    fs.renameSync(`${path}.tmp`, path);
  });
  flushDirectory(dirname(path));
}

/** Replaces a file as a whole, left to the page cache: safe against a kill, not against a power loss. */
export function replaceFileUnflushed(path: string, text: string): void {
  onDisk('write', path, () => {
    writeBeside(path, text, false);
    fs.renameSync(`${path}.tmp`, path);
  });
}

function writeBeside(path: string, text: string, flush: boolean): void {
  const fd = fs.openSync(`${path}.tmp`, 'w');
  try {
    fs.writeFileSync(fd, text);
    if (flush) fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Makes the names in a directory (new, renamed, removed) survive a power loss. */
export function flushDirectory(path: string): void {
  onDisk('flush', path, () => {
    const fd = fs.openSync(path, 'r');
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  });
}

/** Writes all of `bytes` at `position`: one call, unless the system takes only a part of them. */
export function writeFully(fd: number, bytes: Uint8Array, position: number): void {
  let written = 0;
  while (written < bytes.byteLength) {
    written += fs.writeSync(fd, bytes, written, bytes.byteLength - written, position + written);
  }
}
