import { describe, expect, it } from 'vitest';
import {
  controllerId,
  kafkaInside,
  kraftBroker,
  kraftController,
  kraftMetaProperties,
  zooKeeperBroker,
  zooKeeperSettings,
} from '../../../docker/targets/kafka-settings.ts';
import { layout } from './layout.ts';

/** A file of properties, by name. */
function parsed(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  ) as Record<string, string>;
}

describe('the configuration of Kafka', () => {
  it('takes over everything that a run sets', () => {
    const broker = parsed(zooKeeperBroker(2, layout.addressOf(2), layout, {}));
    expect(broker).toMatchObject({
      'broker.id': '2',
      'advertised.listeners': 'PLAINTEXT://10.0.0.12:9092',
      'zookeeper.connect': '10.0.0.10:2181',
      'zookeeper.session.timeout.ms': '2000',
      'replica.lag.time.max.ms': '3000',
      'replica.fetch.wait.max.ms': '500',
      'replica.high.watermark.checkpoint.interval.ms': '5000',
      'min.insync.replicas': '2',
      'unclean.leader.election.enable': 'false',
      'default.replication.factor': '3',
    });
    expect(parsed(kraftBroker(2, layout.addressOf(2), layout))).toMatchObject({
      'node.id': '2',
      'process.roles': 'broker',
      'controller.quorum.voters': `${controllerId}@10.0.0.10:9093`,
      'broker.session.timeout.ms': '2000',
      'broker.heartbeat.interval.ms': '300',
      'min.insync.replicas': '2',
    });
    expect(parsed(kraftController(layout))).toMatchObject({
      'process.roles': 'controller',
      'min.insync.replicas': '2',
    });
  });

  it('leaves flushing to Kafka, since a run is about what that may lose', () => {
    for (const text of [zooKeeperBroker(1, 'a', layout, {}), kraftBroker(1, 'a', layout)]) {
      expect(text).not.toContain('flush');
    }
  });

  it('lets ZooKeeper grant the session that brokers ask for', () => {
    const short = { ...layout, settings: { ...layout.settings, brokerSessionTimeoutMs: 700 } };
    expect(Number(parsed(zooKeeperSettings(short))['minSessionTimeout'])).toBe(700);
    expect(Number(parsed(zooKeeperSettings(layout))['minSessionTimeout'])).toBeLessThanOrEqual(2_000);
  });

  it('gives every folder of KRaft an id of its own, and all one cluster', () => {
    const files = [controllerId, 1, 2, 3].flatMap((id) => Object.entries(kraftMetaProperties(id)));
    expect(files.map(([path]) => path)).toContain(`${kafkaInside.metadata}/meta.properties`);
    const metas = files.map(([, text]) => parsed(text));
    expect(new Set(metas.map((meta) => meta['directory.id'])).size).toBe(8);
    expect(new Set(metas.map((meta) => meta['cluster.id'])).size).toBe(1);
    for (const meta of metas) {
      expect(meta['directory.id']).toMatch(/^[\w-]{22}$/);
      expect(meta['cluster.id']).toMatch(/^[\w-]{22}$/);
    }
  });
});
