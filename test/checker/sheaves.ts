/**
 * Final logs of three replicas, made up at random: the same records in batches of different bounds and formats, as cleaners
 * and conversions leave them, and here and there a record that differs, is missing, or cannot be unpacked.
 */
import { crc32 } from 'node:zlib';
import { encodeBatch } from '../../broker/protocol/index.ts';
import type { CheckInput } from '../../checker/check.ts';
import type { ReplicaFiles } from '../../checker/final-logs.ts';
import { sealed } from './logs/replicas.ts';
import { historyInput } from './story.ts';
import type { Draws } from './twins/random.ts';

const key = 'a-0';

interface Written {
  readonly offset: number;
  readonly key: string | null;
  readonly value: string | null;
  readonly epoch: number;
}

/** A run whose trace is missing and whose logs are compared. */
export function sheaf(draws: Draws): CheckInput {
  let offset = 0;
  let epoch = 0;
  const original = Array.from({ length: 3 + draws.below(6) }, (): Written => {
    if (draws.chance(0.2)) epoch += 1;
    const at = offset;
    offset += draws.chance(0.1) ? 1200 : 1;
    return { offset: at, key: draws.chance(0.5) ? 'k' : null, value: String(at + 1), epoch };
  });
  const old = draws.chance(0.5);
  const files = [2, 1, 3].map((node) => replicaOf(draws, node, original, old));
  const { run } = historyInput([]);
  return historyInput(historyOf(draws, original), {
    source: 'run',
    run: { ...run, settled: draws.pick([true, true, true, null]), completed: true, finalLeaders: { [key]: 1 } },
    logs: { nodes: [1, 2, 3], files },
  });
}

function historyOf(draws: Draws, original: readonly Written[]): string[] {
  const operations = original
    .filter(() => draws.chance(0.7))
    .flatMap(({ offset, value }) => {
      const fields = { process: offset, f: 'send' };
      return [
        { ...fields, type: 'invoke', value: [['send', key, Number(value)]], acks: 'all' },
        { ...fields, type: 'ok', value: [['send', key, [offset, Number(value)]]] },
      ];
    });
  return operations.map((operation, index) => JSON.stringify({ index, time: index, ...operation }));
}

function replicaOf(draws: Draws, node: number, original: readonly Written[], old: boolean): ReplicaFiles {
  let log = [...original];
  const at = draws.below(log.length);
  const record = log[at] as Written;
  switch (draws.below(10)) {
    case 0:
      log = log.slice(0, at);
      break;
    case 1:
      log[at] = { ...record, value: `${record.value}0` };
      break;
    case 2:
      log[at] = { ...record, value: null };
      break;
    case 3:
      log[at] = { ...record, key: record.key === null ? 'q' : null };
      break;
    case 4:
      log[at] = { ...record, epoch: record.epoch + 1 };
      break;
    case 5:
      log.splice(at, 1);
      break;
    case 6:
      log = log.map((each, place) => (place < at ? each : { ...each, value: `${each.value}7` }));
      break;
    default:
  }
  const parts: Uint8Array[] = [];
  for (let from = 0; from < log.length;) {
    let to = from + 1;
    const first = log[from] as Written;
    while (to < log.length && log[to]?.epoch === first.epoch && (log[to]?.offset ?? 0) === first.offset + to - from) {
      if (draws.chance(0.5)) break;
      to += 1;
    }
    parts.push(...batchOf(draws, log.slice(from, to), old));
    from = to;
  }
  const logStart = draws.chance(0.2) ? draws.below(4) : null;
  return { node, key, segments: [{ baseOffset: 0, bytes: Uint8Array.from(Buffer.concat(parts)) }], logStart };
}

function batchOf(draws: Draws, records: readonly Written[], old: boolean): Uint8Array[] {
  if (old && draws.chance(0.6)) return records.map((record) => messageOf(draws.pick([0, 1]), record));
  const [first] = records as [Written];
  const bytes = encodeBatch({ baseOffset: first.offset, leaderEpoch: first.epoch, records });
  // A codec of which nobody here has the unpacker.
  if (draws.chance(0.05)) return [sealed(bytes, (view) => view.setInt16(21, 4))];
  // A cleaner leaves the bounds of a batch whose last record it removed.
  if (draws.chance(0.05)) return [sealed(bytes, (view) => view.setInt32(23, view.getInt32(23) + 1))];
  return [bytes];
}

/** A message of format v0 or v1. */
function messageOf(magic: number, { offset, key: name, value }: Written): Uint8Array {
  const field = (text: string | null): Buffer => {
    const size = Buffer.alloc(4);
    size.writeInt32BE(text === null ? -1 : text.length);
    return Buffer.concat([size, Buffer.from(text ?? '')]);
  };
  const time = magic === 1 ? Buffer.alloc(8) : Buffer.alloc(0);
  const covered = Buffer.concat([Buffer.from([magic, 0]), time, field(name), field(value)]);
  const head = Buffer.alloc(16);
  head.writeBigInt64BE(BigInt(offset));
  head.writeInt32BE(covered.length + 4, 8);
  head.writeUInt32BE(crc32(covered), 12);
  return Buffer.concat([head, covered]);
}
