import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiVersionsRequest } from '../../docker/agent/probe.ts';
import type { Engine } from '../../docker/client.ts';
import { connectEngine } from '../../docker/client.ts';
import { deployDocker } from '../../docker/runtime.ts';
import type { Cluster, Cut, LinkProbe } from '../../nemesis/ports.ts';
import { have } from '../require.ts';
import type { Stage } from './cluster.ts';
import { deploy, objectsOf, specOf } from './cluster.ts';

const ownerProgram = fileURLToPath(new URL('owner.ts', import.meta.url));
const timeoutMs = 400;

async function brokenLinks(cluster: Cluster): Promise<string[]> {
  const probes = await cluster.probeLinks(timeoutMs);
  return probes
    .filter((probe) => !probe.ok)
    .map((probe: LinkProbe) => `${probe.from}→${probe.to}`)
    .toSorted();
}

function cut(cluster: Cluster, ...cuts: Cut[]): ReturnType<Cluster['perform']> {
  return cluster.perform({ port: 'links', cuts });
}

describe.skipIf(!have.docker)('a cluster in containers', () => {
  let engine: Engine;
  let stage: Stage;
  beforeAll(async () => {
    engine = await connectEngine();
    stage = await deploy();
  });
  afterAll(async () => {
    await stage?.close();
  });

  it('probes every link, from every pod and from the clients', async () => {
    const probes = await stage.cluster.probeLinks(2_000);
    expect(probes.map((probe) => `${probe.from}→${probe.to}`).toSorted()).toEqual([
      '1→2',
      '1→controller',
      '2→1',
      '2→controller',
      'clients→1',
      'clients→2',
      'controller→1',
      'controller→2',
    ]);
    expect(probes.filter((probe) => !probe.ok)).toEqual([]);
    await stage.heard((line) => line.node === 1 && line['clientId'] === 'probe-2');
    await stage.heard((line) => line.node === 1 && line['clientId'] === 'probe-clients');
  });

  it('gives a node its volume and no privilege', async () => {
    const start = await stage.heard((line) => line.node === 1 && line.event === 'start');
    expect(start).toMatchObject({
      capabilities: '0000000000000000',
      noNewPrivileges: '1',
      rootWritable: false,
    });
    expect(start['user']).not.toBe(0);
  });

  it('stops what goes from one node to another, counts it, and restores the link', async () => {
    expect(await cut(stage.cluster, { from: 1, to: 2 })).toMatchObject({ effective: true, facts: { dropped: {} } });
    // A TCP handshake needs both directions.
    expect(await brokenLinks(stage.cluster)).toEqual(['1→2', '2→1']);
    const healed = await cut(stage.cluster);
    expect(healed.effective).toBe(true);
    const dropped = healed.facts['dropped'] as Record<string, number>;
    expect(Object.keys(dropped)).toEqual(['1→2']);
    expect(dropped['1→2']).toBeGreaterThan(0);
    expect(await brokenLinks(stage.cluster)).toEqual([]);
  });

  it('lets through what goes the other way', async () => {
    const address = stage.cluster.addresses.get(1)!;
    const client = createConnection(address);
    await once(client, 'connect');
    await cut(stage.cluster, { from: 1, to: 'clients' });
    let answered = false;
    client.on('data', () => (answered = true));
    client.write(apiVersionsRequest('one-way'));
    await stage.heard((line) => line.node === 1 && line['clientId'] === 'one-way');
    expect(answered).toBe(false);
    await cut(stage.cluster);
    await once(client, 'data');
    client.destroy();
  });

  it('keeps counting for a cut that stays when others change', async () => {
    await cut(stage.cluster, { from: 1, to: 2 });
    await brokenLinks(stage.cluster);
    const changed = await cut(stage.cluster, { from: 1, to: 2 }, { from: 'controller', to: 2 });
    expect(changed.facts['dropped']).toEqual({});
    const healed = await cut(stage.cluster);
    const dropped = healed.facts['dropped'] as Record<string, number>;
    expect(dropped['1→2']).toBeGreaterThan(0);
    expect(dropped['controller→2']).toBe(0);
  });

  it('keeps address and cuts of a node that is paused, killed and started again', async () => {
    const before = stage.cluster.addresses.get(2);
    await cut(stage.cluster, { from: 'clients', to: 2 });
    const act = (verb: 'pause' | 'resume' | 'kill' | 'start'): ReturnType<Cluster['perform']> =>
      stage.cluster.perform({ port: 'process', verb, node: 2 });
    expect(await act('pause')).toMatchObject({ effective: true, facts: { paused: true } });
    expect(await brokenLinks(stage.cluster)).toEqual(['1→2', 'clients→2', 'controller→2']);
    expect(await act('resume')).toMatchObject({ effective: true, facts: { paused: false, running: true } });
    const killed = await act('kill');
    expect(killed).toMatchObject({ effective: true, facts: { running: false, exitCode: 137 } });
    const started = await act('start');
    expect(started).toMatchObject({ effective: true, facts: { running: true } });
    expect(started.facts['startedAt']).not.toBe(killed.facts['startedAt']);
    await stage.heard((line) => line.node === 2 && line.boot === 2 && line.event === 'listening');
    expect(await brokenLinks(stage.cluster)).toEqual(['clients→2']);
    await cut(stage.cluster);
    expect(await brokenLinks(stage.cluster)).toEqual([]);
    expect(stage.cluster.addresses.get(2)).toEqual(before);
    expect(stage.exits).toEqual([]);
  });

  it('says when a verb had no effect, and why', async () => {
    const again = await stage.cluster.perform({ port: 'process', verb: 'start', node: 1 });
    expect(again).toMatchObject({ effective: false, facts: { running: true, refusal: 'it runs already' } });
    const resumed = await stage.cluster.perform({ port: 'process', verb: 'resume', node: 1 });
    expect(resumed.effective).toBe(false);
    expect(resumed.facts['refusal']).toMatch(/not paused/);
  });

  it('marks the data of a node that lost power, and kills a paused one too', async () => {
    await stage.cluster.perform({ port: 'process', verb: 'pause', node: 1 });
    const lost = await stage.cluster.perform({ port: 'process', verb: 'power-loss', node: 1 });
    expect(lost).toMatchObject({ effective: true, facts: { running: false, marker: 'power-lost' } });
    await stage.cluster.perform({ port: 'process', verb: 'start', node: 1 });
    const start = await stage.heard((line) => line.node === 1 && line.boot === 2 && line.event === 'start');
    expect(start['powerLost']).toBe(true);
    await stage.heard((line) => line.node === 1 && line.boot === 2 && line.event === 'listening');
  });

  it('copies the data of running and of paused nodes, and keeps their logs', async () => {
    await stage.cluster.perform({ port: 'process', verb: 'pause', node: 1 });
    await stage.cluster.collect();
    expect(stage.read('data/1/boot')).toBe('2');
    expect(stage.read('data/controller/boot')).toBe('1');
    expect(stage.read('logs/1.log')).toBe('stand-in 1 starts for the 1. time\nstand-in 1 starts for the 2. time\n');
    await stage.cluster.perform({ port: 'process', verb: 'resume', node: 1 });
  });

  it('lets two clusters live beside each other', async () => {
    const other = await deploy();
    const hosts = (one: Stage): string[] => [...one.cluster.addresses.values()].map((address) => address.host);
    expect(hosts(other).filter((host) => hosts(stage).includes(host))).toEqual([]);
    await cut(other.cluster, { from: 1, to: 2 }, { from: 'clients', to: 1 });
    expect(await brokenLinks(stage.cluster)).toEqual([]);
    expect(await other.close()).toEqual([]);
    expect(await brokenLinks(stage.cluster)).toEqual([]);
  });

  it('leaves nothing behind when it is closed, cut off and paused as it may be', async () => {
    const spec = specOf();
    const last = await deploy(spec);
    await cut(last.cluster, { from: 1, to: 2 });
    await last.cluster.perform({ port: 'process', verb: 'pause', node: 1 });
    expect(await objectsOf(engine, spec.runId)).toHaveLength(9 + 1 + 3);
    expect(await last.close()).toEqual([]);
    expect(await objectsOf(engine, spec.runId)).toEqual([]);
    expect(last.exits).toEqual([]);
  });
});

