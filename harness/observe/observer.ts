/**
 * The observer: makes of a cluster of brokers that tell no trace one whose `subscribe` tells what can be seen of it.
 *
 * Four sources are merged, each as it comes: answers to Metadata, segment files, log lines, and the clients' own
 * acknowledgements. The harness adds the starts of processes, which it performs itself. Everything else is passed on to
 * the cluster. A cluster serves several runs, so an observer belongs to one run and one topic, and ends with it.
 *
 * Invariant: what a line says was seen, at its time or before. After `close` nothing is told and nothing is asked.
 */
import type { SegmentEvent } from '../../docker/agent/messages.ts';
import type { ForeignCluster, OutputListener } from '../../docker/foreign.ts';
import type { Cluster, NodeId, NodeName, TraceLine } from '../../nemesis/ports.ts';
import type { Completion } from '../client/operations.ts';
import { metadataRequest } from '../client/admin-requests.ts';
import { ActiveController, quorumQuestion } from './active-controller.ts';
import { createLineCounter, type Sighting } from './lines.ts';
import { createLogReader, readLogLine, saysLostSession } from './log-lines.ts';
import { createObservedMetadata, foldAnswer, forgetNode } from './metadata.ts';
import { poll, type Poller } from './poller.ts';

export interface ObserverOptions {
  readonly topic: string;
  readonly partitions: number;
  readonly clockOriginNs: bigint;
  /** Who keeps each partition, in the order of elections: old brokers tell replicas in any order. */
  readonly assignment?: readonly (readonly NodeId[])[];
  /** Told when a node says that it ends itself: some then hang for ever, and never exit. */
  readonly onSelfEnd?: (node: NodeName, words: string) => void;
  /** Told after that, where the very next line proves that the node had lost its session: then it is not to blame. */
  readonly onExcuse?: (node: NodeName, words: string) => void;
  /** Told before a node's process is started. */
  readonly onStart?: (node: NodeName) => void;
  /** Told with every line that is printed. */
  readonly onOutput?: OutputListener;
}

export interface Observer {
  /** The cluster with lines to subscribe to; they begin with `begin`. */
  readonly cluster: Cluster;
  /**
   * Begins to look, when the whole cluster has come up. Both versions are ones that every broker serves; without the
   * second there is no quorum to describe.
   */
  begin(metadataVersion: number, quorumVersion?: number | null): Promise<void>;
  /** A client's operation has ended. */
  completed(completion: Completion): void;
  /** Whether the node has answered since it was last started. */
  hasAnswered(node: NodeName): boolean;
  /** What of the segments of this run's replicas cannot be seen, one sentence each. */
  unseen(): readonly string[];
  /** The last lines that a node printed, the oldest first. */
  lastLines(node: NodeName): readonly string[];
  close(): void;
}

const metadataPace = { pauseMs: 30, answerTimeoutMs: 250 };
/** A broker passes the question on to the controller. */
const quorumPace = { pauseMs: 300, answerTimeoutMs: 1_000 };
const lastLinesMax = 20;
const lineMax = 500;

