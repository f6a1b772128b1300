/**
 * The image of all containers of a pod, assembled from what this machine has: nothing is pulled, nothing is built.
 *
 * Two layers, since one changes with every edit and the other with every Node. The lower one is the Node binary that
 * runs this very process, `nft`, their shared libraries and their loader. The upper one is the program: the broker's
 * sources, the agent's, and pino with what it needs. An image is named by a hash of its content, so a present one is
 * always the right one; equal runs share it. It stays on the machine when a run ends, with a label by which it can be
 * pruned.
 */
import { existsSync } from 'node:fs';
import { readFile, readdir, realpath } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WarmUp } from './agent/warm-up.ts';
import { archiveOf } from './archive.ts';
import { limited } from './bounds.ts';
import type { Engine } from './client.ts';
import { findTool, sharedLibraries } from './host.ts';
import type { Layer } from './image-store.ts';
import { hashOf, imageLabel, importLayer, isPresent, layer, once } from './image-store.ts';
import { runLabels } from './labels.ts';

/** Where things are inside of the containers. */
export const inside = {
  node: '/bin/node',
  nft: '/bin/nft',
  program: '/tidemark',
  data: '/data',
  /** Where Node keeps compiled code. */
  cache: '/tidemark/node_modules/.cache/compile',
} as const;

/** Below {@link inside.program}. */
export const agentProgram = 'docker/agent/main.ts';

/** The user that brokers run as: nobody that the host knows. */
export const brokerUser = 65_532;

const nodeRepository = 'tidemark-node';
const programRepository = 'tidemark';

export interface Image {
  /** As `repository:tag`. */
  readonly name: string;
}

const project = fileURLToPath(new URL('..', import.meta.url));

/**
 * The image for these programs (files of the project, named relative to it), assembled now if the engine does not
 * have it. Programs outside of `broker/` are added as the single files that they are.
 */
export async function ensureImage(
  engine: Engine,
  programs: readonly string[],
  progress: (line: string) => void,
): Promise<Image> {
  const [lower, upper] = await Promise.all([nodeLayer(), programLayer(programs)]);
  const env = environment(lower);
  const warmUp = warmUps(programs);
  const name = `${programRepository}:${hashOf([lower.hash, upper.hash, env, warmUp])}`;
  const assemble = async (): Promise<void> => {
    progress('building the image');
    const nodeImage = `${nodeRepository}:${lower.hash}`;
    if (!(await isPresent(engine, nodeImage)))
      await importLayer(engine, nodeImage, lower, [`LABEL ${imageLabel}=node`]);
    await commitLayer(engine, nodeImage, name, upper, env, warmUp);
  };
  if (!(await isPresent(engine, name))) await once(name, assemble);
  return { name };
}

let nodeLayerOfThisProcess: Promise<Layer> | undefined;

/** Read and hashed once per process: a comparison deploys many clusters, and the binary is large. */
function nodeLayer(): Promise<Layer> {
  return (nodeLayerOfThisProcess ??= readNodeLayer());
}

async function readNodeLayer(): Promise<Layer> {
  const nft = findTool('nft');
  if (nft === null) throw new Error('no `nft` on this machine (package nftables)');
  const libraries = new Set((await Promise.all([sharedLibraries(process.execPath), sharedLibraries(nft)])).flat());
  const sources: [string, string][] = [
    [inside.node, process.execPath],
    [inside.nft, nft],
    ...[...libraries].toSorted().map((path): [string, string] => [path, path]),
  ];
  const files = sources.map(async ([path, source]) => ({
    path,
    mode: 0o755,
    content: await readFile(await realpath(source)),
  }));
  return layer(await Promise.all(files), [
    { path: inside.data, mode: 0o750, owner: brokerUser },
    { path: '/tmp', mode: 0o1777, owner: 0 },
  ]);
}

function environment(lower: Layer): string[] {
  const folders = new Set(lower.files.map((file) => dirname(file.path)));
  return [`LD_LIBRARY_PATH=${[...folders].join(':')}`, `NODE_COMPILE_CACHE=${inside.cache}`];
}

