/** One partition from its directories: opens what is there, hands it to the checker, closes it. */
import type { PartitionReport } from '../../checker/logs/report.ts';
import { verifyPartition } from '../../checker/logs/verify-partition.ts';
import type { CopyPlace } from './find-copies.ts';
import { readCopy } from './read-copy.ts';
import { tools } from './tools.ts';

/** The replicas of one partition. Plain values, since they go to a thread. */
export interface PartitionPlaces {
  readonly partition: string;
  readonly places: readonly CopyPlace[];
  /** The user said that the topic is. */
  readonly compacted: boolean;
}

/** Checks one partition's replicas. */
export function verifyPlaces({ partition, places, compacted }: PartitionPlaces): PartitionReport {
  const copies = places.map(readCopy);
  try {
    return verifyPartition(
      partition,
      copies.map(({ copy }) => copy),
      compacted,
      tools,
    );
  } finally {
    for (const { close } of copies) close();
  }
}