export function observe(foreign: ForeignCluster, options: ObserverOptions): Observer {
  const { topic, clockOriginNs } = options;
  const counter = createLineCounter();
  const metadata = createObservedMetadata(
    topic,
    options.partitions,
    foreign.brokers,
    () => performance.now(),
    options.assignment,
  );
  const controller = new ActiveController();
  const nodes: readonly NodeName[] = ['controller', ...foreign.brokers];
  const readers = new Map(nodes.map((node) => [node, createLogReader(node, foreign.target.logPatterns(node))]));
  const lastLines = new Map<NodeName, string[]>();
  const answered = new Set<NodeName>();
  /** Nodes of which it was told that they ended. */
  const said = new Set<NodeName>();
  /** Nodes whose last line says that they end. */
  const ending = new Set<NodeName>();
  /** Replicas whose segments were seen, as `node partition`. */
  const found = new Set<string>();
  /** Brokers whose segments cannot be seen any more, and why. */
  const blind = new Map<NodeId, string>();
  const listeners: ((line: TraceLine) => void)[] = [];
  let pollers: readonly Poller[] = [];
  let closed = false;

  const now = (): number => Number(process.hrtime.bigint() - clockOriginNs);
  const tell = (sightings: readonly Sighting[], time = now()): void => {
    if (closed) return;
    for (const sighting of sightings) {
      const line = counter.line(sighting, time);
      for (const listener of listeners) listener(line);
    }
  };
  const hearSegments = (node: NodeId, event: SegmentEvent | Error): void => {
    if (event instanceof Error) {
      if (!closed) blind.set(node, event.message);
      tell([{ node, event: 'blind', source: 'segments', words: event.message }]);
      return;
    }
    const { partition, time, truncation, batches } = event;
    if (!metadata.partitions.has(partition)) return;
    found.add(`${node} ${partition}`);
    const seen = { node, source: 'segments', partition } as const;
    const sightings: Sighting[] = [];
    if (truncation !== undefined) sightings.push({ ...seen, event: 'truncation', ...truncation, rule: null });
    if (batches.length > 0) sightings.push({ ...seen, event: 'append', batches });
    tell(sightings, time);
  };
  const hearOutput: OutputListener = (node, line, companion) => {
    if (closed) return;
    options.onOutput?.(node, line, companion);
    // What stands beside a node is not under test.
    if (companion !== undefined) return;
    const last = lastLines.get(node) ?? [];
    last.push(line.slice(0, lineMax));
    if (last.length > lastLinesMax) last.shift();
    lastLines.set(node, last);
    const reader = readers.get(node);
    if (reader === undefined) return;
    if (ending.delete(node) && saysLostSession(reader, line)) options.onExcuse?.(node, line.slice(0, lineMax));
    const sightings = readLogLine(reader, metadata.partitions, line);
    tell(sightings);
    const ended = sightings.find(({ event }) => event === 'ended');
    if (ended === undefined) return;
    forget(node);
    said.add(node);
    ending.add(node);
    options.onSelfEnd?.(node, String(ended['words']));
  };
  const forget = (node: NodeName): void => {
    forgetNode(metadata, node);
    controller.forget(node);
    readers.get(node)?.told.clear();
  };
  const stopHearing = foreign.onOutput(hearOutput);
  foreign.onUnexpectedExit((node, detail) => {
    forget(node);
    if (!said.has(node)) tell([{ node, event: 'ended', source: 'harness', words: detail }]);
    said.add(node);
  });

  return {
    cluster: {
      runtime: foreign.runtime,
      observed: true,
      brokers: foreign.brokers,
      addresses: foreign.addresses,
      subscribe: (listener) => void listeners.push(listener),
      onUnexpectedExit: (listener) => foreign.onUnexpectedExit(listener),
      async perform(action) {
        if (action.port !== 'process') return foreign.perform(action);
        const { node, verb } = action;
        const ends = verb === 'kill' || verb === 'stop' || verb === 'power-loss';
        if (verb === 'start') {
          options.onStart?.(node);
          counter.started(node);
          // Of a node that is not asked it stays as it was at first: it had come up.
          if (foreign.kafkaAddresses.has(node)) answered.delete(node);
          said.delete(node);
          forget(node);
          tell([{ node, event: 'start', source: 'harness' }]);
        }
        const evidence = await foreign.perform(action);
        // Its last answers may have arrived while it was being ended.
        if (ends) forget(node);
        return evidence;
      },
      probeLinks: (timeoutMs) => foreign.probeLinks(timeoutMs),
      collect: () => foreign.collect(),
      close: () => foreign.close(),
    },
    async begin(metadataVersion, quorumVersion = null) {
      for (const node of nodes) answered.add(node);
      pollers = [...foreign.kafkaAddresses].flatMap(([node, address]) => [
        poll({
          address,
          api: 'Metadata',
          version: metadataVersion,
          question: metadataRequest([topic]),
          ...metadataPace,
          onAnswer(answer) {
            answered.add(node);
            tell(foldAnswer(metadata, node, answer));
            if (quorumVersion === null) tell(controller.namedBy(node, answer));
          },
        }),
        ...(quorumVersion === null
          ? []
          : [
              poll({
                address,
                api: 'DescribeQuorum',
                version: quorumVersion,
                question: quorumQuestion,
                ...quorumPace,
                onAnswer: (answer) => tell(controller.describedBy(answer)),
              }),
            ]),
      ]);
      await foreign.watchSegments({ topic, clockOriginNs }, hearSegments);
    },
    completed(completion) {
      tell(acknowledgement(completion, (key) => metadata.partitions.get(key)));
    },
    unseen() {
      const missing = [...metadata.partitions.values()].flatMap(({ key, replicas }) =>
        replicas
          .filter((node) => !blind.has(node) && !found.has(`${node} ${key}`))
          .map((node) => `where the logs of broker ${node} should lie there is none of ${key}`),
      );
      return [...blind.values(), ...missing];
    },
    hasAnswered: (node) => answered.has(node),
    lastLines: (node) => lastLines.get(node) ?? [],
    close() {
      closed = true;
      stopHearing();
      for (const poller of pollers) poller.close();
    },
  };
}

/** A send that was acknowledged, with the offset that was told. */
function acknowledgement(
  { type, f, value, acks, node, msg }: Completion,
  partitionOf: (key: string) => { readonly isr: readonly NodeId[]; readonly epochFields: object } | undefined,
): Sighting[] {
  if (type !== 'ok' || f !== 'send' || node === undefined || acks === undefined) return [];
  const [op, key, sent] = (value[0] ?? []) as readonly [string?, string?, (readonly [number | null, unknown])?];
  const offset = Array.isArray(sent) ? (sent[0] as number | null) : null;
  const partition = key === undefined ? undefined : partitionOf(key);
  if (op !== 'send' || key === undefined || partition === undefined || offset === null) return [];
  return [
    {
      node,
      event: 'ack',
      source: 'client',
      partition: key,
      ...partition.epochFields,
      base: offset,
      last: offset,
      acks: acks === 'all' ? -1 : acks,
      isr: partition.isr,
      ...(msg === undefined ? {} : { msg }),
    },
  ];
}
