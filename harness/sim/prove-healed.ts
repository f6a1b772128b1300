/**
 * The proof that everything healed, in the kernel: a fresh round trip on every link, until each has answered or the time
 * is up.
 *
 * A probe sets out from the place of a node, on a connection of its own, whatever the node's process does.
 */
import type { LinkProbe, NodeName } from '../../nemesis/ports.ts';
import { probePauseMs, probeTimeoutMs } from '../plan/patience.ts';
import { addressOf } from './cluster.ts';
import type { SimCluster } from './cluster.ts';
import { ask } from './sim-requests.ts';

const NS_PER_MS = 1e6;

/**
 * Lets time pass until every link has answered, for at most `timeoutMs`. Answers with the links that did not. Nodes that
 * ended by a fault of their own are left out while they are down.
 */
export function proveHealed(
  cluster: SimCluster,
  hasCrashed: (node: NodeName) => boolean,
  timeoutMs: number,
): readonly LinkProbe[] {
  const { kernel } = cluster;
  const deadlineNs = kernel.nowNs + timeoutMs * NS_PER_MS;
  for (;;) {
    const isThere = (node: NodeName): boolean => !hasCrashed(node) || kernel.node(node).running;
    const failed = probeLinks(cluster, isThere).filter((probe) => !probe.ok);
    if (failed.length === 0 || kernel.nowNs > deadlineNs) return failed;
    kernel.runFor(probePauseMs * NS_PER_MS);
  }
}

function probeLinks(cluster: SimCluster, isThere: (node: NodeName) => boolean): LinkProbe[] {
  const { kernel } = cluster;
  const nodes = (['controller', ...cluster.brokers] as const).filter(isThere);
  const links = [...nodes, 'clients' as const].flatMap((from) => nodes.map((to) => ({ from, to })));
  const probed = links.filter(({ from, to }) => from !== to && !(from === 'clients' && to === 'controller'));
  const probes: LinkProbe[] = [];
  for (const { from, to } of probed) {
    const { host, port } = addressOf(to);
    const question = {
      from: `probe-${from}`,
      place: kernel.placeOf(from),
      address: `${host}:${port}`,
      api: 'ApiVersions' as const,
      version: 0,
      body: { clientSoftwareName: '', clientSoftwareVersion: '' },
      timeoutMs: probeTimeoutMs,
    };
    ask(kernel, question, (answer) => {
      probes.push({
        from,
        to,
        ...(answer.failure === undefined ? { ok: true } : { ok: false, error: answer.failure }),
      });
    });
  }
  kernel.runUntil(() => probes.length === probed.length, Infinity);
  return probes;
}
