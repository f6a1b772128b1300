/**
 * When what was seen counts as seen before a broker followed: every bound in milliseconds, on both sides of it.
 *
 * Broker 1 leads from 0 ms on. Broker 3 holds offset 3 at 10 ms, knows of a high watermark of 3 at 20 ms, and broker 1
 * acknowledges offset 3 at 30 ms. Broker 2 is elected at 900 ms, and broker 3 is seen to follow it at 1050 ms, by metadata.
 */
import { describe, expect, it } from 'vitest';
import { readObservations } from '../../checker/observations.ts';
import { findObservedExposures } from '../../checker/observed-exposures.ts';

const key = 'tide-0';

type Node = number | 'controller';
type Line = readonly [ms: number, node: Node, fields: Readonly<Record<string, unknown>>];

const elected = (ms: number, leader: number, isr: readonly number[], leaderEpoch?: number): Line => [
  ms,
  'controller',
  { event: 'election', leader, isr, leaderEpoch },
];
const inSync = (ms: number, to: readonly number[]): Line => [ms, 'controller', { event: 'isr', to }];
const follows = (ms: number, leader: number | undefined, more: object = {}): Line => [
  ms,
  3,
  { event: 'role', role: 'follower', leader, leaderEpoch: 1, source: 'metadata', ...more },
];
const leads = (ms: number, more: object = {}): Line => [
  ms,
  3,
  { event: 'role', role: 'leader', leaderEpoch: 1, ...more },
];
const reaches = (ms: number, end: number): Line => [ms, 3, { event: 'append', batches: [{ last: end - 1 }] }];
const mark = (ms: number, to: number, more: object = {}): Line => [ms, 3, { event: 'hw', to, source: 'log', ...more }];
const cut = (ms: number, from: number, to: number, more: object = {}): Line => [
  ms,
  3,
  { event: 'truncation', source: 'segments', from, to, ...more },
];
const acked = (ms: number, node: number, base: number, more: object = {}): Line => [
  ms,
  node,
  { event: 'ack', base, last: base, acks: -1, isr: [1, 2, 3], leaderEpoch: 0, ...more },
];

const first = [elected(0, 1, [1, 2, 3], 0), follows(0, 1, { leaderEpoch: 0 })];
const held = [reaches(10, 4), mark(20, 3), acked(30, 1, 3)];
const turned = [elected(900, 2, [2, 3], 1), follows(1050, 2)];

/** What is found, as `high watermark..end: acknowledged`, or why nothing is known. */
function found(...lines: readonly Line[]): unknown {
  const seqs = new Map<string, number>();
  const told = lines
    .toSorted(([x], [y]) => x - y)
    .map(([ms, node, fields]) => {
      const { boot = 1 } = fields as { readonly boot?: number };
      const seq = seqs.get(`${node}.${boot}`) ?? 0;
      seqs.set(`${node}.${boot}`, seq + 1);
      return { seq, time: ms * 1e6, node, boot, partition: key, ...fields };
    });
  const { exposures, doubt } = findObservedExposures(readObservations(told));
  if (exposures === null) return doubt;
  return exposures.map(
    ({ highWatermark, endOffset, acknowledged }) => `${highWatermark}..${endOffset}: ${acknowledged.join('-')}`,
  );
}

const exposed = ['3..4: 3-3'];
const none: string[] = [];
const dark = 'at one moment at which a broker became follower, its high watermark was not known';

