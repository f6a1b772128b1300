/**
 * Whether a simulated run is a function of its request: it is done twice, and everything that it gives is compared.
 *
 * Event by event by the kernel's rolling hash, and line by line what is left: history, trace, replicas, results. What is
 * told is the first event that differs, since whatever differs later follows from it.
 *
 * Bound: events are described up to a number; a difference after that is told by the line where it first shows.
 */
import type { RunResults } from '../../checker/results.ts';
import { InterruptedError } from '../errors.ts';
import type { Simulation, SimulationRequest } from '../sim/simulation.ts';
import { simulateHeeding } from './heeding.ts';
import { checkSimulation, type SimulatedRunName } from './simulated-run.ts';

const EVENTS_DESCRIBED_MAX = 500_000;

/**
 * Runs it twice; null when both runs are the same to the byte, else one line about where they part. Rejects with an
 * {@link InterruptedError} if the signal was aborted before that was known.
 */
export async function differenceBetweenTwoRuns(
  request: SimulationRequest,
  name: SimulatedRunName,
  signal: AbortSignal,
): Promise<string | null> {
  const described: string[] = [];
  const hashes: number[] = [];
  const first = await simulateHeeding(request, signal, {
    onEvent: ({ hash, describe }) => {
      hashes.push(hash);
      if (described.length < EVENTS_DESCRIBED_MAX) described.push(describe());
    },
  });
  let events = 0;
  let parted: string | null = null;
  const second = await simulateHeeding(request, signal, {
    onEvent: ({ hash, describe }) => {
      const index = events;
      events += 1;
      if (parted !== null || hashes[index] === hash) return;
      parted = `once ${described[index] ?? 'there was no such event'}; then ${describe()}`;
    },
  });
  if (first === null || second === null) throw new InterruptedError();
  const parting = parted as string | null;
  if (parting !== null) return `the first event that differs: ${parting}`;
  if (events !== hashes.length) return `one run had ${hashes.length} events, the other ${events}`;
  return differenceInWhatIsLeft(first, second, request, name);
}

function differenceInWhatIsLeft(
  first: Simulation,
  second: Simulation,
  request: SimulationRequest,
  name: SimulatedRunName,
): string | null {
  const resultsOf = (simulation: Simulation): readonly RunResults[] => [checkSimulation(simulation, request, name)];
  return (
    firstDifference('line of the history', first.history, second.history) ??
    firstDifference('line of the trace', [...first.trace], [...second.trace]) ??
    firstDifference('replica', first.replicas.map(asText), second.replicas.map(asText)) ??
    firstDifference(
      'fact',
      [first.facts, first.hash, first.virtualNs],
      [second.facts, second.hash, second.virtualNs],
    ) ??
    firstDifference('verdict', resultsOf(first), resultsOf(second))
  );
}

function asText({ node, key, segments, ...rest }: Simulation['replicas'][number]): unknown {
  const hex = segments.map(({ baseOffset, bytes }) => [baseOffset, Buffer.from(bytes).toString('hex')]);
  return { node, key, ...rest, segments: hex };
}

function firstDifference(what: string, some: readonly unknown[], others: readonly unknown[]): string | null {
  for (let index = 0; index < Math.max(some.length, others.length); index += 1) {
    const [one, other] = [JSON.stringify(some[index]), JSON.stringify(others[index])];
    if (one !== other)
      return `the first ${what} that differs, ${index + 1}: once ${one ?? 'none'}; then ${other ?? 'none'}`;
  }
  return null;
}
