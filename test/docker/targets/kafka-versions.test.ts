import { describe, expect, it } from 'vitest';
import {
  artifactsOf,
  compareVersions,
  kafkaByNode,
  kafkaVersionOf,
  keepsMetadataInZooKeeper,
  parseKafkaVersion,
  pomOf,
  protocolVersion,
} from '../../../docker/targets/kafka-versions.ts';

const version = (text: string) => parseKafkaVersion(text)!;
const named = (...names: readonly string[]) => new Map(names.map((name, index) => [index + 1, name]));

describe('releases of Kafka', () => {
  it.each(['2.8', 'latest', '1.0.0-rc1', '0.10.2', '2.8.2.1', '', '02.1.0', '2.8.2 '])('%j is none', (text) => {
    expect(parseKafkaVersion(text)).toBeNull();
  });

  it('are ordered by their numbers', () => {
    const texts = ['4.4.0', '0.9.0.1', '2.10.0', '0.10.2.2', '2.8.2', '0.11.0.3', '1.0.0', '0.10.1.1'];
    const sorted = texts.map(version).toSorted(compareVersions);
    expect(sorted.map(({ text }) => text)).toEqual([
      '0.9.0.1',
      '0.10.1.1',
      '0.10.2.2',
      '0.11.0.3',
      '1.0.0',
      '2.8.2',
      '2.10.0',
      '4.4.0',
    ]);
  });

  it('keep their metadata in ZooKeeper up to 3.2', () => {
    expect(['0.10.2.2', '2.8.2', '3.2.3'].map(version).every(keepsMetadataInZooKeeper)).toBe(true);
    expect(['3.3.0', '3.9.2', '4.4.0'].map(version).some(keepsMetadataInZooKeeper)).toBe(false);
  });

  it('are pinned by the first numbers of the oldest', () => {
    expect(['0.10.2.2', '0.11.0.3', '2.1.1', '3.9.2'].map((text) => protocolVersion(version(text)))).toEqual([
      '0.10.2',
      '0.11.0',
      '2.1',
      '3.9',
    ]);
  });

  it.each([
    ['0.10.2.2', 'kafka_2.12', ['jaxb-api']],
    ['0.11.0.3', 'kafka_2.12', ['jaxb-api']],
    ['1.1.1', 'kafka_2.12', ['slf4j-reload4j']],
    ['2.0.1', 'kafka_2.12', ['slf4j-reload4j', 'zookeeper']],
    ['2.4.0', 'kafka_2.13', ['slf4j-reload4j']],
    ['3.9.2', 'kafka_2.13', ['kafka-tools']],
    ['4.4.0', 'kafka_2.13', ['kafka-tools', 'slf4j-reload4j']],
  ])('%s is %s, and needs %j beside it', (text, artifact, beside) => {
    const names = artifactsOf(version(text)).map(([, name]) => name);
    expect(names).toEqual([artifact, ...beside]);
  });

  it('are asked for in a project of Maven that names nothing but them', () => {
    expect(pomOf(version('1.1.1'))).toContain(
      '<groupId>org.apache.kafka</groupId><artifactId>kafka_2.12</artifactId><version>1.1.1</version>',
    );
  });
});

describe('builds that name Kafka', () => {
  it('are told from others, and from what names no release', () => {
    expect(kafkaVersionOf('epoch')).toBeNull();
    expect(kafkaVersionOf('kafka:0.10.2.2')).toMatchObject({ text: '0.10.2.2' });
    expect(kafkaVersionOf('kafka:2.8')).toContain('"2.8" is no release of Kafka');
    expect(kafkaVersionOf('kafka:0.9.0.1')).toContain('too old');
  });

  it('make a cluster of one way to keep metadata only', () => {
    expect(kafkaByNode(named('kafka:2.1.1', 'kafka:2.8.2'))).toBeInstanceOf(Map);
    expect(kafkaByNode(named('kafka:3.3.1', 'kafka:4.4.0'))).toBeInstanceOf(Map);
    expect(kafkaByNode(named('kafka:4.4.0', 'kafka:2.8.2'))).toBe(
      'kafka:2.8.2 keeps its metadata in ZooKeeper and kafka:4.4.0 does not: they cannot be in one cluster',
    );
    expect(kafkaByNode(named('kafka:4.4.0', 'image:x'))).toContain('image:x cannot be in one cluster');
  });
});