describe('a moment', () => {
  it('is an exposure as it stands here', () => {
    expect(found(...first, ...held, ...turned)).toEqual(exposed);
  });

  it('may be a poll earlier than metadata tells, but not before the last other sign of the broker or the election', () => {
    expect(found(...first, ...held, ...turned, mark(950, 4))).toEqual(none);
    expect(found(...first, ...held, ...turned, mark(951, 4))).toEqual(exposed);
    const again = follows(980, 1, { leaderEpoch: 0 });
    expect(found(...first, again, ...held, ...turned, mark(980, 4))).toEqual(none);
    expect(found(...first, again, ...held, ...turned, mark(981, 4))).toEqual(exposed);
    const late = [elected(1000, 2, [2, 3], 1), follows(1050, 2)];
    expect(found(...first, ...held, ...late, mark(1000, 4))).toEqual(none);
    expect(found(...first, ...held, ...late, mark(1001, 4))).toEqual(exposed);
  });

  it('is as new as it seems where the log tells it', () => {
    const prompt = [elected(900, 2, [2, 3], 1), follows(1050, 2, { source: 'log' })];
    expect(found(...first, ...held, ...prompt, mark(1050, 4))).toEqual(none);
    expect(found(...first, ...held, ...prompt, mark(1051, 4))).toEqual(exposed);
  });

  it('is that of a log line without a leader, if metadata names one within half a second', () => {
    const sign = (ms: number): Line => follows(ms, undefined, { source: 'log', leaderEpoch: undefined });
    const later = mark(800, 4);
    expect(found(...first, ...held, ...turned, later)).toEqual(none);
    expect(found(...first, ...held, ...turned, later, sign(551))).toEqual(exposed);
    expect(found(...first, ...held, ...turned, later, sign(550))).toEqual(none);
    // What is seen between the two makes the sign one of that.
    const between = follows(900, 1, { leaderEpoch: 0 });
    expect(found(...first, ...held, ...turned, later, sign(700), between)).toEqual(none);
  });

  it('may be a poll earlier also where neither an earlier role nor an election was seen', () => {
    expect(found(elected(0, 1, [1, 2, 3], 0), ...held, ...turned, mark(960, 4))).toEqual(exposed);
    expect(found(...first, ...held, follows(1050, 2), mark(960, 4))).toEqual(exposed);
    expect(found(...first, ...held, follows(1050, 2, { leaderEpoch: undefined }))).toEqual(exposed);
    expect(found(follows(0, 1), ...held, follows(1050, 2))).toEqual(none);
  });

  it('is one at which the broker follows somebody else', () => {
    expect(found(...first, ...held, elected(900, 3, [2, 3], 1), follows(1050, 3))).toEqual(none);
    expect(found(...first, ...held, elected(900, 3, [2, 3], 1), leads(1050))).toEqual(none);
    expect(found(...first, ...held, follows(1050, null as never))).toEqual(none);
  });

  it('is one too where the broker has led in between, or was started again, and follows the same leader', () => {
    const reign = [elected(400, 3, [1, 2, 3], 0), leads(500, { leaderEpoch: 0 })];
    const back = [elected(900, 1, [1, 2, 3], 1), follows(1050, 1)];
    expect(found(...first, ...held, ...reign, ...back, mark(600, 3))).toEqual(exposed);
    const anew = [
      elected(0, 2, [1, 2, 3], 0),
      reaches(10, 4),
      acked(30, 2, 3),
      elected(100, 1, [1, 2, 3], 1),
      mark(90, 4),
    ];
    const again = [follows(150, 1), follows(1050, 1, { boot: 2 }), mark(940, 3, { boot: 2 })];
    expect(found(...anew, ...again)).toEqual(exposed);
    expect(found(...anew, ...again.slice(0, 1), follows(1050, 1))).toEqual(none);
  });

  it('is not later than the role, though the election is seen later', () => {
    const late = [follows(1050, 2), elected(1200, 2, [2, 3], 1)];
    expect(found(...first, ...held, ...late, mark(1050, 4))).toEqual(none);
    expect(found(...first, ...held, ...late, mark(1051, 4))).toEqual(exposed);
  });
});

describe('the election of a leader', () => {
  it('is the last of it, seen up to half a second late', () => {
    expect(found(...first, ...held, follows(1050, 2), elected(1550, 2, [2], 1))).toEqual(none);
    expect(found(...first, ...held, follows(1050, 2), elected(1551, 2, [2], 1))).toEqual(exposed);
    expect(found(...first, elected(5, 2, [2], 0), elected(6, 1, [1, 2, 3], 0), ...held, ...turned)).toEqual(exposed);
  });

  it('gives the epoch where the role has none', () => {
    const bare = follows(1050, 2, { leaderEpoch: undefined });
    expect(found(...first, ...held, elected(900, 2, [2, 3], 1), bare)).toEqual(exposed);
    expect(
      found(
        ...first,
        reaches(10, 4),
        mark(20, 3),
        acked(30, 1, 3, { leaderEpoch: 2 }),
        elected(900, 2, [2, 3], 1),
        bare,
      ),
    ).toEqual(none);
  });

  it('is followed by who is in sync when the broker follows', () => {
    expect(found(...first, ...held, ...turned, inSync(1050, [2]))).toEqual(none);
    expect(found(...first, ...held, ...turned, inSync(1051, [2]))).toEqual(exposed);
  });
});