function warmUps(programs: readonly string[]): WarmUp[] {
  const nodes = [...new Set(programs)].map((program) => ({ program, user: brokerUser }));
  return [...nodes, { program: agentProgram, user: 0 }];
}

async function programLayer(programs: readonly string[]): Promise<Layer> {
  const wanted = new Map<string, string>();
  for (const folder of ['broker', 'docker/agent']) {
    for (const path of await sourcesBelow(join(project, folder))) wanted.set(path, join(project, path));
  }
  for (const program of programs) wanted.set(program, join(project, program));
  for (const [path, source] of await packageFiles('pino')) wanted.set(path, source);
  const files = [...wanted]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(async ([path, source]) => ({
      path: join(inside.program, path),
      mode: 0o644,
      content: await readFile(source),
    }));
  const manifest = {
    path: join(inside.program, 'package.json'),
    mode: 0o644,
    content: Buffer.from('{"type":"module"}\n'),
  };
  return layer([...(await Promise.all(files)), manifest], [{ path: inside.cache, mode: 0o1777, owner: 0 }]);
}

/** TypeScript sources below a folder, relative to the project. */
async function sourcesBelow(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
  return files.map((entry) => join(entry.parentPath, entry.name).slice(resolve(project).length + 1));
}

/** The code of an installed package and of all packages that it needs: path relative to the project → file. */
async function packageFiles(name: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const seen = new Set<string>();
  const visit = async (dependency: string, from: string): Promise<void> => {
    const folder = packageFolder(dependency, from);
    if (seen.has(folder)) return;
    seen.add(folder);
    for (const path of await codeBelow(folder)) found.set(path.slice(resolve(project).length + 1), path);
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    for (const next of Object.keys(manifest.dependencies ?? {})) await visit(next, folder);
  };
  await visit(name, project);
  return found;
}

/** As Node looks for it: in the `node_modules` of every folder upwards. */
function packageFolder(name: string, from: string): string {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (folder === dirname(folder)) throw new Error(`the package ${name} is not installed: run npm ci`);
  }
}

const codeEndings = new Set(['.js', '.cjs', '.mjs', '.json']);
const notCode = new Set(['node_modules', 'test', 'tests', 'docs', 'benchmarks', 'examples', '.github']);

async function codeBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !notCode.has(entry.name)) files.push(...(await codeBelow(path)));
    if (entry.isFile() && codeEndings.has(extname(entry.name))) files.push(path);
  }
  return files;
}

/** Its programs run side by side, a dozen threads each. */
const assemblyLimits = { memoryMb: 512, pidsMax: 128 };

/**
 * A container of the lower image, the files put into it, its programs run once, its state kept as an image: so no
 * builder is needed.
 */
async function commitLayer(
  engine: Engine,
  from: string,
  image: string,
  content: Layer,
  env: readonly string[],
  warmUp: readonly WarmUp[],
): Promise<void> {
  const [repo, tag] = image.split(':');
  const labels = runLabels(`image-${tag}-${process.pid}`);
  const container = await engine.docker.createContainer({
    Image: from,
    Cmd: [inside.node, 'docker/agent/warm-up.ts', JSON.stringify(warmUp)],
    Env: [...env],
    WorkingDir: inside.program,
    Labels: labels,
    NetworkDisabled: true,
    HostConfig: limited(assemblyLimits),
  });
  try {
    await container.putArchive(archiveOf(content.files, content.directories), { path: '/' });
    await container.start();
    await container.wait();
    await container.commit({
      _query: { container: container.id, repo, tag, pause: false },
      _body: {
        Cmd: [inside.node],
        Env: env,
        WorkingDir: inside.program,
        // The engine adds the container's labels that are not named here; those of a run must not stay on an image,
        // where every container of anybody would inherit them.
        Labels: { ...Object.fromEntries(Object.keys(labels).map((name) => [name, ''])), [imageLabel]: 'program' },
      },
    });
  } finally {
    await container.remove({ force: true });
  }
}
