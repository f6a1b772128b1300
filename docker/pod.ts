/**
 * A pod: three containers or more with one network namespace.
 *
 * The *holder* does nothing. It owns the namespace and the address, so that both outlive the broker: a container that
 * joined another's network is cut off for good when that one restarts. The *agent* holds NET_ADMIN and shapes the
 * network. The *node* runs the broker or the controller: no capability, a read-only root, no new privileges, bounded
 * memory and processes, and one volume of its own. It can be killed and started again while all else stays. Beside it
 * may stand companions, such as ZooKeeper, made in the same way.
 */
import type { Container, ContainerCreateOptions, HostConfig } from 'dockerode';
import { dirname, relative } from 'node:path';
import type { NodeName } from '../nemesis/ports.ts';
import { watchedDirectory } from './agent/messages.ts';
import type { Agent } from './agent.ts';
import { attachAgent } from './agent.ts';
import { archiveOf } from './archive.ts';
import { bounded } from './bounds.ts';
import type { Engine } from './client.ts';
import type { Image } from './images.ts';
import { agentProgram, inside } from './images.ts';
import { label } from './labels.ts';
import type { RunNetwork } from './network.ts';
import type { ContainerPlan, NodePlan } from './targets/target.ts';

export interface PodPlan {
  readonly runId: string;
  readonly node: NodePlan;
  /** Of holder and agent. */
  readonly image: Image;
  readonly network: RunNetwork;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the agent is to see the node's data. */
  readonly watched: boolean;
  /** Names of all addresses, for programs that look them up: in a pod there is nobody to ask. */
  readonly hosts: Readonly<Record<string, string>>;
}

export interface Pod {
  readonly node: NodeName;
  readonly plan: NodePlan;
  readonly address: string;
  readonly holder: Container;
  readonly agent: Agent;
  /** The container of the broker or the controller. */
  readonly process: Container;
  /** In the order of the plan. */
  readonly companions: readonly Container[];
}

const helperLimits = { memoryMb: 192, pidsMax: 32 };

/** Creates the containers, and puts their files in place. The holder has to be started first: the others join its network. */
export async function createPod(engine: Engine, plan: PodPlan): Promise<Pod> {
  const { node, companions, process } = plan.node;
  const holder = await create(engine, plan, 'holder', {
    Image: plan.image.name,
    Cmd: [inside.node, '--eval', 'setInterval(() => {}, 2 ** 30)'],
    Hostname: `${node}`,
    HostConfig: { ...bounded(helperLimits), NetworkMode: plan.network.name, ...namesOf(plan) },
    NetworkingConfig: { EndpointsConfig: { [plan.network.name]: { IPAMConfig: { IPv4Address: plan.address } } } },
  });
  const joined = { NetworkMode: `container:${holder.id}` };
  // All settle before any failure is told, so that none is created behind the back of the clean-up.
  const made = await Promise.allSettled([
    create(engine, plan, 'agent', {
      Image: plan.image.name,
      Cmd: [inside.node, agentProgram],
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      HostConfig: { ...bounded(helperLimits), ...joined, CapAdd: ['NET_ADMIN'], Mounts: watchedVolume(plan) },
    }),
    ...[process, ...companions].map((each) => createNode(engine, plan, each, joined)),
  ]);
  const failed = made.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  const [agent, ...others] = made.map((result) => (result as PromiseFulfilledResult<Container>).value);
  return {
    node,
    plan: plan.node,
    address: plan.address,
    holder,
    process: others[0]!,
    companions: others.slice(1),
    agent: await attachAgent(agent!, `node ${node}`),
  };
}

async function createNode(engine: Engine, pod: PodPlan, plan: ContainerPlan, joined: HostConfig): Promise<Container> {
  const readOnly = Object.entries(plan.readOnly).map(([target, source]) => {
    return { Type: 'bind' as const, Source: source, Target: target, ReadOnly: true };
  });
  const container = await create(engine, pod, plan.role, {
    Image: plan.image,
    // Whatever the image would start by itself is replaced.
    Entrypoint: plan.command.slice(0, 1),
    Cmd: plan.command.slice(1),
    Env: Object.entries(plan.environment).map(([name, value]) => `${name}=${value}`),
    User: `${plan.user}:${plan.user}`,
    HostConfig: { ...bounded(plan), ...joined, Mounts: [dataVolume(pod, plan), ...readOnly] },
  });
  if (Object.keys(plan.files).length + (plan.folders ?? []).length > 0) await putFiles(container, plan);
  return container;
}

/** Configuration in the data volume; what is put there, and every folder on the way, belongs to the program's user. */
export async function putFiles(container: Container, plan: ContainerPlan): Promise<void> {
  const { files, dataDirectory, user } = plan;
  const inVolume = (path: string): string => `/${relative(dataDirectory, path)}`;
  const paths = Object.entries(files).map(([path, text]) => ({ path: inVolume(path), text }));
  const folders = new Set(['/.']);
  for (const path of [...paths.map((file) => dirname(file.path)), ...(plan.folders ?? []).map(inVolume)]) {
    if (`${path}/`.startsWith('/../')) throw new Error(`a file of the plan lies outside of ${dataDirectory}`);
    for (let folder = path; folder !== '/'; folder = dirname(folder)) folders.add(folder);
  }
  await container.putArchive(
    archiveOf(
      paths.map(({ path, text }) => ({ path, mode: 0o644, content: Buffer.from(text), owner: user })),
      [...folders].toSorted().map((path) => ({ path, mode: 0o755, owner: user })),
    ),
    { path: dataDirectory },
  );
}

function create(engine: Engine, plan: PodPlan, role: string, options: ContainerCreateOptions): Promise<Container> {
  return engine.docker.createContainer({
    name: `${objectName(plan)}-${role}`,
    Labels: { ...plan.labels, [label.node]: `${plan.node.node}`, [label.role]: role },
    AttachStdout: true,
    AttachStderr: true,
    ...options,
  });
}

/** A question about any other name is refused at once, instead of being waited for. */
function namesOf({ hosts }: PodPlan): HostConfig {
  const names = Object.entries(hosts).map(([name, address]) => `${name}:${address}`);
  return names.length === 0 ? {} : { ExtraHosts: names, Dns: ['127.0.0.1'] };
}

type Mounts = NonNullable<HostConfig['Mounts']>;

/** Of the node itself, or of a companion. */
function dataVolume(pod: PodPlan, plan: ContainerPlan): Mounts[number] {
  const role = plan === pod.node.process ? '' : `-${plan.role}`;
  return volume(pod, `${objectName(pod)}${role}-data`, plan.dataDirectory);
}

function watchedVolume(plan: PodPlan): Mounts {
  if (!plan.watched) return [];
  return [{ ...volume(plan, `${objectName(plan)}-data`, watchedDirectory), ReadOnly: true }];
}

function volume(plan: PodPlan, source: string, target: string): Mounts[number] {
  return {
    Type: 'volume',
    Source: source,
    Target: target,
    VolumeOptions: { NoCopy: false, Labels: { ...plan.labels }, DriverConfig: { Name: 'local', Options: {} } },
  };
}

function objectName(plan: PodPlan): string {
  return `tidemark-${plan.runId}-${plan.node.node}`;
}
