/**
 * The process of one node in its container: started, paused, stopped, killed, and heard.
 *
 * Of our own programs standard output is the trace and standard error the log; of others' both are the log. A stream is
 * attached before each start and ends with the process, and a verb that ends the process returns only when all that it
 * said has been heard: so no line is lost, and lines of one boot never mix with those of the next.
 *
 * Invariant: what a verb says about the process was read from the engine after the fact.
 */
import type { Duplex } from 'node:stream';
import type { Container, ContainerInspectInfo } from 'dockerode';
import type { Evidence, NodeName, ProcessVerb, TraceLine } from '../nemesis/ports.ts';
import { archiveOf } from './archive.ts';
import { attach, hear, LineSplitter, parseTraceLine } from './attach.ts';
import { isStatus, reason } from './client.ts';
import { brokerUser, inside } from './images.ts';
import { cutToFlushed } from './power-loss.ts';
import type { Exits } from './targets/target.ts';

export interface Hearing {
  /** Null for a program that tells no trace. */
  readonly trace: ((line: TraceLine) => void) | null;
  /** What the process wrote to its standard error, and what it wrote to its standard output that is no trace. */
  readonly log: (text: string) => void;
  /** Where there is no trace: every line of both outputs, after {@link Hearing.log}. */
  readonly line?: (text: string) => void;
  readonly unexpectedExit: (detail: string, blame: 'environment' | 'node') => void;
}

/** Where a broker keeps its replicas, and as whom. */
interface LogDirectory {
  readonly path: string;
  readonly owner: number;
}

type State = ContainerInspectInfo['State'];

/** The marker that makes the next start keep only what was flushed. */
const powerLostMarker = 'power-lost';
/** How long the rest of a dead process's output may take to arrive. */
const drainTimeoutMs = 5_000;
/** Below the time in which an action has to be answered. */
const stopTimeoutS = 8;
const freezeAttempts = 5;
const lastWordsMax = 400;
/** Somebody's program may print without an end of a line. */
const logLineBytesMax = 64 << 10;
const SIGKILL = 9;

export class NodeProcess {
  readonly node: NodeName;
  readonly #container: Container;
  readonly #logDirectory: LogDirectory | null;
  readonly #exits: Exits;
  readonly #hearing: Hearing;
  /** The verbs of one node happen one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #stream: Duplex | null = null;
  #ended: Promise<void> = Promise.resolve();
  #exitExpected = false;
  #lastWords = '';

  constructor(
    node: NodeName,
    container: Container,
    exits: Exits,
    hearing: Hearing,
    logDirectory: LogDirectory | null = null,
  ) {
    this.#logDirectory = logDirectory;
    this.node = node;
    this.#exits = exits;
    this.#container = container;
    this.#hearing = hearing;
  }

  perform(verb: ProcessVerb): Promise<Evidence> {
    const result = this.#turn.then(() => this.#do(verb));
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** From now on its end is no surprise. */
  expectExit(): void {
    this.#exitExpected = true;
  }

  /** Ends the attached stream, when the container is gone or about to be. */
  close(): void {
    this.#exitExpected = true;
    this.#stream?.destroy();
  }

