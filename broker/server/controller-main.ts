/** The process of the controller: `node broker/server/controller-main.ts '<ProcessConfig as JSON>'`. */
import { createController, nextDeadlineNs, step } from '../controller/controller.ts';
import { ControllerDirectory } from '../storage/controller-directory.ts';
import { runProcess } from './process.ts';

runProcess('controller', process.argv[2], (config, clock) => {
  const storage = new ControllerDirectory(config.dataDirectory, config.clusterId);
  const { boot, records } = storage;
  const { clusterId, listen, settings } = config;
  const { state, effects } = createController({ ...settings, clusterId, boot, port: listen.port }, records, clock());
  return {
    boot,
    clientId: `controller.${boot}`,
    storage,
    core: { step: (event, nowNs) => step(state, event, nowNs), nextDeadlineNs: () => nextDeadlineNs(state) },
    effects,
    state,
  };
});
