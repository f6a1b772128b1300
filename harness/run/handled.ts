/**
 * Which nodes the faults of a run handle, or have handled lately: paused, or cut off from the controller and from what stands
 * beside it.
 *
 * A broker that loses its session because its host is busy accuses nobody; one that does so because we kept it from
 * speaking has to survive that, as it has to survive all that a fault does to it.
 */
import type { Action, NodeName } from '../../nemesis/ports.ts';

export class Handled {
  readonly #now: () => number;
  readonly #paused = new Set<NodeName>();
  #cutOff: ReadonlySet<NodeName> = new Set();
  /** When a node was let go last. */
  readonly #letGo = new Map<NodeName, number>();

  /** `now` in milliseconds, of any clock that does not go back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** An action is about to be performed. */
  note(action: Action): void {
    if (action.port === 'links') {
      const ends = action.cuts.filter(({ from, to }) => from === 'controller' || to === 'controller');
      const cutOff = new Set(ends.flatMap(({ from, to }) => [from, to]).filter((end) => end !== 'clients'));
      for (const node of this.#cutOff) if (!cutOff.has(node)) this.#letGo.set(node, this.#now());
      this.#cutOff = cutOff;
    } else if (action.port === 'process') {
      const { node, verb } = action;
      if (verb === 'pause') this.#paused.add(node);
      else if (this.#paused.delete(node)) this.#letGo.set(node, this.#now());
    }
  }

  /** Whether a node is handled now, or was within the last `withinMs`. */
  isHandled(node: NodeName, withinMs: number): boolean {
    if (this.#paused.has(node) || this.#cutOff.has(node)) return true;
    return this.#now() - (this.#letGo.get(node) ?? -Infinity) <= withinMs;
  }
}
