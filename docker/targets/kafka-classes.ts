/**
 * Archives of loaded classes: half of what a Kafka of today does in its first seconds, done once per release.
 *
 * Before the first start of a release its nodes are rehearsed: started on a loopback of their own, with nobody to serve,
 * and ended. What Java writes then is kept beside the jars, named by the image whose Java it is for. Java ignores an
 * archive that does not fit, and a rehearsal that fails is noted, costs speed and nothing else.
 */
import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Container } from 'dockerode';
import { unpack } from '../archive.ts';
import { attach, hear, LineSplitter } from '../attach.ts';
import { bounded } from '../bounds.ts';
import type { Engine } from '../client.ts';
import { reason } from '../client.ts';
import { once } from '../image-store.ts';
import type { JavaImage } from '../java-image.ts';
import { runLabels } from '../labels.ts';
import { putFiles } from '../pod.ts';
import type { CachedKafka } from './kafka-cache.ts';
import { archiveSuffix } from './kafka-cache.ts';
import { kafkaInside } from './kafka-settings.ts';
import type { ContainerPlan, Layout, NodePlan } from './target.ts';

const startTimeoutMs = 90_000;
const retryAfterMs = 60 * 60_000;
/** Java writes the archive while it ends. */
const stopTimeoutS = 60;
const started = /\bstarted \(kafka\.server\.Kafka(Raft)?Server\)|binding to port/;

/** The archive for a container of that role, by name in the entry; null if there is none. */
export function classArchive({ directory }: CachedKafka, image: JavaImage, role: string): string | null {
  const name = `${nameOf(image, role)}${archiveSuffix}`;
  return existsSync(join(directory, name)) ? name : null;
}

/** Makes the archives of a release, unless they are there or that failed a short while ago. `nodes` are those of a cluster of just this release. */
export async function ensureClassArchive(
  engine: Engine,
  release: CachedKafka,
  image: JavaImage,
  nodes: (layout: Layout) => readonly NodePlan[],
  progress: (line: string) => void,
): Promise<void> {
  const failed = join(release.directory, `${nameOf(image, 'node')}.failed`);
  if (classArchive(release, image, 'node') !== null || happenedLately(failed)) return;
  await once(failed, async () => {
    progress(`rehearsing the start of kafka:${release.entry.version}, once`);
    try {
      await rehearse(engine, release, image, nodes(loopback));
    } catch (error) {
      progress(`it goes on without an archive of classes: ${reason(error).split('\n')[0]}`);
      note(failed);
    }
  });
}

/** A machine that was too busy then may not be so now. */
function happenedLately(file: string): boolean {
  return existsSync(file) && Date.now() - statSync(file).mtimeMs < retryAfterMs;
}

function note(file: string): void {
  try {
    writeFileSync(file, '');
  } catch {
    // A cache that cannot be written holds no archive either; then the next start rehearses again.
  }
}

/** Everything on one loopback. */
const loopback: Layout = {
  brokers: [1],
  addressOf: () => '127.0.0.1',
  settings: {
    replicationFactor: 1,
    minInsyncReplicas: 1,
    uncleanElection: false,
    replicaLagTimeMaxMs: 3_000,
    brokerSessionTimeoutMs: 10_000,
    heartbeatIntervalMs: 2_000,
    fetchMaxWaitMs: 500,
    highWatermarkCheckpointIntervalMs: 5_000,
  },
};

async function rehearse(
  engine: Engine,
  release: CachedKafka,
  image: JavaImage,
  plans: readonly NodePlan[],
): Promise<void> {
  const [controller, broker] = plans;
  if (controller === undefined || broker === undefined) throw new Error('a cluster has a controller and a broker');
  // Beside ZooKeeper the controller is a broker itself, and there is but one address for both.
  const alone = controller.companions.length > 0;
  const cast = alone ? [...controller.companions, controller.process] : [controller.process, broker.process];
  /** A controller of KRaft is there for its broker, and starts with the broker's archive. */
  const isKept = (plan: ContainerPlan): boolean => alone || plan === broker.process;
  const labels = runLabels(`classes-${basename(image.name).replace(':', '-')}-${process.pid}`);
  const containers: Container[] = [];
  try {
    for (const plan of cast) {
      const first = containers[0];
      const name = 'rehearsal';
      // Some releases look up their own name, which is in no hosts file where there is no network.
      const network =
        first === undefined
          ? { NetworkMode: 'none', ExtraHosts: [`${name}:127.0.0.1`] }
          : { NetworkMode: `container:${first.id}` };
      const container = await engine.docker.createContainer({
        Image: plan.image,
        Entrypoint: plan.command.slice(0, 1),
        Cmd: [
          ...(isKept(plan) ? [`-XX:ArchiveClassesAtExit=${kafkaInside.run}/${plan.role}${archiveSuffix}`] : []),
          ...plan.command.slice(1),
        ],
        Env: Object.entries(plan.environment).map(([name, value]) => `${name}=${value}`),
        User: `${plan.user}:${plan.user}`,
        Labels: labels,
        ...(first === undefined ? { Hostname: name } : {}),
        HostConfig: {
          ...bounded(plan),
          ...network,
          Mounts: [
            { Type: 'volume', Source: '', Target: plan.dataDirectory },
            ...Object.entries(plan.readOnly).map(([Target, Source]) => ({
              Type: 'bind' as const,
              Source,
              Target,
              ReadOnly: true,
            })),
          ],
        },
      });
      containers.push(container);
      await putFiles(container, plan);
      // A controller of KRaft is not done before a broker is.
      await (isKept(plan) ? startAndAwait(container) : container.start());
    }
    for (const [index, plan] of [...cast.entries()].toReversed()) {
      if (!isKept(plan)) continue;
      await containers[index]!.stop({ t: stopTimeoutS });
      await keep(containers[index]!, release, image, plan);
    }
  } finally {
    for (const container of containers.toReversed()) await container.remove({ force: true, v: true });
  }
}

async function startAndAwait(container: Container): Promise<void> {
  const stream = await attach(container, { stdout: true, stderr: true });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let last = 'it said nothing';
  let complained = false;
  const lines = new LineSplitter((line) => {
    // The first complaint says more than what is said at the end.
    if (!complained) last = line;
    complained ||= /\] (ERROR|FATAL) /.test(line);
    if (started.test(line)) resolve();
  });
  hear(stream, (_, bytes) => lines.push(bytes));
  stream.on('error', () => {});
  stream.once('close', () => reject(new Error(`it ended: ${last}`)));
  const late = setTimeout(() => reject(new Error(`it did not start within ${startTimeoutMs} ms`)), startTimeoutMs);
  try {
    await container.start();
    await promise;
  } finally {
    clearTimeout(late);
    stream.destroy();
  }
}

/** Copies the archive out of the container, beside its place first. */
async function keep(container: Container, release: CachedKafka, image: JavaImage, plan: ContainerPlan): Promise<void> {
  const folder = await mkdtemp(join(release.directory, '.archive-'));
  try {
    const name = `${plan.role}${archiveSuffix}`;
    await unpack(await container.getArchive({ path: kafkaInside.run }), folder, (path) => path === name);
    renameSync(join(folder, name), join(release.directory, `${nameOf(image, plan.role)}${archiveSuffix}`));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function nameOf(image: JavaImage, role: string): string {
  return `${role}-${image.name.split(':')[1] ?? ''}`;
}
