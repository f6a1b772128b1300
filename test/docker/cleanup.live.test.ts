import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { collectGarbage } from '../../docker/cleanup.ts';
import type { Engine } from '../../docker/client.ts';
import { connectEngine } from '../../docker/client.ts';
import { ensureImage, inside } from '../../docker/images.ts';
import type { Owner } from '../../docker/labels.ts';
import { label, thisProcess } from '../../docker/labels.ts';
import { have } from '../require.ts';
import { deploy, newRunId, objectsOf, specOf } from './cluster.ts';

const ownerProgram = fileURLToPath(new URL('owner.ts', import.meta.url));

/** Reapers of a run that are alive, as the system lists its processes. */
function reapersOf(runId: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine)
    .filter((command) => command.includes('reaper-main.ts') && command.includes(runId));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

describe.skipIf(!have.docker)('what a run leaves', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await connectEngine();
  });

  it('is removed by its reaper when its owner is killed, and the reaper goes too; another run is not disturbed', async () => {
    const beside = await deploy();
    const runId = newRunId();
    const owner = spawn(process.execPath, [ownerProgram, runId], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(owner.stdout, 'data');
    expect(await objectsOf(engine, runId)).toHaveLength(13);
    expect(reapersOf(runId)).toHaveLength(1);
    owner.kill('SIGKILL');
    await expect.poll(() => objectsOf(engine, runId), { timeout: 20_000 }).toEqual([]);
    await expect.poll(() => reapersOf(runId), { timeout: 20_000 }).toEqual([]);
    expect((await beside.cluster.probeLinks(2_000)).filter((probe) => !probe.ok)).toEqual([]);
    expect(await beside.close()).toEqual([]);
  });

  it('is nobody else’s to remove while the owner lives, and its reaper goes with the last of it', async () => {
    const spec = specOf();
    const stage = await deploy(spec);
    const { removed } = await collectGarbage({ engine });
    expect(removed.filter((name) => name.includes(spec.runId))).toEqual([]);
    expect((await stage.cluster.probeLinks(2_000)).filter((probe) => !probe.ok)).toEqual([]);
    expect(await stage.close()).toEqual([]);
    await expect.poll(() => reapersOf(spec.runId), { timeout: 20_000 }).toEqual([]);
  });

  it('is collected when its owner is dead, and only then', async () => {
    const image = await ensureImage(engine, [], () => {});
    const self = thisProcess();
    const owners: Record<string, Partial<Owner> | null> = {
      dead: { startTicks: '1' },
      rebooted: { bootId: 'an earlier one' },
      alive: {},
      elsewhere: { machine: 'another one', startTicks: '1' },
      contained: { pidNamespace: 'pid:[1]', startTicks: '1' },
      foreign: null,
    };
    const names = new Map<string, string>();
    for (const [kind, change] of Object.entries(owners)) {
      const name = `${newRunId()}-${kind}`;
      names.set(kind, name);
      const labels = change && { [label.run]: name, [label.owner]: JSON.stringify({ ...self, ...change }) };
      await plant(name, image.name, labels ?? { 'somebody.else': 'yes' });
    }
    const { removed } = await collectGarbage({ engine });
    const dead = [names.get('dead'), names.get('rebooted')];
    expect(removed.toSorted()).toEqual(
      dead.flatMap((name) => [`container ${name}`, `network ${name}`, `volume ${name}`]).toSorted(),
    );
    for (const [kind, name] of names) {
      const left = await planted(name);
      expect([kind, left]).toEqual([kind, dead.includes(name) ? 0 : 3]);
    }
    for (const name of names.values()) await uproot(name);
  });

  async function plant(name: string, image: string, labels: Record<string, string>): Promise<void> {
    await engine.docker.createNetwork({ Name: name, Internal: true, Labels: labels });
    await engine.docker.createVolume({ Name: name, Labels: labels });
    const container = await engine.docker.createContainer({
      name,
      Image: image,
      Cmd: [inside.node, '--eval', 'setInterval(() => {}, 1000)'],
      Labels: labels,
      HostConfig: { NetworkMode: name, Binds: [`${name}:/data`] },
    });
    await container.start();
  }

  async function planted(name: string): Promise<number> {
    const found = await Promise.allSettled([
      engine.docker.getContainer(name).inspect(),
      engine.docker.getNetwork(name).inspect(),
      engine.docker.getVolume(name).inspect(),
    ]);
    return found.filter((result) => result.status === 'fulfilled').length;
  }

  async function uproot(name: string): Promise<void> {
    const gone = (): void => {};
    await engine.docker.getContainer(name).remove({ force: true }).catch(gone);
    await engine.docker.getNetwork(name).remove().catch(gone);
    await engine.docker.getVolume(name).remove().catch(gone);
  }
});
