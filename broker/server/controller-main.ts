/** The process of the controller: `node broker/server/controller-main.ts '<ProcessConfig as JSON>'`. */
import { useCompileCache } from './compile-cache.ts';

useCompileCache();
const { runController } = await import('./controller-node.ts');
runController(process.argv[2]);
