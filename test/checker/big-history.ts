/**
 * A history of any length, for measuring: sends and polls over some partitions, all values read back at the end; healthy,
 * but for what is planted.
 *
 * Lines are made one by one, so that the history itself costs nothing. Every poll reads up to eight records.
 */

export interface BigHistory {
  /** Sends and polls, without the final read. */
  readonly operations: number;
  readonly partitions: number;
  readonly processes: number;
  /** One record of partition 0 that is acknowledged and never read, and one of partition 1 that stands there twice. */
  readonly planted?: { readonly lostAt: number; readonly doubledAt: number };
}

/** The lines, two for each operation. */
export function* bigHistory({
  operations,
  partitions,
  processes,
  planted,
}: BigHistory): Generator<string, void, undefined> {
  const lostAt = planted?.lostAt ?? -1;
  const doubledAt = planted?.doubledAt ?? -2;
  const ends = Array.from({ length: partitions }, () => 0);
  const positions = Array.from({ length: processes }, () => ends.map(() => 0));
  let index = 0;
  const line = (process: number, type: string, f: string, value: string, more: string): string => {
    const text = `{"index":${index},"time":${index * 5000},"process":${process},"type":"${type}","f":"${f}","value":${value}${more}}`;
    index += 1;
    return text;
  };
  const poll = (process: number, own: number[], partition: number): string => {
    const records: string[] = [];
    for (let count = 0; count < 8 && own[partition]! < ends[partition]!; count += 1) {
      const offset = own[partition]!;
      const doubled = partition === 1 && offset === doubledAt + 1;
      if (partition !== 0 || offset !== lostAt) records.push(`[${offset},${doubled ? offset : offset + 1}]`);
      own[partition] = offset + 1;
    }
    const read = records.length === 0 ? '' : `"tide-${partition}":[${records.join(',')}]`;
    return line(process, 'ok', 'poll', `[["poll",{${read}}]]`, `,"node":1,"msg":"client-${process}#${index}"`);
  };
  for (let operation = 0; operation < operations; operation += 1) {
    const process = operation % processes;
    const partition = Math.floor(operation / processes) % partitions;
    if (operation % 2 === 0) {
      // Beside the record that stands there twice nothing else was sent.
      if (partition === 1 && ends[1] === doubledAt + 1) ends[1] += 1;
      const offset = ends[partition]!;
      const key = `tide-${partition}`;
      yield line(process, 'invoke', 'send', `[["send","${key}",${offset + 1}]]`, ',"acks":"all"');
      yield line(
        process,
        'ok',
        'send',
        `[["send","${key}",[${offset},${offset + 1}]]]`,
        `,"node":1,"msg":"client-${process}#${index}"`,
      );
      ends[partition] = offset + 1;
    } else {
      yield line(process, 'invoke', 'poll', '[["poll"]]', '');
      yield poll(process, positions[process]!, partition);
    }
  }
  const last = ends.map(() => 0);
  for (const [partition, end] of ends.entries()) {
    while (last[partition]! < end) {
      yield line(processes, 'invoke', 'poll', '[["poll"]]', ',"final":true');
      yield poll(processes, last, partition);
    }
  }
}