describe('the end of a log', () => {
  it('is the last that was seen before', () => {
    const short = [reaches(10, 3), mark(20, 3), acked(30, 1, 3)];
    expect(found(...first, ...short, ...turned, reaches(950, 4))).toEqual(exposed);
    expect(found(...first, ...short, ...turned, reaches(951, 4))).toEqual(none);
  });

  it('is where the log was cut from, if it was cut from a poll before on', () => {
    const from5 = ['3..5: 3-3'];
    expect(found(...first, ...held, ...turned, cut(1060, 5, 3))).toEqual(from5);
    expect(found(...first, ...held, ...turned, cut(850, 5, 3))).toEqual(from5);
    expect(found(...first, ...held, ...turned, cut(849, 5, 3))).toEqual(none);
    expect(found(...first, ...held, ...turned, cut(1060, 5, 3, { boot: 2 }))).toEqual(exposed);
    const other: Line = [1060, 2, { event: 'truncation', source: 'segments', from: 5, to: 3 }];
    expect(found(...first, ...held, ...turned, other)).toEqual(exposed);
    const words: Line = [1060, 3, { event: 'truncation', source: 'log', to: 3, words: 'cut' }];
    expect(found(...first, ...held, ...turned, words)).toEqual(exposed);
  });

  it('is where the log was cut from within two lines of a role that the log tells', () => {
    const prompt = [elected(900, 2, [2, 3], 1), follows(1050, 2, { source: 'log' })];
    expect(found(...first, ...held, ...prompt, cut(1030, 5, 3))).toEqual(['3..5: 3-3']);
    expect(found(...first, ...held, ...prompt, cut(1029, 5, 3))).toEqual(none);
  });

  it('is not where it was cut from before the last other sign of the broker', () => {
    const again = follows(900, 1, { leaderEpoch: 0 });
    expect(found(...first, again, ...held, ...turned, cut(900, 5, 3))).toEqual(['3..5: 3-3']);
    expect(found(...first, again, ...held, ...turned, cut(899, 5, 3))).toEqual(none);
  });

  it('is not where it was cut from after the broker had followed another, or had appended since', () => {
    const other = [elected(1055, 1, [1, 2], 2), follows(1060, 1, { leaderEpoch: 2 })];
    expect(found(...first, ...held, ...turned, ...other, cut(1059, 5, 3))).toEqual(['3..5: 3-3']);
    expect(found(...first, ...held, ...turned, ...other, cut(1060, 5, 3))).toEqual(exposed);
    expect(found(...first, ...held, ...turned, reaches(1055, 5), cut(1060, 5, 3))).toEqual(exposed);
    expect(found(...first, ...held, ...turned, reaches(1050, 5), cut(1060, 5, 3))).toEqual(['3..5: 3-3']);
    expect(found(...first, ...held, ...turned, reaches(1060, 5), cut(1060, 5, 3))).toEqual(['3..5: 3-3']);
    expect(found(...first, ...held, ...turned, cut(1060, 5, 3), reaches(1070, 5))).toEqual(['3..5: 3-3']);
    const back = [leads(1070), follows(1080, null as never)];
    expect(found(...first, ...held, ...turned, ...back, cut(1075, 5, 3))).toEqual(exposed);
    const second = [elected(1055, 1, [1, 2, 3], 2), follows(1060, 1, { leaderEpoch: 2 })];
    const last = [elected(1095, 2, [2, 3], 3), follows(1100, 2, { leaderEpoch: 3 })];
    const three = found(...first, ...held, ...turned, ...second, ...last, cut(1110, 5, 3));
    expect(three).toEqual([...exposed, ...exposed, '3..5: 3-3']);
    const third = [...other, elected(1095, 2, [2, 3], 3), follows(1100, 2, { leaderEpoch: 3 })];
    expect(found(...first, ...held, ...turned, ...third, cut(1090, 5, 3))).toEqual([...exposed, '3..5: 3-3']);
  });

  it('may have grown again before a late role was seen, and not before one that the log tells', () => {
    expect(found(...first, ...held, ...turned, cut(960, 5, 3), reaches(1000, 4))).toEqual(['3..5: 3-3']);
    const prompt = [elected(900, 2, [2, 3], 1), follows(1050, 2, { source: 'log' })];
    expect(found(...first, ...held, ...prompt, cut(1035, 5, 3), reaches(1040, 4))).toEqual(exposed);
  });

  it('is not where a log line says that it was cut, which does not say from where', () => {
    const words: Line = [900, 3, { event: 'truncation', source: 'log', to: 3, words: 'cut' }];
    expect(found(...first, ...held, ...turned, words, mark(920, 4))).toEqual(none);
  });

  it('moves the moment to before it was cut', () => {
    expect(found(...first, ...held, ...turned, cut(900, 5, 3), mark(900, 5))).toEqual(none);
    expect(found(...first, ...held, ...turned, cut(900, 5, 3), mark(901, 5))).toEqual(['3..5: 3-3']);
  });
});

