import { describe, expect, it } from 'vitest';
import type { Check, DoctorDocument } from '../../../harness/doctor/document.ts';
import { runnables } from '../../../harness/doctor/examine.ts';
import { targetsHere } from '../../../harness/doctor/targets.ts';
import { doctorText } from '../../../harness/doctor/text.ts';
import { completeCapabilities } from '../../../harness/report/capabilities.ts';
import { faultKinds } from '../../../nemesis/faults/index.ts';
import { expectGolden } from '../../golden.ts';

function check(name: Check['name'], state: Check['state'] = 'ok'): Check {
  return { name, state, found: state === 'ok' ? `${name} is there` : `no ${name}`, remedy: null };
}

const all = (['engine', 'nft', 'containers', 'java', 'maven', 'kafka'] as const).map((name) => check(name));

/** All that is there, but for some. */
function without(...names: readonly Check['name'][]): Check[] {
  return all.map((each) => (names.includes(each.name) ? check(each.name, 'missing') : each));
}

describe('what can be run', () => {
  const able = (checks: readonly Check[]): string[] =>
    runnables(checks)
      .filter((each) => each.able)
      .map(({ name }) => name);

  it('is everything where nothing is missing, and always what needs no engine', () => {
    expect(able(all)).toEqual(['sim', 'local', 'docker', 'kafka']);
    expect(able(without('engine', 'nft'))).toEqual(['sim', 'local']);
    expect(able(without('java'))).toEqual(['sim', 'local', 'docker']);
    expect(able(without('kafka'))).toEqual(['sim', 'local', 'docker']);
  });

  it('names all that is missing, and does not need Maven for what was fetched', () => {
    expect(runnables(without('nft', 'java')).at(-1)).toEqual({ name: 'kafka', able: false, line: 'no nft; no java' });
    expect(able(without('maven'))).toContain('kafka');
  });
});

describe('the matrix', () => {
  const foreign = {
    faults: { pause: { not: 'it never sleeps' } },
    guarantees: {},
    triggers: {},
    exposures: true,
  } as const;

  it('completes what a target says by the names that there are', () => {
    const { faults, guarantees } = completeCapabilities(foreign);
    expect(Object.keys(faults)).toEqual(faultKinds);
    expect(faults).toMatchObject({ crash: true, pause: { not: 'it never sleeps' } });
    expect(faults['power-loss']).toEqual({ not: 'only our brokers tell what they have flushed' });
    expect(guarantees['agreement']).toBe(true);
  });

  it('has a column for each kind of broker, from the targets themselves', () => {
    const targets = targetsHere();
    expect(targets.map(({ name }) => name)).toEqual([
      'ours, sim',
      'ours, local',
      'ours, docker',
      'kafka:0.10.2.2',
      'kafka:2.8.2',
      'kafka:4.4.0',
      'image:…',
    ]);
    expect(targets[0]?.capabilities.faults['slow-links']).toBe(true);
    expect(targets[1]?.capabilities.faults['slow-links']).not.toBe(true);
    expect(targets[0]?.partly).toEqual({});
    expect(targets[3]?.partly).toHaveProperty('durability');
  });

  it('is printed with its reasons as notes', () => {
    const own = completeCapabilities({ faults: {}, guarantees: {}, triggers: {}, exposures: true });
    const document: DoctorDocument = {
      schemaVersion: 1,
      type: 'doctor',
      checks: [
        { name: 'node', state: 'ok', found: 'Node 24.0.0', remedy: null },
        { name: 'memory', state: 'low', found: '1.0 GB free', remedy: 'run one build at a time' },
        { name: 'engine', state: 'missing', found: 'no socket', remedy: 'install Docker' },
        { name: 'images', state: 'unknown', found: 'not looked at, without an engine', remedy: null },
      ],
      runs: runnables(without('engine')),
      targets: [
        { name: 'ours', capabilities: own, partly: {} },
        {
          name: 'theirs',
          capabilities: { ...completeCapabilities(foreign), exposures: { not: 'it tells no high watermark' } },
          partly: { durability: 'the half of it' },
        },
      ],
    };
    expectGolden('test/golden/doctor.txt', doctorText(document));
  });
});
