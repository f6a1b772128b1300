/**
 * The batches of a log as a stream: whatever the files hold, and through whatever window they are read, it meets the same
 * batches and the same flaws as its twin, which has everything at once.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnreadableError, type SegmentSource } from '../../../checker/logs/source.ts';
import { BatchStream } from '../../../checker/logs/stream.ts';
import { batch, batches, changed, joined, replica, sealed } from './replicas.ts';
import { byTheBook, fileBytes, source, walk, wrapper } from './stream-twin.ts';

describe('a stream of batches', () => {
  it('meets what its twin meets, through any window and in any pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fileBytes, { maxLength: 4 }),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom(0, 0, 1, 1000),
        (parts, window, piece, lack) => {
          const files = parts.map((bytes, at) => ({ file: `${at}.log`, bytes }));
          const stream = new BatchStream(files.map(({ file: name, bytes }) => source(name, bytes, piece, lack)));
          stream.window = new Uint8Array(window);
          expect(walk(stream)).toEqual(byTheBook(files));
        },
      ),
      { seed: 21, numRuns: 300 },
    );
  });

  it('meets every batch of a whole log, and knows where each begins', () => {
    const parts = [batches.slice(0, 3), batches.slice(3)];
    const stream = new BatchStream(parts.map((list, at) => source(`${at}.log`, joined(list))));
    expect([stream.segment?.file, stream.nextSegment?.file]).toEqual(['0.log', '1.log']);
    const met = walk(stream);
    expect(met.map(({ what, offsets }) => [what, ...offsets!])).toEqual(
      batches.map((_, at) => ['batch', 3 * at, 3 * at + 2]),
    );
    expect(met.flatMap(({ isFirst }, at) => (isFirst === true ? [at] : []))).toEqual([0, 3]);
    expect([stream.segment, stream.nextSegment]).toEqual([undefined, undefined]);
    expect(stream.settle(() => undefined)).toBe(false);
  });
});

describe('after a batch whose checksum is wrong', () => {
  const bad = changed(batches[3]!, (bytes) => (bytes[70]! ^= 1));
  const size = bad.length;
  const next = (change: (view: DataView) => void): Uint8Array => sealed(batches[4]!, change);
  const at = (offset: bigint): Uint8Array => next((view) => view.setBigInt64(0, offset));

  it.each<[string, Uint8Array, readonly [number, number][]]>([
    ['the next one', batches[4]!, [[size, 12]]],
    ['one that ends at a higher offset', at(8n), [[size, 8]]],
    ['one that ends far above', at(9n + 2n ** 32n - 3n), [[size, 9 + 2 ** 32 - 3]]],
  ])('goes on with %s', (_, following, places) => {
    const met = walk(new BatchStream([source('0.log', joined([bad, following]))]));
    expect(met.slice(1).map(({ position, offsets }) => [position, offsets![0]])).toEqual(places);
  });

  it.each<[string, Uint8Array]>([
    ['ends at the same offset', at(7n)],
    ['ends too far above', at(9n + 2n ** 32n - 2n)],
    ['is none', Uint8Array.of(1, 2, 3)],
    ['is not whole', batches[4]!.subarray(0, 70)],
  ])('seeks another one if what follows %s', (_, following) => {
    const within = withSoundOne();
    const met = walk(new BatchStream([source('0.log', joined([within, following]))]));
    expect(met.slice(0, 2)).toMatchObject([
      { what: 'bad', position: 0, offsets: [9, 11] },
      { what: 'batch', position: batches[3]!.length, offsets: [15, 17] },
    ]);
  });

  /** A batch whose checksum is wrong, with a sound one within it, both `high` offsets up. */
  function withSoundOne(high = 0n): Uint8Array {
    return changed(joined([higher(batches[3]!, high), higher(batches[5]!, high)]), (bytes) => {
      new DataView(bytes.buffer).setInt32(8, bytes.length - 12);
    });
  }

  function higher(bytes: Uint8Array, by: bigint): Uint8Array {
    return sealed(bytes, (view) => view.setBigInt64(0, view.getBigInt64(0) + by));
  }

  it('seeks nothing within it if it is followed by one that fits, however high their offsets are', () => {
    for (const high of [0n, 2n ** 40n]) {
      const first = withSoundOne(high);
      const met = walk(new BatchStream([source('0.log', joined([first, higher(batches[4]!, high)]))]));
      expect(met.map(({ position }) => position)).toEqual([0, first.length]);
    }
  });

  it('seeks nothing within it if it is the last of its file', () => {
    const within = withSoundOne();
    for (const lack of [0, 100]) {
      const stream = new BatchStream([source('0.log', within, 1000, lack), source('1.log', batches[6]!)]);
      expect(walk(stream).map(({ position }) => position)).toEqual([0, 0]);
    }
  });

  it('seeks the next one above its own offset, and of a wrapper above its only one', () => {
    for (const [first, lower, higher] of [
      [changed(batches[3]!, (bytes) => (bytes[70]! ^= 1)), at(7n), at(8n)],
      [wrapper(20, 60), at(18n), at(19n)],
    ] as const) {
      const log = joined([first, Uint8Array.of(9), lower, higher]);
      const position = first.length + 1 + lower.length;
      expect(walk(new BatchStream([source('0.log', log)]))[1]).toMatchObject({ what: 'batch', position });
    }
  });
});

