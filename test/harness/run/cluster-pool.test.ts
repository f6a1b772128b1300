import { describe, expect, it } from 'vitest';
import type { ForeignCluster, ForeignSpec } from '../../../docker/foreign.ts';
import { poolClusters } from '../../../harness/run/cluster-pool.ts';
import type { ExitListener } from '../../../nemesis/ports.ts';
import { passingTarget } from '../observe/ours-as-foreign.ts';
import { paperCluster } from './paper-cluster.ts';
import { layout } from '../../docker/targets/layout.ts';

/** A pool of clusters on paper, and what was deployed and closed. */
function stage() {
  const deployed: { readonly name: string; breakDown(): void; readonly closed: () => boolean }[] = [];
  const pool = poolClusters((spec) => {
    const exits: ExitListener[] = [];
    const paper = paperCluster([`what ${spec.target.name} left`]);
    deployed.push({
      name: spec.target.name,
      breakDown: () => exits.forEach((listener) => listener(1, 'gone', 'node')),
      closed: paper.closed,
    });
    const cluster: ForeignCluster = {
      ...paper,
      target: spec.target,
      kafkaAddresses: paper.addresses,
      onUnexpectedExit: (listener) => void exits.push(listener),
      onOutput: () => () => {},
      watchSegments: () => Promise.resolve(),
      collectTopic: () => Promise.resolve(),
    };
    return Promise.resolve(cluster);
  });
  let runs = 0;
  const take = (name: string, topic = `tide-${(runs += 1)}`) => pool.take(specOf(name), topic);
  return { pool, deployed, take };
}

function specOf(name: string): ForeignSpec {
  return {
    runId: 'run',
    brokers: [1, 2, 3],
    directory: '/nowhere',
    progress: () => {},
    signal: new AbortController().signal,
    target: { ...passingTarget, name },
    settings: layout.settings,
  };
}

describe('a pool of clusters', () => {
  it('gives a cluster that was left clean to the next run that needs one like it', async () => {
    const { take, deployed } = stage();
    const first = await take('old');
    expect(await first.end(true)).toEqual({ residue: [] });
    expect((await take('new')).cluster).not.toBe(first.cluster);
    expect((await take('old')).cluster).toBe(first.cluster);
    expect(deployed.map(({ name }) => name)).toEqual(['old', 'new']);
  });

  it('never gives one cluster to two runs at once', async () => {
    const { take, deployed } = stage();
    await Promise.all([take('old'), take('old')]);
    expect(deployed).toHaveLength(2);
  });

  it('gives no cluster to a run whose topic it has had already', async () => {
    const { take, deployed } = stage();
    await (await take('old', 'tide-7')).end(true);
    const again = await take('old', 'tide-7');
    expect(deployed).toHaveLength(2);
    await again.end(true);
    await take('old', 'tide-8');
    expect(deployed).toHaveLength(2);
  });

  it('removes what was left unclean, and says what stayed behind', async () => {
    const { take, deployed } = stage();
    expect(await (await take('old')).end(false)).toEqual({ residue: ['what old left'] });
    expect(deployed[0]!.closed()).toBe(true);
    await take('old');
    expect(deployed).toHaveLength(2);
  });

  it('removes one that broke while nobody used it', async () => {
    const { take, deployed } = stage();
    await (await take('old')).end(true);
    deployed[0]!.breakDown();
    await take('old');
    expect(deployed.map(({ closed }) => closed())).toEqual([true, false]);
  });

  it('keeps two at most, and lets one serve eight runs at most', async () => {
    const { take, deployed } = stage();
    for (const name of ['one', 'two', 'three']) await (await take(name)).end(true);
    expect(deployed.map(({ closed }) => closed())).toEqual([true, false, false]);
    for (let round = 2; round <= 8; round += 1) await (await take('three')).end(true);
    expect(deployed.map(({ closed }) => closed())).toEqual([true, false, true]);
  });

  it('removes all that it keeps in the end, and what comes back after it', async () => {
    const { pool, take, deployed } = stage();
    const late = await take('late');
    await (await take('kept')).end(true);
    expect(await pool.release()).toEqual({ residue: ['what kept left'] });
    await late.end(true);
    expect(deployed.map(({ closed }) => closed())).toEqual([true, true]);
  });
});
