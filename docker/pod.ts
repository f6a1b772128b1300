/**
 * A pod: three containers with one network namespace.
 *
 * The *holder* does nothing. It owns the namespace and the address, so that both outlive the broker: a container that
 * joined another's network is cut off for good when that one restarts. The *agent* holds NET_ADMIN and shapes the
 * network. The *node* runs the broker or the controller: no capability, a read-only root, no new privileges, bounded
 * memory and processes, and one volume of its own. It can be killed and started again while all else stays.
 */
import type { Container, ContainerCreateOptions, HostConfig } from 'dockerode';
import type { NodeName } from '../nemesis/ports.ts';
import type { Agent } from './agent.ts';
import { attachAgent } from './agent.ts';
import type { Engine } from './client.ts';
import type { Image } from './images.ts';
import { agentProgram, brokerUser, inside } from './images.ts';
import { label } from './labels.ts';
import type { RunNetwork } from './network.ts';

export interface PodPlan {
  readonly runId: string;
  readonly node: NodeName;
  readonly image: Image;
  readonly network: RunNetwork;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The program inside of the image and its arguments. */
  readonly command: readonly string[];
}

export interface Pod {
  readonly node: NodeName;
  readonly address: string;
  readonly holder: Container;
  readonly agent: Agent;
  /** The container of the broker or the controller. */
  readonly process: Container;
}

const megabyte = 1 << 20;
const limits = {
  node: { memory: 512 * megabyte, pids: 64 },
  helper: { memory: 192 * megabyte, pids: 32 },
};

/** Creates the three containers. The holder has to be started first: the others join its network. */
export async function createPod(engine: Engine, plan: PodPlan): Promise<Pod> {
  const holder = await create(engine, plan, 'holder', {
    Cmd: [inside.node, '--eval', 'setInterval(() => {}, 2 ** 30)'],
    Hostname: `${plan.node}`,
    HostConfig: { ...bounded(limits.helper), NetworkMode: plan.network.name },
    NetworkingConfig: { EndpointsConfig: { [plan.network.name]: { IPAMConfig: { IPv4Address: plan.address } } } },
  });
  const joined = { NetworkMode: `container:${holder.id}` };
  const [agent, process] = await Promise.all([
    create(engine, plan, 'agent', {
      Cmd: [inside.node, agentProgram],
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      HostConfig: { ...bounded(limits.helper), ...joined, CapAdd: ['NET_ADMIN'] },
    }),
    create(engine, plan, 'node', {
      Cmd: [inside.node, ...plan.command],
      User: `${brokerUser}:${brokerUser}`,
      HostConfig: { ...bounded(limits.node), ...joined, Mounts: [dataVolume(plan)] },
    }),
  ]);
  return {
    node: plan.node,
    address: plan.address,
    holder,
    process,
    agent: await attachAgent(agent, `node ${plan.node}`),
  };
}

function create(engine: Engine, plan: PodPlan, role: string, options: ContainerCreateOptions): Promise<Container> {
  return engine.docker.createContainer({
    name: `${objectName(plan.runId, plan.node)}-${role}`,
    Image: plan.image.name,
    Labels: { ...plan.labels, [label.node]: `${plan.node}`, [label.role]: role },
    AttachStdout: true,
    AttachStderr: true,
    ...options,
  });
}

/** What all containers of a pod have in common. Nobody reads the engine's own log of them: the streams are attached. */
function bounded(limit: { readonly memory: number; readonly pids: number }): HostConfig {
  return {
    Memory: limit.memory,
    MemorySwap: limit.memory,
    PidsLimit: limit.pids,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    ReadonlyRootfs: true,
    LogConfig: { Type: 'none', Config: {} },
    RestartPolicy: { Name: 'no' },
  };
}

function dataVolume(plan: PodPlan): NonNullable<HostConfig['Mounts']>[number] {
  return {
    Type: 'volume',
    Source: `${objectName(plan.runId, plan.node)}-data`,
    Target: inside.data,
    VolumeOptions: { NoCopy: false, Labels: { ...plan.labels }, DriverConfig: { Name: 'local', Options: {} } },
  };
}

function objectName(runId: string, node: NodeName): string {
  return `tidemark-${runId}-${node}`;
}
