/** The local runtime with stand-ins for brokers: what is proved, what is kept, and that nothing is left. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { statusOf } from '../../../harness/local/proc.ts';
import { deployLocal } from '../../../harness/local/runtime.ts';
import type { Cluster, DeploySpec, NodeName, ProcessPlace, ProcessVerb, TraceLine } from '../../../nemesis/ports.ts';
import { call } from './caller.ts';

const STAND_IN = 'test/harness/local/stand-in.ts';

let directory: string;
let clusters: Cluster[];
let runs = 0;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
  clusters = [];
});

afterEach(async () => {
  for (const cluster of clusters) await cluster.close();
  rmSync(directory, { recursive: true, force: true });
});

function specOf(behaviour: (place: ProcessPlace) => object = () => ({}), brokers = [1, 2]): DeploySpec {
  runs += 1;
  return {
    runId: `test-${process.pid}-${runs}`,
    brokers,
    command: (place) => [STAND_IN, JSON.stringify({ ...place, ...behaviour(place) })],
    directory,
    progress: () => undefined,
    signal: new AbortController().signal,
  };
}

/** Resolves when node 1 has said so many lines in that boot. */
function heard(cluster: Cluster & { readonly lines: TraceLine[] }, boot: number, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (cluster.lines.filter((line) => line.node === 1 && line.boot === boot).length >= count) resolve();
  };
  cluster.subscribe(look);
  look();
  return promise;
}

async function deploy(...options: Parameters<typeof specOf>): Promise<Cluster & { readonly lines: TraceLine[] }> {
  const cluster = await deployLocal(specOf(...options));
  clusters.push(cluster);
  const lines: TraceLine[] = [];
  cluster.subscribe((line) => lines.push(line));
  return Object.assign(cluster, { lines });
}

async function act(cluster: Cluster, verb: ProcessVerb, node: NodeName) {
  return cluster.perform({ port: 'process', verb, node });
}

/** `1→2` for every link that did not answer. */
async function deaf(cluster: Cluster): Promise<string[]> {
  const probes = await cluster.probeLinks(400);
  return probes.filter(({ ok }) => !ok).map(({ from, to }) => `${from}→${to}`);
}

