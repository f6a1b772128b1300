import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bounded, limited } from '../../docker/bounds.ts';

const megabyte = 1 << 20;

describe('the bounds of a container', () => {
  it('are its memory, swap included, and its processes', () => {
    expect(limited({ memoryMb: 3, pidsMax: 7 })).toMatchObject({
      Memory: 3 * megabyte,
      MemorySwap: 3 * megabyte,
      PidsLimit: 7,
    });
  });

  it('leave it no capability, no new privilege and nothing to write to but its volumes', () => {
    expect(bounded({ memoryMb: 3, pidsMax: 7 })).toMatchObject({
      PidsLimit: 7,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
    });
  });

  it('are given to every container that is created', () => {
    const creators = readdirSync('docker', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join('docker', name), 'utf8'))
      .filter((text) => text.includes('.createContainer('));
    expect(creators.length).toBeGreaterThan(2);
    for (const text of creators) expect(text).toMatch(/(?:HostConfig: |\.\.\.)(?:bounded|limited)\(/);
  });
});
