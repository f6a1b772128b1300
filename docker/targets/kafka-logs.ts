/** How Kafka's log lines are read. */
import type { Capabilities, LogPattern } from './target.ts';
import type { KafkaVersion } from './kafka-versions.ts';

export function kafkaLogPatterns(_version: KafkaVersion): readonly LogPattern[] {
  return [];
}

export function kafkaCapabilities(): Capabilities {
  return { faults: {}, guarantees: {}, triggers: {}, exposures: true };
}
