/** What a simulated run leaves where its files cannot all be written. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EnvironmentError } from '../../../harness/errors.ts';
import { executeSimulatedRun } from '../../../harness/run/simulated-run.ts';
import { writeWhole } from '../../../harness/store.ts';
import { requestWith } from '../sim/requests.ts';

let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tidemark-simulated-'));
});

afterEach(() => rmSync(temporary, { recursive: true }));

function execute(report: (directory: string) => unknown, directory = join(temporary, 'run')) {
  const request = requestWith([], { timeLimitMs: 500 });
  return executeSimulatedRun({ request, name: 'epoch-1', command: 'again', directory, keep: () => true, report });
}

describe('a simulated run that is kept', () => {
  it('is reported from its files', () => {
    let found = false;
    const { kept, error } = execute((directory) => {
      found = existsSync(join(directory, 'results.json')) && existsSync(join(directory, 'data/3'));
    });
    expect([found, kept, error]).toEqual([true, true, null]);
  });

  it('stays found where its report, or its folder, cannot be written', () => {
    const unwritable = execute((directory) => {
      mkdirSync(join(directory, 'report.html'));
      writeWhole(join(directory, 'report.html'), '');
    });
    expect(unwritable).toMatchObject({ kept: false, results: { valid: true } });
    expect(unwritable.error).toBeInstanceOf(EnvironmentError);
    expect(unwritable.error?.message).toMatch(/^cannot write .*report\.html: /);
    writeFileSync(join(temporary, 'file'), '');
    const nowhere = execute(() => {}, join(temporary, 'file', 'run'));
    expect(nowhere).toMatchObject({ kept: false, results: { valid: true } });
    expect(nowhere.error?.message).toMatch(/^cannot write the run: ENOTDIR, a part of the path is not a folder/);
  });

  it('does not hide a mistake of ours', () => {
    const mistake = (): never => {
      throw new TypeError('no such field');
    };
    expect(() => execute(mistake)).toThrow(TypeError);
  });
});
