import { describe, expect, it } from 'vitest';
import { parseCounters, replaceTable } from '../../../docker/agent/ruleset.ts';
import { expectGolden } from '../../golden.ts';

describe('the rules of a pod', () => {
  it('replace the table of ours in one transaction', () => {
    const script = replaceTable([
      { name: 'from_1', from: '10.213.0.11' },
      { name: 'from_controller', from: '10.213.0.10' },
      { name: 'to_clients', to: '10.213.0.1' },
    ]);
    expectGolden('test/golden/docker-ruleset.txt', script);
  });

  it('heal by removing that table and nothing else', () => {
    expect(replaceTable([])).toBe('add table inet tidemark\ndelete table inet tidemark\n');
  });

  it('are counted one by one', () => {
    const printed =
      'table inet tidemark {\n\tcounter from_1 {\n\t\tpackets 12 bytes 720\n\t}\n\tcounter to_clients {\n\t\tpackets 0 bytes 0\n\t}\n}\n';
    expect(parseCounters(printed)).toEqual({
      from_1: { packets: 12, bytes: 720 },
      to_clients: { packets: 0, bytes: 0 },
    });
  });
});
