import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import type { RunResults } from '../../checker/results.ts';
import { s1aPrime } from './schedules.ts';
import { historyInput } from './story.ts';

const sound = [
  '{"index":0,"time":1,"process":0,"type":"invoke","f":"send","value":[["send","tide-0",1]],"acks":"all"}',
  '{"index":1,"time":2,"process":0,"type":"ok","f":"send","value":[["send","tide-0",[0,1]]]}',
  '{"index":2,"time":3,"process":1,"type":"invoke","f":"poll","value":[["poll"]]}',
  '{"index":3,"time":4,"process":1,"type":"ok","f":"poll","value":[["poll",{"tide-0":[[0,1]]}]]}',
];

function check(lines: readonly string[]): RunResults {
  return checkRun(historyInput(lines));
}

/** The sound history with more lines in its middle. */
function checkWith(lines: readonly string[]): RunResults {
  return check(numbered([...sound.slice(0, 2), ...lines, ...sound.slice(2)]));
}

function numbered(lines: readonly string[]): string[] {
  return lines.map((line, index) => line.replace(/^\{"index":\d+,/, `{"index":${index},`));
}

describe('a history', () => {
  it('that is sound is valid', () => {
    expect(check(sound)).toMatchObject({ valid: true, anomalies: [], notes: [] });
  });

  it('whose last line breaks off is read up to there, and told', () => {
    for (let size = 1; size < (sound[3] as string).length; size += 1) {
      const results = check([...sound, (sound[3] as string).slice(0, size)]);
      expect(results.anomalies).toEqual([]);
      expect(results.valid).toBe(true);
      expect(results.notes[0]).toContain('breaks off');
    }
  });

  it('without a completed operation proves nothing', () => {
    expect(check([]).valid).toBe('unknown');
    expect(check(sound.slice(0, 1)).valid).toBe('unknown');
  });

  it.each([
    ['not JSON', ['{"index":'], 'not JSON'],
    ['not an object', ['7'], 'not an operation'],
    ['no operation', ['{"index":9}'], 'not an operation'],
    ['a broken micro-operation', [invoke('send', '[["send","tide-0"]]')], 'neither a text nor'],
    ['a completion without an invocation', poll('[]').slice(1), 'did not invoke'],
    ['an invocation too early', [invoke('poll', '[["poll"]]'), ...poll('[]')], 'before its operation completed'],
    ['an offset above 2^53-1', poll('[[9007199254740993,5]]'), 'from 0 to 2^53-1'],
    ['a negative offset', poll('[[-1,5]]'), 'from 0 to 2^53-1'],
    ['an offset that is a text', poll('[["0",5]]'), 'from 0 to 2^53-1'],
    ['a value that is a fraction', poll('[[3,0.5]]'), 'neither a text nor'],
    ['a value that is a long fraction', poll('[[3,0.1234567890123456]]'), 'neither a text nor'],
    ['a value that is a small fraction', poll('[[3,0.00000012345678]]'), 'neither a text nor'],
    ['a value that is too large and has few digits', poll('[[3,1e22]]'), 'neither a text nor'],
    ['a value that is no value', poll('[[3,{}]]'), 'neither a text nor'],
    ['records that are no list', poll('{"a":1}'), 'not a list'],
    ['a value sent twice', [invoke('send', '[["send","tide-0",1]]')], 'sent twice'],
    ['a nemesis line without a fault', [invoke('pause', 'null').replace('5', '"nemesis"')], 'fault and phase'],
  ])('with %s in its middle is unknown and names the line', (_, lines, detail) => {
    const results = checkWith(lines);
    expect(results.valid).toBe('unknown');
    expect(results.anomalies.map(({ kind, class: className }) => [kind, className])).toEqual([
      ['malformed', 'expected'],
    ]);
    const notes = results.notes.filter((note) => note.startsWith('history line'));
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain(detail);
  });

  it('with an offset that is too large never shows a rounded one', () => {
    const results = checkWith(poll('[[9007199254740993,5]]'));
    expect(JSON.stringify(results)).not.toContain('900719925474099');
  });

  it.each([
    ['beyond 2^53-1', '9007199254740992', '9007199254740993'],
    ['of 64 bits', '18446744073709551614', '18446744073709551615'],
    ['below -(2^53-1)', '-9007199254740992', '-9007199254740993'],
    ['with a fraction that rounds', '9007199254740990.9', '9007199254740991.1'],
    ['with many digits behind the point', '12345678.12345678901', '12345678.12345678902'],
    // The first is rounded to …0.041, which is the same but for a nought.
    ['with a fraction that rounds by one place', '9000000000000.0401', '9000000000000.0402'],
    ['with an exponent that is too large', '1e400', '1E+500'],
    ['with an exponent that is too small', '1e-400', '2e-400'],
  ])('keeps keys and values apart that are numbers %s', (_, one, other) => {
    const twoKeys = [...sentAndRead(one, '1', '[0,1]'), ...sentAndRead(other, '2', '[0,2]')];
    expect(check(numbered(twoKeys))).toMatchObject({ valid: true, anomalies: [], notes: [] });
    const twoValues = [...sentAndRead('7', one, `[0,${one}]`), ...sentAndRead('7', other, `[1,${other}]`)];
    expect(check(numbered(twoValues))).toMatchObject({ valid: true, anomalies: [], notes: [] });
    const swapped = [...sentAndRead('7', one, `[0,${one}]`), ...sentAndRead('7', other, `[0,${other}]`)];
    const { anomalies } = check(numbered(swapped));
    const conflict = anomalies.find(({ kind }) => kind === 'ack-conflict');
    expect(JSON.stringify(conflict)).toContain(one);
    expect(JSON.stringify(conflict)).toContain(other);
  });

  it('takes a large number and the text of its digits for one key and one value', () => {
    const id = '9007199254740993';
    const lines = numbered([...sentAndRead(id, id, `[0,${id}]`), ...sentAndRead(`"${id}"`, '1', `[1,1]`)]);
    expect(check(lines.map((line) => line.replaceAll(`[0,${id}]`, `[0,"${id}"]`)))).toMatchObject({
      valid: true,
      anomalies: [],
    });
  });

  it.each(['1234567890123456.0', '1.234567890123456e15', '1234567890123456000E-003', '1234567890123456.000000'])(
    'takes %s for 1234567890123456, since nothing is rounded',
    (number) => {
      const [sent, acknowledged] = sentAndRead('1234567890123456', '1234567890123456', '[0,1234567890123456]');
      const [, , asked, read] = sentAndRead('"1234567890123456"', number, `[0,${number}]`);
      const results = check(numbered([sent!, acknowledged!, asked!, read!]));
      expect(results).toMatchObject({ valid: true, anomalies: [], notes: [] });
      const key = check(numbered([sent!.replace('1234567890123456,', `${number},`), acknowledged!, asked!, read!]));
      expect(key).toMatchObject({ valid: true, anomalies: [], notes: [] });
    },
  );

  it('may tell the time in more digits than a number keeps', () => {
    const lines = sound.map((line) => line.replace('"time":', '"time":1700000000000000'));
    expect(check(lines)).toMatchObject({ valid: true, anomalies: [], notes: [] });
  });

  it('keeps a violation in spite of a malformed line', () => {
    const results = checkWith(poll('[[0,77],["x",1]]'));
    expect(results.valid).toBe(false);
    expect(results.anomalies.map(({ kind }) => kind)).toContain('inconsistent-offsets');
  });

  it('accuses nobody of what a line that cannot be read may have said', () => {
    const unsent = sound.map((line) => (line.includes('"invoke","f":"send"') ? line.slice(0, 40) : line));
    const results = check(unsent);
    expect(results.anomalies.map(({ kind }) => kind)).toEqual(['malformed']);
    expect(results.valid).toBe('unknown');
    expect(results.notes.join('\n')).toContain('1 phantom is left out');
  });

  it.each([
    ['the beginning', (lines: string[]) => lines.slice(2)],
    ['a send', (lines: string[]) => lines.filter((_, index) => index !== 0 && index !== 1)],
    ['an order', (lines: string[]) => [...lines.slice(2), ...lines.slice(0, 2)]],
    ['lines that stand once', (lines: string[]) => [...lines.slice(0, 2), ...lines]],
  ])('that lacks %s is unknown, and accuses nobody', (_, damage) => {
    const results = check(damage([...sound]));
    expect(results.valid).toBe('unknown');
    expect(results.anomalies.map(({ kind }) => kind)).toEqual(['malformed']);
  });

  it('accuses nobody of lines that stand twice, wherever a part of it was doubled', () => {
    const readOn = [
      ...sound,
      invoke('send', '[["send","tide-0",2]]'),
      invoke('send', '[["send","tide-0",[1,2]]]').replace('"invoke"', '"ok"'),
      ...poll('[[0,1],[1,2]]'),
      ...sound.slice(2).map((line) => line.replace('[0,1]', '[1,2]')),
    ];
    const lines = numbered(readOn);
    expect(check(lines)).toMatchObject({ valid: true, anomalies: [] });
    for (let from = 0; from < lines.length; from += 1) {
      for (let to = from + 1; to <= lines.length; to += 1) {
        const results = check([...lines.slice(0, to), ...lines.slice(from)]);
        expect(results.valid, `${from} to ${to}`).toBe('unknown');
        expect(results.anomalies.map(({ kind }) => kind)).toEqual(['malformed']);
      }
    }
  });

  it('accuses no reader of a poll whose completion stands twice, where lines count themselves', () => {
    const lines = sound.map((line) => line.replace(/"index":\d,/, ''));
    const results = check([...lines, lines.at(-1)!, ...lines.slice(2)]);
    expect(results.valid).toBe('unknown');
    expect(results.anomalies.map(({ kind }) => kind)).toEqual(['malformed']);
  });

  it('may hold one wrong index: no line after it is passed over', () => {
    const wrong = sound.map((line) => line.replace('"index":1,', '"index":1000000,'));
    const results = check([...wrong, ...numbered([...sound, ...poll('[[0,77]]')]).slice(sound.length)]);
    expect(results.anomalies.map(({ kind }) => kind)).toContain('inconsistent-offsets');
  });

  it('never takes the completion of one send for that of another', () => {
    const lost = [sound[0]!, sound[1]!.replace('"ok"', '"fail"').replace('[0,1]', '2'), ...sound.slice(2)];
    const results = check(lost);
    expect(results.valid).toBe('unknown');
    expect(results.anomalies.map(({ kind }) => kind)).toEqual(['malformed']);
    expect(results.notes.join('\n')).toContain('names 2 of tide-0, which its invocation does not');
  });

  it('without times that are numbers is malformed', () => {
    const results = check(sound.map((line) => line.replace('"time":4', '"time":1e400')));
    expect(results.valid).toBe('unknown');
  });

  it('with tens of thousands of values at one offset, or in one operation, is judged at once', () => {
    const many = Array.from({ length: 40_000 }, (_, value) => value);
    const sends = (offset: (value: number) => number): string[] => [
      `{"index":0,"time":1,"process":0,"type":"invoke","f":"send","value":${JSON.stringify(many.map((value) => ['send', 'tide-0', value]))}}`,
      `{"index":1,"time":2,"process":0,"type":"ok","f":"send","value":${JSON.stringify(many.map((value) => ['send', 'tide-0', [offset(value), value]]))}}`,
    ];
    const [conflict] = check(sends(() => 5)).anomalies;
    expect(conflict).toMatchObject({ kind: 'ack-conflict', offset: 5 });
    expect(conflict?.values.length).toBeLessThanOrEqual(100);
    expect(check(sends((value) => value)).anomalies).toEqual([]);
  });

  it('names a few of very many malformed lines, and counts the others', () => {
    const results = check(numbered([...sound, ...Array.from({ length: 5000 }, () => 'x'), ...sound.slice(2)]));
    expect(results.anomalies[0]?.summary).toMatch(/^5000 malformed/);
    expect(results.notes.length).toBeLessThan(60);
  });

  it('takes 1 and "1" for one value, as the bytes of a record do', () => {
    const lines = [...sound.slice(0, 3), (sound[3] as string).replace('[0,1]', '[0,"1"]')];
    expect(check(lines)).toMatchObject({ valid: true, anomalies: [] });
  });

  it('may hold values that are texts, and huge offsets', () => {
    const lines = sound.map((line) =>
      line.replaceAll('[0,1]', '[9007199254740990,"a-1"]').replace('"tide-0",1]', '"tide-0","a-1"]'),
    );
    expect(check(lines)).toMatchObject({ valid: true, anomalies: [] });
  });
});

describe('no input', () => {
  it('makes the checker throw: lines lost, cut, doubled, reordered and rewritten', () => {
    const story = s1aPrime('hw');
    const damage = (lines: readonly string[], seed: number): string[] => {
      const out: string[] = [];
      let state = seed;
      const draw = (bound: number): number => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        return (state >>> 8) % bound;
      };
      for (const line of lines) {
        const what = draw(12);
        if (what === 0) continue;
        if (what === 1) out.push(line.slice(0, draw(line.length)));
        else if (what === 2) out.push(line, line);
        else if (what === 3) out.splice(draw(out.length + 1), 0, line);
        else if (what === 4)
          out.push(line.replace(/\d+/, () => ['-1', '1e400', 'null', '"x"', '9007199254740993'][draw(5)] ?? ''));
        else if (what === 5)
          out.push(line.replaceAll(/\[[^[\]]*\]/g, () => ['[]', '{}', 'null', '7', '[[[]]]'][draw(5)] ?? ''));
        else out.push(line);
      }
      return out;
    };
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.boolean(), (one, two, withLogs) => {
        const changes = { history: damage(story.history, one), trace: damage(story.trace, two) };
        const results = story.check(withLogs ? changes : { ...changes, logs: null });
        expect([true, false, 'unknown']).toContain(results.valid);
        expect(JSON.parse(JSON.stringify(results))).toEqual(results);
      }),
      { numRuns: 2000, seed: 11 },
    );
  }, 60_000);

  it('makes the checker throw: any JSON at all in the place of lines', () => {
    const story = s1aPrime('hw');
    const line = fc.oneof(
      fc.json(),
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify({ index: 1, time: 1, process: 1, type: 'ok', f: 'poll', value })),
    );
    const traced = fc.oneof(
      fc.json(),
      fc
        .record({
          event: fc.constantFrom(
            'append',
            'ack',
            'hw',
            'role',
            'truncation',
            'recover',
            'election',
            'isr',
            'create',
            'log-start',
            'delete',
          ),
          rest: fc.jsonValue(),
        })
        .map(({ event, rest }) =>
          JSON.stringify(Object.assign({ seq: 0, time: 1, node: 1, boot: 1, event, partition: 'tide-0' }, rest)),
        ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.array(traced, { maxLength: 8 }), (history, trace) => {
        expect([true, false, 'unknown']).toContain(story.check({ history, trace }).valid);
      }),
      { numRuns: 1000, seed: 12 },
    );
  }, 60_000);
});

function invoke(f: string, value: string): string {
  return `{"index":8,"time":3,"process":5,"type":"invoke","f":"${f}","value":${value}}`;
}

function poll(records: string): string[] {
  const answer = `{"index":9,"time":3,"process":5,"type":"ok","f":"poll","value":[["poll",{"tide-0":${records}}]]}`;
  return [invoke('poll', '[["poll"]]'), answer];
}

/** One send that is acknowledged and one poll that reads it; the key and the value are tokens of JSON. */
function sentAndRead(key: string, value: string, pair: string): string[] {
  const name = key.startsWith('"') ? key : `"${key}"`;
  return [
    invoke('send', `[["send",${key},${value}]]`),
    invoke('send', `[["send",${key},${pair}]]`).replace('"invoke"', '"ok"'),
    ...poll('[]').map((line) => line.replace('"tide-0":[]', `${name}:[${pair}]`)),
  ];
}
