/**
 * The `nft` commands of one pod, from what has to be dropped there.
 *
 * One table of ours, replaced as a whole in one transaction, so that rules neither double nor linger and there is no
 * moment without rules between two states. Its hooks come before connection tracking, so that a cut stops flows which
 * are established too. Every rule has a counter: what it dropped is the evidence of the fault. The engine keeps
 * a table of its own in each pod, which is never touched.
 */

/** Drop what arrives from `from`, or what leaves for `to` (IPv4 addresses). Exactly one of the two is given. */
export interface Drop {
  readonly name: string;
  readonly from?: string;
  readonly to?: string;
}

/** What a rule dropped so far. */
export interface Dropped {
  readonly packets: number;
  readonly bytes: number;
}

const table = 'inet tidemark';

/** Leaves exactly these drops, whatever stood before; none at all removes the table. */
export function replaceTable(drops: readonly Drop[]): string {
  // Adding a table that stands is no error, removing one that does not is: so the old one goes in any case.
  const remove = `add table ${table}\ndelete table ${table}\n`;
  return drops.length === 0 ? remove : `${remove}table ${table} {\n${body(drops)}}\n`;
}

/** The arguments of `nft` that print the counters; not a part of the transaction, since `nft` shows zeros there. */
export const listCounters: readonly string[] = ['list', 'counters', 'table', ...table.split(' ')];

/** The counters that `list counters` printed, by name. */
export function parseCounters(text: string): Record<string, Dropped> {
  const counters: Record<string, Dropped> = {};
  for (const [, name, packets, bytes] of text.matchAll(/counter (\S+) \{\s*packets (\d+) bytes (\d+)/g)) {
    counters[name!] = { packets: Number(packets), bytes: Number(bytes) };
  }
  return counters;
}

function body(drops: readonly Drop[]): string {
  const counters = drops.map((drop) => `  counter ${drop.name} { }\n`);
  const arriving = drops.filter((drop) => drop.from !== undefined).map((drop) => rule('saddr', drop.from!, drop.name));
  const leaving = drops.filter((drop) => drop.to !== undefined).map((drop) => rule('daddr', drop.to!, drop.name));
  return [...counters, ...chain('input', arriving), ...chain('output', leaving)].join('');
}

function rule(field: 'saddr' | 'daddr', address: string, counter: string): string {
  return `    ip ${field} ${address} counter name "${counter}" drop\n`;
}

function chain(hook: 'input' | 'output', rules: readonly string[]): string[] {
  if (rules.length === 0) return [];
  return [`  chain ${hook} {\n    type filter hook ${hook} priority raw; policy accept;\n`, ...rules, '  }\n'];
}
