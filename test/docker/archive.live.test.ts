import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { archiveOf, unpack } from '../../docker/archive.ts';

const files = [
  { path: '/data/tide-0/00000000000000000000.log', mode: 0o644, content: Buffer.alloc(100_000, 7) },
  { path: '/data/meta.properties', mode: 0o644, content: Buffer.from('node.id=1\n'), owner: 12 },
];

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'archive-test-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('an archive of the engine', () => {
  it('is unpacked without its first folder', async () => {
    await unpack(archiveOf(files, [{ path: '/data/empty', mode: 0o755, owner: 0 }]), directory);
    const names = await readdir(directory, { recursive: true });
    expect(names.toSorted()).toEqual(['empty', 'meta.properties', 'tide-0', 'tide-0/00000000000000000000.log']);
    expect(readFileSync(join(directory, 'tide-0/00000000000000000000.log')).equals(files[0]!.content)).toBe(true);
  });

  it('is refused when it ends early, so that no half of a log is taken for the whole', async () => {
    const whole = await buffer(archiveOf(files));
    await expect(unpack(Readable.from([whole.subarray(0, 60_000)]), directory)).rejects.toThrow(
      'Unexpected end of data',
    );
  });

  it('may not write outside of the folder', async () => {
    const planted = archiveOf([{ path: '/data/../../planted', mode: 0o644, content: new Uint8Array(1) }]);
    await expect(unpack(planted, directory)).rejects.toThrow('holds a file outside of it');
  });

  it('is the same for the same files', async () => {
    expect((await buffer(archiveOf(files))).equals(await buffer(archiveOf(files)))).toBe(true);
  });
});
