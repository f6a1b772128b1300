/** The controller: the core of `broker/controller/controller.ts` on its own data directory. */
import { createController, nextDeadlineNs, step } from '../controller/controller.ts';
import { ControllerDirectory } from '../storage/controller-directory.ts';
import { runProcess, type Node } from './process.ts';
import type { ClockNs } from './clock.ts';
import type { ProcessConfig } from '../core/settings.ts';

export function runController(argument: string | undefined): void {
  runProcess('controller', argument, open);
}

function open(config: ProcessConfig, clock: ClockNs): Node {
  const storage = new ControllerDirectory(config.dataDirectory, config.clusterId);
  const { boot, records } = storage;
  const { clusterId, defects, listen, settings } = config;
  const { state, effects } = createController(
    { ...settings, clusterId, boot, defects, port: listen.port },
    records,
    clock(),
  );
  return {
    boot,
    clientId: `controller.${boot}`,
    storage,
    core: { step: (event, nowNs) => step(state, event, nowNs), nextDeadlineNs: () => nextDeadlineNs(state) },
    effects,
    state,
  };
}
