/** What a user is told when something is in the way: one clear line each, and the right exit code. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localLeftovers, start, tidemark, until, type Ended } from './tidemark.ts';

let temporary = '';

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-cli-'));
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

/** The complaints of a command: what is neither progress nor a result. */
const complaints = ({ lines }: Ended): readonly string[] => lines.filter((line) => line.startsWith('tidemark: '));
const local = ['--runtime', 'local', '--nemesis', 'none', '--time-limit', '1s'];

describe('a store that cannot be used', () => {
  it.each([
    ['is a file', ''],
    ['lies below a file', '/store'],
  ])('that %s is refused in one line with its path and a remedy', async (name, below) => {
    const path = join(temporary, name.replaceAll(' ', '-'));
    writeFileSync(path, '');
    for (const command of ['run', 'compare', 'up']) {
      const argv = command === 'up' ? ['--runtime', 'local'] : local;
      const ended = await tidemark([command, ...argv, '--store', `${path}${below}`], { env: { TMPDIR: temporary } });
      expect(ended).toMatchObject({ code: 255, out: '' });
      expect(complaints(ended)).toHaveLength(1);
      expect(complaints(ended)[0]).toBe(
        `tidemark: cannot make a folder in the store ${path}${below}: ENOTDIR, a part of the path is not a folder: choose another place with --store`,
      );
      expect(ended.err).not.toMatch(/^\s+at /m);
    }
    expect(localLeftovers(temporary)).toEqual([]);
  });

  it('that lies where nobody may write is refused', async () => {
    const ended = await tidemark(['run', ...local, '--store', '/proc/tidemark']);
    expect(ended.code).toBe(255);
    expect(complaints(ended)).toHaveLength(1);
    expect(complaints(ended)[0]).toContain('/proc/tidemark: ');
  });

  it('in which latest is a folder of somebody else is refused, and that folder is left alone', async () => {
    mkdirSync(join(temporary, 'odd/latest'), { recursive: true });
    writeFileSync(join(temporary, 'odd/latest/precious'), 'mine');
    const ended = await tidemark(['run', ...local, '--store', join(temporary, 'odd')]);
    expect(ended.code).toBe(255);
    expect(complaints(ended)).toHaveLength(1);
    expect(readFileSync(join(temporary, 'odd/latest/precious'), 'utf8')).toBe('mine');
  });
});

/** Whether a report is named. */
const reportIn = ({ lines }: Ended): boolean => lines.some((line) => line.startsWith('report '));

/** A file system of that size at `path`, where this machine lets us mount one. */
function smallDisk(path: string, size: string): boolean {
  mkdirSync(path, { recursive: true });
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]).status === 0;
}

