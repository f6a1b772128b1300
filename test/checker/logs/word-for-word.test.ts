/**
 * Whole reports, word for word, of replicas that were made and damaged at random: bytes flipped, batches dropped, doubled,
 * exchanged or stamped with another epoch, tails torn, zeros and noise between, checkpoint files that say anything. The twin
 * says where replicas part; these files hold everything else that is said.
 */
import { describe, it } from 'vitest';
import { encodeBatch } from '../../../broker/protocol/index.ts';
import type { PartitionReport } from '../../../checker/logs/report.ts';
import type { ReplicaCopy } from '../../../checker/logs/source.ts';
import { expectGolden } from '../../golden.ts';
import { Draws } from '../twins/random.ts';
import { changed, joined, replica, sealed, verify } from './replicas.ts';

function logOf(draws: Draws): Uint8Array[] {
  let next = draws.below(3);
  let epoch = 0;
  return Array.from({ length: 2 + draws.below(6) }, () => {
    if (draws.chance(0.3)) epoch += 1;
    const records = Array.from({ length: 1 + draws.below(3) }, (_, at) => ({
      key: draws.chance(0.7) ? draws.pick(['a', 'b', 'c']) : null,
      value: draws.chance(0.15) ? null : `value ${next + at}${draws.chance(0.04) ? ' and more'.repeat(600) : ''}`,
      headers: draws.chance(0.3) ? [{ key: 'h', value: draws.chance(0.5) ? Uint8Array.of(120) : null }] : [],
      timestampMs: 1000 + draws.below(50),
    }));
    const producer = draws.chance(0.2) ? { producerId: 7, producerEpoch: 0, baseSequence: next } : {};
    const bytes = encodeBatch({
      baseOffset: next,
      leaderEpoch: epoch,
      records,
      ...producer,
    });
    next += records.length + (draws.chance(0.05) ? 1 : 0);
    return bytes;
  });
}

function damaged(draws: Draws, log: readonly Uint8Array[]): Uint8Array[] {
  const parts = [...log];
  const at = draws.below(parts.length);
  const part = parts[at] as Uint8Array;
  switch (draws.below(17)) {
    case 0:
      parts[at] = changed(part, (copy) => (copy[draws.below(copy.length)]! ^= 1 << draws.below(8)));
      break;
    case 1:
      parts.splice(at, 1);
      break;
    case 2:
      parts.splice(at, 0, part);
      break;
    case 3:
      parts.splice(at, 1, parts.at(-1) as Uint8Array);
      parts.splice(-1, 1, part);
      break;
    case 4:
      parts[at] = sealed(part, (view) => view.setInt32(12, draws.below(4)));
      break;
    case 5:
      parts.splice(at, parts.length - at, part.slice(0, draws.below(part.length)));
      break;
    case 6:
      parts.splice(at, 0, new Uint8Array(draws.pick([5, 61, 200])));
      break;
    case 7:
      parts.splice(
        at,
        0,
        Uint8Array.from({ length: 5 + draws.below(90) }, () => draws.below(256)),
      );
      break;
    case 8:
      parts[at] = sealed(part, (view) => view.setInt16(21, draws.pick([0x08, 0x10, 0x30, 5])));
      break;
    case 9:
      parts[at] = sealed(part, (view) => view.setUint8(part.length - 1 - draws.below(8), draws.below(256)));
      break;
    case 10:
    case 11:
      // From the record count on: what the records say of themselves.
      parts[at] = sealed(part, (view) => view.setUint8(57 + draws.below(part.length - 57), draws.below(256)));
      break;
    case 12:
      parts[at] = sealed(part, (view) => view.setInt32(draws.pick([23, 57]), draws.pick([-1, 0, 1, 5, 2 ** 30])));
      break;
    default:
  }
  return parts;
}

function copyOf(draws: Draws, name: string, log: readonly Uint8Array[]): ReplicaCopy {
  const parts = damaged(draws, log);
  const cut = draws.chance(0.4) ? 1 + draws.below(parts.length) : parts.length;
  const base = (part: Uint8Array | undefined): number =>
    part === undefined || part.length < 8 ? 30 : new DataView(part.buffer, part.byteOffset).getInt32(4);
  const segments: Record<number, Uint8Array> = { [base(parts[0])]: joined(parts.slice(0, cut)) };
  if (cut < parts.length) segments[base(parts[cut])] = joined(parts.slice(cut));
  const maybe = (bound: number): number | null => (draws.chance(0.3) ? draws.below(bound) : null);
  const leaderEpochs = draws.chance(0.4)
    ? Array.from({ length: draws.below(4) }, (_, epoch) => ({ epoch, start: epoch * 2 + draws.below(3) }))
    : null;
  const unreadable = draws.chance(0.05) ? [{ file: 'tide-0/noise.log', reason: 'permission denied' }] : [];
  return {
    ...replica(name, segments, {
      highWatermark: maybe(20),
      recoveryPoint: maybe(20),
      logStart: maybe(4),
      cleaner: draws.chance(0.08) ? draws.below(8) : null,
      leaderEpochs,
    }),
    unreadable,
  };
}

function reportText({ compacted, copies, comparison }: PartitionReport): string[] {
  const { differences, pairs, ...rest } = comparison;
  return [
    `compacted ${compacted}`,
    ...Object.entries(copies).flatMap(([name, { findings, ...facts }]) => [
      `${name}: ${JSON.stringify(facts)}`,
      ...findings.map((finding) => `  ${JSON.stringify(finding)}`),
    ]),
    JSON.stringify(rest),
    ...pairs.map((pair) => `  ${JSON.stringify(pair)}`),
    ...differences.map((difference) => `  ${JSON.stringify(difference)}`),
    '',
  ];
}

describe('what is said of random replicas', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('as in golden file %i', (part) => {
    const lines = Array.from({ length: 12 }, (_, at) => {
      const seed = part * 12 + at;
      const draws = new Draws(seed);
      const log = logOf(draws);
      const names = ['broker-1', 'broker-2', 'broker-3'].slice(0, draws.pick([1, 2, 2, 3, 3]));
      const copies = names.map((name) => copyOf(draws, name, log));
      return [`# replicas ${seed}`, ...reportText(verify(copies, draws.chance(0.1)))].join('\n');
    });
    expectGolden(`test/checker/golden/logs/random-${part}.txt`, lines.join('\n'));
  });
});
