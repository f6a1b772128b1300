/**
 * `verify-logs` from directories to a document: finds the replicas, hands each partition's to the checker, and gathers
 * what it says.
 */
import type { PartitionReport } from '../../checker/logs/report.ts';
import { verifyPartition } from '../../checker/logs/verify-partition.ts';
import { documentOf, type VerifyDocument } from './document.ts';
import { findCopies, type CopyPlace } from './find-copies.ts';
import { readCopy } from './read-copy.ts';
import { tools } from './tools.ts';

/** Checks all replicas below `directories`. `compacted` names topics, or `all`. */
export function verifyDirectories(directories: readonly string[], compacted: readonly string[]): VerifyDocument {
  const reports = [...findCopies(directories)].map(([partition, places]) => {
    const topic = partition.slice(0, partition.lastIndexOf('-'));
    return verifyPlaces(partition, places, compacted.includes(topic) || compacted.includes('all'));
  });
  return documentOf(reports);
}

/** Checks one partition's replicas. */
function verifyPlaces(partition: string, places: readonly CopyPlace[], compacted: boolean): PartitionReport {
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
