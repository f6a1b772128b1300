/**
 * The connection to the Docker engine. The only file that loads dockerode, and only when it is needed, since it is
 * slow to load. Which engine: the one that `DOCKER_HOST` names, otherwise the one of this machine.
 */
import type Docker from 'dockerode';

export interface Engine {
  readonly docker: Docker;
}

const defaultSocket = '/var/run/docker.sock';

export async function connectEngine(dockerHost?: string): Promise<Engine> {
  const { default: DockerClient } = await import('dockerode');
  const socket = socketPath(dockerHost);
  return { docker: socket === null ? new DockerClient() : new DockerClient({ socketPath: socket }) };
}

/** Null when the engine is reached by something else than a socket of this machine. */
export function socketPath(dockerHost: string | undefined = process.env['DOCKER_HOST']): string | null {
  if (dockerHost === undefined || dockerHost === '') return defaultSocket;
  return dockerHost.startsWith('unix://') ? dockerHost.slice('unix://'.length) || defaultSocket : null;
}

/** Is this an answer of the engine with one of these HTTP states? */
export function isStatus(error: unknown, ...states: readonly number[]): boolean {
  return states.includes((error as { statusCode?: number }).statusCode ?? 0);
}

/** What the engine said, without the wrapping of its client. */
export function reason(error: unknown): string {
  const told = (error as { json?: { message?: string } }).json?.message;
  return (told ?? (error instanceof Error ? error.message : String(error))).trim();
}