describe('a search for the next sound batch', () => {
  const noise = new Uint8Array(40).fill(1);
  const at = (offset: bigint): Uint8Array => sealed(batches[0]!, (view) => view.setBigInt64(0, offset));

  it('believes no batch below what was read, and none that is too far above', () => {
    const highest = 30n + 2n ** 32n - 3n;
    for (const [tried, found] of [
      [27n, false],
      [28n, true],
      [highest, true],
      [highest + 1n, false],
    ] as const) {
      const log = joined([...batches, noise, at(tried)]);
      const [flaw, ...rest] = walk(new BatchStream([source('0.log', log)])).slice(10);
      expect(flaw).toMatchObject({ bytes: found ? 40 : 40 + batches[0]!.length });
      expect(rest.map(({ offsets }) => offsets![0])).toEqual(found ? [Number(tried)] : []);
    }
  });

  /** Bytes that claim to be a batch of `size`, under a checksum that is wrong. */
  const lie = (size: number, offset = 0): Uint8Array =>
    changed(new Uint8Array(61), (bytes) => {
      const view = new DataView(bytes.buffer);
      view.setInt32(4, offset);
      view.setInt32(8, size - 12);
      view.setUint8(16, 2);
    });

  it('spends no more than its budget on checksums, in all searches together', () => {
    const sound = batches[0]!;
    const log = joined([noise, lie(70), lie(61), sound, noise, lie(65, 9), batches[5]!, noise]);
    const files = [source('0.log', log)];
    const needed = 70 + 61 + sound.length + 65 + batches[5]!.length;
    const enough = walk(new BatchStream(files, needed));
    expect(enough.map(({ what }) => what.split(':')[0])).toEqual([
      'unreadable',
      'batch',
      'unreadable',
      'batch',
      'unreadable',
    ]);
    const tooLittle = walk(new BatchStream(files, needed - 1));
    expect(tooLittle.slice(0, 2)).toEqual(enough.slice(0, 2));
    expect(tooLittle.slice(2)).toMatchObject([
      { position: enough[2]!.position, bytes: log.length - enough[2]!.position },
    ]);
  });

  it('spends nothing on what the file does not hold, or on offsets that nobody believes', () => {
    const log = joined([noise, lie(5000), at(2n ** 40n), noise, batches[0]!]);
    const met = walk(new BatchStream([source('0.log', log)], batches[0]!.length));
    expect(met.map(({ what }) => what.split(':')[0])).toEqual(['unreadable', 'batch']);
  });

  it('goes over any number of zeros, and hardly reads on', () => {
    for (let zeros = 0; zeros < 90; zeros += 1) {
      const log = joined([noise, new Uint8Array(zeros), batches[5]!]);
      const stream = new BatchStream([source('0.log', log)]);
      stream.window = new Uint8Array(61);
      expect(walk(stream)).toMatchObject([{ bytes: 40 + zeros }, { what: 'batch', offsets: [15, 17] }]);
    }
  });
});

