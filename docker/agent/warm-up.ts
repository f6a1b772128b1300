/**
 * Runs programs once while the image is assembled, so that the image holds their compiled code.
 *
 * `node warm-up.ts '[{"program": …, "user": …}, …]'`. Taking the types out of some dozens of files and compiling them
 * is two thirds of a broker's start, and brokers are started again and again. A program gets no argument, so it has
 * compiled itself by the time it complains. Node keeps its cache by user: each program runs as the one it will run as.
 * A failure costs nothing but speed.
 */
import { spawn } from 'node:child_process';

export interface WarmUp {
  readonly program: string;
  readonly user: number;
}

const timeoutMs = 10_000;

for (const { program, user } of JSON.parse(process.argv[2] ?? '[]') as WarmUp[]) {
  spawn(process.execPath, [program], {
    uid: user,
    gid: user,
    stdio: 'ignore',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
}
