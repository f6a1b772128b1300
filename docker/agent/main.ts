/**
 * The agent of a pod: shapes the pod's network at the harness's word, probes links from inside, and watches the
 * segments of a broker that tells no trace.
 *
 * It runs beside the broker in the same network namespace, with NET_ADMIN and nothing else, and lives as long as the
 * run. Commands come as lines on standard input. When that ends (the harness died, so the engine closed it), or when
 * nothing is heard for some time, the agent heals the network by itself.
 *
 * Invariant: no rule outlives the harness that wished for it.
 */
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AgentEvent, Command, Reply, WatchRequest } from './messages.ts';
import { heartbeatTimeoutMs, readyId, watchedDirectory } from './messages.ts';
import { probe } from './probe.ts';
import type { Drop, Dropped } from './ruleset.ts';
import { listCounters, parseCounters, replaceTable } from './ruleset.ts';
import type { SegmentWatch } from './watch.ts';
import { watchSegments } from './watch.ts';

/** The drops in force. */
let inForce: readonly Drop[] = [];
let watched: SegmentWatch | null = null;
/** How long the harness may be silent. The argument is for tests. */
const silenceMs = Number(process.argv[2] ?? heartbeatTimeoutMs);
let lastHeardMs = performance.now();
/** Changes of the table, one after the other. */
let changing: Promise<unknown> = Promise.resolve();

const commands = createInterface({ input: process.stdin });
commands.on('line', (line) => {
  lastHeardMs = performance.now();
  const command = JSON.parse(line) as Command;
  if (command.do !== 'beat') void perform(command).then(say);
});
commands.on('close', () => {
  void heal('the harness is gone').then(() => process.exit(0));
});
setInterval(
  () => {
    if (performance.now() - lastHeardMs > silenceMs) void heal('no heartbeat of the harness');
  },
  Math.min(silenceMs / 2, 1_000),
);
void nft(['-f', '-'], replaceTable([])).then(
  () => say({ event: 'ready' }),
  // A kernel without nf_tables is to be found out now, not by the first fault.
  (error: Error) => say({ id: readyId, error: error.message }),
);

async function perform(command: Exclude<Command, { do: 'beat' }>): Promise<Reply> {
  try {
    if (command.do === 'drop') return { id: command.id, dropped: await change(command.drops) };
    if (command.do === 'watch') {
      startWatch(command);
      return { id: command.id, watching: true };
    }
    const { clientId, targets, timeoutMs } = command;
    const probes = await Promise.all(targets.map((target) => probe(target, clientId, timeoutMs)));
    return { id: command.id, probes };
  } catch (error) {
    return { id: command.id, error: error instanceof Error ? error.message : String(error) };
  }
}

function startWatch({ directory, topic, clockOriginNs }: WatchRequest): void {
  watched?.close();
  watched = watchSegments({
    directory: join(watchedDirectory, directory),
    topic,
    clockOriginNs: BigInt(clockOriginNs),
    onSegments: say,
    onBlind: (reason) => say({ event: 'blind', reason }),
  });
}

/** A wish for what is in force already leaves the table alone, and its counters counting. */
function change(drops: readonly Drop[]): Promise<Record<string, Dropped>> {
  return inTurn(async () => {
    if (JSON.stringify(drops) === JSON.stringify(inForce)) return {};
    const dropped = inForce.length > 0 ? parseCounters(await nft(listCounters)) : {};
    await nft(['-f', '-'], replaceTable(drops));
    inForce = drops;
    return dropped;
  });
}

function heal(reason: string): Promise<void> {
  return inTurn(async () => {
    if (inForce.length === 0) return;
    await nft(['-f', '-'], replaceTable([]));
    inForce = [];
    say({ event: 'healed', reason });
  });
}

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = changing.then(work);
  changing = result.catch(() => undefined);
  return result;
}

function nft(args: readonly string[], script = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('nft', args, { stdio: 'pipe' });
    let printed = '';
    let complained = '';
    child.stdout.on('data', (chunk) => (printed += String(chunk)));
    child.stderr.on('data', (chunk) => (complained += String(chunk)));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(printed);
      else reject(new Error(`nft ended with ${code}: ${complained.trim().slice(0, 500)}`));
    });
    child.stdin.on('error', () => {
      // nft ended before it read everything; its exit code tells why.
    });
    child.stdin.end(script);
  });
}

function say(message: Reply | AgentEvent): void {
  writeSync(1, `${JSON.stringify(message)}\n`);
}
