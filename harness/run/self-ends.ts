/**
 * Processes that end without an action of ours: whose failure it is, what they said last, and what becomes of them.
 *
 * Of our own brokers one that breaks a rule of its own stays down, and the run says so. A foreign broker that ends itself
 * is a finding, and the run must go on: once the faults are over it is started again, once. Some only say that they end
 * themselves, and hang for ever instead; so their word is taken for it, and they are ended for good first. Before the
 * load begins there is nothing to go on with: the run ends at once, with what the broker said.
 *
 * Invariant: a failure of the environment is told as such, and a process that is down already cannot end again. A disk
 * without space is the environment's: no fault of ours fills one. So is a session that ran out, as on a host that is too
 * busy; then the run goes on as after any end, and nobody is accused.
 */
import type { ProcessEnd } from '../../checker/evidence.ts';
import { nodeName } from '../../checker/parse-trace.ts';
import type { Cluster, NodeName } from '../../nemesis/ports.ts';
import { EnvironmentError, environmentErrorFrom } from '../errors.ts';
import { lastWords } from './node-command.ts';
import type { Subject } from './subject.ts';

export interface SelfEndsOptions {
  /** Nanoseconds on the run's clock. */
  readonly now: () => number;
  readonly onFailure: (error: Error) => void;
  /** What remains wrong, in a sentence. */
  readonly onRemain: (sentence: string) => void;
}

const noSpace = /No space left on device|Disk quota exceeded/;

/** From a broker's last words until it is started again. */
const RESTART_PAUSE_MS = 1_500;
/** So many ends of one broker are seen at most before it is left down, whoever is to blame. */
const EXCUSES_MAX = 3;

export class SelfEnds {
  /** Of a cluster that is observed. */
  readonly ends: ProcessEnd[] = [];
  readonly #options: SelfEndsOptions;
  readonly #down = new Set<NodeName>();
  readonly #restarted = new Set<NodeName>();
  /** Nodes that are about to be started again. */
  readonly #waiting = new Set<NodeName>();
  /** Whether anything is asked of the cluster yet. */
  #begun = false;
  /** Set once the faults are over. */
  #mending: Cluster | null = null;
  #closed = false;

  constructor(options: SelfEndsOptions) {
    this.#options = options;
  }

  /** A process has ended by itself, or says that it does. */
  ended(subject: Pick<Subject, 'end'>, node: NodeName, detail: string, told: 'environment' | 'node'): void {
    if (this.#closed || this.#down.has(node)) return;
    const sentence = `${nodeName(node)} ended by itself: ${lastWords(detail)}`;
    const more = subject.end(node);
    const blame = more?.lastLines.some((line) => noSpace.test(line)) === true ? 'environment' : told;
    if (more !== null) this.ends.push({ node, detail, blame, time: this.#options.now(), ...more });
    // A node that lost its disk says nothing about what it promises; one that broke a rule of its own does.
    if (blame === 'environment') this.#options.onFailure(new EnvironmentError(sentence));
    else {
      this.#down.add(node);
      if (more !== null && !this.#begun) this.#options.onFailure(new EnvironmentError(sentence));
      else if (more === null) this.#options.onRemain(sentence);
      else if (this.#mending !== null) this.#startAgain(this.#mending, node);
    }
  }

  /** The broker's own log proves that it had lost its session when it last ended: no fault of its own, nor a failure of the run. */
  excused(node: NodeName, words: string): void {
    // Only the end that keeps it down now: one that was not told excuses none of those before it.
    if (this.#closed || !this.#down.has(node)) return;
    const index = this.ends.findLastIndex((end) => end.node === node);
    const end = this.ends[index];
    if (end === undefined) return;
    this.ends[index] = { ...end, blame: 'environment', detail: `it had lost its session: ${words}` };
    // What was no fault of its own does not count as its one chance; but a host that stays busy must not keep us for ever.
    if (this.ends.filter((each) => each.node === node).length >= EXCUSES_MAX) return;
    this.#restarted.delete(node);
    if (this.#mending !== null && !this.#waiting.has(node)) this.#startAgain(this.#mending, node);
  }

  /** The load begins. */
  begin(): void {
    this.#begun = true;
  }

  /** A process is about to be started. */
  started(node: NodeName): void {
    this.#down.delete(node);
    this.#waiting.delete(node);
  }

  /** The faults are over: from now on whatever of a foreign cluster is down, or ends, is started again, each once. */
  mend(cluster: Cluster): void {
    this.#mending = cluster;
    for (const node of this.#down) this.#startAgain(cluster, node);
  }

  /** Those that are down, and will not be started again. */
  gone(): ReadonlySet<NodeName> {
    if (this.#mending === null) return this.#down;
    return new Set([...this.#down].filter((node) => !this.#waiting.has(node)));
  }

  /** Whether a process is about to be started again. */
  isMending(): boolean {
    return this.#waiting.size > 0;
  }

  /** What happens from now on is not part of the test. */
  close(): void {
    this.#closed = true;
  }

  #startAgain(cluster: Cluster, node: NodeName): void {
    if (this.#restarted.has(node)) return;
    this.#restarted.add(node);
    this.#waiting.add(node);
    setTimeout(() => {
      void this.#restart(cluster, node).catch((error: unknown) => {
        // What is asked of a cluster that is being removed may well fail.
        if (this.#closed) return;
        this.#options.onFailure(environmentErrorFrom(error, `cannot start ${nodeName(node)} again`));
      });
    }, RESTART_PAUSE_MS);
  }

  async #restart(cluster: Cluster, node: NodeName): Promise<void> {
    for (const verb of ['kill', 'start'] as const) {
      if (this.#closed) return;
      await cluster.perform({ port: 'process', verb, node });
    }
  }
}
