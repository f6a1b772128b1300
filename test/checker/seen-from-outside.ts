/**
 * What an observer would have seen of a cluster whose trace is known: a stand-in for the watching of real brokers.
 *
 * High watermarks are told by followers alone, and by who starts; contents and reasons by nobody.
 */
import type { TraceLine } from '../../nemesis/ports.ts';

/**
 * The observations, in the order of the trace. `late`: elections are seen so many nanoseconds later. Roles are seen in
 * `roles`: by logs at once, by metadata as late.
 */
export function seenFromOutside(trace: readonly TraceLine[], roles: 'log' | 'metadata', late = 0): object[] {
  const seqs = new Map<string, number>();
  const leading = new Set<string>();
  const isrs = new Map<unknown, unknown>();
  const epochs = new Map<unknown, unknown>();
  const out: object[] = [];
  const see = (line: TraceLine, source: string, fields: object, delay = 0): void => {
    const { node, boot, partition } = line;
    const name = `${node}.${boot}`;
    const seq = seqs.get(name) ?? 0;
    seqs.set(name, seq + 1);
    out.push({ seq, time: line.time + delay, node, boot, source, partition, ...fields });
  };
  for (const line of trace) {
    const { event, node, partition, leaderEpoch } = line;
    const name = `${node} ${partition}`;
    switch (event) {
      case 'create':
        see(line, 'metadata', { event, replicas: line['replicas'] });
        break;
      case 'election':
        isrs.set(partition, line['isr']);
        epochs.set(partition, leaderEpoch);
        see(line, 'metadata', { event, leaderEpoch, leader: line['leader'], isr: line['isr'], clean: null }, late);
        break;
      case 'isr':
        isrs.set(partition, line['to']);
        epochs.set(partition, leaderEpoch);
        see(line, 'metadata', { event, leaderEpoch, from: line['from'], to: line['to'] }, late);
        break;
      case 'role':
        if (line['role'] === 'leader') leading.add(name);
        else leading.delete(name);
        see(
          line,
          roles,
          { event, leaderEpoch, role: line['role'], leader: line['leader'] },
          roles === 'log' ? 0 : late,
        );
        break;
      case 'recover':
        see(line, 'log', { event: 'hw', to: line['hw'] });
        break;
      case 'hw':
        if (!leading.has(name)) see(line, 'log', { event, to: line['to'] });
        break;
      case 'append':
        see(line, 'segments', { event, batches: line['batches'] });
        break;
      case 'truncation':
        if (line['from'] !== line['to'])
          see(line, 'segments', { event, from: line['from'], to: line['to'], rule: null });
        break;
      case 'ack': {
        const { base, last, acks } = line;
        const known = { isr: isrs.get(partition), leaderEpoch: epochs.get(partition) };
        see(line, 'client', { event, base, last, acks, ...known });
        break;
      }
      default:
    }
  }
  return out;
}
