/** What can be done and known, by kind of broker: our own in each runtime, Apache Kafka of both ages, anybody's image. */
import { imageTarget } from '../../docker/targets/image.ts';
import { kafkaTarget } from '../../docker/targets/kafka.ts';
import { parseKafkaVersion } from '../../docker/targets/kafka-versions.ts';
import { uncheckedWithoutTrace } from '../../checker/untraced.ts';
import { faultKindsOf } from '../plan/config.ts';
import { completeCapabilities, ownCapabilities } from '../report/capabilities.ts';
import type { DoctorDocument } from './document.ts';

/** One release of each age, from the targets' own data. */
const releases = ['0.10.2.2', '2.8.2', '4.4.0'];

export function targetsHere(): DoctorDocument['targets'] {
  return [
    ...(['sim', 'local', 'docker'] as const).map((runtime) => ({
      name: `ours, ${runtime}`,
      capabilities: ownCapabilities(faultKindsOf[runtime]),
      partly: {},
    })),
    ...releases.flatMap((release) => {
      const version = parseKafkaVersion(release);
      if (version === null) return [];
      const name = `kafka:${release}`;
      const { capabilities } = kafkaTarget(name, new Map([[1, version]]));
      return [{ name, capabilities: completeCapabilities(capabilities), partly: uncheckedWithoutTrace }];
    }),
    { name: 'image:…', capabilities: completeCapabilities(imageCapabilities()), partly: uncheckedWithoutTrace },
  ];
}

/** Of an image whose description says nothing of what it cannot. */
function imageCapabilities(): Parameters<typeof completeCapabilities>[0] {
  const node = {
    port: 9092,
    logDirectory: '/data',
    command: [],
    environment: {},
    files: {},
    dataDirectory: '/data',
    user: 1,
    memoryMb: 1,
    pidsMax: 1,
    ready: null,
    orderlyExits: [],
    environmentExits: [],
  };
  return imageTarget('image:…', '', {
    broker: node,
    controller: null,
    leaderMove: 'none',
    logPatterns: [],
    cannot: {
      faults: {},
      guarantees: {},
      triggers: {},
      exposures: 'unless its description says how its log tells a follower’s high watermark',
    },
  }).capabilities;
}