describe('a full disk', () => {
  it('ends a run with one line and 255; the history so far is checked, and can be checked again', async (context) => {
    const store = join(temporary, 'small');
    if (!smallDisk(store, '160k')) context.skip('no file system can be mounted here');
    try {
      const argv = ['run', '--runtime', 'local', '--nemesis', 'none', '--time-limit', '30s', '--rate', '300'];
      const ended = await tidemark([...argv, '--store', store], { env: { TMPDIR: temporary } });
      expect(ended.code).toBe(255);
      expect(complaints(ended)).toEqual([
        expect.stringMatching(/^tidemark: cannot write .*: ENOSPC, the disk is full: free some space .*--store$/),
      ]);
      expect(ended.err).not.toMatch(/^\s+at /m);
      expect(ended.err).toMatch(/^unknown: the evidence does not suffice/m);
      expect(reportIn(ended)).toBe(existsSync(join(store, 'latest/report.html')));
      const checked = await tidemark(['check', join(store, 'latest'), '--json']);
      expect(checked.code).toBe(2);
      expect(JSON.parse(checked.out)).toMatchObject({ valid: 'unknown', anomalies: [] });
      expect(localLeftovers(temporary)).toEqual([]);
    } finally {
      spawnSync('umount', ['--lazy', store]);
    }
  });

  it('leaves a replay its verdict, and lets it name no report that is not there', async (context) => {
    const stored = join(temporary, 'stored');
    const flags = ['--build', 'hw', '--seed', '5', '--partitions', '2', '--rate', '40', '--store', stored];
    expect((await tidemark(['run', '--runtime', 'sim', ...flags])).code).toBe(1);
    const store = join(temporary, 'smaller');
    if (!smallDisk(store, '64k')) context.skip('no file system can be mounted here');
    try {
      const ended = await tidemark(['replay', join(stored, 'latest'), '--store', store]);
      expect(ended.code).toBe(255);
      expect(complaints(ended)).toEqual([
        expect.stringMatching(/^tidemark: cannot write .*: ENOSPC, the disk is full/),
      ]);
      expect(ended.err).toMatch(/^not valid: 2 violations/m);
      expect(ended.err).toMatch(/^again {3}npm run/m);
      expect(reportIn(ended)).toBe(false);
    } finally {
      spawnSync('umount', ['--lazy', store]);
    }
  });

  it('leaves a comparison its verdict and its command where there is room for all but the report', async (context) => {
    const argv = ['compare', '--runtime', 'sim', '--control', 'epoch', '--test-count', '1', '--seed', '5'];
    const store = join(temporary, 'measured');
    if (!smallDisk(store, '8m')) context.skip('no file system can be mounted here');
    try {
      const whole = await tidemark([...argv, '--time-limit', '2s', '--store', store]);
      expect(whole.code).toBe(3);
      expect(reportIn(whole)).toBe(true);
      const { blocks, bfree, bsize } = statfsSync(store);
      const reportBytes = statSync(join(store, 'latest/report.html')).size;
      const roomBytes = (blocks - bfree) * bsize - Math.floor(reportBytes / 2);
      spawnSync('umount', ['--lazy', store]);
      if (!smallDisk(store, String(roomBytes))) context.skip('no file system can be mounted here');
      const ended = await tidemark([...argv, '--time-limit', '2s', '--store', store]);
      expect(ended.code).toBe(255);
      expect(complaints(ended)).toEqual([
        expect.stringMatching(/^tidemark: cannot write .*report\.html: ENOSPC, the disk is full/),
      ]);
      expect(ended.err).toMatch(/^The control showed nothing/m);
      expect(ended.err).toMatch(/^again {3}npm start .*--seed 5/m);
      expect(reportIn(ended)).toBe(false);
    } finally {
      spawnSync('umount', ['--lazy', store]);
    }
  });

  it('under the brokers ends the run with 255 as well, soon, and is nobody’s anomaly', async (context) => {
    const full = join(temporary, 'under');
    if (!smallDisk(full, '400k')) context.skip('no file system can be mounted here');
    try {
      const argv = ['run', '--runtime', 'local', '--nemesis', 'none', '--time-limit', '60s', '--rate', '2000'];
      const ended = await tidemark([...argv, '--store', join(temporary, 'store')], { env: { TMPDIR: full } });
      expect(ended.code).toBe(255);
      expect(complaints(ended)).toEqual([
        expect.stringMatching(
          /^tidemark: broker \d ended by itself: exit code 255: cannot [^{}]*ENOSPC[^{}]*make room on the disk[^{}]*$/,
        ),
      ]);
      expect(ended.err).toMatch(/^unknown: the evidence does not suffice/m);
      expect(localLeftovers(full)).toEqual([]);
    } finally {
      spawnSync('umount', ['--lazy', full]);
    }
  });

  it('on which standard output lies is a failure of the environment, never an anomaly', async (context) => {
    if (!existsSync('/dev/full')) context.skip('there is no /dev/full here');
    const argv = ['scenario', 'test/scenarios/s1a.scenario', '--json'];
    const ended = await tidemark(argv, { stdout: openSync('/dev/full', 'w') });
    expect(ended.code).toBe(255);
    expect(complaints(ended)).toEqual([
      'tidemark: cannot write to standard output: ENOSPC: no space left on device, write',
    ]);
  });
});

