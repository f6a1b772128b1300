/** A broker: the core of `broker/core/broker.ts` on a data directory. */
import { createBroker, nextDeadlineNs, step } from '../core/broker.ts';
import { buildNamed, buildNames } from '../core/builds.ts';
import { defects as knownDefects, isDefect } from '../core/defects.ts';
import { DataDirectory } from '../storage/data-directory.ts';
import { ConfigError } from './process-config.ts';
import { runProcess, type Node } from './process.ts';
import type { ClockNs } from './clock.ts';
import type { ProcessConfig } from '../core/settings.ts';

export function runBroker(argument: string | undefined): void {
  runProcess('broker', argument, open);
}

function open(config: ProcessConfig, clock: ClockNs): Node {
  const { build, clusterId, dataDirectory, defects, advertised, controller, settings } = config;
  if (config.node === 'controller') throw new Error('a broker has a number');
  if (buildNamed(build) === undefined) {
    throw new ConfigError(`there is no build ${build}; choose one of ${buildNames.join(', ')}`);
  }
  const unknown = defects.find((name) => !isDefect(name));
  if (unknown !== undefined) {
    throw new ConfigError(`there is no defect ${unknown}; choose among ${Object.keys(knownDefects).join(', ')}`);
  }
  const storage = new DataDirectory(dataDirectory, { node: config.node, clusterId });
  const { boot, recovered } = storage;
  const { state, effects } = createBroker(
    { ...settings, node: config.node, boot, build, defects, clusterId, advertised, controller },
    recovered,
    clock(),
  );
  return {
    boot,
    clientId: `broker-${config.node}.${boot}`,
    storage,
    core: { step: (event, nowNs) => step(state, event, nowNs), nextDeadlineNs: () => nextDeadlineNs(state) },
    effects,
    state,
  };
}
