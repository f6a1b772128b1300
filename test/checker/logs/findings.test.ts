/** Findings are counted, kept up to a number, and each asks for an exit code. */
import { describe, expect, it } from 'vitest';
import { exitOfFinding, Findings, worse } from '../../../checker/logs/findings.ts';

const torn = (offset: number) => ({ name: 'torn-tail', offset, bytes: 1, file: 'tide-0/0.log', position: 0 }) as const;

describe('findings', () => {
  it('are all counted, and the first hundred are kept', () => {
    const findings = new Findings();
    expect(findings).toMatchObject({ list: [], total: 0, exit: 0 });
    for (let offset = 0; offset < 102; offset += 1) findings.add(torn(offset));
    expect(findings.total).toBe(102);
    expect(findings.list.map(({ offset }) => offset)).toEqual(Array.from({ length: 100 }, (_, at) => at));
  });

  it('ask for the worst exit code of them all', () => {
    const findings = new Findings();
    findings.add({ name: 'checkpoint-beyond-log', offset: 1, file: 'tide-0/0.log', leo: 0 });
    expect(findings.exit).toBe(0);
    findings.add(torn(0));
    expect(findings.exit).toBe(2);
    findings.add({ name: 'offset-gap', offset: 1, last: 2, file: 'tide-0/0.log', position: 0 });
    expect(findings.exit).toBe(1);
    findings.add(torn(0));
    expect(findings.exit).toBe(1);
  });

  it('of a log ask for 1 where it contradicts itself, for 2 where it cannot be read, for 0 beside it', () => {
    expect(exitOfFinding).toEqual({
      'crc-mismatch': 1,
      'epoch-regression': 1,
      'offset-gap': 1,
      'offset-regression': 1,
      'segment-mismatch': 1,
      'torn-tail': 2,
      unreadable: 2,
      'checkpoint-mismatch': 0,
      'checkpoint-beyond-log': 0,
    });
  });

  it('are worse with 1 than with 2, and with 2 than with 0', () => {
    const codes = [0, 1, 2] as const;
    expect(codes.map((one) => codes.map((other) => worse(one, other)))).toEqual([
      [0, 1, 2],
      [1, 1, 1],
      [2, 1, 2],
    ]);
  });
});
