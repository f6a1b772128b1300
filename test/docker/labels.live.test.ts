import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { label, ownerState, parseOwner, runLabels, thisProcess } from '../../docker/labels.ts';

describe('the owner of a run', () => {
  it('is this process, and known again from its label', () => {
    const owner = parseOwner(runLabels('a-run')[label.owner]);
    expect(owner).toEqual(thisProcess());
    expect(ownerState(owner!)).toBe('alive');
  });

  it('is dead when its process has ended, even before anybody took notice', async () => {
    const child = spawn(process.execPath, ['--eval', 'process.stdout.write("up"); setInterval(() => {}, 1000)']);
    await once(child.stdout, 'data');
    const owner = { ...thisProcess(), pid: child.pid! };
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(ownerState(owner)).toBe('dead');
  });

  it('is not another process that came to the same pid', () => {
    expect(ownerState({ ...thisProcess(), startTicks: '12' })).toBe('dead');
    expect(ownerState({ ...thisProcess(), bootId: 'an earlier boot' })).toBe('dead');
  });

  it('is left to those who can know, when it lives elsewhere', () => {
    expect(ownerState({ ...thisProcess(), machine: 'another', startTicks: '12' })).toBe('elsewhere');
    expect(ownerState({ ...thisProcess(), pidNamespace: 'pid:[1]', startTicks: '12' })).toBe('elsewhere');
  });

  it('is nobody in a label that we did not write', () => {
    for (const text of [undefined, '', 'me', '{}', 'null', '{"pid": 1}']) expect(parseOwner(text)).toBeNull();
  });
});
