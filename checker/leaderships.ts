/**
 * Who led when, by the brokers' own word: one *leadership* is one broker in one epoch of one partition, within one boot.
 *
 * Each broker's lines are replayed alone, in their own order. A leadership begins with the line by which the broker took
 * the role and ends with its next role, its next start, or its last line. What the invariants of leaders need is noted
 * while passing: the first record that it wrote, and where its high watermark went back.
 */
import type { Key } from './history.ts';
import { kind, type TraceStore } from './parse-trace.ts';
import type { RoleLine } from './trace-events.ts';

export interface Leadership {
  readonly key: Key;
  readonly node: number;
  readonly epoch: number;
  /** The line by which it took the role. */
  readonly row: number;
  /** The first line by which it appended a record of its own epoch; −1 for none. */
  wrote: number;
  /** The first line by which its high watermark fell, and from where to where. */
  fall: { readonly row: number; readonly from: number; readonly to: number } | null;
}

/** All leaderships of a trace, broker by broker. */
export function leaderships(store: TraceStore): Leadership[] {
  const found: Leadership[] = [];
  for (const node of store.nodes) if (node !== 'controller') replay(store, node, found);
  return found;
}

/** What a broker leads of one partition at the moment. */
interface Current {
  readonly leadership: Leadership;
  readonly boot: number;
  highest: number;
}

function replay(store: TraceStore, node: number, into: Leadership[]): void {
  const current = new Map<number, Current>();
  for (const row of store.rowsOf(node)) {
    const key = store.key.get(row);
    if (key === -1) continue;
    const role = store.roles.get(row);
    if (role !== undefined) {
      takeRole(store, node, row, key, role, current, into);
      continue;
    }
    const led = current.get(key);
    if (led === undefined) continue;
    if (led.boot === store.boot.get(row)) noteLine(store, row, led);
    else current.delete(key);
  }
}

function takeRole(
  store: TraceStore,
  node: number,
  row: number,
  key: number,
  role: RoleLine,
  current: Map<number, Current>,
  into: Leadership[],
): void {
  const epoch = store.epoch.get(row);
  const boot = store.boot.get(row);
  const led = current.get(key);
  if (role.role !== 'leader') current.delete(key);
  else if (led === undefined || led.boot !== boot || led.leadership.epoch !== epoch) {
    const leadership = { key: store.keys[key] as Key, node, epoch, row, wrote: -1, fall: null };
    into.push(leadership);
    current.set(key, { leadership, boot, highest: role.hw });
  } else noteHighWatermark(led, row, role.hw);
}

function noteLine(store: TraceStore, row: number, led: Current): void {
  const { leadership } = led;
  switch (store.kind.get(row)) {
    case kind.hw:
      noteHighWatermark(led, row, store.b.get(row));
      return;
    case kind.append:
      if (leadership.wrote === -1 && store.epoch.get(row) === leadership.epoch) leadership.wrote = row;
      return;
    default:
  }
}

function noteHighWatermark(led: Current, row: number, to: number): void {
  if (to < led.highest) led.leadership.fall ??= { row, from: led.highest, to };
  led.highest = Math.max(led.highest, to);
}
