/** The process of a broker: `node broker/server/main.ts '<ProcessConfig as JSON>'`. */
import { useCompileCache } from './compile-cache.ts';

useCompileCache();
const { runBroker } = await import('./broker-node.ts');
runBroker(process.argv[2]);
