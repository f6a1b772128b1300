/** What a description of an image becomes, with the worked example of the docs. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { faultNames, guaranteeNames, triggerNames } from '../../../docker/targets/capabilities.ts';
import { imageTarget, strangePlaceholder } from '../../../docker/targets/image.ts';
import { kafkaLogPatterns } from '../../../docker/targets/kafka-logs.ts';
import { readImageDescription } from '../../../harness/run/image-description.ts';
import { faultKinds } from '../../../nemesis/faults/index.ts';
import { layout } from './layout.ts';

const example = 'docs/examples/apache-kafka.json';
const target = imageTarget('image:example/kafka:4', 'example/kafka:4', readImageDescription(example));

describe('the example of the docs', () => {
  it('becomes a controller and three brokers, with every placeholder filled', () => {
    const plans = target.nodes(layout);
    expect(plans.map(({ node, wave, port }) => [node, wave, port])).toEqual([
      ['controller', 0, 9093],
      [1, 0, 9092],
      [2, 0, 9092],
      [3, 0, 9092],
    ]);
    const files = plans[2]!.process.files;
    const settings = files['/var/lib/kafka/run/server.properties'] ?? '';
    expect(settings).toContain('\nnode.id=2\n');
    expect(settings).toContain('advertised.listeners=PLAINTEXT://10.0.0.12:9092\n');
    expect(settings).toContain('controller.quorum.voters=100@10.0.0.10:9093\n');
    expect(settings).toContain('replica.lag.time.max.ms=3000\n');
    expect(JSON.stringify(plans)).not.toContain('${');
    const ids = plans
      .flatMap(({ process }) => Object.values(process.files))
      .flatMap((text) => /directory.id=(.*)/.exec(text)?.[1] ?? []);
    expect(new Set(ids).size).toBe(7);
  });

  it('reads the lines that Kafka 4.4.0 wrote as the target of Kafka does', () => {
    const lines = readFileSync('test/docker/targets/kafka-lines/4.4.0.txt', 'utf8').trimEnd().split('\n');
    const shown = (line: string, patterns: ReturnType<typeof kafkaLogPatterns>) =>
      patterns.find(({ pattern }) => pattern.test(line))?.shows ?? null;
    // What a broker says when it loads its log is left out of the example.
    const compared = lines.filter((line) => !line.includes('Log loaded'));
    expect(compared.map((line) => shown(line, target.logPatterns(1)))).toEqual(
      compared.map((line) => shown(line, kafkaLogPatterns(1))),
    );
  });
});

describe('an image', () => {
  it('can do everything but what its description and containers cannot', () => {
    const { faults, guarantees } = imageTarget('image:x', 'x', {
      ...readImageDescription(example),
      leaderMove: 'none',
      cannot: { faults: { pause: 'it minds' }, guarantees: { convergence: 'no files' }, triggers: {}, exposures: null },
    }).capabilities;
    expect(faults['crash']).toBe(true);
    expect(faults['pause']).toEqual({ not: 'it minds' });
    expect(faults['leader-move']).toHaveProperty('not');
    expect(guarantees).toMatchObject({ durability: true, convergence: { not: 'no files' } });
  });

  it('finds the folder of its logs made, since the top of its volume may belong to somebody else', () => {
    const [, ...brokers] = imageTarget('image:x', 'x', readImageDescription(example)).nodes(layout);
    for (const { process } of brokers) expect(process.folders).toEqual(['/var/lib/kafka/replicas']);
  });

  it('is told of a placeholder that there is none of', () => {
    expect(strangePlaceholder('a ${node} of ${brokers}')).toBeNull();
    expect(strangePlaceholder('a ${nodes}')).toBe('nodes');
  });
});

it('what can be done to foreign brokers is named as the nemesis, the checker and plans name it', () => {
  expect(faultNames.toSorted()).toEqual(faultKinds.toSorted());
  const results = readFileSync('docs/results.schema.json', 'utf8');
  for (const name of guaranteeNames) expect(results).toContain(`"${name}"`);
  const schedule = readFileSync('nemesis/schedule.ts', 'utf8');
  const conditions = [...schedule.matchAll(/readonly seen: '([\w-]+)'/g)].map(([, name]) => name!);
  expect(triggerNames.toSorted()).toEqual(conditions.toSorted());
});
