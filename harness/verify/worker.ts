/** One thread of `verify-logs`: checks the partitions that it is handed, one after the other, and says what it found. */
import { parentPort } from 'node:worker_threads';
import { verifyPlaces, type PartitionPlaces } from './verify-places.ts';

parentPort?.on('message', (partition: PartitionPlaces) => {
  parentPort?.postMessage(verifyPlaces(partition), []);
});
