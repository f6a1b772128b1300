#!/usr/bin/env node
// The launcher. The project runs on the Node 24 that is packaged in node_modules, whatever Node started it: an older
// one hands over to it with the same arguments and signals. Plain JavaScript, since an old Node cannot read TypeScript.
import { spawn } from 'node:child_process';
import module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

if (Number(process.versions.node.split('.')[0]) >= 24) {
  // Started by an older Node below: if that one is killed, this process may not go on unseen.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
  // Starts from compiled code where an earlier start left some: most of a short command is its start.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url)));
  let main;
  try {
    ({ main } = await import('./cli/main.ts'));
  } catch (error) {
    // Node's own exit code would be 1, which is an anomaly.
    const missing = error.code === 'ERR_MODULE_NOT_FOUND' && error.message.startsWith('Cannot find package');
    console.error(missing ? `tidemark: ${error.message.split(' imported')[0]}: run npm ci` : error);
    process.exit(255);
  }
  await main(process.argv.slice(2));
} else {
  const child = spawn(packagedNode(), [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // The child cleans up and decides the exit code; this process only passes signals on and waits.
  const interrupts = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of interrupts) process.on(signal, () => child.kill(signal));
  // Ended by a signal that it had no time yet to answer, or by one that nobody can.
  child.on('exit', (code, signal) => process.exit(code ?? (interrupts.includes(signal) ? 130 : 255)));
  child.on('error', (error) => {
    console.error(`tidemark: cannot start the packaged Node: ${error.message}`);
    process.exit(255);
  });
}

function packagedNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    console.error(
      `tidemark: Node 24 or later is needed; this is ${process.versions.node}, and no packaged one is installed for ${process.platform}-${process.arch}: run npm ci, or install Node 24`,
    );
    process.exit(255);
  }
}