describe('what was acknowledged', () => {
  const with_ = (...acks: readonly Line[]): unknown => found(...first, reaches(10, 4), mark(20, 3), ...acks, ...turned);

  it('counts if it was asked for, lies below the end, and the broker was in sync', () => {
    expect(with_(acked(30, 1, 3, { acks: 1 }))).toEqual(exposed);
    expect(with_(acked(30, 1, 3, { acks: 0 }))).toEqual(none);
    expect(with_(acked(30, 1, 4))).toEqual(none);
    expect(with_(acked(30, 1, 3, { isr: [1, 2] }))).toEqual(none);
    expect(with_(acked(30, 1, 2))).toEqual(none);
  });

  it('is told from the high watermark on, up to the end of the log', () => {
    const all = [reaches(10, 4), mark(20, 2), acked(30, 1, 1, { last: 2 }), acked(31, 1, 3, { last: 5 })];
    expect(found(...first, ...all, ...turned)).toEqual(['2..4: 2-3']);
    expect(found(...first, reaches(10, 9), mark(20, 2), acked(30, 1, 4), acked(31, 1, 6), ...turned)).toEqual([
      '2..9: 4-6',
    ]);
  });

  it('is not at risk where all that the broker held was below its high watermark', () => {
    for (const to of [4, 5])
      expect(found(...first, reaches(10, 4), mark(20, to), acked(30, 1, 3, { last: 9 }), ...turned)).toEqual(none);
  });

  it('counts in an earlier epoch, and without other epochs until half a second after', () => {
    expect(with_(acked(30, 1, 3, { leaderEpoch: 2 }))).toEqual(none);
    expect(with_(acked(2000, 1, 3, { leaderEpoch: 0 }))).toEqual(exposed);
    for (const leaderEpoch of [1, undefined]) {
      expect(with_(acked(1450, 1, 3, { leaderEpoch }))).toEqual(exposed);
      expect(with_(acked(1451, 1, 3, { leaderEpoch }))).toEqual(none);
    }
  });

  it('by the new leader itself counts only before the reign of another', () => {
    expect(with_(acked(30, 2, 3))).toEqual(none);
    const reigns = [elected(0, 2, [1, 2, 3], 0), elected(500, 1, [1, 2, 3], 0)];
    const own = (ms: number): unknown => found(...reigns, reaches(10, 4), mark(20, 3), acked(ms, 2, 3), ...turned);
    expect([own(499), own(500)]).toEqual([exposed, none]);
    const twice = (ms: number): unknown =>
      found(elected(0, 2, [1, 2, 3], 0), follows(0, 1), reaches(10, 4), mark(20, 3), acked(ms, 2, 3), ...turned);
    expect([twice(949), twice(950)]).toEqual([exposed, none]);
  });
});