describe('a window', () => {
  const log = joined(batches);

  /** A source that counts how often it is read, and how many bytes. */
  function counted(bytes: Uint8Array): { readonly source: SegmentSource; reads: number; bytes: number } {
    const plain = source('0.log', bytes);
    const count = {
      source: {
        ...plain,
        read: (position: number, into: Uint8Array): number => {
          const size = plain.read(position, into);
          count.reads += 1;
          count.bytes += size;
          return size;
        },
      },
      reads: 0,
      bytes: 0,
    };
    return count;
  }

  it('takes as much of a file as it can hold, and each byte once', () => {
    const count = counted(log);
    walk(new BatchStream([count.source]));
    expect(count).toMatchObject({ reads: 1, bytes: log.length });
    const small = counted(log);
    const stream = new BatchStream([small.source]);
    stream.window = new Uint8Array(400);
    walk(stream);
    expect(stream.window.length).toBe(400);
    expect(small.bytes).toBe(log.length);
    // Nearly a window at a time: what is left of the last batch is carried along.
    expect(small.reads).toBeLessThanOrEqual(Math.ceil(log.length / (400 - batches[9]!.length)));
  });

  it('grows to the largest batch, and to no more than that', () => {
    const large = batch(30, ['x'.repeat(5000)]);
    const stream = new BatchStream([source('0.log', joined([log, large, batch(31, ['y'])]))]);
    stream.window = new Uint8Array(61);
    expect(walk(stream).length).toBe(12);
    expect(stream.window.length).toBe(large.length);
  });

  it('is not made larger for a batch that the file does not hold', () => {
    const claims = changed(batches[9]!, (bytes) => new DataView(bytes.buffer).setInt32(8, 1 << 26));
    const bad = changed(batches[1]!, (bytes) => (bytes[70]! ^= 1));
    for (const log of [claims, joined([bad, claims])]) {
      const stream = new BatchStream([source('0.log', joined([log, new Uint8Array(1000).fill(255)]))]);
      stream.window = new Uint8Array(200);
      walk(stream);
      expect(stream.window.length).toBe(200);
    }
  });

  it('can be made ready without settling: as much as fits, and what is asked for if the file has it', () => {
    const [first, second] = [joined(batches.slice(0, 2)), joined(batches.slice(2))];
    const stream = new BatchStream([
      source('0.log', first),
      source('1.log', new Uint8Array()),
      source('2.log', second),
    ]);
    stream.window = new Uint8Array(80);
    expect(stream.available).toBe(0);
    expect(stream.ready(10)).toBe(80);
    expect(stream.ready(100)).toBe(100);
    expect(stream.available).toBe(100);
    expect(stream.ready(5000)).toBe(first.length);
    expect(stream.settle(() => undefined)).toBe(true);
    stream.advance(batches[0]!.length, 3);
    expect(stream.available).toBe(batches[1]!.length);
    stream.advance(batches[1]!.length, 6);
    expect(stream.ready(61)).toBe(first.length);
    expect(stream.segment?.file).toBe('2.log');
    expect(stream.isFirstInSegment).toBe(true);
    expect(walk(stream).map(({ offsets }) => offsets![0])).toEqual([6, 9, 12, 15, 18, 21, 24, 27]);
    expect(stream.ready(1)).toBe(0);
  });

  it('reads nothing again that it holds', () => {
    const count = counted(log);
    const stream = new BatchStream([count.source]);
    for (const size of [61, 61, log.length, 1]) expect(stream.ready(size)).toBe(log.length);
    expect(count.reads).toBe(1);
    const part = counted(log);
    const narrow = new BatchStream([part.source]);
    narrow.window = new Uint8Array(70);
    for (const size of [70, 61, 70]) expect(narrow.ready(size)).toBe(70);
    expect(part).toMatchObject({ reads: 1, bytes: 70 });
    narrow.advance(9, 0);
    expect(narrow.ready(61)).toBe(61);
    expect(part.reads).toBe(1);
  });

  it('is kept as long as it is large enough', () => {
    const stream = new BatchStream([source('0.log', log)]);
    const window = new Uint8Array(100);
    stream.window = window;
    stream.ready(100);
    expect(stream.window).toBe(window);
    stream.ready(101);
    expect(stream.window.length).toBe(101);
  });
});

