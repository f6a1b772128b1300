/**
 * A node's process, from its argument to its end; broker and controller differ only in the {@link Node} that they open.
 *
 * The port is bound first. It keeps a second process off the data directory, and whoever connects meanwhile waits in
 * the system's queue until the core has spoken its first trace lines. Everything after that is the driver's.
 *
 * Ends: 0 after a controlled shutdown (SIGTERM or SIGINT, within a bound); 255 with one line when the configuration,
 * the port, the data directory or the reader of the trace forbids to go on; 70 with everything that is known when a
 * rule of our own is broken.
 */
import * as fs from 'node:fs';
import { createServer, type Server } from 'node:net';
import { inspect } from 'node:util';
import type { ProcessConfig } from '../core/settings.ts';
import type { Effect, Peer } from '../core/step.ts';
import { StorageError } from '../storage/files.ts';
import type { Storage } from '../storage/storage.ts';
import { monotonicClock, type ClockNs } from './clock.ts';
import { keepCompileCache } from './compile-cache.ts';
import { Driver, type Core } from './driver.ts';
import { limits } from './limits.ts';
import { nodeLogger, type Logger } from './logger.ts';
import { Peers, type PeerListener } from './peers.ts';
import { ConfigError, parseProcessConfig } from './process-config.ts';
import { Requesters } from './requesters.ts';
import { TraceLostError, traceWriter } from './trace-writer.ts';

/** A node whose storage is open and whose core is about to start. */
export interface Node {
  readonly boot: number;
  /** As in `broker-1.3`. */
  readonly clientId: string;
  readonly storage: Storage;
  readonly core: Core;
  /** What the core wants first. */
  readonly effects: readonly Effect[];
  /** The core's state, for the last words of a crash. */
  readonly state: unknown;
}

export type OpenNode = (config: ProcessConfig, clock: ClockNs) => Node;

const exitCode = { clean: 0, ourMistake: 70, environment: 255 } as const;
const traceDescriptor = 1;
const logDescriptor = 2;

/** Runs the process. Returns when the port is being bound; everything else happens in events. */
export function runProcess(kind: 'broker' | 'controller', argument: string | undefined, open: OpenNode): void {
  let name: string = kind;
  process.on('uncaughtException', (error) => endWith(name, error));
  const config = parseProcessConfig(argument);
  if ((config.node === 'controller') !== (kind === 'controller')) {
    throw new ConfigError(`node is ${JSON.stringify(config.node)}, and this is the process of a ${kind}`);
  }
  if (kind === 'broker') name = `broker ${config.node}`;
  const server = createServer();
  server.on('error', (error) => endWith(name, listenError(error, config)));
  server.listen({ host: config.listen.host, port: config.listen.port, backlog: limits.connections }, () => {
    startNode(config, server, open);
  });
}

function startNode(config: ProcessConfig, server: Server, open: OpenNode): void {
  const clock = monotonicClock(BigInt(config.clockOriginNs));
  const node = open(config, clock);
  const logger = nodeLogger(logDescriptor, { node: config.node, boot: node.boot }, clock);
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => crash(logger, error, node.state));
  // From now on the server can fail to take in a connection (too many open files), and goes on.
  server.removeAllListeners('error');
  server.on('error', (error) => logger.warn(`a connection could not be taken in: ${error.message}`));

  const deliver: Driver['deliver'] = (event) => driver.deliver(event);
  const answers = new Requesters(deliver, logger);
  const peers = new Peers(node.clientId, peerListener(deliver, logger));
  const driver = new Driver({
    core: node.core,
    storage: node.storage,
    trace: traceWriter(traceDescriptor, { node: config.node, boot: node.boot }, clock),
    clock,
    answers,
    peers,
    exit: () => process.exit(exitCode.clean),
  });
  driver.start(node.effects);
  answers.listenOn(server);
  stopOnSignal(driver, logger, limits.controlledShutdownSessions * config.settings.brokerSessionTimeoutMs);
  keepCompileCache();
  logger.info({ ...config.listen, build: config.build, directory: config.dataDirectory }, 'listening');
}

/** Hands over what peers say, and logs why one cannot be reached: once for each reason, since the core tries on. */
function peerListener(deliver: Driver['deliver'], logger: Logger): PeerListener {
  const unreachable = new Map<Peer, string>();
  return {
    response(event) {
      unreachable.delete(event.peer);
      deliver(event);
    },
    closed(peer, reason) {
      if (unreachable.get(peer) !== reason) {
        logger.info({ peer }, `no connection to ${peer === 'controller' ? peer : `broker ${peer}`}: ${reason}`);
      }
      unreachable.set(peer, reason);
      deliver({ type: 'closed', peer });
    },
  };
}

/** A controlled shutdown; one that takes too long becomes a plain, but still clean, end. */
function stopOnSignal(driver: Driver, logger: Logger, boundMs: number): void {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    logger.info(`${signal}: stopping`);
    setTimeout(() => {
      logger.warn(`not ready to stop after ${boundMs} ms: ending without handing over`);
      driver.exitNow();
    }, boundMs);
    driver.deliver({ type: 'stop' });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function listenError(error: Error & { readonly code?: string }, { listen }: ProcessConfig): Error {
  const place = `${listen.host}:${listen.port}`;
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      return new ConfigError(`port in use: ${place}; stop the process that listens there, or choose another port`);
    case 'EACCES':
      return new ConfigError(`not allowed to listen on ${place}; choose a port above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError(`cannot listen on ${place}: this machine has no such address; choose another host`);
    default:
      return error;
  }
}

/** Before there is a logger: one plain line for what a person can mend, the whole error otherwise. */
function endWith(name: string, error: Error): never {
  if (error instanceof ConfigError || error instanceof StorageError) {
    fs.writeSync(logDescriptor, `tidemark ${name}: ${error.message}\n`);
    process.exit(exitCode.environment);
  }
  fs.writeSync(logDescriptor, `tidemark ${name}: ${error.stack ?? error.message}\n`);
  process.exit(exitCode.ourMistake);
}

/** A failed disk or a lost trace ends the node before it can acknowledge anything more. */
function crash(logger: Logger, error: Error, state: unknown): never {
  if (error instanceof StorageError || error instanceof TraceLostError) {
    logger.fatal(error.message);
    process.exit(exitCode.environment);
  }
  const shown = inspect(state, { depth: 6, maxArrayLength: 20, breakLength: Infinity }).slice(0, crashStateMax);
  logger.fatal({ stack: error.stack, state: shown }, `a rule of our own is broken: ${error.message}`);
  process.exit(exitCode.ourMistake);
}

/** Characters of the state in the last words of a crash. */
const crashStateMax = 100_000;
