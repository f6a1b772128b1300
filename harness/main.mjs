#!/usr/bin/env node
// The launcher. The project runs on the Node 24 that is packaged in node_modules, whatever Node started it: an older
// one hands over to it with the same arguments. Plain JavaScript, since an old Node cannot read TypeScript.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const major = Number(process.versions.node.split('.')[0]);
if (major >= 24) {
  await import('./cli/main.ts');
} else {
  const require = createRequire(import.meta.url);
  let node;
  try {
    node = require.resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    console.error(
      `tidemark needs Node 24 or later; this is Node ${process.versions.node}, and no packaged Node is installed for ${process.platform}-${process.arch}. Run npm ci, or install Node 24.`,
    );
    process.exit(255);
  }
  // The child gets the terminal's Ctrl-C itself; this process only waits, so that clean-up is not cut short.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  const child = spawnSync(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exit(child.status ?? (child.signal === 'SIGINT' ? 130 : 255));
}
