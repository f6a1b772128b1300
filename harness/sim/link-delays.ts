/**
 * How long messages take: a drawn time for each, from a stream of its own for each link (`net:1→2`).
 *
 * A few hundred microseconds as between processes of one machine or one rack, and now and then a few milliseconds, as
 * where a processor was busy.
 */
import type { Random, RandomStream } from '../plan/random.ts';

const [FROM_NS, TO_NS] = [150_000, 450_000] as const;
const SLOW_SHARE = 0.01;
const SLOWEST_NS = 5_000_000;

/** For the kernel: the delay of the next message from one place to another. */
export function linkDelays(random: Random): (from: number, to: number) => number {
  const streams = new Map<number, RandomStream>();
  return (from, to) => {
    const link = from * 1024 + to;
    let stream = streams.get(link);
    if (stream === undefined) {
      stream = random.stream(`net:${from}→${to}`);
      streams.set(link, stream);
    }
    const slowest = stream.chance(SLOW_SHARE) ? SLOWEST_NS : TO_NS;
    return stream.int(FROM_NS, slowest);
  };
}
