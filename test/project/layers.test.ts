/**
 * The linter holds the layers of ARCHITECTURE.md: each violation below is planted in a copy of the folder structure,
 * under the project's own configuration, and must be refused there; its lawful neighbour must pass.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const violations: readonly (readonly [file: string, code: string, says: string])[] = [
  ['broker/core/a.ts', "import { readFileSync } from 'node:fs';\nreadFileSync('x');\n", 'nothing else'],
  ['broker/core/b.ts', 'export const now = Date.now();\n', 'takes the time as an argument'],
  ['broker/core/c.ts', 'export const draw = Math.random();\n', 'handed its random draws'],
  ['broker/core/d.ts', 'export async function later(): Promise<void> {}\n', 'async'],
  ['broker/core/e.ts', 'setTimeout(() => {}, 1);\n', 'next deadline'],
  ['broker/core/f.ts', "import { x } from '../server/x.ts';\nexport const y = x;\n", 'nothing else'],
  ['broker/core/g.ts', "import { x } from '../../checker/x.ts';\nexport const y = x;\n", 'nothing else'],
  ['broker/controller/a.ts', "import { x } from '../storage/x.ts';\nexport const y = x;\n", 'broker/core only'],
  ['broker/protocol/a.ts', "import { x } from '../core/x.ts';\nexport const y = x;\n", 'nothing above it'],
  ['broker/protocol/b.ts', "import { connect } from 'node:net';\nconnect(1);\n", 'Buffer and zlib only'],
  [
    'broker/server/a.ts',
    "import { x } from '../../nemesis/x.ts';\nexport const y = x;\n",
    'knows nothing of the harness',
  ],
  ['broker/server/b.ts', "process.stdout.write('x');\n", 'writeSync(1)'],
  ['nemesis/a.ts', "import { x } from '../checker/x.ts';\nexport const y = x;\n", 'nothing outside itself'],
  ['nemesis/b.ts', "import { x } from '../broker/core/x.ts';\nexport const y = x;\n", 'nothing outside itself'],
  ['nemesis/c.ts', "import seedrandom from 'seedrandom';\nexport const y = seedrandom;\n", 'nothing outside itself'],
  ['checker/a.ts', "import { x } from '../broker/protocol/x.ts';\nexport const y = x;\n", "broker's idea of the truth"],
  ['checker/b.ts', "import { readFileSync } from 'node:fs';\nreadFileSync('x');\n", 'nothing outside itself'],
  [
    'checker/anomalies/a.ts',
    "import { x } from '../../nemesis/x.ts';\nexport const y = x;\n",
    'nothing outside itself',
  ],
  ['docker/a.ts', "import { x } from '../nemesis/plan.ts';\nexport const y = x;\n", "nemesis's ports"],
  ['docker/b.ts', "import { x } from '../broker/core/x.ts';\nexport const y = x;\n", "nemesis's ports"],
  ['docker/c.ts', "import { z } from 'zod';\nexport const y = z;\n", 'dockerode, tar-stream and execa'],
  ['harness/client/a.ts', "import { connect } from 'node:net';\nconnect(1);\n", 'no package but seedrandom'],
  ['harness/plan/a.ts', "import { x } from '../run/x.ts';\nexport const y = x;\n", 'protocol, cores, nemesis'],
  ['harness/sim/a.ts', "import { x } from '../../checker/verdict.ts';\nexport const y = x;\n", "the history's types"],
];

const lawful: readonly (readonly [file: string, code: string])[] = [
  ['broker/core/a.ts', "import { x } from '../protocol/x.ts';\nexport const y = x;\n"],
  ['broker/controller/a.ts', "import { x } from '../core/x.ts';\nexport const y = x;\n"],
  ['broker/protocol/a.ts', "import { gunzipSync } from 'node:zlib';\nexport const y = gunzipSync;\n"],
  ['docker/a.ts', "import type { x } from '../nemesis/ports.ts';\nexport type y = x;\n"],
  ['docker/b.ts', "import { execa } from 'execa';\nexport const y = execa;\n"],
  ['harness/plan/a.ts', "import seedrandom from 'seedrandom';\nexport const y = seedrandom;\n"],
  ['harness/client/a.ts', "import type { x } from '../../checker/history.ts';\nexport type y = x;\n"],
  ['harness/run/a.ts', "import { x } from '../../checker/verdict.ts';\nexport const y = x;\n"],
];

let root = '';

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemark-layers-'));
  copyFileSync('.oxlintrc.json', join(root, '.oxlintrc.json'));
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What the linter says of one planted file. */
function lint(file: string, code: string): string {
  const path = join(root, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
  const run = spawnSync(process.execPath, [resolve('node_modules/oxlint/bin/oxlint'), file], {
    cwd: root,
    encoding: 'utf8',
  });
  rmSync(path);
  return `${run.status}\n${run.stdout}${run.stderr}`.replaceAll(/\s+/g, ' ');
}

describe('the layers', () => {
  it.each(violations)('refuse %s with %j', (file, code, says) => {
    const said = lint(file, code);
    expect(said).toMatch(/^1 /);
    expect(said).toContain(says);
  });

  it.each(lawful)('let %s pass with %j', (file, code) => {
    expect(lint(file, code)).toMatch(/^0 /);
  });
});