describe.skipIf(!have.docker)('the trace of a node in a container', () => {
  it('misses no line, however often the node is killed', async () => {
    const stage = await deploy(specOf({ 1: { chatter: true } }, [1]));
    const kills = 8;
    for (let boot = 1; boot <= kills; boot++) {
      const ended = stage.exited(1).then((how) => Promise.reject(new Error(`node 1 ended: ${how}`)));
      await Promise.race([
        ended,
        stage.heard((line) => line.node === 1 && line.boot === boot && line.seq > 200 * boot),
      ]);
      await stage.cluster.perform({ port: 'process', verb: 'kill', node: 1 });
      await stage.cluster.collect();
      const said = Number(stage.read(`data/1/said-${boot}`));
      const heard = stage.lines.filter((line) => line.node === 1 && line.boot === boot).map((line) => line.seq);
      expect(heard).toEqual([...heard.keys()]);
      expect(said).toBeGreaterThan(0);
      expect(heard.length).toBeGreaterThanOrEqual(said);
      await stage.cluster.perform({ port: 'process', verb: 'start', node: 1 });
    }
    expect(stage.read('logs/1.log')).not.toContain('not a trace line');
    expect(await stage.close()).toEqual([]);
  });

  it('is not missed by whoever subscribes late, and an end without an action of ours is told with its cause', async () => {
    const stage = await deploy(specOf({ 1: { exitCode: 7 }, 2: { devour: true } }), ['controller']);
    expect(stage.lines.find((line) => line.node === 'controller')).toMatchObject({ event: 'start', seq: 0 });
    expect(await stage.exited(1)).toBe('exit code 7: giving up');
    expect(await stage.exited(2)).toMatch(/^it ran out of memory \(exit code 137\)/);
    expect(await stage.close()).toEqual([]);
  });
});

