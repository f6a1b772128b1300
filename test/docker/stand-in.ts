/**
 * A stand-in for a node, for the tests of the runtime: a real process that listens, says trace lines, writes files and
 * answers probes, and knows nothing of Kafka beyond the frame of a request.
 *
 * Its argument is JSON: where it lives, and what it shall do ({@link StandIn}).
 */
import { existsSync, openSync, readFileSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

export interface StandIn {
  readonly node: number | 'controller';
  readonly dataDirectory: string;
  readonly port: number;
  /** Says lines as fast as it can, until it is killed. */
  readonly chatter?: boolean;
  /** Complains on standard error and ends with this code. */
  readonly exitCode?: number;
  /** Takes memory until it is stopped. */
  readonly devour?: boolean;
}

const self = JSON.parse(process.argv[2] ?? '{}') as StandIn;
const bootFile = join(self.dataDirectory, 'boot');
const boot = existsSync(bootFile) ? Number(readFileSync(bootFile, 'utf8')) + 1 : 1;
let seq = 0;

function say(event: string, fields: object = {}): void {
  const line = { seq: seq++, time: Number(process.hrtime.bigint()), node: self.node, boot, event, ...fields };
  writeSync(1, `${JSON.stringify(line)}\n`);
}

writeFileSync(bootFile, `${boot}`);
const marker = join(self.dataDirectory, 'power-lost');
const powerLost = existsSync(marker);
if (powerLost) unlinkSync(marker);
writeSync(2, `stand-in ${self.node} starts for the ${boot}. time\n`);
say('start', { port: self.port, powerLost, ...privileges() });

if (self.exitCode !== undefined) {
  writeSync(2, 'giving up\n');
  process.exit(self.exitCode);
}
if (self.devour) {
  const kept: Buffer[] = [];
  for (;;) kept.push(Buffer.alloc(1 << 24, 1));
}

const server = createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.on('data', (request) => {
    // A request comes in one piece here: its correlation id, which the answer repeats, follows size, key and version.
    const answer = Buffer.alloc(10);
    answer.writeInt32BE(6, 0);
    request.copy(answer, 4, 8, 12);
    socket.write(answer);
    say('asked', { clientId: request.toString('utf8', 14) });
  });
});
server.listen(self.port, '0.0.0.0', () => {
  say('listening');
  if (self.chatter) chat();
});

/** Notes after every line that it was said, so that a lost one cannot stay unknown. A kill cannot tear the note. */
function chat(note = openSync(join(self.dataDirectory, `said-${boot}`), 'w')): void {
  say('chatter', { filler: 'ä'.repeat(seq % 300) });
  writeSync(note, `${seq}`.padStart(10), 0);
  setImmediate(chat, note);
}

function privileges(): object {
  const status = readFileSync('/proc/self/status', 'utf8');
  const field = (name: string): string => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
  let rootWritable = true;
  try {
    writeFileSync('/planted', '');
  } catch {
    rootWritable = false;
  }
  return {
    user: process.getuid?.(),
    capabilities: field('CapBnd'),
    noNewPrivileges: field('NoNewPrivs'),
    rootWritable,
  };
}