describe('the high watermark of a broker', () => {
  it('is known only from its own boot', () => {
    const anew = follows(1050, 2, { boot: 2 });
    expect(found(...first, ...held, elected(900, 2, [2, 3], 1), anew)).toBe(dark);
    expect(found(...first, ...held, elected(900, 2, [2, 3], 1), anew, mark(940, 3, { boot: 2 }))).toEqual(exposed);
  });

  it('is behind what the broker acknowledged itself as the leader, under acks=all, since it started', () => {
    const led = [elected(0, 3, [1, 2, 3], 0), leads(0, { leaderEpoch: 0 }), reaches(10, 6), mark(5, 0)];
    const other = acked(40, 1, 4);
    expect(found(...led, acked(30, 3, 2), other, ...turned)).toEqual(['3..6: 4-4']);
    expect(found(...led, acked(30, 3, 3, { last: 4 }), other, ...turned)).toEqual(none);
    expect(found(...led, acked(951, 3, 3), other, ...turned)).toEqual(['0..6: 3-4']);
    expect(found(...led, acked(950, 3, 3, { last: 4 }), other, ...turned)).toEqual(none);
    expect(found(...led, acked(30, 3, 3, { last: 4 }), mark(40, 3), other, ...turned)).toEqual(['3..6: 3-4']);
    expect(found(...led, acked(30, 3, 3, { last: 4 }), mark(30, 3), other, ...turned)).toEqual(none);
    expect(found(...led, mark(6, 5), acked(30, 3, 2), other, ...turned)).toEqual(none);
    const restarted = [elected(900, 2, [2, 3], 1), follows(1050, 2, { boot: 2 })];
    expect(found(...led, acked(30, 3, 2), other, ...restarted)).toBe(dark);
    expect(found(...led, acked(30, 3, 2, { acks: 1 }), other, ...turned)).toEqual(['0..6: 2-4']);
  });

  it('is not known of who has led since it was seen', () => {
    const reign = [elected(400, 3, [1, 2, 3], 0), leads(500, { leaderEpoch: 0 })];
    expect(found(...first, ...held, ...reign, ...turned)).toBe(dark);
    expect(found(...first, ...held, ...reign, ...turned, mark(600, 3))).toEqual(exposed);
    expect(found(...first, ...held, ...reign, ...turned, mark(499, 3))).toBe(dark);
    expect(found(...first, ...held, elected(940, 3, [1, 2, 3], 0), leads(950), ...turned)).toBe(dark);
    expect(found(...first, ...held, ...reign, ...turned, mark(500, 3))).toEqual(exposed);
  });
});

describe('exposures that were seen', () => {
  it('are told in the order of their partitions, epochs and brokers', () => {
    const lines: object[] = [];
    const seqs = new Map<Node, number>();
    const see = (partition: string, ms: number, node: Node, fields: object): void => {
      const seq = seqs.get(node) ?? 0;
      seqs.set(node, seq + 1);
      lines.push({ seq, time: ms * 1e6, node, boot: 1, partition, ...fields });
    };
    for (const partition of ['b-0', 'a-0', 'a-1']) {
      for (const node of [5, 4, 3]) {
        for (const [ms, , fields] of [follows(0, 1, { leaderEpoch: 0 }), reaches(10, 4), mark(20, 3)])
          see(partition, ms, node, fields);
      }
      see(partition, 0, 'controller', elected(0, 1, [1, 2, 3, 4, 5], 0)[2]);
      see(partition, 30, 1, acked(30, 1, 3, { isr: [1, 2, 3, 4, 5] })[2]);
      see(partition, 900, 'controller', elected(900, 2, [2, 3, 4, 5], 1)[2]);
      for (const node of [5, 3, 4])
        see(partition, 1050, node, follows(1050, 2, { leaderEpoch: node === 3 ? 4 : 1 })[2]);
    }
    const { exposures } = findObservedExposures(readObservations(lines));
    expect(exposures?.map((each) => `${each.key} ${each.leaderEpoch} ${each.node}`)).toEqual(
      ['a-0', 'a-1', 'b-0'].flatMap((partition) => [`${partition} 1 4`, `${partition} 1 5`, `${partition} 4 3`]),
    );
  });

  it('are doubted where several moments are dark', () => {
    const twice = [
      follows(1050, 2, { boot: 2 }),
      elected(1300, 1, [1, 2, 3], 2),
      follows(1400, 1, { boot: 3, leaderEpoch: 2 }),
    ];
    expect(found(...first, ...held, elected(900, 2, [2, 3], 1), ...twice)).toBe(
      'at 2 moments at which brokers became follower, its high watermark was not known',
    );
  });
});
