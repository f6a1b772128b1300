/**
 * How an image comes to the engine: as an archive of files, named by a hash of what is in it.
 *
 * Since a name says the content, an image that is there is always the right one: it is never built twice, not even by
 * several clusters that start at once.
 */
import { createHash } from 'node:crypto';
import type { ArchiveDirectory, ArchiveFile } from './archive.ts';
import { archiveOf } from './archive.ts';
import type { Engine } from './client.ts';
import { isStatus, reason } from './client.ts';

/** Marks an image as ours. */
export const imageLabel = 'tidemark.image';

export interface Layer {
  readonly files: readonly ArchiveFile[];
  readonly directories: readonly ArchiveDirectory[];
  readonly hash: string;
}

/** Files and directories of which the hash is known. */
export async function layer(
  files: readonly (ArchiveFile & { content: Uint8Array })[],
  directories: readonly ArchiveDirectory[],
): Promise<Layer> {
  const digests = files.map(async (file) => {
    // WebCrypto hashes on another thread, so that a hundred megabytes do not hold up the engine's answers.
    const digest = await crypto.subtle.digest('SHA-256', file.content as Uint8Array<ArrayBuffer>);
    return [file.path, file.mode, Buffer.from(digest).toString('hex')];
  });
  return { files, directories, hash: hashOf([...(await Promise.all(digests)), directories]) };
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

export async function isPresent(engine: Engine, image: string): Promise<boolean> {
  try {
    await engine.docker.getImage(image).inspect();
    return true;
  } catch (error) {
    if (isStatus(error, 404)) return false;
    throw error;
  }
}

/** Has the engine pull an image, unless it holds it already; how large it is. Rejects with one line and the remedy. */
export async function pullImage(engine: Engine, image: string): Promise<number> {
  try {
    if (!(await isPresent(engine, image))) await pull(engine, image);
    return (await engine.docker.getImage(image).inspect()).Size;
  } catch (error) {
    throw new Error(pullProblem(image, reason(error)), { cause: error });
  }
}

async function pull({ docker }: Engine, image: string): Promise<void> {
  const told = (await docker.pull(image)) as NodeJS.ReadableStream;
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(told, (error) => (error ? reject(error) : resolve()));
  });
}

/** What the engine's complaint means for its user, in one line. */
export function pullProblem(image: string, complaint: string): string {
  const plain = complaint.trim().replace(/^\(HTTP code \d+\)[^-]*- /, '');
  if (/manifest unknown|not found|does not exist|pull access denied/i.test(plain)) {
    return `there is no image ${image} where the engine looks: see the tags that its project publishes, or leave --pulled out`;
  }
  const unreachable =
    /dial tcp|network is unreachable|no such host|connection refused|i\/o timeout|Client\.Timeout|TLS handshake/i;
  if (unreachable.test(plain)) {
    return `the engine reaches no registry for ${image}: connect it, load the image from a file (\`docker load\`), or leave --pulled out`;
  }
  return `the engine could not pull ${image}: ${plain.split('\n')[0]}`;
}

/** Makes an image of one layer; `changes` are lines of a Dockerfile. */
export async function importLayer(
  engine: Engine,
  image: string,
  content: Pick<Layer, 'files' | 'directories'>,
  changes: readonly string[],
): Promise<void> {
  const [repo, tag] = image.split(':');
  const options = { _query: { fromSrc: '-', repo, tag, changes: [...changes] } };
  const answer = await engine.docker.importImage(archiveOf(content.files, content.directories), options);
  let told = '';
  for await (const chunk of answer) told += String(chunk);
  const error = /"error":"([^"]*)"/.exec(told)?.[1];
  if (error !== undefined) throw new Error(`the engine did not take the image: ${error}`);
}

const underWay = new Map<string, Promise<void>>();

/** Several clusters that start at once in this process wait for the same image. */
export function once(image: string, assemble: () => Promise<void>): Promise<void> {
  let work = underWay.get(image);
  if (work === undefined) {
    work = assemble().finally(() => underWay.delete(image));
    underWay.set(image, work);
  }
  return work;
}
