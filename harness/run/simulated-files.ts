/**
 * A simulated run's folder: the same files that every other runtime leaves.
 *
 * Nothing here is flushed to the disk: a simulated run can always be made again from its command.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Schedule } from '../../nemesis/schedule.ts';
import type { LoadPlan, SimulatedReplica, Simulation } from '../sim/simulation.ts';
import { environmentErrorFrom } from '../errors.ts';
import { writeJson } from '../store.ts';

/** Lines that are joined to one text before they are written. */
const LINES_AT_ONCE = 10_000;

/** Writes what the simulation left, into a folder that is there. `run.json` is the caller's. */
export function writeSimulationFiles(
  directory: string,
  simulation: Simulation,
  schedule: Schedule,
  load: LoadPlan | undefined,
): void {
  try {
    writeJson(join(directory, 'schedule.json'), schedule);
    if (load !== undefined) writeJson(join(directory, 'load.json'), load);
    writeLines(join(directory, 'history.jsonl'), simulation.history);
    writeLines(join(directory, 'trace.jsonl'), simulation.trace);
    writeData(join(directory, 'data'), simulation.replicas);
  } catch (error) {
    throw environmentErrorFrom(error, `cannot write the run ${directory}`);
  }
}

function writeLines(path: string, lines: Iterable<unknown>): void {
  writeFileSync(path, '', { flag: 'wx' });
  let texts: string[] = [];
  for (const line of lines) {
    texts.push(`${JSON.stringify(line)}\n`);
    if (texts.length < LINES_AT_ONCE) continue;
    writeFileSync(path, texts.join(''), { flag: 'a' });
    texts = [];
  }
  writeFileSync(path, texts.join(''), { flag: 'a' });
}

/** `data/broker-<node>/<topic>-<partition>/`, as Kafka lays it out. */
function writeData(data: string, replicas: readonly SimulatedReplica[]): void {
  for (const [node, own] of Map.groupBy(replicas, (replica) => replica.node)) {
    const directory = join(data, String(node));
    for (const { key, segments, epochs } of own) {
      const log = join(directory, key);
      mkdirSync(log, { recursive: true });
      for (const { baseOffset, bytes } of segments) {
        writeFileSync(join(log, `${String(baseOffset).padStart(20, '0')}.log`), bytes);
      }
      writeCheckpoint(
        join(log, 'leader-epoch-checkpoint'),
        epochs.map(([epoch, startOffset]) => `${epoch} ${startOffset}`),
      );
    }
    writeOffsets(join(directory, 'replication-offset-checkpoint'), own, (replica) => replica.checkpointedHighWatermark);
    const cut = own.filter(({ logStart }) => logStart !== null);
    writeOffsets(join(directory, 'log-start-offset-checkpoint'), cut, (replica) => replica.logStart ?? 0);
  }
}

function writeOffsets(
  path: string,
  replicas: readonly SimulatedReplica[],
  offsetOf: (replica: SimulatedReplica) => number,
): void {
  const lines = replicas.map((replica) => {
    const dash = replica.key.lastIndexOf('-');
    return `${replica.key.slice(0, dash)} ${replica.key.slice(dash + 1)} ${offsetOf(replica)}`;
  });
  writeCheckpoint(path, lines);
}

/** A version, a count, then one entry a line. */
function writeCheckpoint(path: string, lines: readonly string[]): void {
  writeFileSync(path, ['0', lines.length, ...lines, ''].join('\n'));
}
