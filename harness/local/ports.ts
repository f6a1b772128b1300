/**
 * Free ports on loopback, found once and kept for the whole run.
 *
 * They lie below the range from which the system gives ports to outgoing connections, so that no connection of anybody
 * takes one while its owner is down for a moment. The search begins at a place of its own in every run, so that two runs
 * that start together do not fight over the same ones.
 */
import { createServer } from 'node:net';
import { EnvironmentError } from '../errors.ts';
import { firstEphemeralPort } from './proc.ts';

export const LOOPBACK = '127.0.0.1';
const LOWEST_PORT = 10_000;

/** `count` different ports on which nobody listens just now. */
export async function findFreePorts(count: number): Promise<number[]> {
  const width = Math.max(1_000, firstEphemeralPort() - LOWEST_PORT);
  const start = Math.floor(Math.random() * width);
  const free: number[] = [];
  for (let step = 0; step < width && free.length < count; step += 1) {
    const port = LOWEST_PORT + ((start + step) % width);
    if (await isFree(port)) free.push(port);
  }
  if (free.length < count) {
    throw new EnvironmentError(`only ${free.length} of ${count} ports are free on ${LOOPBACK}: stop what uses them`);
  }
  return free;
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen({ host: LOOPBACK, port, exclusive: true }, () => server.close(() => resolve(true)));
  return promise;
}
