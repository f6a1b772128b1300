import { describe, expect, it } from 'vitest';
import { checkRun } from '../../checker/check.ts';
import { s1aPrime } from './schedules.ts';
import { historyInput, Story } from './story.ts';

describe('durability', () => {
  const send = (fields: object): string[] => [
    JSON.stringify({
      index: 0,
      time: 1,
      process: 0,
      type: 'invoke',
      f: 'send',
      value: [['send', 'a-0', 1]],
      ...fields,
    }),
    JSON.stringify({ index: 1, time: 2, process: 0, type: 'ok', f: 'send', value: [['send', 'a-0', [0, 1]]] }),
  ];
  const durability = (lines: readonly string[], acks: 'all' | 1): unknown => {
    const input = historyInput(lines);
    return checkRun({ ...input, promises: { ...input.promises, acks } }).guarantees.durability;
  };

  it('is checked where acks=all was promised, even if no send was acknowledged so', () => {
    expect(durability(send({ acks: 1 }), 'all')).toBe(true);
  });

  it('is checked where some send was acknowledged under acks=all, whatever was promised', () => {
    // Nobody read the value, and there are no logs.
    expect(durability(send({ acks: 'all' }), 1)).toBe('unknown');
  });

  it('is not checked otherwise', () => {
    expect(durability(send({ acks: 1 }), 1)).toBe('not-checked');
    expect(durability(send({ acks: 'all' }).slice(0, 1), 1)).toBe('not-checked');
  });
});

describe('agreement', () => {
  it('of a history alone is checked where somebody hands in the logs, and not otherwise', () => {
    const input = s1aPrime('epoch').input({ source: 'history' });
    expect(checkRun(input).guarantees.agreement).toBe(true);
    expect(checkRun({ ...input, logs: null }).guarantees.agreement).toBe('not-checked');
  });

  it('of a run that holds nothing but its history is unknown', () => {
    const story = new Story();
    story.begin(1, [1, 2, 3]);
    story.commit(1);
    expect(story.check({ trace: null, logs: null }).guarantees.agreement).toBe('unknown');
  });
});