describe('the local runtime', () => {
  it('deploys a process per node, hands on its first lines, and every link answers', async () => {
    const cluster = await deploy();
    expect(cluster.lines.map(({ node, event }) => `${node} ${event}`).sort()).toEqual([
      '1 start',
      '2 start',
      'controller start',
    ]);
    const probes = await cluster.probeLinks(2_000);
    expect(probes.filter(({ ok }) => !ok)).toEqual([]);
    expect(probes).toHaveLength(8);
  });

  it('proves a pause by the state of the process, and a paused node answers nobody', async () => {
    const cluster = await deploy();
    expect(await act(cluster, 'pause', 1)).toMatchObject({ effective: true, facts: { state: 'T' } });
    expect(await deaf(cluster)).toEqual(['controller→1', '2→1', 'clients→1']);
    expect(await act(cluster, 'resume', 1)).toMatchObject({ effective: true });
    expect(await deaf(cluster)).toEqual([]);
  });

  it('kills without losing a line, refuses callers meanwhile, and starts again on the same data', async () => {
    const cluster = await deploy(({ node }) => ({ floods: node === 1 }));
    await heard(cluster, 1, 200);
    const killed = await act(cluster, 'kill', 1);
    expect(killed).toMatchObject({ effective: true, facts: { state: 'gone', end: 'SIGKILL' } });
    const address = cluster.addresses.get(1) ?? { host: '', port: 0 };
    expect(await call(address, 'client-1').ended).toBe('ECONNREFUSED');

    const started = await act(cluster, 'start', 1);
    expect(started.effective).toBe(true);
    expect(started.facts['startTime']).toBeGreaterThan(killed.facts['startTime'] as number);
    await heard(cluster, 2, 200);
    await act(cluster, 'kill', 1);
    await cluster.collect();
    for (const boot of [1, 2]) {
      const seqs = cluster.lines.filter((line) => line.node === 1 && line.boot === boot).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index));
    }
    /* What the process had counted as written before it died has all arrived. */
    const said = Number(readFileSync(join(directory, 'data/1/said'), 'utf8'));
    expect(cluster.lines.filter((line) => line.node === 1 && line.boot === 2).length).toBeGreaterThanOrEqual(said);
    expect(readFileSync(join(directory, 'data/1/boot'), 'utf8')).toBe('2');
  });

  it('kills a paused process', async () => {
    const cluster = await deploy();
    await act(cluster, 'pause', 2);
    expect(await act(cluster, 'kill', 2)).toMatchObject({ effective: true });
  });

  it('marks the data directory at a power loss', async () => {
    const cluster = await deploy();
    expect(await act(cluster, 'power-loss', 2)).toMatchObject({ effective: true });
    await cluster.collect();
    expect(existsSync(join(directory, 'data/2/power-lost'))).toBe(true);
  });

  it('does not take a process that a signal ended for one that stopped in good order', async () => {
    const cluster = await deploy();
    expect(await act(cluster, 'stop', 2)).toMatchObject({
      effective: false,
      facts: { orderly: false, end: 'SIGTERM' },
    });
    expect(await act(cluster, 'start', 2)).toMatchObject({ effective: true });
  });

  it('says that an action on a process that is not there had no effect', async () => {
    const cluster = await deploy();
    await act(cluster, 'kill', 1);
    expect(await act(cluster, 'kill', 1)).toMatchObject({ effective: false });
    expect(await act(cluster, 'pause', 1)).toMatchObject({ effective: false });
    await act(cluster, 'start', 1);
    expect(await act(cluster, 'start', 1)).toMatchObject({ effective: false });
  });

  it('cuts links one by one, counts what they swallowed, and heals them', async () => {
    const cluster = await deploy(undefined, [1, 2, 3]);
    const cuts = [
      { from: 1, to: 2 },
      { from: 3, to: 'clients' },
    ] as const;
    expect(await cluster.perform({ port: 'links', cuts })).toMatchObject({ effective: true, facts: { dropped: {} } });
    expect(await deaf(cluster)).toEqual(['1→2', '2→1', 'clients→3']);
    const partly = await cluster.perform({ port: 'links', cuts: cuts.slice(0, 1) });
    expect(partly.facts['dropped']).toEqual({ '3→clients': 1 });
    const healed = await cluster.perform({ port: 'links', cuts: [] });
    expect((healed.facts['dropped'] as Record<string, number>)['1→2']).toBeGreaterThan(0);
    expect(await deaf(cluster)).toEqual([]);
  });

  it('tells of a process that ends by itself, with its last words', async () => {
    const cluster = await deploy();
    const told = Promise.withResolvers<string>();
    cluster.onUnexpectedExit((node, detail, blame) => told.resolve(`${node}: ${detail} (${blame})`));
    const caller = call(cluster.addresses.get(2) ?? { host: '', port: 0 }, 'client-1');
    caller.send(1, 'end yourself');
    expect(await told.promise).toBe('2: exit code 7: listening (node)');
  });

  it('writes what a node says on standard error into its log, boot after boot', async () => {
    const cluster = await deploy();
    await act(cluster, 'kill', 1);
    await act(cluster, 'start', 1);
    expect(readFileSync(join(directory, 'logs/1.log'), 'utf8')).toBe('listening\nlistening\n');
  });

  it('leaves nothing at its end, not even of a paused process', async () => {
    const spec = specOf();
    const cluster = await deployLocal(spec);
    const { facts } = await act(cluster, 'pause', 1);
    expect(await cluster.close()).toEqual({ residue: [] });
    expect(statusOf(facts['pid'] as number)).toBeNull();
    expect(existsSync(join(tmpdir(), `tidemark-local-${process.getuid?.()}`, spec.runId))).toBe(false);
    expect(await cluster.close()).toEqual({ residue: [] });
  });

  it('fails with one line when a node does not start, and leaves nothing', async () => {
    const spec = specOf(({ node }) => (node === 2 ? { failsWith: 'tidemark broker 2: port in use: 127.0.0.1:9' } : {}));
    await expect(deployLocal(spec)).rejects.toThrow(
      'broker 2 did not start: tidemark broker 2: port in use: 127.0.0.1:9',
    );
    expect(existsSync(join(tmpdir(), `tidemark-local-${process.getuid?.()}`, spec.runId))).toBe(false);
  });

  it('stops deploying when it is aborted', async () => {
    const abort = new AbortController();
    const spec = { ...specOf(), signal: abort.signal };
    const deploying = deployLocal(spec);
    abort.abort(new Error('interrupted'));
    await expect(deploying).rejects.toThrow('interrupted');
    expect(existsSync(join(tmpdir(), `tidemark-local-${process.getuid?.()}`, spec.runId))).toBe(false);
  });

  it('runs twice at once without one disturbing the other', async () => {
    const [first, second] = await Promise.all([deploy(), deploy()]);
    await first.perform({ port: 'links', cuts: [{ from: 1, to: 2 }] });
    await act(first, 'kill', 'controller');
    expect(await deaf(second)).toEqual([]);
    expect(await first.close()).toEqual({ residue: [] });
    expect(await deaf(second)).toEqual([]);
  });
});
