/**
 * How Apache Kafka's own log lines are read.
 *
 * The patterns were taken from lines that releases from 0.10.2.2 to 4.4.0 wrote here, endings and all
 * (`test/docker/targets/kafka-lines/`): a test finds a line for each of them.
 * Wording changed with 1.0, 2.4 and KRaft; since no wording of one release means something else in another, all of them
 * stand in one list, and only what names the broker itself differs by node.
 *
 * A role is read from the moment at which the broker hears of it, before it truncates. What a broker says of a truncation
 * that had no effect is not read.
 */
import type { NodeName } from '../../nemesis/ports.ts';
import type { LogPattern } from './target.ts';

/** `tide-0`, or `[tide,0]` as Kafka wrote it up to 0.11. */
const partition = String.raw`(?:\[(?<topic>[^\],]+),(?<partition>\d+)\]|(?<key>[^\s,\]]+-\d+))`;

export function kafkaLogPatterns(node: NodeName): readonly LogPattern[] {
  return [
    ...highWatermarks,
    ...rolesInZooKeeper(node),
    ...rolesInKraft,
    ...isrs,
    ...truncations,
    ...endings,
    ...lostSessions,
  ];
}

/** First, since there are most of them. Followers say theirs with every fetch; at a start it is what the file held. */
const highWatermarks: readonly LogPattern[] = [
  hw(String.raw`set replica high watermark for partition ${partition} to (?<offset>\d+) `),
  hw(String.raw`updated replica high watermark to (?<offset>\d+) for partition ${partition} `),
  hw(String.raw`Log loaded for partition ${partition} with initial high watermark (?<offset>\d+) `),
];

function hw(text: string): LogPattern {
  return { shows: 'hw', pattern: new RegExp(text) };
}

/** The controller's order names the leader; whether that is the broker itself, the broker's id tells. */
function rolesInZooKeeper(node: NodeName): LogPattern[] {
  const before24 = String.raw`PartitionState\(controllerEpoch=\d+, leader=LEADER, leaderEpoch=(?<epoch>\d+), (?:isr=\[?(?<isr>\d+(?:, ?\d+)*)\]?, )?.* for partition ${partition} `;
  const from24 = String.raw`LeaderAndIsrPartitionState\(topicName='(?<topic>[^']+)', partitionIndex=(?<partition>\d+), controllerEpoch=\d+, leader=LEADER, leaderEpoch=(?<epoch>\d+), (?:isr=\[?(?<isr>\d+(?:, ?\d+)*)\]?, )?`;
  return [before24, from24].flatMap((text): LogPattern[] => {
    const order = String.raw`eceived LeaderAndIsr request ${text}`;
    return [
      { shows: 'leads', pattern: new RegExp(order.replace('LEADER', `${node}`)) },
      { shows: 'follows', pattern: new RegExp(order.replace('LEADER', String.raw`(?<leader>\d+)`)) },
    ];
  });
}

const rolesInKraft: readonly LogPattern[] = [
  { shows: 'leads', pattern: /\] Leader (?<key>\S+-\d+) with topic id .* starts at leader epoch (?<epoch>\d+) / },
  {
    shows: 'follows',
    pattern: /\] Follower (?<key>\S+-\d+) starts at leader epoch (?<epoch>\d+) .* Current leader is (?<leader>\d+)\./,
  },
];

/** Brokers of ZooKeeper's time tell the others of a new ISR only seconds later. */
const isrs: readonly LogPattern[] = [
  isr(String.raw`ISR for partition ${partition}`),
  isr(String.raw`\[Partition (?<key>\S+-\d+) broker=\d+\] (?:Expand|Shrink)ing ISR`),
];

function isr(text: string): LogPattern {
  return { shows: 'isr', pattern: new RegExp(String.raw`${text} from [\d,]+ to (?<isr>[\d,]+)`) };
}

const truncations: readonly LogPattern[] = [
  { shows: 'truncates', pattern: /INFO Truncating log (?<key>\S+-\d+) to offset (?<offset>\d+)\./ },
  { shows: 'truncates', pattern: /Log partition=(?<key>[^,]+), dir=[^\]]*\] Truncating to offset (?<offset>\d+) / },
];

const endings: readonly LogPattern[] = [
  // Up to 0.11: a follower that is ahead of its leader ends itself where unclean election is off.
  { shows: 'ends-itself', pattern: /Exiting because log truncation is not allowed/ },
  { shows: 'ends-itself', pattern: /Shutdown broker because all log dirs in .* have failed/ },
  // Up to 0.11: it halts on what later releases survive as long as they have another folder for logs.
  {
    shows: 'ends-itself',
    pattern: /FATAL .*(?:Halting due to unrecoverable I\/O error|Error writing to highwatermark file: )/,
  },
  { shows: 'ends-itself', pattern: /Encountered fatal fault: / },
  { shows: 'failed-start', pattern: /Fatal error during \w+ startup|Exiting Kafka due to fatal exception/ },
];

/**
 * The exception below the line by which a broker ends. Of ZooKeeper's time alone: a host that is too busy, or a ZooKeeper
 * that is not heard in time, and nothing about what the broker keeps. That a connection was lost proves less, and is
 * left out.
 */
const lostSessions: readonly LogPattern[] = [
  {
    shows: 'lost-session',
    pattern:
      /^(?:org\.I0Itec\.zkclient\.exception\.ZkTimeoutException|kafka\.zookeeper\.ZooKeeperClient(?:Timeout|Expired)Exception): /,
  },
  {
    shows: 'lost-session',
    pattern: /^org\.apache\.zookeeper\.KeeperException\$SessionExpiredException: /,
  },
];
