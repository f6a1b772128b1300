/**
 * `tidemark up`: a cluster to play with. It has one topic, prints its bootstrap address, and is removed with Ctrl-C.
 *
 * Any Kafka client may use it. Nothing is recorded but the nodes' logs and trace (or what is observed), in the store.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Cluster } from '../../nemesis/ports.ts';
import { EnvironmentError, InterruptedError, UsageError, environmentErrorFrom } from '../errors.ts';
import { isForeignBuild } from '../foreign-build.ts';
import { createProgress } from '../progress.ts';
import { shownPath } from '../shown-path.ts';
import { createStoreDirectory } from '../store.ts';
import { onInterrupt, untilAborted } from './interrupt.ts';
import { besideForeign, demandContainers } from './beside-foreign.ts';
import { addClusterOptions, runConfigFrom, type RunFlags } from './options.ts';
import { defaultRunConfig, foreignRunConfig } from '../plan/config.ts';

interface UpFlags extends RunFlags {
  readonly runtime?: 'local' | 'docker';
  readonly build: string;
  readonly topic: string;
}

export function registerUp(program: Command): void {
  const command = program
    .command('up')
    .description('start a cluster to play with: print its bootstrap address and keep it until Ctrl-C')
    .option(
      '--build <build>',
      'build of all brokers, or of each: 1=hw,2-3=epoch; kafka:<version>, image:<ref>',
      'epoch',
    )
    .option('--topic <name>', 'topic to create', defaultRunConfig.topic)
    .option('--store <dir>', 'where logs are kept', 'store');
  addClusterOptions(command).action(async (flags: UpFlags) =>
    up(isForeignBuild(flags.build) ? await besideForeign(flags, command, [flags.build]) : flags),
  );
}

async function up(flags: UpFlags): Promise<void> {
  if (!/^(?!\.{1,2}$)[\w.-]{1,249}$/.test(flags.topic)) {
    throw new UsageError(`--topic ${flags.topic}: write up to 249 letters, digits, dots, dashes and underscores`);
  }
  const d = defaultRunConfig;
  const loadFlags = {
    acks: d.acks,
    rate: d.rate,
    concurrency: String(d.concurrency),
    timeLimit: d.timeLimitMs,
    nemesis: [],
    nemesisInterval: d.nemesisIntervalMs,
    settleTimeout: foreignRunConfig.settleTimeoutMs,
    clientTimeout: d.clientTimeoutMs,
  };
  demandContainers(flags, [flags.build]);
  const foreign = isForeignBuild(flags.build);
  const checked = runConfigFrom({ ...flags, ...loadFlags }, flags.build, 0, foreign ? 'docker' : 'local');
  const config = { ...checked, topic: flags.topic };
  const progress = createProgress();
  const signal = onInterrupt(progress);
  const { chooseRuntime } = await import('../run/runtimes.ts');
  const { build, nodes: brokers, description } = flags;
  const runtime = await chooseRuntime(flags.runtime, { builds: [build], brokers, description });
  progress.line(runtime.reason);
  const directory = createStoreDirectory(flags.store, 'up', new Date());
  const { bootstrapOf, lastWords } = await import('../run/node-command.ts');
  const { deploySubject } = await import('../run/subject.ts');

  let cluster: Cluster | undefined;
  let failure: EnvironmentError | InterruptedError = new InterruptedError();
  try {
    const subject = await deploySubject({
      config,
      keys: [],
      runtime,
      directory,
      clockOriginNs: process.hrtime.bigint(),
      // Ends are told by the cluster below.
      onSelfEnd: () => {},
      onExcuse: () => {},
      onStart: () => {},
      progress: progress.step,
      signal,
    });
    cluster = subject.cluster;
    const trace = join(directory, subject.linesFile);
    let writes = true;
    cluster.subscribe((line) => {
      if (!writes) return;
      try {
        appendFileSync(trace, `${JSON.stringify(line)}\n`);
      } catch (error) {
        writes = false;
        progress.line(`the trace ends here: ${environmentErrorFrom(error, `cannot write ${trace}`).message}`);
      }
    });
    cluster.onUnexpectedExit((node, detail) =>
      progress.line(`${node === 'controller' ? node : `broker ${node}`} ended: ${lastWords(detail)}`),
    );
    const { partitions, replicationFactor } = config;
    const spoken = await subject.speak(signal);
    await spoken.admin.createTopic({
      name: flags.topic,
      partitions,
      replicationFactor,
      ...(subject.assignment === undefined ? {} : { assignment: subject.assignment }),
      timeoutMs: 30_000,
      signal,
    });
    await subject.begin(spoken);
    const bootstrap = bootstrapOf(cluster);
    progress.line(`bootstrap ${bootstrap}`);
    progress.line(
      `topic ${flags.topic}, ${partitions} partitions, build ${flags.build}; logs and ${foreign ? 'observations' : 'trace'} in ${shownPath(directory)}`,
    );
    progress.line(`try: kcat -b ${bootstrap} -L`);
    progress.line('Ctrl-C removes the cluster');
    await untilAborted(signal);
  } catch (error) {
    if (!signal.aborted) failure = environmentErrorFrom(error, 'cannot start the cluster');
  }
  const { residue } = (await cluster?.close()) ?? { residue: [] };
  if (residue.length > 0) failure = new EnvironmentError(`could not remove ${residue.join(', ')}: try tidemark gc`);
  throw failure;
}
