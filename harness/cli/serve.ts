/**
 * `tidemark serve`: the store in a browser of this machine, until Ctrl-C.
 */
import { once } from 'node:events';
import { realpathSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { EnvironmentError, InterruptedError, UsageError, errorCode } from '../errors.ts';
import { createProgress } from '../progress.ts';
import { shownPath } from '../shown-path.ts';
import { onInterrupt, untilAborted } from './interrupt.ts';
import { numberOption } from './option-types.ts';

interface ServeFlags {
  readonly store: string;
  readonly port: number;
}

/** TIDE on the keys of a telephone. */
const DEFAULT_PORT = 8433;

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('browse the store in a browser of this machine, until Ctrl-C')
    .option('--store <dir>', 'the store', 'store')
    .addOption(numberOption('--port <n>', 'port on 127.0.0.1; 0 takes a free one', DEFAULT_PORT, 0, 65_535))
    .action(serve);
}

async function serve({ store, port }: ServeFlags): Promise<void> {
  const root = rootOf(store);
  const progress = createProgress();
  const signal = onInterrupt(progress, 'closing');
  const { createStoreServer, loopback } = await import('../serve/server.ts');
  const server = createStoreServer(root, shownPath(root));
  await listen(server, port, loopback);
  const address = server.address() as AddressInfo;
  progress.line(`the store ${shownPath(root)} at http://${loopback}:${address.port}/`);
  progress.line('Ctrl-C ends it');
  await untilAborted(signal);
  server.close();
  server.closeAllConnections();
  throw new InterruptedError();
}

function rootOf(store: string): string {
  try {
    const root = realpathSync(store);
    if (statSync(root).isDirectory()) return root;
  } catch (error) {
    const why = errorCode(error) === 'ENOENT' ? 'there is no such folder' : `it cannot be read (${errorCode(error)})`;
    throw new UsageError(`the store ${store}: ${why}; name another with --store, or fill it with npm start`);
  }
  throw new UsageError(`the store ${store} is no folder: name another with --store`);
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = errorCode(error);
    const why =
      code === 'EADDRINUSE'
        ? 'EADDRINUSE, the port is in use'
        : code === 'EACCES'
          ? 'EACCES, the port may not be used'
          : String(code);
    throw new EnvironmentError(
      `cannot listen on ${host}:${port}: ${why}: choose another with --port, or a free one with --port 0`,
      { cause: error },
    );
  }
}
