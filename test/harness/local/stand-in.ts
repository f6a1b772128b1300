/**
 * A stand-in for a node: it listens, says so in its trace, and answers every frame with its correlation id.
 *
 * Its one argument is JSON: the place of the process, and how it should misbehave. It keeps nothing but a counter of
 * its boots in the data directory.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ProcessPlace } from '../../../nemesis/ports.ts';

interface Behaviour {
  /** Ends at once with this line on standard error. */
  readonly failsWith?: string;
  /** Writes trace lines without a pause, and counts them in a file of the data directory. */
  readonly floods?: boolean;
}

const { node, dataDirectory, listen, ...behaviour } = JSON.parse(process.argv[2] ?? '') as ProcessPlace & Behaviour;
if (behaviour.failsWith !== undefined) {
  writeSync(2, `${behaviour.failsWith}\n`);
  process.exit(255);
}
const bootFile = join(dataDirectory, 'boot');
const boot = existsSync(bootFile) ? Number(readFileSync(bootFile, 'utf8')) + 1 : 1;
writeFileSync(bootFile, `${boot}`);
let seq = 0;
const say = (event: string) => {
  writeSync(
    1,
    `${JSON.stringify({ seq, time: Number(process.hrtime.bigint()), node, boot, event, text: 'ä'.repeat(50) })}\n`,
  );
  seq += 1;
};

const server = createServer({ noDelay: true }, (socket) => {
  let received = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const correlationId = received.readInt32BE(8);
      const clientIdBytes = received.readInt16BE(12);
      const body = received.subarray(14 + clientIdBytes, 4 + received.readInt32BE(0));
      if (body.toString() === 'end yourself') process.exit(7);
      appendFileSync(join(dataDirectory, 'requests'), `${correlationId}\n`);
      const answer = Buffer.alloc(8);
      answer.writeInt32BE(4, 0);
      answer.writeInt32BE(correlationId, 4);
      socket.write(answer);
      received = received.subarray(4 + received.readInt32BE(0));
    }
  });
});
server.listen(listen, () => {
  writeSync(2, 'listening\n');
  say('start');
  if (behaviour.floods === true) flood();
});

function flood(): void {
  for (let line = 0; line < 100; line += 1) {
    say('append');
    writeFileSync(join(dataDirectory, 'said'), `${seq}`);
  }
  setImmediate(flood);
}
