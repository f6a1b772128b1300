/**
 * The image in which brokers run that are written for the JVM: a Java runtime and what it needs, nothing else.
 *
 * One image serves every release, since jars come as a mount. Where the machine has a JDK, `jlink` makes a runtime of
 * the modules that Kafka uses, and of nothing that draws; else the runtime that `java` belongs to is copied as it is.
 * Around it stand the loader, the shared libraries and three files that tell who is who. It is named by the runtime that
 * it was made of, and stays on the machine.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ArchiveFile } from './archive.ts';
import type { Engine } from './client.ts';
import { findTool, runTool, sharedLibrariesOfAll } from './host.ts';
import { hashOf, imageLabel, importLayer, isPresent, once } from './image-store.ts';
import { brokerUser, inside } from './images.ts';
import { kafkaCache } from './targets/kafka-cache.ts';

/** Inside of the image. */
export const insideJava = { home: '/java', java: '/java/bin/java' } as const;

export interface JavaImage {
  /** As `repository:tag`; another runtime has another name, so what depends on the runtime may go by it. */
  readonly name: string;
}

const repository = 'tidemark-java';
/** To be raised when the image is made in another way. */
const recipe = 3;
const linkTimeoutMs = 5 * 60_000;

const modules = [
  'java.base',
  'java.logging',
  'java.management',
  'java.naming',
  'java.net.http',
  'java.rmi',
  'java.security.jgss',
  // Of the desktop for java.beans alone: its native libraries are left out.
  'java.security.sasl',
  'java.sql',
  'java.xml',
  'java.desktop',
  'jdk.unsupported',
  'jdk.management',
  'jdk.management.agent',
  'jdk.net',
  'jdk.crypto.ec',
  'jdk.jfr',
  'jdk.zipfs',
];

const leftOut =
  /^(legal|man|include|docs|demo|jmods|src\.zip|lib\/src\.zip|lib\/ct\.sym)(\/|$)|^lib\/(lib(awt|fontmanager|freetype|javajpeg|jawt|jsound|lcms|mlib|splash)\w*\.so|psfont)/;

/** A Java of this machine, as far as an image can be made of it. */
export interface JavaHome {
  readonly home: string;
  /** What `release` says of it. */
  readonly release: string;
  /** Whether it can link a smaller one. */
  readonly links: boolean;
}

/** The runtime that `JAVA_HOME` names or `java` belongs to; a line with the remedy where there is none. */
export async function findJava(
  environment: NodeJS.ProcessEnv = process.env,
  find: (tool: string) => string | null = findTool,
): Promise<JavaHome> {
  const named = environment['JAVA_HOME'];
  const java = named !== undefined && existsSync(join(named, 'bin/java')) ? join(named, 'bin/java') : find('java');
  if (java === null) {
    throw new Error(
      'Kafka needs Java, and there is none on this machine: install a JDK (package openjdk-17-jdk-headless)',
    );
  }
  const home = dirname(dirname(await realpath(java)));
  if (!existsSync(join(home, 'lib/modules'))) {
    throw new Error(
      `${java} belongs to no runtime that can be copied (Java 11 or later): install a JDK (package openjdk-17-jdk-headless)`,
    );
  }
  const release = existsSync(join(home, 'release')) ? readFileSync(join(home, 'release'), 'utf8') : home;
  return { home, release, links: existsSync(join(home, 'bin/jlink')) && existsSync(join(home, 'jmods')) };
}

/** The image of this machine's Java, assembled now if the engine does not have it. */
export async function ensureJavaImage(engine: Engine, progress: (line: string) => void): Promise<JavaImage> {
  const java = await findJava();
  const key = hashOf([recipe, java.release, java.links, modules, `${leftOut}`]);
  const name = `${repository}:${key}`;
  const assemble = async (): Promise<void> => {
    progress('building the Java image');
    await importRuntime(engine, name, java.links ? await linkedRuntime(java, key) : java.home);
  };
  if (!(await isPresent(engine, name))) await once(name, assemble);
  return { name };
}

/**
 * The linked runtime, in the cache of what was fetched: every engine is to get the very same one, since Java takes an
 * archive of a program's classes only together with the archive of its own classes that it was made on.
 */
async function linkedRuntime(java: JavaHome, key: string): Promise<string> {
  const cache = join(dirname(kafkaCache()), 'java');
  const place = join(cache, key);
  if (existsSync(place)) return place;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, '.linking-'));
  const home = join(folder, 'java');
  try {
    const slim = ['--strip-java-debug-attributes', '--no-header-files', '--no-man-pages'];
    const from = ['--module-path', join(java.home, 'jmods'), '--add-modules', modules.join(',')];
    await run(join(java.home, 'bin/jlink'), [...from, ...slim, '--output', home]);
    await run(join(home, 'bin/java'), ['-Xshare:dump']);
    try {
      await rename(home, place);
    } catch (error) {
      // Somebody else was quicker.
      if (!existsSync(place)) throw error;
    }
    return place;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const { failed, output } = await runTool(program, args, { timeoutMs: linkTimeoutMs });
  if (failed) throw new Error(`${program} failed: ${output.trim().split('\n').at(-1) ?? 'it said nothing'}`);
}

async function importRuntime(engine: Engine, name: string, home: string): Promise<void> {
  const paths = await filesBelow(home);
  const binaries = paths.filter((path) => path.endsWith('.so') || path === 'bin/java').map((path) => join(home, path));
  const outside = (await sharedLibrariesOfAll(binaries)).filter((path) => !path.startsWith(home));
  const runtime = paths.map((path) => file(join(insideJava.home, path), join(home, path)));
  const libraries = await Promise.all(outside.map(async (path) => file(path, await realpath(path), 0o755)));
  const folders = [...new Set(outside.map((path) => dirname(path)))];
  await importLayer(
    engine,
    name,
    {
      files: [...runtime, ...libraries, ...whoIsWho()],
      directories: [
        { path: inside.data, mode: 0o755, owner: brokerUser },
        { path: '/tmp', mode: 0o1777, owner: 0 },
      ],
    },
    [`ENV LD_LIBRARY_PATH=${folders.join(':')}`, `ENV PATH=${insideJava.home}/bin`, `LABEL ${imageLabel}=java`],
  );
}

/** Relative to the runtime's folder; links are followed, since a distribution's runtime points into /etc. */
async function filesBelow(home: string, below = ''): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await readdir(join(home, below))).toSorted()) {
    const path = join(below, name);
    if (leftOut.test(path) || !existsSync(join(home, path))) continue;
    if (statSync(join(home, path)).isDirectory()) found.push(...(await filesBelow(home, path)));
    else found.push(path);
  }
  return found;
}

function file(path: string, source: string, mode?: number): ArchiveFile {
  const status = statSync(source);
  // Readable for everybody, whatever it was here.
  return {
    path,
    mode: mode ?? ((status.mode & 0o111) === 0 ? 0o644 : 0o755),
    content: { file: source, size: status.size },
  };
}

/** Names come from the hosts file alone: a pod has nobody to ask, and a question would take seconds to fail. */
function whoIsWho(): ArchiveFile[] {
  const texts = {
    '/etc/passwd': `root:x:0:0::/:/nologin\nbroker:x:${brokerUser}:${brokerUser}::${inside.data}:/nologin\n`,
    '/etc/group': `root:x:0:\nbroker:x:${brokerUser}:\n`,
    '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  };
  return Object.entries(texts).map(([path, text]) => ({ path, mode: 0o644, content: Buffer.from(text) }));
}
