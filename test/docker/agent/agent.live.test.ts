/**
 * The agent's own program in a network namespace of its own, without any container: what it does when it is left alone.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { have } from '../../require.ts';

const agentProgram = fileURLToPath(new URL('../../../docker/agent/main.ts', import.meta.url));
const silentForMs = 300;
const drop = JSON.stringify({ id: 1, do: 'drop', drops: [{ name: 'from_1', from: '10.213.0.11' }] });
const undrop = JSON.stringify({ id: 2, do: 'drop', drops: [] });

interface Session {
  readonly say: (line: string) => void;
  readonly next: () => Promise<unknown>;
  readonly leave: () => void;
  readonly tables: () => Promise<string>;
}

/** An agent that will heal after `silenceMs`; when it has ended, what is left in its network is printed. */
function startAgent(silenceMs: number): Session {
  const script = `nft add table inet not_ours; "$0" "$1" ${silenceMs}; nft list tables`;
  const child = spawn('unshare', ['--net', 'sh', '-c', script, process.execPath, agentProgram], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  return {
    say: (line) => child.stdin.write(`${line}\n`),
    next: async () => JSON.parse(await next()) as unknown,
    leave: () => child.stdin.end(),
    tables: async () => {
      let printed = '';
      for (let line = await lines.next(); !line.done; line = await lines.next()) printed += `${line.value}\n`;
      return printed;
    },
  };
}

describe.skipIf(!have.docker || process.getuid?.() !== 0)('an agent that is left alone', () => {
  it('heals when its stream ends, and leaves the tables of others', async () => {
    const agent = startAgent(60_000);
    expect(await agent.next()).toEqual({ event: 'ready' });
    agent.say(drop);
    expect(await agent.next()).toEqual({ id: 1, dropped: {} });
    agent.leave();
    expect(await agent.next()).toEqual({ event: 'healed', reason: 'the harness is gone' });
    expect(await agent.tables()).toBe('table inet not_ours\n');
  });

  it('heals when nothing is heard for some time, and serves again when something is', async () => {
    const agent = startAgent(silentForMs);
    expect(await agent.next()).toEqual({ event: 'ready' });
    agent.say(drop);
    expect(await agent.next()).toEqual({ id: 1, dropped: {} });
    expect(await agent.next()).toEqual({ event: 'healed', reason: 'no heartbeat of the harness' });
    agent.say(drop);
    expect(await agent.next()).toEqual({ id: 1, dropped: {} });
    agent.say(undrop);
    expect(await agent.next()).toEqual({ id: 2, dropped: { from_1: { packets: 0, bytes: 0 } } });
    agent.leave();
    expect(await agent.tables()).toBe('table inet not_ours\n');
  });

  it('says what nft refused, and leaves what stood', async () => {
    const agent = startAgent(60_000);
    expect(await agent.next()).toEqual({ event: 'ready' });
    agent.say(drop);
    expect(await agent.next()).toEqual({ id: 1, dropped: {} });
    agent.say(JSON.stringify({ id: 2, do: 'drop', drops: [{ name: 'from_2', from: 'nowhere at all' }] }));
    expect(await agent.next()).toMatchObject({
      id: 2,
      error: expect.stringMatching(/^nft ended with 1: .*/) as string,
    });
    agent.say(undrop);
    expect(await agent.next()).toEqual({ id: 2, dropped: { from_1: { packets: 0, bytes: 0 } } });
    agent.leave();
    expect(await agent.tables()).toBe('table inet not_ours\n');
  });
});