describe('a file that refuses', () => {
  /** It refuses from a place on. */
  function refusing(name: string, bytes: Uint8Array, from: number, error: Error): SegmentSource {
    const plain = source(name, bytes, 50);
    return {
      ...plain,
      read: (position, into) => {
        if (position >= from) throw error;
        return plain.read(position, into.subarray(0, from - position));
      },
    };
  }
  const sick = new UnreadableError('input/output error');
  const broken = new TypeError('a mistake of ours');
  const log = joined(batches);

  it('says what it is', () => {
    expect(sick).toMatchObject({ name: 'UnreadableError', message: 'input/output error' });
    expect(sick).toBeInstanceOf(Error);
  });

  it('is told at the batch that cannot be read, and the next file is', () => {
    const size = batches[0]!.length;
    for (const from of [0, 1, 60, 61, size, size + 1, 3 * size - 1]) {
      const stream = new BatchStream([refusing('0.log', log, from, sick), source('1.log', batches[9]!)]);
      stream.window = new Uint8Array(80);
      const whole = Math.floor(from / size);
      const met = walk(stream);
      expect(met).toHaveLength(whole + 2);
      expect(met.slice(whole)).toMatchObject([
        { what: 'unreadable: input/output error', file: '0.log', bytes: 0 },
        { what: 'batch', file: '1.log', position: 0, isFirst: true },
      ]);
      expect(met[whole]!.position).toBe(batches.slice(0, whole).reduce((sum, { length }) => sum + length, 0));
    }
  });

  it('is told also where the next batch is sought', () => {
    const bad = changed(batches[0]!, (bytes) => (bytes[70]! ^= 1));
    const noisy = joined([bad, new Uint8Array(200).fill(1)]);
    for (const from of [bad.length + 30, bad.length + 100]) {
      const stream = new BatchStream([refusing('0.log', noisy, from, sick), source('1.log', batches[9]!)]);
      stream.window = new Uint8Array(61);
      const met = walk(stream);
      expect(met.map(({ what, file }) => [what, file])).toEqual([
        ['bad', '0.log'],
        ['unreadable: input/output error', '0.log'],
        ['batch', '1.log'],
      ]);
    }
  });

  it('has nothing ready, and says so to whoever settles next', () => {
    const stream = new BatchStream([refusing('0.log', log, 0, sick), source('1.log', batches[9]!)]);
    expect(stream.ready(61)).toBe(0);
    expect(walk(stream)).toMatchObject([{ what: 'unreadable: input/output error' }, { what: 'batch' }]);
  });

  it('because of a mistake in the program lets it stop, wherever that shows', () => {
    const ready = new BatchStream([refusing('0.log', log, 0, broken)]);
    expect(() => ready.ready(61)).toThrow(broken);
    const settling = new BatchStream([refusing('0.log', log, 100, broken)]);
    expect(() => walk(settling)).toThrow(broken);
    const bad = changed(batches[0]!, (bytes) => (bytes[70]! ^= 1));
    const stepping = new BatchStream([refusing('0.log', joined([bad, ...batches]), bad.length + 10, broken)]);
    stepping.window = new Uint8Array(bad.length);
    expect(stepping.settle(() => undefined)).toBe(true);
    expect(() => stepping.advanceAfterBad()).toThrow(broken);
  });
});

describe('replicas as the tests make them', () => {
  it('are read as files are', () => {
    expect(walk(new BatchStream(replica('broker-1', { 0: joined(batches) }).segments))).toHaveLength(10);
  });
});