describe.skipIf(!have.docker)('a deployment that fails half-way', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await connectEngine();
  });

  it('removes what it had made, says what failed, and leaves what is not its own', async () => {
    const image = (await engine.docker.listImages({ filters: { label: ['tidemark.image'] } }))[0]!;
    const spec = specOf();
    const inTheWay = await engine.docker.createContainer({
      name: `tidemark-${spec.runId}-2-node`,
      Image: image.Id,
      Cmd: ['/bin/node'],
    });
    await expect(deployDocker(spec)).rejects.toThrow(/^the cluster could not be deployed: .*already in use/);
    expect(await objectsOf(engine, spec.runId)).toEqual([]);
    expect((await inTheWay.inspect()).State.Status).toBe('created');
    await inTheWay.remove();
  });

  it('does no harm to a live run of the same name', async () => {
    const spec = specOf();
    const live = await deploy(spec);
    const twin = spawn(process.execPath, [ownerProgram, spec.runId], { stdio: ['ignore', 'ignore', 'pipe'] });
    let complaint = '';
    twin.stderr.on('data', (chunk) => (complaint += String(chunk)));
    await once(twin, 'close');
    expect(complaint).toContain('the cluster could not be deployed');
    expect(await brokenLinks(live.cluster)).toEqual([]);
    expect(await live.close()).toEqual([]);
    expect(await objectsOf(engine, spec.runId)).toEqual([]);
  });

  it('stops when it is interrupted', async () => {
    const interrupt = new AbortController();
    const spec = { ...specOf(), signal: interrupt.signal };
    const events = await engine.docker.getEvents({ filters: { type: ['network'], event: ['create'] } });
    events.once('data', () => interrupt.abort(new Error('interrupted')));
    await expect(deployDocker(spec)).rejects.toThrow('interrupted');
    expect(await objectsOf(engine, spec.runId)).toEqual([]);
    (events as unknown as { destroy(): void }).destroy();
  });

  it('refuses a name that would not be one', async () => {
    await expect(deployDocker({ ...specOf(), runId: 'Two Words' })).rejects.toThrow(
      'a run cannot be named `Two Words`',
    );
  });
});
