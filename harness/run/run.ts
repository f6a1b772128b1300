/**
 * One run of one build: deploy, load and break, heal, settle, read back, collect, check.
 *
 * Everything that happens is written to the run's folder while it happens, and whatever was written is checked, even
 * if a later phase fails: an anomaly that the history already holds is not lost because a container would not stop. The
 * order of the last phases is fixed: heal and prove it, close the producers, settle within a measured bound, read
 * everything back from the leaders, copy the data directories between two equal readings of the trace, close the
 * clients, remove the cluster. Brokers that others wrote are observed instead of traced (`subject.ts` knows in what that
 * differs); one of them that ends by itself is a finding, and is started again when the faults are over.
 *
 * Invariant: a failure of the environment is returned as an error beside the results, never as an anomaly.
 */
import { join } from 'node:path';
import type { RunResults } from '../../checker/results.ts';
import type { Cluster } from '../../nemesis/ports.ts';
import type { Schedule } from '../../nemesis/schedule.ts';
import type { LoadPlan } from '../sim/simulation.ts';
import { leadersOf } from '../../nemesis/rest.ts';
import { isFullySynced } from '../../nemesis/view.ts';
import { keyOf } from '../client/operations.ts';
import { EnvironmentError, InterruptedError, environmentErrorFrom } from '../errors.ts';
import type { RunConfig } from '../plan/config.ts';
import { finalReadTimeoutMs, readyTimeoutMs } from '../plan/patience.ts';
import { createRandom } from '../plan/random.ts';
import type { Progress } from '../progress.ts';
import { writeJson } from '../store.ts';
import type { Admin } from './admin.ts';
import { prepareFaults } from './faults.ts';
import { collectLogs, comeToRest, heal, remain, type Ending } from './last-phases.ts';
import { startLoad } from './load.ts';
import { planOf } from './plan.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { newRunFile, type RunFile } from './run-file.ts';
import type { ChosenRuntime } from './runtimes.ts';
import { SelfEnds } from './self-ends.ts';
import { deploySubject, type Spoken, type Subject } from './subject.ts';
import { recordTrace, type TraceLog } from './trace-log.ts';

export interface RunRequest {
  readonly config: RunConfig;
  readonly runtime: ChosenRuntime;
  /** An empty folder. */
  readonly directory: string;
  readonly name: string;
  /** The command that shows this run again. */
  readonly command: string;
  /** Instead of the faults, and of the operations, that the seed draws. */
  readonly schedule?: Schedule | undefined;
  readonly load?: LoadPlan | undefined;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** With `--leave-db-running`: resolves when the cluster may go. */
  readonly keep?: (cluster: Cluster) => Promise<void>;
}

export interface RunReport {
  /** Null when there was nothing to check. */
  readonly results: RunResults | null;
  readonly error: EnvironmentError | InterruptedError | null;
}

const DEPLOY_TIMEOUT_MS = 240_000;
/** What is there shows within a look of whoever watches. */
const SEEN_TIMEOUT_MS = 10_000;
const SEEN_PAUSE_MS = 50;

/** Does one run and checks it. Rejects for programmer errors only. */
export async function executeRun(request: RunRequest): Promise<RunReport> {
  const { config, directory } = request;
  const file = newRunFile(request.name, request.command, config);
  let error: RunReport['error'] = null;
  try {
    writeJson(join(directory, 'run.json'), file);
    await new Run(request, file).execute();
    file.completed = true;
  } catch (cause) {
    error = cause instanceof InterruptedError ? cause : failureOf(cause);
    file.error = error.message;
  }
  try {
    writeJson(join(directory, 'run.json'), file);
  } catch (cause) {
    // The one that was written at the start says enough for a verdict: that the run did not complete.
    error ??= failureOf(cause);
  }
  let results: RunResults | null = null;
  try {
    request.progress.step('checking');
    const { checkRunDirectory } = await import('../check/load-run.ts');
    results = checkRunDirectory(directory);
    writeJson(join(directory, 'results.json'), results);
    request.progress.step('writing the report');
    const { writeRunReport } = await import('../report/run.ts');
    writeRunReport(directory);
  } catch (cause) {
    // What was found stays found, even if it cannot be written down.
    error ??= failureOf(cause);
  }
  return { results, error };
}

/** Whether everything that is to happen stands in scripts, operations and all. */
function isScripted({ faults }: Schedule, plan: LoadPlan | undefined): boolean {
  return (
    faults.length > 0 &&
    faults.every(({ kind }) => kind === 'script') &&
    plan?.operations.every(({ called }) => called !== undefined) === true
  );
}

/** A failure of the world outside becomes an EnvironmentError; a mistake of ours is thrown on, with its stack. */
function failureOf(cause: unknown): EnvironmentError {
  if (cause instanceof TypeError || cause instanceof RangeError || cause instanceof ReferenceError) throw cause;
  return environmentErrorFrom(cause, 'the run failed');
}

