/**
 * Removing what a run created, whoever is left to do it: the run itself, its reaper, or a later `gc`.
 *
 * Objects are found by their labels, never by a list that somebody kept, so that what was created in the last moment
 * before a kill is found as well. Containers go first, then the network and the volumes that they held.
 *
 * Invariant: only objects with our labels; for `gc` only those of owners that are certainly dead.
 */
import type { Engine } from './client.ts';
import { connectEngine, isStatus, reason } from './client.ts';
import { label, ownerState, parseOwner } from './labels.ts';

type ObjectKind = 'container' | 'network' | 'volume';

interface Found {
  readonly kind: ObjectKind;
  readonly id: string;
  /** How a person would name it. */
  readonly name: string;
  readonly run: string;
  /** As the label names it. */
  readonly owner: string | undefined;
}

export interface GarbageOptions {
  readonly engine?: Engine;
}

/** Removes the objects of runs whose owner is dead, and names them. Runs that live, or may live, are not touched. */
export async function collectGarbage(options: GarbageOptions = {}): Promise<{ removed: string[] }> {
  const engine = options.engine ?? (await connectEngine());
  const dead = (await findObjects(engine)).filter(isDead);
  await removeAll(engine, dead);
  const left = new Set((await findObjects(engine)).map((object) => object.id));
  return { removed: dead.filter((object) => !left.has(object.id)).map(describe) };
}

/**
 * Removes everything that `owner` created for a run, and names what is left of it all the same. Somebody else's run may
 * have the same name by mistake; nothing of it is touched. Rejects only if the engine fails.
 */
export async function removeRun(engine: Engine, runId: string, owner: string): Promise<string[]> {
  const ours = async (): Promise<Found[]> =>
    (await findObjects(engine, runId)).filter((object) => object.owner === owner);
  const problems = await removeAll(engine, await ours());
  const left = await ours();
  return left.map((object) => `${describe(object)}${problems.get(object.id) ?? ''}`);
}

async function findObjects(engine: Engine, runId?: string): Promise<Found[]> {
  const filters = { label: [runId === undefined ? label.run : `${label.run}=${runId}`] };
  const [containers, networks, volumes] = await Promise.all([
    engine.docker.listContainers({ all: true, filters }),
    engine.docker.listNetworks({ filters }),
    engine.docker.listVolumes({ filters }),
  ]);
  const all = [
    ...containers.map((one) => found('container', one.Id, one.Names[0]?.slice(1) ?? one.Id, one.Labels)),
    ...networks.map((one) => found('network', one.Id, one.Name, one.Labels ?? {})),
    ...(volumes.Volumes ?? []).map((one) => found('volume', one.Name, one.Name, one.Labels ?? {})),
  ];
  // A container that somebody else made of our image has the label too, but it is empty.
  return all.filter((object) => object.run !== '');
}

function found(kind: ObjectKind, id: string, name: string, labels: Readonly<Record<string, string>>): Found {
  return { kind, id, name, run: labels[label.run] ?? '', owner: labels[label.owner] };
}

/** What went wrong, by object. */
async function removeAll(engine: Engine, objects: readonly Found[]): Promise<Map<string, string>> {
  const problems = new Map<string, string>();
  const removeKind = (kind: ObjectKind): Promise<unknown> =>
    Promise.all(
      objects
        .filter((object) => object.kind === kind)
        .map((object) =>
          remove(engine, object).catch((error: unknown) => {
            // Gone already, or somebody else is removing it right now.
            if (!isStatus(error, 404) && !/already in progress/.test(reason(error))) {
              problems.set(object.id, `: ${reason(error)}`);
            }
          }),
        ),
    );
  await removeKind('container');
  await Promise.all([removeKind('network'), removeKind('volume')]);
  return problems;
}

function remove(engine: Engine, object: Found): Promise<unknown> {
  switch (object.kind) {
    case 'container':
      return engine.docker.getContainer(object.id).remove({ force: true, v: true });
    case 'network':
      return engine.docker.getNetwork(object.id).remove();
    case 'volume':
      return engine.docker.getVolume(object.id).remove();
  }
}

function isDead(object: Found): boolean {
  const owner = parseOwner(object.owner);
  return owner !== null && ownerState(owner) === 'dead';
}

function describe(object: Found): string {
  return `${object.kind} ${object.name}`;
}
