/**
 * The reasons for which pods cannot be run, each made for real: a socket that nobody may open, one that nobody listens
 * to, an engine behind a wall of namespaces.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectEngine, socketPath } from '../../docker/client.ts';
import type { EngineProbe } from '../../docker/engine.ts';
import { probeEngine } from '../../docker/engine.ts';
import { ensureImage, inside } from '../../docker/images.ts';
import { have } from '../require.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const program = fileURLToPath(new URL('probe-program.ts', import.meta.url));

let directory: string;
let server: Server | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'engine-test-'));
  chmodSync(directory, 0o755);
});
afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(directory, { recursive: true });
});

/** A socket whose listener hears everything and answers nothing. */
async function silentSocket(): Promise<string> {
  const path = join(directory, 'docker.sock');
  server = createServer((socket) => socket.resume()).listen(path);
  await once(server, 'listening');
  return path;
}

function problemOf(probe: EngineProbe): string {
  return probe.ok ? 'none' : `${probe.problem}: ${probe.line}`;
}

/** The probe in a process of its own, so that it can be somebody else, somewhere else. */
async function probeElsewhere(command: readonly string[], options: { uid?: number } = {}): Promise<EngineProbe> {
  const child = spawn(command[0]!, command.slice(1), {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  await once(child, 'close');
  return JSON.parse(printed) as EngineProbe;
}

describe('an engine that is not there', () => {
  it('has no socket', async () => {
    const probe = await probeEngine({ dockerHost: `unix://${directory}/docker.sock` });
    expect(problemOf(probe)).toBe(`no-socket: no Docker engine here: there is no socket ${directory}/docker.sock`);
  });

  it('has left its socket behind', async () => {
    const path = join(directory, 'docker.sock');
    // A process that is killed does not remove its socket.
    const listen = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['--eval', listen, path]), 'close');
    const probe = await probeEngine({ dockerHost: `unix://${path}` });
    expect(problemOf(probe)).toBe(`no-answer: a Docker socket is left at ${path}, but no engine listens on it`);
  });

  it('does not answer', async () => {
    const probe = await probeEngine({ dockerHost: `unix://${await silentSocket()}`, timeoutMs: 100 });
    expect(problemOf(probe)).toBe('no-answer: the Docker engine does not answer: nothing within 100 ms');
  });

  it.skipIf(process.getuid?.() !== 0)('may not be spoken to by this user', async () => {
    const path = await silentSocket();
    chmodSync(path, 0o600);
    const probe = await probeElsewhere([process.execPath, program, `unix://${path}`], { uid: 65_534 });
    expect(problemOf(probe)).toBe(
      `socket-denied: there is a Docker engine, but this user may not open its socket ${path} (join the group docker, or use sudo)`,
    );
  });
});

describe.skipIf(!have.docker)('an engine that answers', () => {
  it('is good enough', async () => {
    const probe = await probeEngine();
    expect(problemOf(probe)).toBe('none');
  });

  it('leaves nothing of the probe', async () => {
    const engine = await connectEngine();
    const before = (await engine.docker.listNetworks()).length;
    await probeEngine();
    expect(await engine.docker.listNetworks()).toHaveLength(before);
  });

  it('is of no use without nft', async () => {
    const probe = await probeEngine({ find: () => null });
    expect(problemOf(probe)).toMatch(/^no-nft: no `nft` on this machine/);
  });

  it.skipIf(process.getuid?.() !== 0)('is of no use from another network', async () => {
    const dockerHost = `unix://${socketPath()}`;
    // A network without any address takes every address for its own, so it needs one.
    const script = 'ip link set lo up && exec "$@"';
    const command = ['unshare', '--net', 'sh', '-c', script, 'sh', process.execPath, program, dockerHost];
    const probe = await probeElsewhere(command);
    expect(problemOf(probe)).toMatch(/^unreachable: addresses of containers cannot be reached from here/);
  });

  it('is of no use from inside of one of its containers', async () => {
    const engine = await connectEngine();
    const image = await ensureImage(engine, [], () => {});
    const container = await engine.docker.createContainer({
      Image: image.name,
      Cmd: [inside.node, program, 'unix:///engine.sock'],
      AttachStdout: true,
      Tty: true,
      NetworkDisabled: true,
      HostConfig: { Binds: [`${project}:${project}:ro`, `${socketPath()}:/engine.sock`] },
    });
    const output = await container.attach({ stream: true, stdout: true, stderr: true });
    let printed = '';
    output.on('data', (chunk) => (printed += String(chunk)));
    await container.start();
    await once(output, 'end');
    await container.remove({ force: true });
    expect(problemOf(JSON.parse(printed) as EngineProbe)).toBe(
      'inside-container: this process itself runs inside of a container of the Docker engine',
    );
  });
});
