import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeRanges, parseRange, parseRoutes, rangeText } from '../../docker/network.ts';

const header = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';

function firstFree(taken: readonly string[], start = 0): string | undefined {
  const [range] = freeRanges(
    taken.map((text) => parseRange(text)!),
    start,
  );
  return range && rangeText(range);
}

describe('the range of a run', () => {
  it('clashes with no route of the host, as the kernel prints them, and the default route clashes with nothing', () => {
    const table =
      `${header}eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n` +
      'eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n' +
      'tun0\t0000D50A\t00000000\t0001\t0\t0\t0\t0000FEFF\t0\t0\t0\n';
    expect(parseRoutes(table).map(rangeText)).toEqual(['192.0.2.0/24', '10.213.0.0/15']);
  });

  it('is the next one when a range is taken, inside or around it', () => {
    expect(firstFree([])).toBe('10.213.0.0/24');
    expect(firstFree(['10.213.0.128/25'])).toBe('10.213.1.0/24');
    expect(firstFree(['10.213.0.0/23'])).toBe('10.213.2.0/24');
    expect(firstFree(['10.0.0.0/8'])).toBe('172.16.0.0/24');
    expect(firstFree(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'])).toBe('198.18.0.0/24');
    expect(firstFree(['0.0.0.0/1', '128.0.0.0/1'])).toBeUndefined();
  });

  it('never overlaps what is taken, wherever the search begins', () => {
    const taken = fc.record({
      base: fc.nat(255).map((third) => (10 << 24) + (213 << 16) + (third << 8)),
      prefix: fc.integer({ min: 17, max: 24 }),
    });
    fc.assert(
      fc.property(fc.array(taken, { maxLength: 8 }), fc.nat(255), (ranges, start) => {
        const [free] = freeRanges(ranges, start);
        for (const other of ranges) {
          const size = 2 ** (32 - other.prefix);
          expect(Math.floor(free!.base / size)).not.toBe(Math.floor(other.base / size));
        }
      }),
    );
  });
});