  #do(verb: ProcessVerb): Promise<Evidence> {
    switch (verb) {
      case 'start':
        return this.#start();
      case 'kill':
        return this.#kill();
      case 'power-loss':
        return this.#losePower();
      case 'stop':
        return this.#stop();
      case 'pause':
        return this.#change(
          () => this.#freeze(),
          (state) => state.Paused,
        );
      case 'resume':
        return this.#change(
          () => this.#container.unpause(),
          (state) => state.Running && !state.Paused,
        );
    }
  }

  async #start(): Promise<Evidence> {
    const before = await this.#state();
    if (before.Running) return evidence(false, before, 'it runs already');
    await this.#heardAll();
    await this.#attach();
    this.#exitExpected = false;
    try {
      await this.#container.start();
    } catch (error) {
      this.close();
      throw new Error(`node ${this.node} could not be started: ${reason(error)}`, { cause: error });
    }
    const state = await this.#state();
    return evidence(state.StartedAt !== before.StartedAt, state);
  }

  async #kill(): Promise<Evidence> {
    const before = await this.#state();
    this.#exitExpected = true;
    const killed = await this.#change(
      () => this.#container.kill({ signal: 'SIGKILL' }),
      (state) => before.Running && !state.Running,
    );
    await this.#heardAll();
    return { ...killed, facts: { ...killed.facts, killedPid: before.Pid } };
  }

  /** A broker of ours cuts by itself what it had not flushed, at its next start; of another it is cut now. */
  async #losePower(): Promise<Evidence> {
    const killed = await this.#kill();
    if (this.#hearing.trace === null) {
      if (this.#logDirectory === null) throw new Error(`node ${this.node} has no logs that power loss could cut`);
      const cut = await cutToFlushed(this.#container, this.#logDirectory.path, this.#logDirectory.owner);
      return { ...killed, facts: { ...killed.facts, cut } };
    }
    const marker = { path: `/${powerLostMarker}`, mode: 0o644, content: new Uint8Array(), owner: brokerUser };
    await this.#container.putArchive(archiveOf([marker]), { path: inside.data });
    return { ...killed, facts: { ...killed.facts, marker: powerLostMarker } };
  }

  /** The engine asks with SIGTERM, and kills when the time is up. */
  async #stop(): Promise<Evidence> {
    const before = await this.#state();
    this.#exitExpected = true;
    const stopped = await this.#change(
      () => this.#container.stop({ t: stopTimeoutS }),
      (state) => before.Running && !state.Running && this.#exits.orderly.includes(state.ExitCode),
    );
    await this.#heardAll();
    return { ...stopped, facts: { ...stopped.facts, orderly: stopped.effective } };
  }

  /** On a machine that is very busy the kernel may need longer to freeze a process than the engine waits. */
  async #freeze(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#container.pause();
        return;
      } catch (error) {
        if (attempt === freezeAttempts || !/unable to freeze/.test(reason(error))) throw error;
      }
    }
  }

  /** Does something, then looks whether it is so. The engine's refusal is an answer; anything else is its failure. */
  async #change(act: () => Promise<unknown>, effective: (state: State) => boolean): Promise<Evidence> {
    let refusal: string | undefined;
    try {
      await act();
    } catch (error) {
      if (!isStatus(error, 304, 409) && !/not running|already paused|not paused/i.test(reason(error))) throw error;
      refusal = reason(error);
    }
    const state = await this.#state();
    return evidence(refusal === undefined && effective(state), state, refusal);
  }

  async #state(): Promise<State> {
    return (await this.#container.inspect()).State;
  }

  async #attach(): Promise<void> {
    const stream = await attach(this.#container, { stdout: true, stderr: true });
    const bytesMax = this.#hearing.trace === null ? logLineBytesMax : undefined;
    const lines = new LineSplitter((line) => this.#hear(line), bytesMax);
    // Where there is no trace the other output has lines of its own, which are not to be torn by those of the first.
    const complaints = new LineSplitter((line) => this.#hear(line), bytesMax);
    hear(stream, (output, bytes) => {
      if (output === 'stdout') lines.push(bytes);
      else if (this.#hearing.trace === null) complaints.push(bytes);
      else this.#hearLog(bytes.toString('utf8'));
    });
    this.#lastWords = '';
    this.#stream = stream;
    // A stream that breaks closes too; why is asked of the engine then.
    stream.on('error', () => {});
    const closed = Promise.withResolvers<void>();
    stream.once('close', closed.resolve);
    this.#ended = closed.promise.then(() => this.#heardEnd([lines.end(), complaints.end()]));
  }

  async #heardEnd(rests: readonly (string | null)[]): Promise<void> {
    for (const rest of rests) if (rest !== null) this.#hear(rest);
    this.#stream = null;
    if (!this.#exitExpected) await this.#reportExit();
  }

  #hear(line: string): void {
    if (this.#hearing.trace === null) {
      this.#hearLog(`${line}\n`);
      this.#hearing.line?.(line);
      return;
    }
    const parsed = parseTraceLine(line);
    if (parsed === null) this.#hearLog(`not a trace line: ${line}\n`);
    else this.#hearing.trace(parsed);
  }

  #hearLog(text: string): void {
    this.#lastWords = (this.#lastWords + text).slice(-lastWordsMax);
    this.#hearing.log(text);
  }

  async #heardAll(): Promise<void> {
    // This stream, not whichever is attached when the time is up: by then the next boot may be speaking.
    const stream = this.#stream;
    const tooLate = setTimeout(() => stream?.destroy(), drainTimeoutMs);
    await this.#ended;
    clearTimeout(tooLate);
  }

  async #reportExit(): Promise<void> {
    try {
      const { StatusCode: code } = (await this.#container.wait({
        abortSignal: AbortSignal.timeout(drainTimeoutMs),
      })) as {
        StatusCode: number;
      };
      const { OOMKilled: outOfMemory } = await this.#state();
      if (this.#exitExpected) return;
      const words = this.#lastWords.trim().split('\n').at(-1) ?? '';
      const how = outOfMemory ? `it ran out of memory (exit code ${code})` : `exit code ${code}`;
      const fromOutside = outOfMemory || this.#exits.environment.includes(code) || code === 128 + SIGKILL;
      this.#hearing.unexpectedExit(words === '' ? how : `${how}: ${words}`, fromOutside ? 'environment' : 'node');
    } catch (error) {
      if (!this.#exitExpected) this.#hearing.unexpectedExit(`its output broke off: ${reason(error)}`, 'environment');
    }
  }
}

function evidence(effective: boolean, state: State, refusal?: string): Evidence {
  return {
    effective,
    facts: {
      state: state.Status,
      running: state.Running,
      paused: state.Paused,
      pid: state.Pid,
      startedAt: state.StartedAt,
      ...(state.Running ? {} : { exitCode: state.ExitCode, finishedAt: state.FinishedAt }),
      ...(refusal === undefined ? {} : { refusal }),
    },
  };
}