describe('--runtime docker', () => {
  const asked = ['run', '--runtime', 'docker', '--time-limit', '1s'];
  const told = async (dockerHost: string): Promise<string> => {
    const argv = [...asked, '--store', join(temporary, 'store')];
    const ended = await tidemark(argv, { env: { DOCKER_HOST: dockerHost } });
    expect(ended).toMatchObject({ code: 255, out: '' });
    expect(complaints(ended)).toHaveLength(1);
    return complaints(ended)[0] ?? '';
  };

  it('without an engine says that there is none', async () => {
    expect(await told(`unix://${temporary}/nothing.sock`)).toBe(
      `tidemark: --runtime docker: no Docker engine here: there is no socket ${temporary}/nothing.sock`,
    );
  });

  it('is replaced by local processes only if it was not asked for, and one line says why', async () => {
    const running = start(['run', '--time-limit', '60s', '--store', join(temporary, 'store')], {
      env: { DOCKER_HOST: `unix://${temporary}/nothing.sock`, TMPDIR: temporary },
    });
    expect(await running.said(/^brokers run/)).toBe(
      `brokers run as local processes (no containers: no Docker engine here: there is no socket ${temporary}/nothing.sock)`,
    );
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
  });

  it('tells an engine whose socket may not be opened from one that is not there', async (context) => {
    const socket = join(temporary, 'denied.sock');
    const server = createServer().listen(socket);
    await until(() => existsSync(socket));
    chmodSync(socket, 0);
    chmodSync(temporary, 0o755);
    // Nothing is denied to root.
    const unprivileged =
      process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
    const command = [...unprivileged, process.execPath, 'harness/main.mjs', ...asked];
    try {
      const { status, stderr } = spawnSync(command[0] ?? '', [...command.slice(1), '--store', join(temporary, 'x')], {
        encoding: 'utf8',
        env: { ...process.env, DOCKER_HOST: `unix://${socket}`, NO_COLOR: '1' },
      });
      if (status === null || /setpriv|Cannot find module|EACCES.*main/.test(stderr)) {
        context.skip('this checkout cannot be read by an unprivileged user');
      }
      expect(status).toBe(255);
      expect(stderr).toContain(
        `tidemark: --runtime docker: there is a Docker engine, but this user may not open its socket ${socket} (join the group docker, or use sudo)\n`,
      );
    } finally {
      server.close();
    }
  });
});

describe('arguments that cannot be', () => {
  it.each([
    [['run', '--rate', '0'], '--rate 0: write a whole number from 1 to 100000'],
    [['run', '--build', 'kip966'], 'there is no build "kip966"'],
    [['compare', '--candidate', 'epok'], 'there is no build "epok"'],
    [['up', '--nodes', '2'], '--replication-factor 3 needs as many brokers'],
    [['up', '--topic', '../x'], '--topic ../x: write up to 249 letters, digits, dots, dashes and underscores'],
    [['run', '--no-such-flag'], "unknown option '--no-such-flag'"],
    [['run', 'stray'], 'too many arguments'],
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['report', 'harness'], 'harness holds no results.json'],
  ])('%j is refused with 254 before anything is started', async (argv, line) => {
    const ended = await tidemark(argv);
    expect(ended).toMatchObject({ code: 254, out: '' });
    expect(complaints(ended)).toHaveLength(1);
    expect(ended.lines[0]).toContain(line);
    expect(ended.lines.length).toBeLessThanOrEqual(2);
  });
});

describe('the folder of a run that was killed', () => {
  it('has no results to draw a report from, and the complaint says how to write them', async () => {
    const folder = join(temporary, 'killed');
    mkdirSync(folder);
    writeFileSync(join(folder, 'history.jsonl'), '');
    const ended = await tidemark(['report', folder]);
    expect(ended).toMatchObject({ code: 254, out: '' });
    expect(ended.lines).toEqual([
      `tidemark: ${folder} holds no results.json: write it with: npm run --silent tidemark -- check --json ${folder} > ${folder}/results.json`,
    ]);
  });
});

describe('a copy without its packages', () => {
  it('says what is to be done, and is no anomaly', () => {
    const copy = join(temporary, 'copy');
    mkdirSync(join(copy, 'harness', 'cli'), { recursive: true });
    cpSync('harness/main.mjs', join(copy, 'harness', 'main.mjs'));
    writeFileSync(join(copy, 'harness', 'cli', 'main.ts'), "import 'a-package-that-is-missing';\n");
    const { status, stderr } = spawnSync(process.execPath, [join(copy, 'harness', 'main.mjs')], { encoding: 'utf8' });
    expect(status).toBe(255);
    expect(stderr).toBe("tidemark: Cannot find package 'a-package-that-is-missing': run npm ci\n");
  });
});
