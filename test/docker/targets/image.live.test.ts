/** The worked example of `docs/targets.md`, played on an image of the layout that it describes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectEngine } from '../../../docker/client.ts';
import { ensureJavaImage } from '../../../docker/java-image.ts';
import { imageTarget } from '../../../docker/targets/image.ts';
import { cachedKafka } from '../../../docker/targets/kafka-cache.ts';
import { readImageDescription } from '../../../harness/run/image-description.ts';
import { tidemark } from '../../harness/cli/tidemark.ts';
import { have } from '../../require.ts';
import { deploy, type Stage } from './stage.ts';

const image = `tidemark-test-kafka:${process.pid}`;
const description = readImageDescription('docs/examples/apache-kafka.json');

/** Java and jars where images of Kafka have them, out of what is here already: nothing is pulled. */
async function assemble(): Promise<void> {
  const { name } = await ensureJavaImage(await connectEngine(), () => {});
  const recipe = `FROM ${name}\nCOPY --from=${name} /java /opt/java/openjdk\nCOPY libs /opt/kafka/libs\n`;
  const folder = cachedKafka('4.4.0')!.directory;
  const built = spawnSync('docker', ['build', '--tag', image, '--file', '-', folder], {
    input: recipe,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(built.stderr);
}

describe.skipIf(!have.kafka || !have.kcat)('an image that somebody described', () => {
  let stage: Stage;

  beforeAll(async () => {
    await assemble();
    stage = await deploy(imageTarget(`image:${image}`, image, description));
  });

  afterAll(async () => {
    await stage.close();
    spawnSync('docker', ['rmi', '--force', image]);
  });

  it('is a cluster like any other', async () => {
    const kcat = (input: string, ...argv: readonly string[]) =>
      spawnSync('kcat', ['-b', stage.bootstrap, '-t', 'tide', '-p', '0', ...argv], {
        input,
        encoding: 'utf8',
        timeout: 30_000,
      });
    expect(kcat('ebb\nflow\n', '-P', '-X', 'acks=all')).toMatchObject({ status: 0 });
    expect(kcat('', '-C', '-e', '-q', '-f', '%o %s\n')).toMatchObject({ status: 0, stdout: '0 ebb\n1 flow\n' });
    const links = await stage.cluster.probeLinks(5_000);
    expect(links.filter((link) => !link.ok)).toEqual([]);
    const read = (node: number) =>
      stage
        .lines(node)
        .flatMap((line) =>
          description.logPatterns.filter(({ pattern }) => new RegExp(pattern).test(line)).map(({ shows }) => shows),
        );
    expect(read(1)).toContain('leads');
    expect(read(2)).toContain('follows');
    expect(read(2)).toContain('hw');
  });

  it('hands over the replicas of a topic, and nothing else of size', async () => {
    await stage.cluster.collectTopic(stage.directory, 'tide');
    const copied = readdirSync(join(stage.directory, 'data/1'));
    expect(copied.filter((name) => /-\d+$/.test(name))).toEqual(['tide-0']);
    expect(readdirSync(join(stage.directory, 'data/1/tide-0'))).toContain('00000000000000000000.log');
  });

  it('ends in good order when it is asked to', async () => {
    const stopped = await stage.cluster.perform({ port: 'process', verb: 'stop', node: 3 });
    expect(stopped).toMatchObject({ effective: true, facts: { orderly: true } });
  });

  it('is taken for a release that was pulled where it has the name of one, and lies at the engine already', async () => {
    const name = 'apache/kafka:9.9.9';
    const cache = mkdtempSync(join(tmpdir(), 'tidemark-pulled-'));
    spawnSync('docker', ['tag', image, name]);
    try {
      const ended = await tidemark(['fetch', '--pulled', 'kafka:9.9.9'], { env: { TIDEMARK_CACHE: cache } });
      expect(ended).toMatchObject({ code: 0 });
      expect(ended.lines.at(-1)).toMatch(/^kafka:9\.9\.9 {2}the image apache\/kafka:9\.9\.9, \d+ MB in /);
      expect(cachedKafka('9.9.9', join(cache, 'kafka'))?.entry).toMatchObject({ source: 'image', image: name });
    } finally {
      spawnSync('docker', ['rmi', name]);
      rmSync(cache, { recursive: true });
    }
  });

  it('leaves nothing behind', async () => {
    expect(await stage.close()).toEqual([]);
  });

  it('that is not on this machine is asked for in one line', async () => {
    const missing = imageTarget('image:nobody/nothing:1', 'nobody/nothing:1', description);
    await expect(deploy(missing)).rejects.toThrow('type `docker pull nobody/nothing:1`');
  });
});
