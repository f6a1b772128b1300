/**
 * A network of its own for every run, on a range that nothing else on this machine uses.
 *
 * An address of a pod that is gone is sought through the default route, on other people's machines. So the range must
 * clash with no route of the host and no network of the engine, the network is internal (the pods have no default
 * route at all), and every pod has a fixed address for the whole run.
 */
import { readFileSync } from 'node:fs';
import type { Engine } from './client.ts';
import { isStatus } from './client.ts';

export interface Range {
  /** The network's address as an unsigned integer. */
  readonly base: number;
  readonly prefix: number;
}

export interface RunNetwork {
  readonly id: string;
  readonly name: string;
  /** The host's address in the network: where the harness's own connections come from. */
  readonly gateway: string;
  /** The fixed address of the controller (0) or of a broker (its id). */
  readonly address: (index: number) => string;
}

/** Brokers have addresses from .11 on, so that many of them fit below the broadcast address. */
export const brokersMax = 200;
const firstPod = 10;
const prefix = 24;
const attemptsMax = 32;

/** Private ranges, and last the one for benchmarks; the engine's own default pools are touched late. */
const pools: readonly (readonly [string, number])[] = [
  ['10.213.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
];

/** Creates an internal network on a free range. Another run may take the same range first: then the next one is tried. */
export async function createNetwork(
  engine: Engine,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<RunNetwork> {
  const taken = [...hostRoutes(), ...(await engineRanges(engine))];
  let attempts = 0;
  for (const range of freeRanges(taken, Math.floor(Math.random() * 256))) {
    if (attempts++ >= attemptsMax) break;
    try {
      const network = await engine.docker.createNetwork({
        Name: name,
        Driver: 'bridge',
        Internal: true,
        CheckDuplicate: true,
        Labels: { ...labels },
        IPAM: { Driver: 'default', Config: [{ Subnet: rangeText(range), Gateway: addressText(range.base + 1) }] },
      });
      const address = (index: number): string => addressText(range.base + firstPod + index);
      return { id: network.id, name, gateway: addressText(range.base + 1), address };
    } catch (error) {
      if (!isStatus(error, 403) && !/overlap|already exists on|conflicts with/i.test(String(error))) throw error;
    }
  }
  throw new Error(`no free range for a network of the run: tried ${attempts} ranges of ${pools.map(String).join(' ')}`);
}

/** Every /24 of the pools that overlaps nothing that is taken, beginning `start` steps into each pool. */
export function* freeRanges(taken: readonly Range[], start: number): Generator<Range> {
  for (const [base, poolPrefix] of pools) {
    const count = 2 ** (prefix - poolPrefix);
    for (let step = 0; step < count; step++) {
      const range = { base: parseAddress(base) + ((start + step) % count) * 2 ** (32 - prefix), prefix };
      if (!taken.some((other) => overlaps(range, other))) yield range;
    }
  }
}

/** The ranges of `/proc/net/route`, without the default route. */
export function parseRoutes(table: string): Range[] {
  const ranges: Range[] = [];
  for (const line of table.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/);
    const [destination, mask] = [fields[1], fields[7]];
    if (destination === undefined || mask === undefined) continue;
    const bits = littleEndian(mask);
    const length = bits === 0 ? 0 : 32 - Math.log2(2 ** 32 - bits);
    if (length > 0) ranges.push({ base: littleEndian(destination), prefix: length });
  }
  return ranges;
}

/** `10.1.2.0/24` as a range; null for what is not IPv4. */
export function parseRange(text: string): Range | null {
  const match = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(text);
  return match ? { base: parseAddress(match[1]!), prefix: Number(match[2]) } : null;
}

export function rangeText(range: Range): string {
  return `${addressText(range.base)}/${range.prefix}`;
}

function overlaps(one: Range, other: Range): boolean {
  const size = 2 ** (32 - Math.min(one.prefix, other.prefix));
  return Math.floor(one.base / size) === Math.floor(other.base / size);
}

function hostRoutes(): Range[] {
  try {
    return parseRoutes(readFileSync('/proc/net/route', 'utf8'));
  } catch {
    return [];
  }
}

async function engineRanges(engine: Engine): Promise<Range[]> {
  const networks = await engine.docker.listNetworks();
  const subnets = networks.flatMap((network) => network.IPAM?.Config ?? []).map((config) => config.Subnet ?? '');
  return subnets.map(parseRange).filter((range) => range !== null);
}

function parseAddress(text: string): number {
  return text.split('.').reduce((value, byte) => value * 256 + Number(byte), 0);
}

function addressText(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

/** The kernel prints the bytes of an address in the order of the machine's memory. */
function littleEndian(hex: string): number {
  return Buffer.from(hex, 'hex').readUInt32LE(0);
}
