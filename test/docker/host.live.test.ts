import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sharedLibraries } from '../../docker/host.ts';

test('a tool that is a script, and cannot be copied into an image, is named in one line', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-host-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const script = join(directory, 'nft');
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
  await expect(sharedLibraries(script)).rejects.toThrow(
    `${script} is no program that ldd understands: put another one before it in PATH`,
  );
  expect(await sharedLibraries(process.execPath)).toContainEqual(expect.stringContaining('libc'));
});