/** One run under way: its cluster, and what has to be closed in the end. */
class Run {
  readonly #request: RunRequest;
  readonly #file: RunFile;
  readonly #clockOriginNs = process.hrtime.bigint();
  readonly #keys: readonly string[];
  /** Aborted by the user's interrupt or by the first failure, whichever comes first. */
  readonly #ending = new AbortController();
  #failure: Error | null = null;
  readonly #selfEnds: SelfEnds;
  #subject: Subject | null = null;

  constructor(request: RunRequest, file: RunFile) {
    this.#request = request;
    this.#file = file;
    const { topic, partitions } = request.config;
    this.#keys = Array.from({ length: partitions }, (_, partition) => keyOf(topic, partition));
    this.#selfEnds = new SelfEnds({
      now: () => Number(process.hrtime.bigint() - this.#clockOriginNs),
      onFailure: (error) => this.#fail(error),
      onRemain: (sentence) => remain(file, [sentence]),
    });
    request.signal.addEventListener('abort', () => this.#ending.abort(), { once: true });
    if (request.signal.aborted) this.#ending.abort();
  }

  async execute(): Promise<void> {
    this.#check();
    const { directory, runtime, config } = this.#request;
    const recorder = createRecorder(join(directory, 'history.jsonl'), this.#clockOriginNs);
    try {
      const subject = await this.#phase('deploying', () =>
        this.#deployed(
          deploySubject({
            config,
            keys: this.#keys,
            runtime,
            directory,
            clockOriginNs: this.#clockOriginNs,
            progress: (line) => this.#request.progress.step(line),
            signal: this.#ending.signal,
            onSelfEnd: (node, words) => {
              if (this.#subject !== null) this.#selfEnds.ended(this.#subject, node, words, 'node');
            },
            onExcuse: (node, words) => this.#selfEnds.excused(node, words),
            onStart: (node) => this.#selfEnds.started(node),
          }),
        ),
      );
      this.#subject = subject;
      Object.assign(this.#file, subject.facts);
      await this.#with(subject, recorder, (trace) => this.#test(subject, trace, recorder));
    } catch (cause) {
      // Deploying rejects when it is interrupted: what ended the run counts, not what then failed.
      this.#check();
      throw cause;
    } finally {
      recorder.close();
    }
  }

  /** A deployment that hangs is given up. Should the cluster come about after all, it is removed then. */
  async #deployed(deploying: Promise<Subject>): Promise<Subject> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const error = new EnvironmentError(`the cluster did not come up within ${DEPLOY_TIMEOUT_MS / 1000} s`);
      this.#fail(error);
      reject(error);
      void deploying.then(({ cluster }) => cluster.close()).catch(() => undefined);
    }, DEPLOY_TIMEOUT_MS);
    try {
      return await Promise.race([deploying, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs `test` on the cluster and removes the cluster afterwards, whatever happened. */
  async #with(subject: Subject, recorder: Recorder, test: (trace: TraceLog) => Promise<void>): Promise<void> {
    const { cluster, linesFile } = subject;
    let trace: TraceLog | undefined;
    try {
      cluster.onUnexpectedExit((node, detail, blame) => this.#selfEnds.ended(subject, node, detail, blame));
      trace = recordTrace(cluster, join(this.#request.directory, linesFile), this.#keys, (error) => this.#fail(error));
      await test(trace);
      this.#check();
      // What is done to the cluster while it is kept, and the Ctrl-C that ends that, is not part of the test.
      this.#selfEnds.close();
      trace.close();
      if (this.#request.keep !== undefined) await this.#request.keep(cluster);
      else if (this.#leftClean()) subject.leaveClean();
    } finally {
      this.#selfEnds.close();
      const { residue } = await this.#phase('removing the cluster', () => cluster.close());
      trace?.close();
      if (this.#selfEnds.ends.length > 0) this.#file.ends = this.#selfEnds.ends;
      const lines = trace?.lines ?? 0;
      this.#file.recordedLines = {
        history: recorder.lines,
        ...(linesFile === 'trace.jsonl' ? { trace: lines } : { trace: 0, observations: lines }),
      };
      if (residue.length > 0)
        this.#fail(new EnvironmentError(`could not remove ${residue.join(', ')}: try tidemark gc`));
    }
    if (this.#failure !== null) throw this.#failure;
  }

  #leftClean(): boolean {
    const { settled, healed, logsCollected } = this.#file;
    return settled === true && healed === true && logsCollected && this.#selfEnds.ends.length === 0;
  }

  async #test(subject: Subject, trace: TraceLog, recorder: Recorder): Promise<void> {
    const { cluster } = subject;
    const { config, directory } = this.#request;
    const random = createRandom(config.seed);
    const { schedule = planOf(config), load: plan } = this.#request;
    writeJson(join(directory, 'schedule.json'), schedule);
    if (plan !== undefined) writeJson(join(directory, 'load.json'), plan);
    // A trace is told from its first line on to whoever subscribes at once: so our own brokers are not waited for.
    const spoken = subject.spoken ?? (await this.#phase('warming up', () => this.#warmUp(subject)));
    const { admin } = spoken;
    const faults = prepareFaults({
      schedule,
      cluster,
      partitions: this.#keys,
      admin,
      recorder,
      call: (operation) => load.call(operation),
      clockOriginNs: this.#clockOriginNs,
      onFailure: (error) => this.#fail(error),
    });
    await this.#phase('getting ready', async () => {
      await subject.begin(spoken);
      await this.#getReady(subject, admin, trace);
    });

    const load = startLoad({
      addresses: cluster.addresses,
      config,
      recorder,
      random,
      plan,
      versions: spoken.versions,
      reach: spoken.reach,
      onCompletion: (completion) => subject.completed(completion),
      clockOriginNs: this.#clockOriginNs,
      onFailure: (error) => this.#fail(error),
    });
    const ending: Ending = {
      config,
      directory,
      file: this.#file,
      subject,
      trace,
      selfEnds: this.#selfEnds,
      signal: this.#ending.signal,
      check: () => this.#check(),
    };
    this.#selfEnds.begin();
    faults.start();
    try {
      await this.#phase('load and faults', () =>
        this.#pass(config.timeLimitMs, isScripted(schedule, plan) ? faults.played : null),
      );
      await this.#phase('healing', async () => {
        await faults.stop();
        if (cluster.observed === true) this.#selfEnds.mend(cluster);
        await heal(ending);
      });
      await this.#phase('closing the producers', () => load.stop());
      const ends = await this.#phase('settling', () => comeToRest(ending, admin));
      const rested = trace.changes;
      await this.#phase('reading back', async () => {
        const reached = await load.finalRead(ends, finalReadTimeoutMs);
        // Where nobody said where a partition ends, nobody has read it to its end.
        this.#file.finalReadComplete = this.#keys.every((key) => reached.get(key)?.complete === true);
      });
      // What a client that is gone had sent may arrive late: TCP sends it again long after its link has healed.
      if (this.#file.settled === true && trace.changes !== rested)
        await this.#phase('settling again', () => comeToRest(ending, admin));
      await this.#phase('collecting the logs', () => collectLogs(ending));
      this.#file.finalLeaders = leadersOf(trace.view);
    } finally {
      // After a failure too: nothing of ours may talk to an address whose network is about to go.
      await faults.stop().catch(() => undefined);
      await load.stop().catch(() => undefined);
    }
  }

  async #warmUp(subject: Subject): Promise<Spoken> {
    const spoken = await subject.speak(this.#ending.signal);
    await subject.warmUp(spoken, this.#ending.signal);
    return spoken;
  }

  async #getReady(subject: Subject, admin: Admin, trace: TraceLog): Promise<void> {
    const { config } = this.#request;
    const { topic: name, partitions, replicationFactor } = config;
    const { signal } = this.#ending;
    const { assignment } = subject;
    await admin.createTopic({
      name,
      partitions,
      replicationFactor,
      ...(assignment === undefined ? {} : { assignment }),
      timeoutMs: readyTimeoutMs,
      signal,
    });
    const ready = await trace.until(() => isFullySynced(trace.view), readyTimeoutMs, signal);
    this.#check();
    if (!ready)
      throw new EnvironmentError(
        `the cluster did not get ready within ${readyTimeoutMs / 1000} s: see logs/ in ${this.#request.directory}`,
      );
    await this.#demandSight(subject);
  }

  /** Replicas that nobody sees would seem empty, and at rest. */
  async #demandSight(subject: Subject): Promise<void> {
    const deadline = performance.now() + SEEN_TIMEOUT_MS;
    while (subject.unseen().length > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, SEEN_PAUSE_MS));
      this.#check();
    }
    const [first] = subject.unseen();
    if (first !== undefined) throw new EnvironmentError(`the replicas cannot be watched: ${first}`);
  }

  /** The time of load and faults passes, or something ends it: a script needs no more than it takes. */
  async #pass(ms: number, over: Promise<void> | null): Promise<void> {
    const { progress } = this.#request;
    const { promise, resolve } = Promise.withResolvers<void>();
    const started = performance.now();
    const end = setTimeout(resolve, ms);
    void over?.then(resolve);
    const tick = setInterval(() => {
      progress.detail(`${Math.round((performance.now() - started) / 1000)} of ${Math.round(ms / 1000)} s`);
    }, 1_000);
    this.#ending.signal.addEventListener('abort', () => resolve(), { once: true });
    if (this.#ending.signal.aborted) resolve();
    await promise;
    clearTimeout(end);
    clearInterval(tick);
  }

  async #phase<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#request.progress.step(name);
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#file.phases[name] = Math.round(performance.now() - started);
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#ending.abort();
  }

  /** Throws what has ended the run, if anything has. */
  #check(): void {
    if (this.#failure !== null) throw this.#failure;
    if (this.#ending.signal.aborted) throw new InterruptedError();
  }
}
